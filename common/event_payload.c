#include "event_payload.h"

#include <stdio.h>
#include <string.h>

#include "bytes.h"

struct reader {
    const uint8_t *bytes;
    size_t size;
    size_t at;
    bool is_cut;
    size_t bool_size;
    uint8_t *record;
    size_t used; /* of the record */
};

/* Bytes of one element in the payload; 0 for a text, whose end must be looked for. */
static size_t wire_size(uint8_t type, size_t bool_size)
{
    switch (type) {
    case TRD_FIELD_BOOL:
        return bool_size;
    case TRD_FIELD_I8:
    case TRD_FIELD_U8:
        return 1;
    case TRD_FIELD_CHAR:
    case TRD_FIELD_I16:
    case TRD_FIELD_U16:
        return 2;
    case TRD_FIELD_I32:
    case TRD_FIELD_U32:
    case TRD_FIELD_F32:
        return 4;
    case TRD_FIELD_DECIMAL:
    case TRD_FIELD_GUID:
        return 16;
    case TRD_FIELD_TEXT:
        return 0;
    default:
        return 8;
    }
}

static bool is_text(uint8_t type)
{
    return type == TRD_FIELD_TEXT || type == TRD_FIELD_CHAR || type == TRD_FIELD_TIME;
}

static bool is_number(uint8_t type)
{
    return type >= TRD_FIELD_I8 && type <= TRD_FIELD_F64;
}

void event_payload_storage(const struct event_payload_field *field, struct trd_field *out)
{
    size_t size = field->type == TRD_FIELD_BOOL ? 1 : wire_size(field->type, 1);
    bool is_float = field->type == TRD_FIELD_F32 || field->type == TRD_FIELD_F64;

    *out = (struct trd_field){ .declaration = "", .offset = field->offset, .count = 1 };
    out->is_signed = is_number(field->type) && !is_float && field->type % 2 == TRD_FIELD_I8 % 2;
    out->meaning = is_float                        ? TRD_MEANING_FLOAT
                   : field->type == TRD_FIELD_BOOL ? TRD_MEANING_BOOL
                   : field->type == TRD_FIELD_GUID ? TRD_MEANING_GUID
                                                   : TRD_MEANING_PLAIN;
    if (is_text(field->type) && (!field->is_array || field->type == TRD_FIELD_CHAR)) {
        out->storage = TRD_STORAGE_DYN_CHARS;
        out->meaning = TRD_MEANING_TEXT;
        out->size = sizeof(struct trd_text);
        out->elem_size = 1;
    } else if (field->is_array) {
        bool numbers = is_number(field->type) || field->type == TRD_FIELD_BOOL ||
                       field->type == TRD_FIELD_TIME;

        out->storage = numbers ? TRD_STORAGE_DYN_INTS : TRD_STORAGE_DYN_BYTES;
        out->meaning = numbers ? out->meaning : TRD_MEANING_HEX;
        out->size = sizeof(struct trd_text);
        out->elem_size = numbers ? (uint16_t)size : 1;
    } else if (size == 16) {
        out->storage = TRD_STORAGE_BYTES;
        out->size = 16;
        out->elem_size = 1;
    } else {
        out->storage = TRD_STORAGE_INT;
        out->size = (uint16_t)size;
        out->elem_size = (uint16_t)size;
    }
}

static const uint8_t *take(struct reader *reader, size_t size)
{
    const uint8_t *bytes = reader->bytes + reader->at;

    if (reader->size - reader->at < size)
        return NULL;
    reader->at += size;
    return bytes;
}

static size_t put_code(uint8_t *out, uint32_t code)
{
    size_t more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t marks[] = { 0, 0xc0, 0xe0, 0xf0 };

    for (size_t i = more; i > 0; i--, code >>= 6)
        out[i] = (uint8_t)(0x80 | (code & 0x3f));
    out[0] = (uint8_t)(marks[more] | code);
    return more + 1;
}

/* The dynamic field at `offset` begins behind what the record has so far. */
static void set_word(struct reader *reader, uint16_t offset, size_t from)
{
    struct trd_text word = { (uint16_t)from, (uint16_t)(reader->used - from) };

    memcpy(reader->record + offset, &word, sizeof(word));
}

/* A lone surrogate becomes the three bytes its number would take, as in the profiler's own texts.
 */
static void put_text(struct reader *reader, uint16_t offset, const uint8_t *units, size_t count)
{
    size_t from = reader->used;

    for (size_t i = 0; i < count; i++) {
        uint32_t code = load_u16(units + 2 * i, false);
        uint32_t next = i + 1 < count ? load_u16(units + 2 * i + 2, false) : 0;

        if ((code & 0xfc00) == 0xd800 && (next & 0xfc00) == 0xdc00) {
            code = 0x10000 + ((code & 0x3ff) << 10) + (next & 0x3ff);
            i++;
        }
        reader->used += put_code(reader->record + reader->used, code);
    }
    reader->record[reader->used++] = '\0';
    set_word(reader, offset, from);
}

static void put_bytes(struct reader *reader, uint16_t offset, const uint8_t *bytes, size_t size)
{
    size_t from = reader->used;

    memcpy(reader->record + from, bytes, size);
    reader->used += size;
    set_word(reader, offset, from);
}

#define TICKS_PER_SECOND UINT64_C(10000000)
#define DAYS_1601_TO_0000_03 584694 /* from 1601-01-01 back to the first of March of the year 0 */
#define FILETIME_END UINT64_C(2650467744000000000) /* 10000-01-01 */

/* 100 ns since 1601 as people write it. */
static void put_time(struct reader *reader, uint16_t offset, uint64_t ticks)
{
    uint64_t seconds = ticks / TICKS_PER_SECOND;
    uint32_t in_day = (uint32_t)(seconds % 86400);
    uint32_t days = (uint32_t)(seconds / 86400) + DAYS_1601_TO_0000_03;
    uint32_t era = days / 146097, of_era = days % 146097;
    uint32_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    uint32_t of_year = of_era - (365 * year + year / 4 - year / 100);
    uint32_t month = (5 * of_year + 2) / 153;
    size_t from = reader->used;
    char *out = (char *)reader->record + from;
    int size;

    if (ticks >= FILETIME_END)
        size = snprintf(out, 32, "%llu", (unsigned long long)ticks);
    else
        size = snprintf(out, 32, "%04u-%02u-%02uT%02u:%02u:%02u.%07uZ",
                        year + era * 400 + (month >= 10), month < 10 ? month + 3 : month - 9,
                        of_year - (153 * month + 2) / 5 + 1, in_day / 3600, in_day / 60 % 60,
                        in_day % 60, (uint32_t)(ticks % TICKS_PER_SECOND));
    reader->used += (size_t)size + 1;
    set_word(reader, offset, from);
}

static bool read_text(struct reader *reader, uint16_t offset)
{
    const uint8_t *start = reader->bytes + reader->at;
    size_t left = (reader->size - reader->at) / 2, units = 0;

    while (units < left && load_u16(start + 2 * units, false) != 0)
        units++;
    if (units == left && (!reader->is_cut || left == 0))
        return false;
    put_text(reader, offset, start, units);
    reader->at = units == left ? reader->size : reader->at + 2 * (units + 1);
    return true;
}

static bool read_array(struct reader *reader, const struct event_payload_field *field)
{
    size_t before = reader->at;
    const uint8_t *word = take(reader, 2);
    size_t elem = wire_size(field->type, 1);
    size_t count = word ? load_u16(word, false) : 0;
    const uint8_t *elements = word && elem ? take(reader, count * elem) : NULL;

    if (!elements) {
        reader->at = before;
        return false;
    }
    if (field->type == TRD_FIELD_CHAR)
        put_text(reader, field->offset, elements, count);
    else
        put_bytes(reader, field->offset, elements, count * elem);
    return true;
}

static bool read_field(struct reader *reader, const struct event_payload_field *field)
{
    const uint8_t *bytes;
    size_t size;

    if (field->type < TRD_FIELD_BOOL || field->type > TRD_FIELD_TEXT)
        return false;
    if (field->is_array)
        return read_array(reader, field);
    if (field->type == TRD_FIELD_TEXT)
        return read_text(reader, field->offset);
    size = wire_size(field->type, reader->bool_size);
    bytes = take(reader, size);
    if (!bytes)
        return false;
    if (field->type == TRD_FIELD_CHAR)
        put_text(reader, field->offset, bytes, 1);
    else if (field->type == TRD_FIELD_TIME)
        put_time(reader, field->offset, load_u64(bytes, false));
    else if (field->type == TRD_FIELD_BOOL)
        reader->record[field->offset] = bytes[0] != 0;
    else
        memcpy(reader->record + field->offset, bytes, size);
    return true;
}

static void read_all(const struct event_payload_field *fields, uint32_t count,
                     struct reader *reader, size_t fixed_size, struct event_payload *out)
{
    memset(reader->record, 0, fixed_size);
    reader->at = 0;
    reader->used = fixed_size;
    out->field_count = 0;
    while (out->field_count < count && read_field(reader, &fields[out->field_count]))
        out->field_count++;
    out->rest = reader->at;
    out->size = reader->used;
}

void event_payload_read(const struct event_payload_field *fields, uint32_t count,
                        const uint8_t *bytes, size_t size, bool is_cut, size_t fixed_size,
                        uint8_t *record, struct event_payload *out)
{
    struct reader reader = {
        .bytes = bytes, .size = size, .is_cut = is_cut, .bool_size = 4, .record = record
    };
    struct event_payload narrow;

    read_all(fields, count, &reader, fixed_size, out);
    if (is_cut || (out->field_count == count && out->rest == size))
        return;
    /* It does not come out even: so it may be that its bools are of one byte. */
    reader.bool_size = 1;
    read_all(fields, count, &reader, fixed_size, &narrow);
    if (narrow.field_count == count && narrow.rest == size) {
        *out = narrow;
        return;
    }
    reader.bool_size = 4;
    read_all(fields, count, &reader, fixed_size, out);
}
