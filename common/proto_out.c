#include "proto_out.h"

#include <stdlib.h>
#include <string.h>

#define INITIAL 4096
#define VARINT_MAX 10
#define LENGTH_SIZE 4 /* of a message within: up to 2^28 bytes */

enum wire {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_BYTES = 2,
};

void proto_finish(struct proto_out *out)
{
    free(out->bytes);
    *out = (struct proto_out){ 0 };
}

void proto_clear(struct proto_out *out)
{
    out->size = 0;
    out->failed = false;
}

static bool reserve(struct proto_out *out, size_t size)
{
    size_t capacity = out->capacity ? out->capacity : INITIAL;
    uint8_t *bytes;

    if (out->capacity - out->size >= size && out->bytes)
        return true;
    while (capacity - out->size < size)
        capacity *= 2;
    bytes = realloc(out->bytes, capacity);
    out->failed |= !bytes;
    if (!bytes)
        return false;
    out->bytes = bytes;
    out->capacity = capacity;
    return true;
}

static void put_varint(struct proto_out *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        out->bytes[out->size++] = (uint8_t)(value | 0x80);
    out->bytes[out->size++] = (uint8_t)value;
}

static void put_tag(struct proto_out *out, uint32_t field, enum wire wire)
{
    put_varint(out, (uint64_t)field << 3 | wire);
}

void proto_uint(struct proto_out *out, uint32_t field, uint64_t value)
{
    if (!reserve(out, 2 * VARINT_MAX))
        return;
    put_tag(out, field, WIRE_VARINT);
    put_varint(out, value);
}

void proto_int(struct proto_out *out, uint32_t field, int64_t value)
{
    proto_uint(out, field, (uint64_t)value);
}

void proto_bytes(struct proto_out *out, uint32_t field, const void *bytes, size_t size)
{
    if (!reserve(out, 2 * VARINT_MAX + size))
        return;
    put_tag(out, field, WIRE_BYTES);
    put_varint(out, size);
    if (size > 0)
        memcpy(out->bytes + out->size, bytes, size);
    out->size += size;
}

void proto_raw(struct proto_out *out, const void *bytes, size_t size)
{
    if (size == 0 || !reserve(out, size))
        return;
    memcpy(out->bytes + out->size, bytes, size);
    out->size += size;
}

void proto_text(struct proto_out *out, uint32_t field, const char *text)
{
    proto_bytes(out, field, text, strlen(text));
}

void proto_fixed64(struct proto_out *out, uint32_t field, uint64_t value)
{
    if (!reserve(out, 2 * VARINT_MAX))
        return;
    put_tag(out, field, WIRE_FIXED64);
    for (int i = 0; i < 8; i++)
        out->bytes[out->size++] = (uint8_t)(value >> 8 * i);
}

void proto_double(struct proto_out *out, uint32_t field, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    proto_fixed64(out, field, bits);
}

size_t proto_begin(struct proto_out *out, uint32_t field)
{
    if (!reserve(out, VARINT_MAX + LENGTH_SIZE))
        return 0;
    put_tag(out, field, WIRE_BYTES);
    out->size += LENGTH_SIZE;
    return out->size;
}

void proto_end(struct proto_out *out, size_t begin)
{
    size_t size = out->size - begin;

    if (out->failed)
        return;
    for (int i = 0; i < LENGTH_SIZE; i++, size >>= 7)
        out->bytes[begin - LENGTH_SIZE + (size_t)i] =
            (uint8_t)((size & 0x7f) | (i < LENGTH_SIZE - 1 ? 0x80 : 0));
}
