/* Bytes that grow, for the sections of a file that is written. A failure stays until it is asked.
 */
#ifndef TRD_COMMON_DAT_BYTES_H
#define TRD_COMMON_DAT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dat_bytes {
    uint8_t *bytes; /* owned */
    size_t size;
    size_t capacity;
    bool failed; /* no memory; what was put since is missing */
};

void dat_bytes_finish(struct dat_bytes *bytes);
void dat_bytes_put(struct dat_bytes *bytes, const void *from, size_t size);
void dat_bytes_text(struct dat_bytes *bytes, const char *text); /* with its NUL */
void dat_bytes_print(struct dat_bytes *bytes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Numbers in this machine's order: a recording is made where it is written. */
static inline void dat_bytes_u16(struct dat_bytes *bytes, uint16_t value)
{
    dat_bytes_put(bytes, &value, sizeof(value));
}

static inline void dat_bytes_u32(struct dat_bytes *bytes, uint32_t value)
{
    dat_bytes_put(bytes, &value, sizeof(value));
}

static inline void dat_bytes_u64(struct dat_bytes *bytes, uint64_t value)
{
    dat_bytes_put(bytes, &value, sizeof(value));
}

#endif
