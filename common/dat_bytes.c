#include "dat_bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dat_bytes_finish(struct dat_bytes *bytes)
{
    free(bytes->bytes);
    *bytes = (struct dat_bytes){ 0 };
}

static bool reserve(struct dat_bytes *bytes, size_t size)
{
    size_t capacity = bytes->capacity ? bytes->capacity : 4096;
    uint8_t *grown;

    if (bytes->failed)
        return false;
    if (size <= bytes->capacity - bytes->size)
        return true;
    while (capacity - bytes->size < size)
        capacity *= 2;
    grown = realloc(bytes->bytes, capacity);
    if (!grown) {
        bytes->failed = true;
        return false;
    }
    bytes->bytes = grown;
    bytes->capacity = capacity;
    return true;
}

void dat_bytes_put(struct dat_bytes *bytes, const void *from, size_t size)
{
    if (size == 0 || !reserve(bytes, size))
        return;
    memcpy(bytes->bytes + bytes->size, from, size);
    bytes->size += size;
}

void dat_bytes_text(struct dat_bytes *bytes, const char *text)
{
    dat_bytes_put(bytes, text, strlen(text) + 1);
}

void dat_bytes_print(struct dat_bytes *bytes, const char *format, ...)
{
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (size < 0 || !reserve(bytes, (size_t)size + 1))
        return;
    va_start(arguments, format);
    (void)vsnprintf((char *)bytes->bytes + bytes->size, (size_t)size + 1, format, arguments);
    va_end(arguments);
    bytes->size += (size_t)size;
}
