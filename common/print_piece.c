/* Format strings taken apart: literal text and conversions, as lib/vsprintf.c reads them. */
#include <string.h>

#include "print_text.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static uint8_t flag_of(char c)
{
    switch (c) {
    case '-':
        return PIECE_LEFT;
    case '+':
        return PIECE_PLUS;
    case ' ':
        return PIECE_SPACE;
    case '#':
        return PIECE_ALTERNATE;
    case '0':
        return PIECE_ZERO;
    default:
        return 0;
    }
}

/* A number or `*`; -1 if neither stands here. */
static const char *take_count(const char *at, const char *end, int16_t *out, unsigned *stars,
                              unsigned star)
{
    int value = 0;

    if (at < end && *at == '*') {
        *stars |= star;
        return at + 1;
    }
    if (at < end && is_digit(*at))
        *out = 0;
    for (; at < end && is_digit(*at); at++) {
        value = value * 10 + (*at - '0');
        if (value > INT16_MAX)
            value = INT16_MAX;
        *out = (int16_t)value;
    }
    return at;
}

/* hh, h, l, ll and what the kernel takes besides: L and q for ll, Z for z. */
static const char *take_size(const char *at, const char *end, uint8_t long_size, uint8_t *out)
{
    int shorts = 0, longs = 0;

    *out = 4;
    for (; at < end && *at && strchr("hlLqzZtj", *at); at++) {
        if (*at == 'h')
            *out = ++shorts == 2 ? 1 : 2;
        else if (*at == 'l')
            *out = ++longs == 2 ? 8 : long_size;
        else
            *out = strchr("Lqj", *at) ? 8 : long_size;
    }
    return at;
}

static const char *take_extension(const char *at, const char *end, char *out)
{
    size_t size = 0;

    for (; at < end && (is_letter(*at) || is_digit(*at)); at++)
        if (size + 1 < POINTER_EXTENSION_MAX)
            out[size++] = *at;
    return at;
}

static const char *take_conversion(const char *at, const char *end, uint8_t long_size,
                                   struct print_piece *out, unsigned *stars)
{
    while (at < end && flag_of(*at))
        out->flags |= flag_of(*at++);
    at = take_count(at, end, &out->width, stars, 1);
    if (at < end && *at == '.') {
        out->precision = 0;
        at = take_count(at + 1, end, &out->precision, stars, 2);
    }
    at = take_size(at, end, long_size, &out->size);
    if (at == end)
        return NULL;
    switch (*at) {
    case 'i':
        out->conversion = 'd';
        return at + 1;
    case 'p':
        out->conversion = 'p';
        return take_extension(at + 1, end, out->extension);
    case 'd':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
    case 'c':
    case 's':
        out->conversion = *at;
        return at + 1;
    default:
        return NULL;
    }
}

bool piece_next(const char **at, const char *end, uint8_t long_size, struct print_piece *out,
                unsigned *out_stars)
{
    const char *start = *at, *stop;

    *out = (struct print_piece){ .width = -1, .precision = -1, .text = start };
    *out_stars = 0;
    if (start == end)
        return false;
    if (*start == '%' && end - start >= 2 && start[1] != '%') {
        stop = take_conversion(start + 1, end, long_size, out, out_stars);
        if (stop) {
            *at = stop;
            return true;
        }
        *out_stars = 0; /* no conversion after all: it stands for itself, as in the kernel */
    }
    if (*start == '%' && end - start >= 2 && start[1] == '%')
        start = ++out->text;
    stop = memchr(start + 1, '%', (size_t)(end - start) - 1);
    *at = stop ? stop : end;
    out->text_size = (uint32_t)(*at - start);
    return true;
}
