/* Format files made by tests, and one-line printing of made records. */
#ifndef TRD_TESTS_FORMAT_MAKER_H
#define TRD_TESTS_FORMAT_MAKER_H

#include <stdbool.h>

#include "tracerd/catalog.h"

#define MADE_ID 42
/* Where fields of a made event begin. */
#define MADE_START 8

struct made {
    struct trd_catalog *catalog;
    const struct trd_schema *schema; /* test:made */
    uint8_t data[512];
    size_t size;
    char text[4096];
};

/* An empty catalog; `data` is zeroed, `size` MADE_START. */
void made_init(struct made *made, bool big_endian, uint8_t long_size);
void made_finish(struct made *made);

/* Field lines as in a format file, `;`-separated: "u8 a;offset:8;size:1;signed:0;" per line. */
void made_add(struct made *made, const char *fields, const char *print);

/* Bytes at the end of the record, numbers in its byte order. */
void made_put(struct made *made, const void *bytes, size_t size);
void made_put_int(struct made *made, uint64_t value, size_t size);
/* Makes the dynamic field whose word is at `offset` point to the last `size` bytes put. */
void made_point(struct made *made, size_t offset, size_t size);
/* A string or array in the dynamic part, its word at `offset`. */
void made_put_dynamic(struct made *made, size_t offset, const void *bytes, size_t size);

/* The event's text. */
const char *made_text(struct made *made);

/* All in one: a little-endian 64-bit event without fields but for "s32 a" and "u64 b". */
const char *made_print(struct made *made, const char *print, int32_t a, uint64_t b);

#endif
