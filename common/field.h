/* Where a field's bytes lie in a record, checked against the record's end. */
#ifndef TRD_COMMON_FIELD_H
#define TRD_COMMON_FIELD_H

#include "bytes.h"
#include "tracerd/schema.h"

struct field_bytes {
    const uint8_t *at;
    size_t size;
};

/* False if the record does not reach that far. */
static inline bool field_find(const struct trd_schema *schema, const struct trd_field *field,
                              const uint8_t *data, size_t size, struct field_bytes *out)
{
    uint32_t word, offset, length;

    if ((size_t)field->offset + field->size > size)
        return false;
    switch (field->storage) {
    case TRD_STORAGE_DYN_INTS:
    case TRD_STORAGE_DYN_CHARS:
    case TRD_STORAGE_DYN_BYTES:
        word = load_u32(data + field->offset, schema->big_endian);
        offset = word & 0xffff;
        length = word >> 16;
        if (word == 0 && schema->is_clr) /* an absent text */
            return false;
        if (field->is_relative)
            offset += field->offset + 4u;
        if ((size_t)offset + length > size)
            return false;
        *out = (struct field_bytes){ data + offset, length };
        return true;
    case TRD_STORAGE_TAIL_INTS:
    case TRD_STORAGE_TAIL_CHARS:
        *out = (struct field_bytes){ data + field->offset, size - field->offset };
        return true;
    default:
        *out = (struct field_bytes){ data + field->offset, field->size };
        return true;
    }
}

#endif
