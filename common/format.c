/* `format` file -> schema: what the fields are. Their meaning beyond C's types is print.c's. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "catalog_private.h"
#include "format_fields.h"
#include "print.h"
#include "print_type.h"

/* A record is at most a sub-buffer, 64 KiB; offsets beyond are nonsense. */
#define OFFSET_MAX 65535
#define FIELDS_MAX 1024

struct format {
    struct trd_schema schema;
    struct trd_field *fields; /* owned */
    char *text;               /* owned: every string of the schema lies in here */
};

static bool word_in(const char *text, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        bool starts = at == text || at[-1] == ' ';
        bool ends = at[length] == '\0' || at[length] == ' ' || at[length] == '[';

        if (starts && ends)
            return true;
    }
    return false;
}

static bool is_struct(const struct trd_field *field)
{
    return !print_type_is_pointer(field) &&
           (word_in(field->declaration, "struct") || word_in(field->declaration, "union"));
}

/* char is text; unsigned char, signed char and u8 are numbers. */
static bool is_text(const struct trd_field *field)
{
    return !print_type_is_pointer(field) && word_in(field->declaration, "char") &&
           !word_in(field->declaration, "unsigned") && !word_in(field->declaration, "signed");
}

static bool is_mask(const struct trd_field *field)
{
    return word_in(field->declaration, "cpumask_t") || word_in(field->declaration, "nodemask_t");
}

static uint16_t whole_element(uint32_t size)
{
    return size == 1 || size == 2 || size == 4 || size == 8 ? (uint16_t)size : 0;
}

/* Bytes of one element; 0 if it is no integer or nothing tells. */
static uint16_t element_size(const struct trd_catalog *catalog, const struct trd_field *field,
                             const struct format_field *text)
{
    struct ctype type;

    if (is_struct(field))
        return 0;
    if (is_mask(field))
        return catalog->layout.long_size;
    if (text->length > 0 && text->size > 0 && text->size % text->length == 0)
        return whole_element(text->size / text->length);
    if (!print_type_parse(catalog, text->type, text->type_size, &type))
        return text->array == FORMAT_ARRAY_FIXED ? whole_element(text->size) : 0;
    return whole_element(type.size);
}

static void set_dynamic(struct trd_field *field, uint16_t element)
{
    if (is_text(field))
        field->storage = TRD_STORAGE_DYN_CHARS;
    else
        field->storage = element ? TRD_STORAGE_DYN_INTS : TRD_STORAGE_DYN_BYTES;
    field->elem_size = is_text(field) || !element ? 1 : element;
}

static void set_inline_array(struct trd_field *field, uint16_t element)
{
    bool tail = field->size == 0;

    if (is_text(field)) {
        field->storage = tail ? TRD_STORAGE_TAIL_CHARS : TRD_STORAGE_CHARS;
        field->elem_size = 1;
    } else if (tail) {
        field->storage = TRD_STORAGE_TAIL_INTS;
        field->elem_size = element ? element : 1;
    } else if (element && field->size % element == 0) {
        field->storage = TRD_STORAGE_INTS;
        field->elem_size = element;
        field->count = (uint16_t)(field->size / element);
    } else {
        field->storage = TRD_STORAGE_BYTES;
        field->elem_size = 1;
    }
}

static void set_scalar(struct trd_field *field)
{
    bool whole = whole_element(field->size) != 0 && !is_struct(field);

    field->storage = whole ? TRD_STORAGE_INT : TRD_STORAGE_BYTES;
    field->elem_size = whole ? field->size : 1;
}

static void set_storage(const struct trd_catalog *catalog, struct trd_field *field,
                        const struct format_field *text)
{
    field->count = 1;
    if (text->array >= FORMAT_ARRAY_DATA_LOC && field->size == 4) {
        set_dynamic(field, element_size(catalog, field, text));
        field->is_relative = text->array == FORMAT_ARRAY_REL_LOC;
    } else if (text->array == FORMAT_ARRAY_FIXED || field->size == 0) {
        set_inline_array(field, element_size(catalog, field, text));
    } else {
        set_scalar(field);
    }
}

/* What the declaration alone says; the print format may know better. */
static void set_meaning(struct trd_field *field)
{
    if (is_mask(field))
        field->meaning = TRD_MEANING_BITMASK;
    else if (print_type_is_pointer(field))
        field->meaning = TRD_MEANING_ADDRESS;
    else if ((word_in(field->declaration, "bool") || word_in(field->declaration, "_Bool")) &&
             field->size == 1)
        field->meaning = TRD_MEANING_BOOL;
    else if (field->storage == TRD_STORAGE_CHARS || field->storage == TRD_STORAGE_DYN_CHARS ||
             field->storage == TRD_STORAGE_TAIL_CHARS)
        field->meaning = TRD_MEANING_TEXT;
    else
        field->meaning = TRD_MEANING_PLAIN;
}

static const char *keep(char **at, const char *text, size_t size)
{
    char *kept = *at;

    memcpy(kept, text, size);
    kept[size] = '\0';
    *at += size + 1;
    return kept;
}

static const char *keep_declaration(char **at, const struct format_field *text)
{
    static const char *const prefixes[] = {
        [FORMAT_ARRAY_DATA_LOC] = "__data_loc ", [FORMAT_ARRAY_REL_LOC] = "__rel_loc "
    };
    char *kept = *at;

    if (text->array >= FORMAT_ARRAY_DATA_LOC)
        *at = stpcpy(*at, prefixes[text->array]);
    *at = mempcpy(*at, text->type, text->type_size);
    if (text->brackets_size > 0)
        *at = mempcpy(*at, text->brackets, text->brackets_size);
    *(*at)++ = '\0';
    return kept;
}

/* The array of kernel_stack is declared with 8 entries and recorded with as many as there are. */
static bool is_stack(const struct trd_schema *schema, const struct trd_field *field)
{
    return strcmp(schema->system, "ftrace") == 0 && strcmp(schema->name, "kernel_stack") == 0 &&
           strcmp(field->name, "caller") == 0;
}

static int set_field(const struct trd_catalog *catalog, struct format *format,
                     struct trd_field *field, struct format_field *text, char **strings)
{
    struct trd_schema *schema = &format->schema;

    if (text->offset > OFFSET_MAX || text->size > OFFSET_MAX ||
        text->offset + text->size > OFFSET_MAX)
        return -EBADMSG;
    field->name = keep(strings, text->name, text->name_size);
    field->declaration = keep_declaration(strings, text);
    if (is_stack(schema, field))
        text->size = 0;
    field->offset = (uint16_t)text->offset;
    field->size = (uint16_t)text->size;
    field->is_signed = text->is_signed;
    field->is_common = text->is_common;
    set_storage(catalog, field, text);
    set_meaning(field);
    if (field->offset + field->size > schema->fixed_size)
        schema->fixed_size = (uint16_t)(field->offset + field->size);
    schema->common_count += field->is_common;
    return 0;
}

static int set_fields(const struct trd_catalog *catalog, struct format *format,
                      const struct format_text *text, char *strings)
{
    struct format_fields lines;
    struct format_field line;
    uint32_t count = 0;

    format_fields_init(&lines, text);
    while (format_fields_next(&lines, &line) == 1)
        count++;
    if (count > FIELDS_MAX)
        return -EBADMSG;
    format->fields = calloc(count ? count : 1, sizeof(*format->fields));
    if (!format->fields)
        return -ENOMEM;
    format->schema.fields = format->fields;
    format->schema.field_count = count;
    format_fields_init(&lines, text);
    for (uint32_t i = 0; format_fields_next(&lines, &line) == 1; i++) {
        int result = set_field(catalog, format, &format->fields[i], &line, &strings);

        if (result != 0)
            return result;
    }
    return 0;
}

static int fill(const struct trd_catalog *catalog, struct format *format, const char *system,
                const struct format_text *text, const char *whole, size_t whole_size)
{
    struct trd_schema *schema = &format->schema;
    size_t system_size = strlen(system);
    size_t fields_size = (size_t)(text->fields_end - text->fields);
    char *at;

    /* Every field line is longer than its name, its type and their two ends. */
    format->text = malloc(2 * (system_size + text->name_size + 2) + text->print_size + fields_size +
                          whole_size + 17);
    if (!format->text)
        return -ENOMEM;
    at = format->text;
    schema->id = text->id;
    schema->big_endian = catalog->layout.big_endian;
    schema->long_size = catalog->layout.long_size;
    schema->system = keep(&at, system, system_size);
    schema->name = keep(&at, text->name, text->name_size);
    schema->full_name = at;
    at = mempcpy(at, system, system_size);
    *at++ = ':';
    (void)keep(&at, text->name, text->name_size);
    schema->print_text = keep(&at, text->print, text->print_size);
    schema->format_text = keep(&at, whole, whole_size);
    return set_fields(catalog, format, text, at);
}

void format_destroy(struct trd_schema *schema)
{
    struct format *format = (struct format *)schema;

    if (!format)
        return;
    print_destroy(format->schema.print_format);
    free(format->fields);
    free(format->text);
    free(format);
}

int format_parse(struct trd_catalog *catalog, const char *system, const char *text, size_t size,
                 struct trd_schema **out)
{
    struct format_text split;
    struct format *format;
    int result = format_text_split(&split, text, size);

    if (result != 0)
        return result;
    format = calloc(1, sizeof(*format));
    if (!format)
        return -ENOMEM;
    result = fill(catalog, format, system, &split, text, size);
    if (result == 0)
        result = print_compile(catalog, &format->schema, format->fields);
    if (result == 0)
        *out = &format->schema;
    else
        format_destroy(&format->schema);
    return result;
}
