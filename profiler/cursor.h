/*
 * Reads packed little-endian bytes that somebody else wrote, from front to back: a value that is
 * not there whole is 0, and `failed` stays set. Strings are UTF-16 up to a NUL.
 */
#ifndef TRD_PROFILER_CURSOR_H
#define TRD_PROFILER_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
    const uint8_t *at; /* borrowed */
    size_t left;
    bool failed;
};

/* `size` bytes, or NULL. */
static inline const uint8_t *cursor_bytes(struct cursor *cursor, size_t size)
{
    const uint8_t *bytes = cursor->at;

    if (cursor->failed || cursor->left < size) {
        cursor->failed = true;
        return NULL;
    }
    cursor->at += size;
    cursor->left -= size;
    return bytes;
}

#define CURSOR_READER(name, type)                                                                  \
    static inline type cursor_##name(struct cursor *cursor)                                        \
    {                                                                                              \
        const uint8_t *bytes = cursor_bytes(cursor, sizeof(type));                                 \
        type value = 0;                                                                            \
                                                                                                   \
        if (bytes)                                                                                 \
            memcpy(&value, bytes, sizeof(value));                                                  \
        return value;                                                                              \
    }
CURSOR_READER(u8, uint8_t)
CURSOR_READER(u16, uint16_t)
CURSOR_READER(u32, uint32_t)
CURSOR_READER(u64, uint64_t)
CURSOR_READER(f64, double)
#undef CURSOR_READER

/* A string's units, at any alignment, and how many there are before its NUL. */
struct cursor_string {
    const uint8_t *bytes;
    size_t units;
};

static inline struct cursor_string cursor_string(struct cursor *cursor)
{
    struct cursor_string string = { cursor->at, 0 };

    while (!cursor->failed && cursor_u16(cursor) != 0)
        string.units++;
    if (cursor->failed)
        string.units = 0;
    return string;
}

#endif
