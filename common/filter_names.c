/* What a name in a filter stands for, in the line or among the fields of a schema. */
#include <string.h>

#include "filter_private.h"

static const struct filter_line_name line_names[] = {
    { "cpu", false, FILTER_FROM_CPU },  { "pid", false, FILTER_FROM_PID },
    { "tid", false, FILTER_FROM_TID },  { "ts", false, FILTER_FROM_TS },
    { "dur", false, FILTER_FROM_DUR },  { "thread", true, FILTER_TEXT_THREAD },
    { "name", true, FILTER_TEXT_NAME }, { "src", true, FILTER_TEXT_SOURCE },
};

static const struct filter_line_name *find_line_name(const char *name)
{
    for (size_t i = 0; i < sizeof(line_names) / sizeof(line_names[0]); i++)
        if (strcmp(line_names[i].name, name) == 0)
            return &line_names[i];
    return NULL;
}

const struct filter_line_name *filter_line_name(const struct filter_node *node)
{
    return node->is_argument || node->has_index ? NULL : find_line_name(node->text);
}

const struct trd_field *filter_field(const struct trd_schema *schema,
                                     const struct filter_node *node)
{
    return schema && node->kind == FILTER_NAME && !filter_line_name(node)
               ? trd_schema_field(schema, node->text)
               : NULL;
}

bool filter_has_labels(const struct trd_field *field)
{
    return field->storage == TRD_STORAGE_INT && field->names &&
           (field->meaning == TRD_MEANING_ENUM || field->meaning == TRD_MEANING_FLAGS);
}

bool filter_is_reference(const struct trd_field *field)
{
    switch (field->meaning) {
    case TRD_MEANING_THREAD:
    case TRD_MEANING_METHOD:
    case TRD_MEANING_MODULE:
    case TRD_MEANING_ASSEMBLY:
        return field->storage == TRD_STORAGE_INT;
    default:
        return false;
    }
}

bool filter_field_is_text(const struct trd_field *field)
{
    switch (field->storage) {
    case TRD_STORAGE_CHARS:
    case TRD_STORAGE_DYN_CHARS:
    case TRD_STORAGE_TAIL_CHARS:
        return true;
    case TRD_STORAGE_INT:
        return filter_has_labels(field) || filter_is_reference(field);
    default:
        return field->meaning == TRD_MEANING_TEXT && field->elem_size == 1;
    }
}

static bool is_number_size(unsigned size)
{
    return size == 1 || size == 2 || size == 4 || size == 8;
}

bool filter_field_is_number(const struct trd_field *field)
{
    if (field->meaning == TRD_MEANING_FLOAT) /* numbers here are whole */
        return false;
    switch (field->storage) {
    case TRD_STORAGE_INT:
    case TRD_STORAGE_INTS:
    case TRD_STORAGE_DYN_INTS:
    case TRD_STORAGE_TAIL_INTS:
        return is_number_size(field->elem_size);
    default:
        return false;
    }
}

static bool load_line(const struct filter_line_name *line, struct filter_load *out)
{
    *out = (struct filter_load){ .from = line->from,
                                 .size = 8,
                                 .is_signed = line->from != FILTER_FROM_TS &&
                                              line->from != FILTER_FROM_DUR };
    return !line->is_text;
}

static bool load_element(const struct trd_field *field, uint64_t index, struct filter_load *load)
{
    switch (field->storage) {
    case TRD_STORAGE_INTS:
        load->offset = (uint16_t)(field->offset + index * field->elem_size);
        return index < field->count;
    case TRD_STORAGE_DYN_INTS:
    case TRD_STORAGE_TAIL_INTS:
        load->array = field;
        load->index = index;
        return true;
    default:
        return false;
    }
}

static bool load_field(const struct trd_schema *schema, const struct filter_node *node,
                       struct filter_load *out)
{
    const struct trd_field *field = filter_field(schema, node);

    if (!field || !filter_field_is_number(field))
        return false;
    *out = (struct filter_load){ .from = FILTER_FROM_FIELD,
                                 .size = (uint8_t)field->elem_size,
                                 .is_signed = field->is_signed,
                                 .big_endian = schema->big_endian,
                                 .offset = field->offset };
    if (node->has_index)
        return load_element(field, node->number, out);
    return field->storage == TRD_STORAGE_INT;
}

bool filter_find_label(const struct trd_names *names, const char *text, uint64_t *out)
{
    for (uint32_t i = 0; names && i < names->count; i++)
        if (strcmp(names->entries[i].name, text) == 0) {
            *out = names->entries[i].value;
            return true;
        }
    return false;
}

bool filter_find_load(const struct trd_schema *schema, const struct filter_node *node,
                      struct filter_load *out)
{
    const struct filter_line_name *line = filter_line_name(node);

    if (line)
        return load_line(line, out);
    if (schema)
        return load_field(schema, node, out);
    *out = (struct filter_load){
        .from = FILTER_FROM_ARGS, .size = 8, .is_signed = true, .name = node
    };
    return true;
}
