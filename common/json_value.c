/* Values whose size is known only when they are written: references, symbols, arrays, texts. */
#include "json_plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bytes.h"
#include "field.h"
#include "json_check.h"
#include "json_net.h"
#include "json_writer.h"

static inline bool fits(const char *out, const char *end, size_t size)
{
    return end - out >= (ptrdiff_t)size;
}

/* {"addr":"0x…","sym":"vfs_read+0x1c"}, without sym if unknown. */
static char *put_symbol(const struct json_run *run, uint64_t address, char *out, const char *end)
{
    const struct trd_catalog *catalog = run->plan->catalog;
    uint64_t offset = 0;
    const char *name = catalog ? trd_catalog_symbol(catalog, address, &offset) : NULL;
    size_t size = name ? strlen(name) : 0;
    char number[JSON_NUMBER_MAX];
    char *number_end;

    if (!name && run->names->symbol)
        name = run->names->symbol(run->names->context, run->record->pid, address,
                                  run->record->ts_ns, &size, &offset);
    if (!fits(out, end, JSON_STRING_MAX(size) + 2 * JSON_NUMBER_MAX + 32))
        return JSON_NO_ROOM;
    out = JSON_PUT(out, "{\"addr\":");
    out = json_put_hex(out, address);
    if (name) {
        out = JSON_PUT(out, ",\"sym\":");
        out = json_put_string(out, name, size);
        out[-1] = '+';
        number_end = json_put_hex(number, offset);
        out = json_put(out, number + 1, (size_t)(number_end - number - 1));
    }
    *out = '}';
    return out + 1;
}

/* {"id":"0x…","name":"…"}, without name if unknown. */
static char *put_reference(const struct json_run *run, const struct json_step *step, uint64_t id,
                           char *out, const char *end)
{
    const struct trd_json_names *names = run->names;
    const char *name = NULL;
    size_t size = 0;

    if (names->resolve)
        name = names->resolve(names->context, run->record->pid,
                              (enum trd_meaning)step->field->meaning, id, &size);
    if (!fits(out, end, JSON_STRING_MAX(size) + JSON_NUMBER_MAX + 32))
        return JSON_NO_ROOM;
    out = JSON_PUT(out, "{\"id\":");
    out = json_put_hex(out, id);
    if (name) {
        out = JSON_PUT(out, ",\"name\":");
        out = json_put_string(out, name, size);
    }
    *out = '}';
    return out + 1;
}

/* Linux keeps 12 bits of major and 20 of minor in the kernel's dev_t. */
static char *put_device(char *out, uint64_t value)
{
    *out++ = '"';
    out = json_put_u64(out, value >> 20);
    *out++ = ':';
    out = json_put_u32(out, (uint32_t)value & 0xfffff);
    *out++ = '"';
    return out;
}

/* Appends the set bits of one word, counted from `base`, each behind a comma. */
static char *put_bits(char *out, const char *end, uint64_t bits, uint64_t base)
{
    for (; bits; bits &= bits - 1) {
        if (!fits(out, end, JSON_NUMBER_MAX))
            return JSON_NO_ROOM;
        *out++ = ',';
        out = json_put_u64(out, base + (uint64_t)__builtin_ctzll(bits));
    }
    return out;
}

/* Items were written behind a comma each: the first comma becomes the bracket. */
static char *close_list(char *open, char *out, const char *end)
{
    if (out == JSON_NO_ROOM || !fits(out, end, 2))
        return JSON_NO_ROOM;
    if (out == open)
        out++;
    *open = '[';
    *out = ']';
    return out + 1;
}

static char *put_bitmask(const struct json_run *run, const struct json_step *step,
                         const struct field_bytes *bytes, char *out, const char *end)
{
    const struct trd_schema *schema = run->plan->schema;
    /* Masks are longs of the recording machine unless the field is one integer. */
    size_t word = step->field->storage == TRD_STORAGE_INT ? step->elem_size : schema->long_size;
    char *open = out;

    for (size_t at = 0; at + word <= bytes->size && out != JSON_NO_ROOM; at += word)
        out = put_bits(out, end, load_int(bytes->at + at, word, false, schema->big_endian), at * 8);
    return close_list(open, out, end);
}

/*
 * The shortest decimal that reads back as the same number; JSON has none for those that are not
 * finite, which become their names.
 */
static char *put_float(char *out, uint64_t bits, size_t size)
{
    uint32_t low = (uint32_t)bits;
    double value;
    float single;
    int length = 0;

    memcpy(&single, &low, sizeof(single));
    memcpy(&value, &bits, sizeof(value));
    if (size == sizeof(single))
        value = (double)single;
    if (isnan(value))
        return JSON_PUT(out, "\"NaN\"");
    if (isinf(value))
        return value > 0 ? JSON_PUT(out, "\"Infinity\"") : JSON_PUT(out, "\"-Infinity\"");
    for (int digits = size == sizeof(single) ? 6 : 15; digits <= 17; digits++) {
        length = snprintf(out, 2 * JSON_NUMBER_MAX, "%.*g", digits, value);
        if (size == sizeof(single) ? strtof(out, NULL) == single : strtod(out, NULL) == value)
            break;
    }
    /* The program's locale may have a decimal point of its own. */
    for (char *at = out; at < out + length; at++)
        if (*at == ',')
            *at = '.';
    return out + length;
}

static size_t int_room(const struct json_run *run, const struct json_step *step)
{
    return step->count ? json_labels_room(run->plan, step) + 2 * JSON_BLOCK : 2 * JSON_NUMBER_MAX;
}

/* One integer that is no symbol or reference; int_room is there. */
static char *put_plain_int(const struct json_run *run, const struct json_step *step,
                           const uint8_t *bytes, uint64_t value, char *out)
{
    char letter = (char)value;

    switch (step->field->meaning) {
    case TRD_MEANING_BOOL:
        return value ? JSON_PUT(out, "true") : JSON_PUT(out, "false");
    case TRD_MEANING_ADDRESS:
        return json_put_hex(out, value);
    case TRD_MEANING_FLAGS:
        if (step->field->names)
            return json_put_flags(run->plan, step, value, out);
        break;
    case TRD_MEANING_ENUM:
        if (step->field->names)
            return json_put_enum(run->plan, step, value, out);
        break;
    case TRD_MEANING_CHAR:
        return json_put_string(out, &letter, 1);
    case TRD_MEANING_DEVICE:
        return put_device(out, value);
    case TRD_MEANING_FLOAT:
        return put_float(out, value, step->elem_size);
    case TRD_MEANING_IPV4:
        return json_put_net(out, TRD_MEANING_IPV4, bytes, step->elem_size, false);
    default:
        break;
    }
    return json_put_int(out, value, step->elem_size, step->is_signed);
}

static char *put_int(const struct json_run *run, const struct json_step *step, const uint8_t *bytes,
                     char *out, const char *end)
{
    uint64_t value =
        load_int(bytes, step->elem_size, step->is_signed, run->plan->schema->big_endian);

    switch (step->field->meaning) {
    case TRD_MEANING_SYMBOL:
    case TRD_MEANING_STACK:
        return put_symbol(run, value, out, end);
    case TRD_MEANING_THREAD:
    case TRD_MEANING_METHOD:
    case TRD_MEANING_MODULE:
    case TRD_MEANING_ASSEMBLY:
    case TRD_MEANING_TYPE:
        return put_reference(run, step, value, out, end);
    default:
        if (!fits(out, end, int_room(run, step)))
            return JSON_NO_ROOM;
        return put_plain_int(run, step, bytes, value, out);
    }
}

/* Stacks that did not fill their array end at an entry of no address: 0, or all bits set. */
static bool ends_stack(const struct json_step *step, const uint8_t *bytes)
{
    uint64_t value = load_int(bytes, step->elem_size, true, false);

    return step->field->meaning == TRD_MEANING_STACK && (value == 0 || value == UINT64_MAX);
}

static char *put_array(const struct json_run *run, const struct json_step *step,
                       const struct field_bytes *bytes, char *out, const char *end)
{
    char *open = out;

    for (size_t at = 0; at + step->elem_size <= bytes->size; at += step->elem_size) {
        if (ends_stack(step, bytes->at + at))
            break;
        if (!fits(out, end, 1))
            return JSON_NO_ROOM;
        *out++ = ',';
        out = put_int(run, step, bytes->at + at, out, end);
        if (out == JSON_NO_ROOM)
            return JSON_NO_ROOM;
    }
    return close_list(open, out, end);
}

static char *put_text(const struct field_bytes *bytes, char *out, const char *end)
{
    if (!fits(out, end, JSON_STRING_MAX(bytes->size)))
        return JSON_NO_ROOM;
    return json_put_text(out, (const char *)bytes->at, bytes->size);
}

/* As it stands, if it is what it should be: who wrote it is not trusted. */
static char *put_json(const struct field_bytes *bytes, char *out, const char *end)
{
    size_t size = strnlen((const char *)bytes->at, bytes->size);

    if (size == 0)
        return JSON_ABSENT;
    if (!json_check((const char *)bytes->at, size))
        return put_text(bytes, out, end);
    if (!fits(out, end, size))
        return JSON_NO_ROOM;
    return json_put(out, (const char *)bytes->at, size);
}

static bool is_text(const struct trd_field *field)
{
    switch (field->storage) {
    case TRD_STORAGE_CHARS:
    case TRD_STORAGE_DYN_CHARS:
    case TRD_STORAGE_TAIL_CHARS:
        return true;
    case TRD_STORAGE_INT:
        return false;
    default: /* u8 name[16] that the kernel prints with %s */
        return field->meaning == TRD_MEANING_TEXT && field->elem_size == 1;
    }
}

/* Bytes whose meaning covers all of them at once. */
static bool is_net(const struct trd_field *field)
{
    switch (field->meaning) {
    case TRD_MEANING_IPV4:
    case TRD_MEANING_IPV6:
    case TRD_MEANING_MAC:
    case TRD_MEANING_UUID:
    case TRD_MEANING_GUID:
    case TRD_MEANING_SOCKADDR:
        return field->storage != TRD_STORAGE_INT && field->elem_size == 1;
    default:
        return false;
    }
}

static bool is_hex(const struct trd_field *field)
{
    bool bytes = field->storage == TRD_STORAGE_BYTES || field->storage == TRD_STORAGE_DYN_BYTES;

    return bytes || (field->meaning == TRD_MEANING_HEX && field->elem_size == 1 &&
                     field->storage != TRD_STORAGE_INT);
}

char *json_put_value(const struct json_run *run, const struct json_step *step, char *out, char *end)
{
    const struct trd_record *record = run->record;
    const struct trd_schema *schema = run->plan->schema;
    const struct trd_field *field = step->field;
    struct field_bytes bytes;

    if (!field_find(schema, field, record->data, record->size, &bytes))
        return JSON_ABSENT;
    if (field->meaning == TRD_MEANING_BITMASK || field->meaning == TRD_MEANING_BIT_LIST)
        return put_bitmask(run, step, &bytes, out, end);
    if (is_net(field)) {
        if (!fits(out, end, JSON_NET_MAX(bytes.size)))
            return JSON_NO_ROOM;
        return json_put_net(out, (enum trd_meaning)field->meaning, bytes.at, bytes.size,
                            schema->big_endian);
    }
    if (field->meaning == TRD_MEANING_JSON)
        return put_json(&bytes, out, end);
    if (is_text(field))
        return put_text(&bytes, out, end);
    if (is_hex(field)) {
        if (!fits(out, end, JSON_NET_MAX(bytes.size)))
            return JSON_NO_ROOM;
        return json_put_hex_bytes(out, bytes.at, bytes.size);
    }
    return field->storage == TRD_STORAGE_INT ? put_int(run, step, bytes.at, out, end)
                                             : put_array(run, step, &bytes, out, end);
}
