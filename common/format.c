/*
 * `format` file -> schema. libtraceevent takes the field part apart; it is handed the text with an
 * empty print format, since its parser of print formats is not safe on foreign text.
 */
#include "catalog_private.h"

#include <errno.h>
#include <event-parse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A record is at most a sub-buffer, 64 KiB; offsets beyond are nonsense. */
#define OFFSET_MAX 65535
#define FIELDS_MAX 1024

struct format {
    struct trd_schema schema;
    struct trd_field *fields; /* owned */
    char *text;               /* owned: every string of the schema lies in here */
};

/* The text up to its `print fmt:` line, with an empty one instead. */
static char *without_print_format(const char *text, size_t size)
{
    static const char empty[] = "print fmt: \"\"\n";
    const char *print = memmem(text, size, "\nprint fmt:", 11);
    size_t kept = print ? (size_t)(print + 1 - text) : size;
    char *copy = malloc(kept + sizeof(empty));

    if (copy) {
        memcpy(copy, text, kept);
        memcpy(copy + kept, empty, sizeof(empty));
    }
    return copy;
}

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

static bool is_struct(const char *type)
{
    return word_in(type, "struct") || word_in(type, "union");
}

static bool is_char(const char *type)
{
    return word_in(type, "char") && !word_in(type, "unsigned");
}

static uint16_t whole_element(unsigned size)
{
    return size == 1 || size == 2 || size == 4 || size == 8 ? (uint16_t)size : 0;
}

static void set_array_storage(struct trd_field *field, const struct tep_format_field *tep)
{
    bool text = (tep->flags & TEP_FIELD_IS_STRING) || is_char(tep->type);
    bool bytes = is_struct(tep->type) && !strchr(tep->type, '*');

    field->elem_size = text ? 1 : whole_element((unsigned)tep->elementsize);
    if (tep->flags & TEP_FIELD_IS_DYNAMIC) {
        field->storage = text                         ? TRD_STORAGE_DYN_CHARS
                         : bytes || !field->elem_size ? TRD_STORAGE_DYN_BYTES
                                                      : TRD_STORAGE_DYN_INTS;
        field->is_relative = (tep->flags & TEP_FIELD_IS_RELATIVE) != 0;
    } else if (tep->size == 0) {
        field->storage = text ? TRD_STORAGE_TAIL_CHARS : TRD_STORAGE_TAIL_INTS;
        if (!field->elem_size)
            field->elem_size = 8;
    } else if (text) {
        field->storage = TRD_STORAGE_CHARS;
    } else if (bytes || !field->elem_size || tep->size % field->elem_size) {
        field->storage = TRD_STORAGE_BYTES;
    } else {
        field->storage = TRD_STORAGE_INTS;
        field->count = (uint16_t)(tep->size / field->elem_size);
    }
    if (!field->elem_size)
        field->elem_size = 1;
}

static void set_storage(struct trd_field *field, const struct tep_format_field *tep)
{
    field->count = 1;
    field->elem_size = field->size;
    if ((tep->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_DYNAMIC)) || tep->size == 0)
        set_array_storage(field, tep);
    else
        field->storage = whole_element(field->size) ? TRD_STORAGE_INT : TRD_STORAGE_BYTES;
}

/* What the declaration alone says; the print format may know better. */
static void set_meaning(struct trd_field *field, const struct tep_format_field *tep)
{
    if (strstr(tep->type, "cpumask") || strstr(tep->type, "bitmap"))
        field->meaning = TRD_MEANING_BITMASK;
    else if (strchr(tep->type, '*'))
        field->meaning = TRD_MEANING_ADDRESS;
    else if (word_in(tep->type, "bool") && field->size == 1)
        field->meaning = TRD_MEANING_BOOL;
    else if (field->storage == TRD_STORAGE_CHARS || field->storage == TRD_STORAGE_DYN_CHARS ||
             field->storage == TRD_STORAGE_TAIL_CHARS)
        field->meaning = TRD_MEANING_TEXT;
    else
        field->meaning = TRD_MEANING_PLAIN;
}

static int convert_field(struct trd_field *field, const struct tep_format_field *tep, bool common)
{
    if (tep->offset < 0 || tep->size < 0 || tep->offset > OFFSET_MAX ||
        tep->offset + tep->size > OFFSET_MAX)
        return -EBADMSG;
    field->name = tep->name;
    field->declaration = tep->type;
    field->offset = (uint16_t)tep->offset;
    field->size = (uint16_t)tep->size;
    field->is_signed = (tep->flags & TEP_FIELD_IS_SIGNED) != 0;
    field->is_common = common;
    set_storage(field, tep);
    set_meaning(field, tep);
    return 0;
}

static int convert_fields(struct format *format, const struct tep_event *event)
{
    const struct tep_format_field *lists[2] = { event->format.common_fields, event->format.fields };
    struct trd_schema *schema = &format->schema;
    size_t count = 0, at = 0;

    for (int list = 0; list < 2; list++)
        for (const struct tep_format_field *tep = lists[list]; tep; tep = tep->next)
            count++;
    if (count > FIELDS_MAX)
        return -EBADMSG;
    format->fields = calloc(count ? count : 1, sizeof(*format->fields));
    if (!format->fields)
        return -ENOMEM;
    for (int list = 0; list < 2; list++)
        for (const struct tep_format_field *tep = lists[list]; tep; tep = tep->next, at++) {
            int result = convert_field(&format->fields[at], tep, list == 0);

            if (result != 0)
                return result;
            if (format->fields[at].offset + format->fields[at].size > schema->fixed_size)
                schema->fixed_size =
                    (uint16_t)(format->fields[at].offset + format->fields[at].size);
            schema->common_count += list == 0;
        }
    schema->fields = format->fields;
    schema->field_count = (uint32_t)count;
    return 0;
}

static size_t strings_size(const struct format *format, const char *system,
                           const struct tep_event *event, size_t print_size)
{
    size_t size = 2 * strlen(system) + 2 * strlen(event->name) + print_size + 8;

    for (uint32_t i = 0; i < format->schema.field_count; i++)
        size += strlen(format->fields[i].name) + strlen(format->fields[i].declaration) + 2;
    return size;
}

static const char *keep(char **at, const char *text, size_t size)
{
    char *kept = *at;

    memcpy(kept, text, size);
    kept[size] = '\0';
    *at += size + 1;
    return kept;
}

/* Moves every string out of libtraceevent's event and the caller's text into the schema's own. */
static int keep_strings(struct format *format, const char *system, const struct tep_event *event,
                        const char *print, size_t print_size)
{
    struct trd_schema *schema = &format->schema;
    char *at = malloc(strings_size(format, system, event, print_size));

    if (!at)
        return -ENOMEM;
    format->text = at;
    schema->system = keep(&at, system, strlen(system));
    schema->name = keep(&at, event->name, strlen(event->name));
    schema->full_name = at;
    at += sprintf(at, "%s:%s", system, event->name) + 1;
    schema->print_text = keep(&at, print, print_size);
    for (uint32_t i = 0; i < schema->field_count; i++) {
        struct trd_field *field = &format->fields[i];

        field->name = keep(&at, field->name, strlen(field->name));
        field->declaration = keep(&at, field->declaration, strlen(field->declaration));
    }
    return 0;
}

static const char *find_print(const char *text, size_t size, size_t *out_size)
{
    const char *print = memmem(text, size, "\nprint fmt:", 11);
    const char *end = text + size;

    *out_size = 0;
    if (!print)
        return "";
    print += 11;
    while (print < end && *print == ' ')
        print++;
    while (end > print && (end[-1] == '\n' || end[-1] == '\0'))
        end--;
    *out_size = (size_t)(end - print);
    return print;
}

/* The `ID:` line, needed to find again what libtraceevent parsed; -1 if there is none. */
static int find_id(const char *text, size_t size)
{
    const char *line = memmem(text, size, "\nID:", 4);
    char digits[16] = "";

    if (!line)
        return -1;
    for (size_t i = 0; i + 1 < sizeof(digits) && line + 4 + i < text + size; i++)
        digits[i] = line[4 + i];
    return (int)strtol(digits, NULL, 10);
}

void format_destroy(struct trd_schema *schema)
{
    struct format *format = (struct format *)schema;

    if (!format)
        return;
    free(format->fields);
    free(format->text);
    free(format);
}

int format_parse(struct trd_catalog *catalog, const char *system, const char *text, size_t size,
                 struct trd_schema **out)
{
    char *fields_only = without_print_format(text, size);
    struct format *format = calloc(1, sizeof(*format));
    int id = find_id(text, size);
    struct tep_event *event;
    const char *print;
    size_t print_size;
    int result = -ENOMEM;

    if (!fields_only || !format)
        goto out;
    result = -EBADMSG;
    if (id < 0)
        goto out;
    result = -EEXIST;
    if (tep_find_event(catalog->tep, id))
        goto out;
    /* The library keeps its event with the handle; it is of no use after this function. */
    result = -EBADMSG;
    (void)tep_parse_event(catalog->tep, fields_only, strlen(fields_only), system);
    event = tep_find_event(catalog->tep, id);
    if (!event || !event->name)
        goto out;
    format->schema.id = (uint32_t)id;
    format->schema.big_endian = catalog->layout.big_endian;
    format->schema.long_size = catalog->layout.long_size;
    result = convert_fields(format, event);
    if (result != 0)
        goto out;
    print = find_print(text, size, &print_size);
    result = keep_strings(format, system, event, print, print_size);
out:
    free(fields_only);
    if (result == 0)
        *out = &format->schema;
    else
        format_destroy(format ? &format->schema : NULL);
    return result;
}
