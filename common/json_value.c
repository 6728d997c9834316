#include "json_value.h"

#include <stdio.h>

#include "bytes.h"
#include "field.h"
#include "json_writer.h"

#define SYMBOL_MAX                                                                                 \
    1024 /* longest symbol with offset, escaped; longer ones go out as address only */

static inline bool fits(const char *out, const char *end, size_t size)
{
    return (size_t)(end - out) >= size;
}

static char *put_number(char *out, uint64_t value, size_t size, bool is_signed)
{
    if (size <= 4)
        return is_signed ? json_put_i64(out, (int64_t)value) : json_put_u64(out, value);
    *out++ = '"';
    out = is_signed ? json_put_i64(out, (int64_t)value) : json_put_u64(out, value);
    *out++ = '"';
    return out;
}

/* {"raw":n,"names":["S"]}: entries in the source's order, bits nobody names only in raw. */
static char *put_flags(const struct trd_field *field, uint64_t value, char *out, const char *end)
{
    uint64_t left = value & field->names->mask;
    bool first = true;

    out = JSON_PUT(out, "{\"raw\":");
    out = put_number(out, value, field->size, field->is_signed);
    out = JSON_PUT(out, ",\"names\":[");
    for (uint32_t i = 0; i < field->names->count && left; i++) {
        const struct trd_name *entry = &field->names->entries[i];
        size_t size;

        if ((left & entry->value) != entry->value || entry->value == 0)
            continue;
        size = strlen(entry->name);
        if (!fits(out, end, 6 * size + 8))
            return JSON_NO_ROOM;
        if (!first)
            *out++ = ',';
        first = false;
        out = json_put_string(out, entry->name, size);
        left &= ~entry->value;
    }
    return JSON_PUT(out, "]}");
}

static char *put_enum(const struct trd_field *field, uint64_t value, char *out, const char *end)
{
    out = JSON_PUT(out, "{\"raw\":");
    out = put_number(out, value, field->size, field->is_signed);
    for (uint32_t i = 0; i < field->names->count; i++) {
        const struct trd_name *entry = &field->names->entries[i];
        size_t size;

        if (entry->value != value)
            continue;
        size = strlen(entry->name);
        if (!fits(out, end, 6 * size + 16))
            return JSON_NO_ROOM;
        out = JSON_PUT(out, ",\"name\":");
        out = json_put_string(out, entry->name, size);
        break;
    }
    *out++ = '}';
    return out;
}

/* {"addr":"0x…","sym":"vfs_read+0x1c"}, without sym if unknown. */
static char *put_symbol(const struct json_context *context, uint64_t address, char *out,
                        const char *end)
{
    const char *name = NULL;
    uint64_t offset = 0;
    size_t size;

    if (!fits(out, end, SYMBOL_MAX))
        return JSON_NO_ROOM;
    out = JSON_PUT(out, "{\"addr\":");
    out = json_put_hex(out, address);
    if (context->catalog)
        name = trd_catalog_symbol(context->catalog, address, &offset);
    size = name ? strlen(name) : 0;
    if (name && 6 * size + 64 < SYMBOL_MAX) {
        out = JSON_PUT(out, ",\"sym\":");
        out = json_put_string(out, name, size) - 1;
        out = JSON_PUT(out, "+");
        /* json_put_hex brings quotes: the first goes, the second ends the string. */
        {
            char number[JSON_NUMBER_MAX];
            char *number_end = json_put_hex(number, offset);

            out = json_put(out, number + 1, (size_t)(number_end - number - 1));
        }
    }
    *out++ = '}';
    return out;
}

/* {"id":"0x…","name":"…"}, without name if unknown. */
static char *put_reference(const struct json_context *context, const struct trd_field *field,
                           uint64_t id, char *out, const char *end)
{
    const char *name = NULL;
    size_t size = 0;

    out = JSON_PUT(out, "{\"id\":");
    out = json_put_hex(out, id);
    if (context->names->resolve)
        name = context->names->resolve(context->names->context, context->record->pid,
                                       (enum trd_meaning)field->meaning, id, &size);
    if (name) {
        if (!fits(out, end, 6 * size + 16))
            return JSON_NO_ROOM;
        out = JSON_PUT(out, ",\"name\":");
        out = json_put_string(out, name, size);
    }
    *out++ = '}';
    return out;
}

static char *put_bit_list(uint64_t value, char *out)
{
    *out++ = '[';
    for (unsigned bit = 0; bit < 64; bit++)
        if (value >> bit & 1) {
            if (out[-1] != '[')
                *out++ = ',';
            out = json_put_u32(out, bit);
        }
    *out++ = ']';
    return out;
}

static char *put_ipv4(const uint8_t *bytes, char *out)
{
    *out++ = '"';
    for (int i = 0; i < 4; i++) {
        if (i > 0)
            *out++ = '.';
        out = json_put_u32(out, bytes[i]);
    }
    *out++ = '"';
    return out;
}

/* Linux keeps 12 bits of major and 20 of minor in the kernel's dev_t. */
static char *put_device(uint64_t value, char *out)
{
    *out++ = '"';
    out = json_put_u32(out, (uint32_t)(value >> 20));
    *out++ = ':';
    out = json_put_u32(out, (uint32_t)value & 0xfffff);
    *out++ = '"';
    return out;
}

/* The longest value of one integer that is no flags, enum, symbol or reference. */
#define INT_MAX_SIZE 256

static char *put_int(const struct json_context *context, const struct trd_field *field,
                     const uint8_t *bytes, uint64_t value, char *out, const char *end)
{
    if (!fits(out, end, INT_MAX_SIZE))
        return JSON_NO_ROOM;
    switch (field->meaning) {
    case TRD_MEANING_BOOL:
        return value ? JSON_PUT(out, "true") : JSON_PUT(out, "false");
    case TRD_MEANING_ADDRESS:
        return json_put_hex(out, value);
    case TRD_MEANING_SYMBOL:
    case TRD_MEANING_STACK:
        return put_symbol(context, value, out, end);
    case TRD_MEANING_FLAGS:
        return put_flags(field, value, out, end);
    case TRD_MEANING_ENUM:
        return put_enum(field, value, out, end);
    case TRD_MEANING_BIT_LIST:
    case TRD_MEANING_BITMASK:
        return put_bit_list(value, out);
    case TRD_MEANING_IPV4:
        return field->elem_size == 4 ? put_ipv4(bytes, out)
                                     : put_number(out, value, field->elem_size, false);
    case TRD_MEANING_DEVICE:
        return put_device(value, out);
    case TRD_MEANING_THREAD:
    case TRD_MEANING_METHOD:
    case TRD_MEANING_MODULE:
    case TRD_MEANING_ASSEMBLY:
        return put_reference(context, field, value, out, end);
    default:
        return put_number(out, value, field->elem_size, field->is_signed);
    }
}

static char *put_text(const struct field_bytes *bytes, char *out, const char *end)
{
    size_t size = strnlen((const char *)bytes->at, bytes->size);

    if (!fits(out, end, 6 * size + 2))
        return JSON_NO_ROOM;
    return json_put_string(out, (const char *)bytes->at, size);
}

/* Bytes without a type, or with one that is written with separators. */
static char *put_hex_bytes(const struct field_bytes *bytes, const char *separators, char *out,
                           const char *end)
{
    static const char digits[] = "0123456789abcdef";

    if (!fits(out, end, 3 * bytes->size + 2))
        return JSON_NO_ROOM;
    *out++ = '"';
    for (size_t i = 0; i < bytes->size; i++) {
        if (i > 0 && separators[i % 16] != ' ')
            *out++ = separators[i % 16];
        *out++ = digits[bytes->at[i] >> 4];
        *out++ = digits[bytes->at[i] & 15];
    }
    *out++ = '"';
    return out;
}

static char *put_bitmask(const struct field_bytes *bytes, bool big_endian, uint8_t long_size,
                         char *out, const char *end)
{
    char *start = out;

    *out++ = '[';
    for (size_t word = 0; word + long_size <= bytes->size; word += long_size) {
        uint64_t bits = load_int(bytes->at + word, long_size, false, big_endian);

        for (unsigned bit = 0; bits; bit++, bits >>= 1) {
            if (!(bits & 1))
                continue;
            if (!fits(out, end, JSON_NUMBER_MAX))
                return JSON_NO_ROOM;
            if (out != start + 1)
                *out++ = ',';
            out = json_put_u64(out, word * 8 + bit);
        }
    }
    *out++ = ']';
    return out;
}

static char *put_ints(const struct json_context *context, const struct trd_field *field,
                      const struct field_bytes *bytes, char *out, const char *end)
{
    const struct trd_schema *schema = context->record->schema;
    size_t count = bytes->size / field->elem_size;

    if (field->meaning == TRD_MEANING_BITMASK)
        return put_bitmask(bytes, schema->big_endian, schema->long_size, out, end);
    if (field->meaning == TRD_MEANING_MAC && bytes->size == 6)
        return put_hex_bytes(bytes, "::::::::::::::::", out, end);
    if (field->meaning == TRD_MEANING_UUID && bytes->size == 16)
        return put_hex_bytes(bytes, "    - - - -     ", out, end);
    if (field->meaning == TRD_MEANING_IPV4 && bytes->size == 4)
        return fits(out, end, 32) ? put_ipv4(bytes->at, out) : JSON_NO_ROOM;
    *out++ = '[';
    for (size_t i = 0; i < count; i++) {
        const uint8_t *at = bytes->at + i * field->elem_size;

        if (!fits(out, end, INT_MAX_SIZE))
            return JSON_NO_ROOM;
        if (i > 0)
            *out++ = ',';
        out =
            put_int(context, field, at,
                    load_int(at, field->elem_size, field->is_signed, schema->big_endian), out, end);
        if (out == JSON_NO_ROOM)
            return out;
    }
    *out++ = ']';
    return out;
}

char *json_put_field(const struct json_context *context, const struct trd_field *field, char *out,
                     char *end)
{
    const struct trd_record *record = context->record;
    struct field_bytes bytes;

    if (!field_find(record->schema, field, record->data, record->size, &bytes))
        return JSON_ABSENT;
    if (!fits(out, end, 8))
        return JSON_NO_ROOM;
    switch (field->storage) {
    case TRD_STORAGE_INT:
        return put_int(
            context, field, bytes.at,
            load_int(bytes.at, field->size, field->is_signed, record->schema->big_endian), out,
            end);
    case TRD_STORAGE_CHARS:
    case TRD_STORAGE_DYN_CHARS:
    case TRD_STORAGE_TAIL_CHARS:
        return put_text(&bytes, out, end);
    case TRD_STORAGE_INTS:
    case TRD_STORAGE_DYN_INTS:
    case TRD_STORAGE_TAIL_INTS:
        return put_ints(context, field, &bytes, out, end);
    default:
        return put_hex_bytes(&bytes, "                ", out, end);
    }
}
