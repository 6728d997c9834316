/*
 * Bytes as the kernel's vsnprintf and dump functions write them: hex strings, bitmaps, hardware and
 * network addresses, UUIDs. Used by helpers and by `%p…`; knows nothing of trees. Callers have
 * checked that the bytes are there. Source: lib/vsprintf.c, lib/hexdump.c.
 */
#ifndef TRD_COMMON_PRINT_BYTES_H
#define TRD_COMMON_PRINT_BYTES_H

#include <stdbool.h>

#include "print_out.h"
#include "tracerd/schema.h"

/* Two digits per byte; separator '\0' for none. */
void bytes_put_hex(struct print_out *out, const uint8_t *bytes, size_t size, char separator);
/* Bits in longs of the schema's machine; `size` bytes of them are there. */
struct bytes_bitmap {
    const uint8_t *bytes;
    size_t size;
    uint32_t bits;
};

/* `%*pb`: groups of 32 bits, highest first */
void bytes_put_bitmask(struct print_out *out, const struct trd_schema *schema,
                       const struct bytes_bitmap *map);
/* `%*pbl`: 0-3,5 */
void bytes_put_bit_list(struct print_out *out, const struct trd_schema *schema,
                        const struct bytes_bitmap *map);
void bytes_put_mac(struct print_out *out, const uint8_t bytes[6], char separator, bool reversed);
void bytes_put_ipv4(struct print_out *out, const uint8_t bytes[4], bool reversed, bool padded);
/* style: 'c' shortest (RFC 5952 as the kernel does it), 'I' all groups, 'i' without colons */
void bytes_put_ipv6(struct print_out *out, const uint8_t bytes[16], char style);
/* `kind`: b, l, B, L: byte order and case as `%pUb` */
void bytes_put_uuid(struct print_out *out, const uint8_t bytes[16], char kind);

/* DUMP_PREFIX_… of the kernel */
#define BYTES_PREFIX_ADDRESS 1
#define BYTES_PREFIX_OFFSET 2

struct bytes_dump {
    const char *prefix;
    const uint8_t *bytes;
    uint32_t size, prefix_type, row, group, with_text;
    bool big_endian;
};

/* Lines of print_hex_dump, after a newline as the tracing helper has it. */
void bytes_put_dump(struct print_out *out, const struct bytes_dump *dump);

#endif
