/*
 * The primitives that JSON lines are made of: a pointer moves through a buffer that is large
 * enough. Hot path; see json.c for the budget.
 */
#ifndef TRD_COMMON_JSON_WRITER_H
#define TRD_COMMON_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Longest forms: "18446744073709551615" with quotes, "0xffffffffffffffff" with quotes. */
#define JSON_NUMBER_MAX 24

extern const char json_digit_pairs[200];

static inline char *json_put(char *out, const char *bytes, size_t size)
{
    memcpy(out, bytes, size);
    return out + size;
}
#define JSON_PUT(out, literal) json_put(out, literal, sizeof(literal) - 1)

char *json_put_u64(char *out, uint64_t value);

static inline char *json_put_u32(char *out, uint32_t value)
{
    if (value < 10) {
        *out = (char)('0' + value);
        return out + 1;
    }
    if (value < 100)
        return json_put(out, json_digit_pairs + 2 * value, 2);
    return json_put_u64(out, value);
}

char *json_put_i64(char *out, int64_t value);
/* "0x7f…" with quotes. */
char *json_put_hex(char *out, uint64_t value);

/* 64-bit values are strings. */
static inline char *json_put_quoted_u64(char *out, uint64_t value)
{
    *out++ = '"';
    out = json_put_u64(out, value);
    *out++ = '"';
    return out;
}

/*
 * A string with its quotes. Needs at most 6 * size + 2 bytes. Bytes that are no UTF-8 become
 * U+F700 + byte, written as \uf7NN; those code points themselves, should they occur, come out as
 * their own three bytes taken one by one, so that every text can be had back (proto/JSON.md).
 */
char *json_put_string(char *out, const char *bytes, size_t size);

#endif
