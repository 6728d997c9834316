/*
 * Where rendered text goes: a caller's buffer that is never overrun, while `length` counts what an
 * endless one would have taken, as snprintf does.
 */
#ifndef TRD_COMMON_PRINT_OUT_H
#define TRD_COMMON_PRINT_OUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct print_out {
    char *text;
    size_t capacity; /* without the NUL */
    size_t length;
};

static inline void out_bytes(struct print_out *out, const void *bytes, size_t size)
{
    if (out->length < out->capacity) {
        size_t room = out->capacity - out->length;

        memcpy(out->text + out->length, bytes, size < room ? size : room);
    }
    out->length += size;
}

static inline void out_char(struct print_out *out, char c)
{
    if (out->length < out->capacity)
        out->text[out->length] = c;
    out->length++;
}

static inline void out_repeat(struct print_out *out, char c, size_t count)
{
    while (count-- > 0)
        out_char(out, c);
}

static inline void out_text(struct print_out *out, const char *text)
{
    out_bytes(out, text, strlen(text));
}

/* Digits of base 8, 10 or 16, at least `width` of them. */
static inline void out_number(struct print_out *out, uint64_t value, unsigned base, unsigned width)
{
    char digits[24];
    char *at = digits + sizeof(digits);

    do
        *--at = "0123456789abcdef"[value % base];
    while (value /= base);
    while ((size_t)(digits + sizeof(digits) - at) < width && at > digits)
        *--at = '0';
    out_bytes(out, at, (size_t)(digits + sizeof(digits) - at));
}

#endif
