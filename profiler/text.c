#include "text.h"

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

size_t text_from_utf16(const uint16_t *units, size_t count, char *out, size_t capacity)
{
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t code = units[i];
        char bytes[4];
        size_t size;

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
