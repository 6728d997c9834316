#include "format_fields.h"

#include <errno.h>
#include <string.h>

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    return at;
}

static const char *trim(const char *at, const char *end)
{
    while (end > at && is_blank(end[-1]))
        end--;
    return end;
}

static const char *line_end(const char *at, const char *end)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));

    return newline ? newline : end;
}

static bool starts_with(const char *at, const char *end, const char *prefix)
{
    size_t size = strlen(prefix);

    return (size_t)(end - at) >= size && memcmp(at, prefix, size) == 0;
}

/* A decimal number; false for none and for what does not fit. */
static bool take_number(const char *at, const char *end, uint32_t *out)
{
    uint64_t value = 0;
    const char *start = at;

    for (; at < end && *at >= '0' && *at <= '9' && value <= UINT32_MAX; at++)
        value = value * 10 + (uint64_t)(*at - '0');
    *out = (uint32_t)value;
    return at > start && value <= UINT32_MAX;
}

static void set_print(struct format_text *out, const char *at, const char *end)
{
    at = skip_blanks(at, end);
    while (end > at && (end[-1] == '\n' || end[-1] == '\0'))
        end--;
    out->print = at;
    out->print_size = (size_t)(end - at);
}

int format_text_split(struct format_text *out, const char *text, size_t size)
{
    const char *end = text + size, *next;
    bool has_id = false;

    *out = (struct format_text){ .fields = end, .fields_end = end, .print = end };
    for (const char *at = text; at < end; at = next) {
        const char *stop = line_end(at, end);

        next = stop < end ? stop + 1 : end;
        if (starts_with(at, stop, "print fmt:")) {
            if (out->fields < at)
                out->fields_end = at;
            set_print(out, at + 10, end); /* it may hold newlines, and is always the last */
            break;
        }
        if (starts_with(at, stop, "name:") && !out->name_size) {
            out->name = skip_blanks(at + 5, stop);
            out->name_size = (uint32_t)(trim(out->name, stop) - out->name);
        } else if (starts_with(at, stop, "ID:")) {
            has_id = take_number(skip_blanks(at + 3, stop), stop, &out->id);
        } else if (starts_with(at, stop, "format:")) {
            out->fields = next;
        }
    }
    return has_id && out->name_size > 0 ? 0 : -EBADMSG;
}

void format_fields_init(struct format_fields *fields, const struct format_text *text)
{
    *fields = (struct format_fields){ .at = text->fields, .end = text->fields_end };
}

/* The number behind `\tkey:` somewhere in the rest of a field's line. */
static bool find_number(const char *at, const char *end, const char *key, uint32_t *out)
{
    for (; at < end; at++)
        if (is_blank(*at) && starts_with(at + 1, end, key))
            return take_number(at + 1 + strlen(key), end, out);
    return false;
}

static const char *last_word(const char *at, const char *end)
{
    while (end > at && is_word(end[-1]))
        end--;
    return end;
}

/* `char[] name` behind __data_loc: brackets, if any, stand before the name. */
static void split_dynamic(struct format_field *out, const char *at, const char *end)
{
    const char *bracket = at < end ? memchr(at, '[', (size_t)(end - at)) : NULL;

    out->name = last_word(at, end);
    out->name_size = (uint32_t)(end - out->name);
    out->type = at;
    out->type_size = (uint32_t)(trim(at, bracket ? bracket : out->name) - at);
    out->brackets = bracket;
    out->brackets_size = bracket ? (uint32_t)(trim(bracket, out->name) - bracket) : 0;
}

/* `type name` or `type name[length]`; the length may be an expression. */
static void split_plain(struct format_field *out, const char *at, const char *end)
{
    const char *bracket = memchr(at, '[', (size_t)(end - at));
    const char *name_end = trim(at, bracket ? bracket : end);

    out->name = last_word(at, name_end);
    out->name_size = (uint32_t)(name_end - out->name);
    out->type = at;
    out->type_size = (uint32_t)(trim(at, out->name) - at);
    if (!bracket)
        return;
    out->array = FORMAT_ARRAY_FIXED;
    out->brackets = bracket;
    out->brackets_size = (uint32_t)(end - bracket);
    if (end - bracket > 2 && end[-1] == ']')
        for (const char *digit = bracket + 1; digit < end - 1; digit++)
            if (*digit < '0' || *digit > '9')
                return;
    (void)take_number(bracket + 1, end, &out->length);
}

/* Sparse annotations that some kernels leave in front of or inside a type. */
static const char *skip_attribute(const char *at, const char *end)
{
    const char *close;

    while (starts_with(at, end, "__attribute__((")) {
        close = memmem(at, (size_t)(end - at), "))", 2);
        if (!close)
            break;
        at = skip_blanks(close + 2, end);
    }
    return at;
}

static bool split_declaration(struct format_field *out, const char *at, const char *end)
{
    at = skip_attribute(skip_blanks(at, end), end);
    end = trim(at, end);
    if (starts_with(at, end, "__data_loc ") || starts_with(at, end, "__rel_loc ")) {
        out->array = at[2] == 'd' ? FORMAT_ARRAY_DATA_LOC : FORMAT_ARRAY_REL_LOC;
        at += strcspn(at, " "); /* there is one: it was part of what was compared */
        split_dynamic(out, skip_blanks(at, end), end);
    } else {
        split_plain(out, at, end);
    }
    return out->name_size > 0;
}

/* One `field:DECLARATION;\toffset:N;\tsize:N;\tsigned:N;` line. */
static bool parse_line(struct format_field *out, const char *at, const char *end)
{
    const char *colon = memchr(at, ':', (size_t)(end - at));
    const char *semicolon;
    uint32_t is_signed = 0;

    if (!colon)
        return false;
    semicolon = memchr(colon, ';', (size_t)(end - colon));
    *out = (struct format_field){ 0 };
    if (!semicolon || !split_declaration(out, colon + 1, semicolon))
        return false;
    (void)find_number(semicolon, end, "signed:", &is_signed);
    out->is_signed = is_signed != 0;
    return find_number(semicolon, end, "offset:", &out->offset) &&
           find_number(semicolon, end, "size:", &out->size);
}

int format_fields_next(struct format_fields *fields, struct format_field *out)
{
    while (fields->at < fields->end) {
        const char *at = skip_blanks(fields->at, fields->end);
        const char *stop = line_end(at, fields->end);

        fields->at = stop < fields->end ? stop + 1 : fields->end;
        if (at == stop && fields->count > 0)
            fields->common_ended = true;
        if (!starts_with(at, stop, "field") || !parse_line(out, at, stop))
            continue;
        out->is_common =
            !fields->common_ended && starts_with(out->name, out->name + out->name_size, "common_");
        fields->count++;
        return 1;
    }
    return 0;
}
