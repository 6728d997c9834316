/*
 * Reading numbers of either byte order out of foreign bytes, and a cursor that cannot leave its
 * bounds. Shared by everything in common/ that parses.
 */
#ifndef TRD_COMMON_BYTES_H
#define TRD_COMMON_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t load_u16(const uint8_t *p, bool big_endian)
{
    uint16_t value;

    memcpy(&value, p, sizeof(value));
    return big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? __builtin_bswap16(value)
                                                                  : value;
}

static inline uint32_t load_u32(const uint8_t *p, bool big_endian)
{
    uint32_t value;

    memcpy(&value, p, sizeof(value));
    return big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? __builtin_bswap32(value)
                                                                  : value;
}

static inline uint64_t load_u64(const uint8_t *p, bool big_endian)
{
    uint64_t value;

    memcpy(&value, p, sizeof(value));
    return big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? __builtin_bswap64(value)
                                                                  : value;
}

/* An integer of 1, 2, 4 or 8 bytes, sign-extended to 64 bits if is_signed; other sizes give 0. */
static inline uint64_t load_int(const uint8_t *p, size_t size, bool is_signed, bool big_endian)
{
    switch (size) {
    case 1:
        return is_signed ? (uint64_t)(int64_t)(int8_t)*p : *p;
    case 2:
        return is_signed ? (uint64_t)(int64_t)(int16_t)load_u16(p, big_endian)
                         : load_u16(p, big_endian);
    case 4:
        return is_signed ? (uint64_t)(int64_t)(int32_t)load_u32(p, big_endian)
                         : load_u32(p, big_endian);
    case 8:
        return load_u64(p, big_endian);
    default:
        return 0;
    }
}

/* `failed` stays set after the first read past the end; reads then give 0 or NULL. */
struct cursor {
    const uint8_t *bytes;
    size_t size;
    size_t at;
    bool big_endian;
    bool failed;
};

static inline const uint8_t *cursor_take(struct cursor *cursor, uint64_t size)
{
    const uint8_t *p = cursor->bytes + cursor->at;

    if (cursor->failed || size > cursor->size - cursor->at) {
        cursor->failed = true;
        return NULL;
    }
    cursor->at += (size_t)size;
    return p;
}

static inline uint8_t cursor_u8(struct cursor *cursor)
{
    const uint8_t *p = cursor_take(cursor, 1);

    return p ? *p : 0;
}

static inline uint16_t cursor_u16(struct cursor *cursor)
{
    const uint8_t *p = cursor_take(cursor, 2);

    return p ? load_u16(p, cursor->big_endian) : 0;
}

static inline uint32_t cursor_u32(struct cursor *cursor)
{
    const uint8_t *p = cursor_take(cursor, 4);

    return p ? load_u32(p, cursor->big_endian) : 0;
}

static inline uint64_t cursor_u64(struct cursor *cursor)
{
    const uint8_t *p = cursor_take(cursor, 8);

    return p ? load_u64(p, cursor->big_endian) : 0;
}

/* NUL-terminated text, borrowed from the bytes. */
static inline const char *cursor_text(struct cursor *cursor)
{
    const uint8_t *start = cursor->bytes + cursor->at;
    const uint8_t *end = cursor->failed ? NULL : memchr(start, '\0', cursor->size - cursor->at);

    if (!end) {
        cursor->failed = true;
        return NULL;
    }
    cursor->at += (size_t)(end - start) + 1;
    return (const char *)start;
}

#endif
