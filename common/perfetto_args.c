/* A CLR event's fields as debug annotations; what has a name is shown by it. */
#include <string.h>

#include "bytes.h"
#include "field.h"
#include "json_args.h"
#include "perfetto_private.h"

/* protos/perfetto/trace/track_event: TrackEvent and DebugAnnotation */
#define EVENT_ANNOTATION 4
#define ANNOTATION_NAME_IID 1
#define ANNOTATION_BOOL 2
#define ANNOTATION_UINT 3
#define ANNOTATION_INT 4
#define ANNOTATION_DOUBLE 5
#define ANNOTATION_STRING 6
#define ANNOTATION_POINTER 7
#define ANNOTATION_JSON 9
#define ANNOTATION_NAME 10

#define JSON_NAME "args"

void perfetto_intern_args(struct trd_perfetto *perfetto, const struct trd_record *record)
{
    const struct trd_schema *schema = record->schema;

    for (uint32_t i = schema ? schema->common_count : 0; schema && i < schema->field_count; i++)
        (void)perfetto_intern(perfetto, PERFETTO_ARG_NAME, schema->fields[i].name,
                              strlen(schema->fields[i].name));
}

static bool put_name_of_value(struct proto_out *out, const struct trd_field *field, uint64_t value)
{
    for (uint32_t i = 0; field->names && i < field->names->count; i++)
        if (field->names->entries[i].value == value) {
            proto_text(out, ANNOTATION_STRING, field->names->entries[i].name);
            return true;
        }
    return false;
}

static void put_reference(const struct trd_perfetto *perfetto, struct proto_out *out,
                          const struct trd_record *record, const struct trd_field *field,
                          uint64_t id)
{
    const struct trd_json_names *names = perfetto->names;
    size_t size = 0;
    const char *name = names && names->resolve
                           ? names->resolve(names->context, record->pid,
                                            (enum trd_meaning)field->meaning, id, &size)
                           : NULL;

    if (name)
        proto_bytes(out, ANNOTATION_STRING, name, size);
    else
        proto_uint(out, ANNOTATION_POINTER, id);
}

static void put_float(struct proto_out *out, const struct trd_field *field, uint64_t bits)
{
    uint32_t narrow = (uint32_t)bits;
    double value;
    float single;

    memcpy(&single, &narrow, sizeof(single));
    memcpy(&value, &bits, sizeof(value));
    proto_double(out, ANNOTATION_DOUBLE, field->size == 4 ? (double)single : value);
}

static void put_int(const struct trd_perfetto *perfetto, struct proto_out *out,
                    const struct trd_record *record, const struct trd_field *field, uint64_t value)
{
    switch (field->meaning) {
    case TRD_MEANING_BOOL:
        proto_uint(out, ANNOTATION_BOOL, value != 0);
        return;
    case TRD_MEANING_ADDRESS:
    case TRD_MEANING_SYMBOL:
        proto_uint(out, ANNOTATION_POINTER, value);
        return;
    case TRD_MEANING_FLOAT:
        put_float(out, field, value);
        return;
    case TRD_MEANING_THREAD:
    case TRD_MEANING_METHOD:
    case TRD_MEANING_MODULE:
    case TRD_MEANING_ASSEMBLY:
    case TRD_MEANING_TYPE:
        put_reference(perfetto, out, record, field, value);
        return;
    case TRD_MEANING_ENUM:
        if (put_name_of_value(out, field, value))
            return;
        break;
    default:
        break;
    }
    if (field->is_signed)
        proto_int(out, ANNOTATION_INT, (int64_t)value);
    else
        proto_uint(out, ANNOTATION_UINT, value);
}

static void put_value(const struct trd_perfetto *perfetto, struct proto_out *out,
                      const struct trd_record *record, const struct trd_field *field,
                      const struct field_bytes *bytes)
{
    switch (field->storage) {
    case TRD_STORAGE_INT:
        put_int(perfetto, out, record, field,
                load_int(bytes->at, field->size, field->is_signed, record->schema->big_endian));
        break;
    case TRD_STORAGE_CHARS:
    case TRD_STORAGE_DYN_CHARS:
    case TRD_STORAGE_TAIL_CHARS:
        proto_bytes(out, ANNOTATION_STRING, bytes->at,
                    strnlen((const char *)bytes->at, bytes->size));
        break;
    default: /* bytes and lists: how much there is */
        proto_uint(out, ANNOTATION_UINT, bytes->size);
        break;
    }
}

static void put_field(struct trd_perfetto *perfetto, struct proto_out *out,
                      const struct trd_record *record, const struct trd_field *field)
{
    struct field_bytes bytes;
    uint64_t iid;
    size_t begin;

    if (!field_find(record->schema, field, record->data, record->size, &bytes))
        return;
    iid = perfetto_intern(perfetto, PERFETTO_ARG_NAME, field->name, strlen(field->name));
    begin = proto_begin(out, EVENT_ANNOTATION);
    if (iid)
        proto_uint(out, ANNOTATION_NAME_IID, iid);
    else
        proto_text(out, ANNOTATION_NAME, field->name);
    put_value(perfetto, out, record, field, &bytes);
    proto_end(out, begin);
}

void perfetto_args(struct trd_perfetto *perfetto, struct proto_out *out,
                   const struct trd_record *record)
{
    const struct trd_schema *schema = record->schema;
    size_t begin;

    if (schema && record->data) {
        for (uint32_t i = schema->common_count; i < schema->field_count; i++)
            put_field(perfetto, out, record, &schema->fields[i]);
    } else if (record->args_json_size > 2) { /* more than {} */
        begin = proto_begin(out, EVENT_ANNOTATION);
        proto_text(out, ANNOTATION_NAME, JSON_NAME);
        proto_bytes(out, ANNOTATION_JSON, record->args_json, record->args_json_size);
        proto_end(out, begin);
    }
}

bool perfetto_number(const struct trd_record *record, const char *name, uint64_t *out)
{
    struct json_args_name wanted = { .text = name, .size = strlen(name) };
    const struct trd_field *field;
    struct field_bytes bytes;

    if (!record->schema || !record->data)
        return json_args_number(record, &wanted, out);
    field = trd_schema_field(record->schema, name);
    if (!field || field->storage != TRD_STORAGE_INT ||
        !field_find(record->schema, field, record->data, record->size, &bytes))
        return false;
    *out = load_int(bytes.at, field->size, field->is_signed, record->schema->big_endian);
    return true;
}
