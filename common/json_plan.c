#include "json_plan.h"

#include <stdlib.h>

#include "json_writer.h"

/* Longer inline texts and arrays are measured when they are written. */
#define CHARS_MAX 256
#define INTS_MAX 16
/* What steps may reserve without asking; a format that wants more gets the rest measured. */
#define ROOM_MAX (64 * 1024)
/* `{"raw":"18446744073709551615","names":[` and what closes it. */
#define LABELS_FRAME 64

static bool has_labels(const struct trd_field *field)
{
    return field->names &&
           (field->meaning == TRD_MEANING_FLAGS || field->meaning == TRD_MEANING_ENUM);
}

static size_t blocks(size_t size)
{
    return (size + JSON_BLOCK - 1) / JSON_BLOCK * JSON_BLOCK;
}

/* Room for everything that is escaped here, in blocks. */
static size_t text_size(const struct trd_schema *schema, uint32_t *out_labels)
{
    size_t size = blocks(JSON_STRING_MAX(strlen(schema->full_name)) + 24);

    *out_labels = 0;
    for (uint32_t i = schema->common_count; i < schema->field_count; i++) {
        const struct trd_field *field = &schema->fields[i];

        size += blocks(JSON_STRING_MAX(strlen(field->name)) + 4);
        if (!has_labels(field))
            continue;
        *out_labels += field->names->count;
        for (uint32_t k = 0; k < field->names->count; k++)
            size += blocks(JSON_STRING_MAX(strlen(field->names->entries[k].name)) + 16);
    }
    return size;
}

static char *align(const struct json_plan *plan, char *at)
{
    return plan->text + blocks((size_t)(at - plan->text));
}

static char *compile_label(struct json_label *label, const struct trd_name *name, bool flags,
                           char *at)
{
    char *start = at;

    if (!flags)
        at = JSON_PUT(at, ",\"name\":");
    at = json_put_string(at, name->name, strlen(name->name));
    *at++ = flags ? ',' : '}';
    *label = (struct json_label){ name->value, start, (uint32_t)(at - start) };
    return at;
}

static char *compile_labels(struct json_plan *plan, struct json_step *step, uint32_t *label_count,
                            char *at)
{
    const struct trd_names *names = step->field->names;
    bool flags = step->field->meaning == TRD_MEANING_FLAGS;

    step->first = *label_count;
    step->label_mask = flags ? names->mask : UINT64_MAX;
    for (uint32_t i = 0; i < names->count; i++) {
        /* A flag without bits would always be set. */
        if (flags && names->entries[i].value == 0)
            continue;
        at = align(plan, compile_label(&plan->labels[*label_count], &names->entries[i], flags, at));
        (*label_count)++;
        step->count++;
    }
    return at;
}

size_t json_labels_room(const struct json_plan *plan, const struct json_step *step)
{
    size_t sum = 0, longest = 0;

    for (uint32_t i = 0; i < step->count; i++) {
        size_t size = plan->labels[step->first + i].size;

        sum += size;
        if (size > longest)
            longest = size;
    }
    return LABELS_FRAME + (step->field->meaning == TRD_MEANING_FLAGS ? sum : longest);
}

/* Numbers of the machine we run on; other byte orders and odd sizes take the general road. */
static enum json_code number_code(const struct trd_schema *schema, const struct trd_field *field)
{
    if (schema->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
        return JSON_CODE_OTHER;
    switch (field->size) {
    case 1:
        return field->is_signed ? JSON_CODE_S8 : JSON_CODE_U8;
    case 2:
        return field->is_signed ? JSON_CODE_S16 : JSON_CODE_U16;
    case 4:
        return field->is_signed ? JSON_CODE_S32 : JSON_CODE_U32;
    case 8:
        return field->is_signed ? JSON_CODE_S64 : JSON_CODE_U64;
    default:
        return JSON_CODE_OTHER;
    }
}

static bool is_short_array(const struct trd_schema *schema, const struct trd_field *field)
{
    return schema->big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) &&
           field->meaning == TRD_MEANING_PLAIN && field->count > 0 && field->count <= INTS_MAX &&
           field->elem_size * field->count == field->size &&
           (field->elem_size == 4 || field->elem_size == 8);
}

static enum json_code choose_code(const struct trd_schema *schema, const struct trd_field *field)
{
    if (field->storage == TRD_STORAGE_CHARS)
        return field->size <= CHARS_MAX ? JSON_CODE_CHARS : JSON_CODE_OTHER;
    if (field->storage == TRD_STORAGE_INTS)
        return is_short_array(schema, field) ? JSON_CODE_INTS : JSON_CODE_OTHER;
    if (field->storage != TRD_STORAGE_INT)
        return JSON_CODE_OTHER;
    switch (field->meaning) {
    case TRD_MEANING_PLAIN:
    case TRD_MEANING_COUNT:
    case TRD_MEANING_HEX:
    case TRD_MEANING_TIME_NS:
    case TRD_MEANING_SIZE:
    case TRD_MEANING_TID:
    case TRD_MEANING_TOKEN:
    case TRD_MEANING_HRESULT:
        return number_code(schema, field);
    case TRD_MEANING_ADDRESS:
        return JSON_CODE_ADDRESS;
    case TRD_MEANING_BOOL:
        return JSON_CODE_BOOL;
    case TRD_MEANING_FLAGS:
        return field->names ? JSON_CODE_FLAGS : JSON_CODE_OTHER;
    case TRD_MEANING_ENUM:
        return field->names ? JSON_CODE_ENUM : JSON_CODE_OTHER;
    default:
        return JSON_CODE_OTHER;
    }
}

static size_t value_room(const struct json_plan *plan, const struct json_step *step)
{
    switch (step->code) {
    case JSON_CODE_FLAGS:
    case JSON_CODE_ENUM:
        return json_labels_room(plan, step);
    case JSON_CODE_CHARS:
        return JSON_STRING_MAX(step->size);
    case JSON_CODE_INTS:
        return 2 + (size_t)step->size / step->elem_size * JSON_NUMBER_MAX;
    default:
        return JSON_NUMBER_MAX;
    }
}

static char *compile_step(struct json_plan *plan, struct json_step *step,
                          const struct trd_field *field, uint32_t *label_count, char *at)
{
    size_t room;

    step->field = field;
    step->offset = field->offset;
    step->size = field->size;
    step->elem_size = (uint8_t)field->elem_size;
    step->is_signed = field->is_signed;
    step->key = at;
    *at++ = ',';
    at = json_put_string(at, field->name, strlen(field->name));
    *at++ = ':';
    step->key_size = (uint32_t)(at - step->key);
    at = align(plan, at);
    if (has_labels(field))
        at = compile_labels(plan, step, label_count, at);
    step->code = (uint8_t)choose_code(plan->schema, field);
    room = step->key_size + value_room(plan, step);
    if (step->code != JSON_CODE_OTHER && room > ROOM_MAX - plan->room)
        step->code = JSON_CODE_OTHER;
    if (step->code != JSON_CODE_OTHER)
        plan->room += (uint32_t)room;
    return at;
}

static void compile(struct json_plan *plan)
{
    const struct trd_schema *schema = plan->schema;
    uint32_t label_count = 0;
    char *at = plan->text;

    plan->name = at;
    at = JSON_PUT(at, ",\"name\":");
    at = json_put_string(at, schema->full_name, strlen(schema->full_name));
    at = JSON_PUT(at, ",\"args\":");
    plan->name_size = (uint32_t)(at - plan->name);
    at = align(plan, at);
    for (uint32_t i = 0; i < plan->step_count; i++)
        at = compile_step(plan, &plan->steps[i], &schema->fields[schema->common_count + i],
                          &label_count, at);
}

struct json_plan *json_plan_create(const struct trd_schema *schema,
                                   const struct trd_catalog *catalog)
{
    struct json_plan *plan = calloc(1, sizeof(*plan));
    uint32_t label_count;

    if (!plan)
        return NULL;
    plan->schema = schema;
    plan->catalog = catalog;
    plan->step_count = schema->field_count - schema->common_count;
    plan->text = calloc(1, text_size(schema, &label_count) + JSON_BLOCK);
    plan->steps = calloc(plan->step_count + 1, sizeof(*plan->steps));
    plan->labels = calloc(label_count + 1, sizeof(*plan->labels));
    if (!plan->text || !plan->steps || !plan->labels) {
        json_plan_destroy(plan);
        return NULL;
    }
    compile(plan);
    return plan;
}

void json_plan_destroy(struct json_plan *plan)
{
    if (!plan)
        return;
    free(plan->text);
    free(plan->steps);
    free(plan->labels);
    free(plan);
}
