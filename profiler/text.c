#include "text.h"

#include <string.h>

static size_t encode(uint32_t code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

#define NOT_ASCII 0xff80ff80ff80ff80u /* in four units */

/* What most text is, four units at a time; stops before the first four that are not all ASCII. */
static size_t copy_ascii(const uint16_t *units, size_t count, char *out)
{
    size_t used = 0;
    uint32_t packed;
    uint64_t four;

    for (; count - used >= 4; used += 4) {
        memcpy(&four, units + used, sizeof(four));
        if (four & NOT_ASCII)
            break;
        /* The low halves move together: 0d0c0b0a, 00dc00ba, dcba. */
        four = (four | four >> 8) & 0x0000ffff0000ffffu;
        packed = (uint32_t)(four | four >> 16);
        memcpy(out + used, &packed, sizeof(packed));
    }
    return used;
}

size_t text_from_utf16(const uint16_t *units, size_t count, char *out, size_t capacity)
{
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        size_t room = capacity - used < count - i ? capacity - used : count - i;
        size_t ascii = copy_ascii(units + i, room, out + used);
        uint32_t code;
        char bytes[4];
        size_t size;

        used += ascii;
        i += ascii;
        if (i == count)
            break;
        code = units[i];
        if ((code & 0xfc00) == 0xd800 && i + 1 < count && (units[i + 1] & 0xfc00) == 0xdc00)
            code = 0x10000 + ((code & 0x3ff) << 10) + (units[++i] & 0x3ff);
        size = encode(code, bytes);
        if (size > capacity - used)
            break;
        for (size_t k = 0; k < size; k++)
            out[used++] = bytes[k];
    }
    return used;
}

/* Bytes of the sequence that begins with this one, and its share of the code; 0 for none. */
static size_t sequence(uint8_t first, uint32_t *code)
{
    if (first < 0x80) {
        *code = first;
        return 1;
    }
    if ((first & 0xe0) == 0xc0) {
        *code = first & 0x1f;
        return 2;
    }
    if ((first & 0xf0) == 0xe0) {
        *code = first & 0x0f;
        return 3;
    }
    *code = first & 0x07;
    return (first & 0xf8) == 0xf0 ? 4 : 0;
}

#define REPLACEMENT 0xfffd

size_t text_to_utf16(const char *bytes, size_t size, uint16_t *out, size_t capacity)
{
    size_t used = 0;

    for (size_t i = 0; i < size;) {
        uint32_t code;
        size_t length = sequence((uint8_t)bytes[i], &code);
        size_t k = 1;

        for (; k < length && i + k < size && ((uint8_t)bytes[i + k] & 0xc0) == 0x80; k++)
            code = code << 6 | ((uint8_t)bytes[i + k] & 0x3f);
        if (k != length || code > 0x10ffff)
            code = REPLACEMENT;
        if (used + (code > 0xffff) >= capacity)
            break;
        if (code > 0xffff) {
            out[used++] = (uint16_t)(0xd800 + ((code - 0x10000) >> 10));
            code = 0xdc00 | (code & 0x3ff);
        }
        out[used++] = (uint16_t)code;
        i += k;
    }
    return used;
}
