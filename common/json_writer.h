/*
 * The primitives that JSON lines are made of: a pointer moves through a buffer that its owner knows
 * to be large enough; each function says how much it may write. Hot path; see json_run.c for the
 * budget.
 */
#ifndef TRD_COMMON_JSON_WRITER_H
#define TRD_COMMON_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Longest forms: "18446744073709551615" with quotes, "0xffffffffffffffff" with quotes. */
#define JSON_NUMBER_MAX 24
/* What a string of `size` bytes may become, quotes included. */
#define JSON_STRING_MAX(size) (6 * (size_t)(size) + 2)

/* Prepared texts are copied in blocks, so they are padded to this, and so is the buffer's end. */
#define JSON_BLOCK 16

extern const char json_digit_pairs[200];

static inline char *json_put(char *out, const char *bytes, size_t size)
{
    memcpy(out, bytes, size);
    return out + size;
}
#define JSON_PUT(out, literal) json_put(out, literal, sizeof(literal) - 1)

/* A prepared text: reads and writes whole blocks, moves by its size. */
static inline char *json_put_blocks(char *out, const char *bytes, size_t size)
{
    size_t at = 0;

    do {
        memcpy(out + at, bytes + at, JSON_BLOCK);
        at += JSON_BLOCK;
    } while (__builtin_expect(at < size, 0));
    return out + size;
}

static inline char *json_put_pair(char *out, uint32_t value)
{
    memcpy(out, json_digit_pairs + 2 * value, 2);
    return out + 2;
}

/* Exactly four digits. */
static inline char *json_put_4_digits(char *out, uint32_t value)
{
    return json_put_pair(json_put_pair(out, value / 100), value % 100);
}

/* Below 10000, without zeros in front. */
static inline char *json_put_small(char *out, uint32_t value)
{
    if (value < 10) {
        *out = (char)('0' + value);
        return out + 1;
    }
    if (value < 100)
        return json_put_pair(out, value);
    if (value < 1000) {
        *out = (char)('0' + value / 100);
        return json_put_pair(out + 1, value % 100);
    }
    return json_put_4_digits(out, value);
}

char *json_put_large(char *out, uint64_t value);

static inline char *json_put_u64(char *out, uint64_t value)
{
    if (value < 10000)
        return json_put_small(out, (uint32_t)value);
    if (value < 100000000)
        return json_put_4_digits(json_put_small(out, (uint32_t)value / 10000),
                                 (uint32_t)value % 10000);
    return json_put_large(out, value);
}

static inline char *json_put_u32(char *out, uint32_t value)
{
    return json_put_u64(out, value);
}

static inline char *json_put_i64(char *out, int64_t value)
{
    if (value >= 0)
        return json_put_u64(out, (uint64_t)value);
    *out = '-';
    return json_put_u64(out + 1, 0 - (uint64_t)value);
}

/* "0x7f…" with quotes. */
char *json_put_hex(char *out, uint64_t value);
/* Two digits per byte, no quotes, no prefix. */
char *json_put_hex_byte(char *out, uint8_t value);

/* An integer of `size` bytes in the form its width asks for: 64-bit ones are strings. */
static inline char *json_put_int(char *out, uint64_t value, size_t size, bool is_signed)
{
    bool wide = size > 4;

    *out = '"';
    out += wide;
    out = is_signed ? json_put_i64(out, (int64_t)value) : json_put_u64(out, value);
    *out = '"';
    return out + wide;
}

/*
 * A string with its quotes; needs at most JSON_STRING_MAX(size) bytes. Bytes that are no UTF-8
 * become U+F700 + byte, written as \uf7NN; those code points themselves, should they occur, come
 * out as their own three bytes taken one by one, so that every text can be had back
 * (proto/JSON.md).
 */
char *json_put_string(char *out, const char *bytes, size_t size);
/* The same of a text that ends at a NUL or after `size` bytes. */
char *json_put_text(char *out, const char *bytes, size_t size);

#endif
