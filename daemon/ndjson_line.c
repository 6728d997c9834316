#include "ndjson_line.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX ((UINT64_C(1) << 53) - 1) /* what JSON numbers hold exactly */

static uint64_t get_wide(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    if (json_is_integer(value))
        return (uint64_t)json_integer_value(value);
    return json_is_string(value) ? strtoull(json_string_value(value), NULL, 10) : 0;
}

static int32_t get_small(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_integer(value) ? (int32_t)json_integer_value(value) : -1;
}

static bool get_kind(const char *text, uint8_t *out)
{
    static const struct {
        const char *text;
        uint8_t kind;
    } kinds[] = { { "ev", TRD_KIND_EVENT },    { "span", TRD_KIND_SPAN },
                  { "lost", TRD_KIND_LOST },   { "def", TRD_KIND_DEFINITION },
                  { "ctr", TRD_KIND_COUNTER }, { "anchor", TRD_KIND_ANCHOR } };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(text, kinds[i].text) == 0) {
            *out = kinds[i].kind;
            return true;
        }
    return false;
}

static uint16_t get_flags(const json_t *object)
{
    static const struct {
        const char *key;
        uint16_t flag;
    } flags[] = { { "late", TRD_RECORD_F_LATE },
                  { "unaligned", TRD_RECORD_F_UNALIGNED },
                  { "catch_up", TRD_RECORD_F_CATCH_UP },
                  { "cut", TRD_RECORD_F_CUT },
                  { "incomplete", TRD_RECORD_F_INCOMPLETE } };
    uint16_t result = 0;

    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (json_is_true(json_object_get(object, flags[i].key)))
            result |= flags[i].flag;
    return result;
}

/* End of the JSON object that starts at `at`, in a line that is known to be well-formed. */
static const char *object_end(const char *at, const char *end)
{
    unsigned depth = 0;
    bool in_text = false;

    for (; at < end; at++) {
        if (in_text && *at == '\\')
            at++;
        else if (*at == '"')
            in_text = !in_text;
        else if (!in_text && *at == '{')
            depth++;
        else if (!in_text && *at == '}' && --depth == 0)
            return at + 1;
    }
    return end;
}

/*
 * The text of the args object as it stands in the line. No string can hold the needle: its quotes
 * would be escaped. A line that another program has spaced anew gives the same values in our form.
 */
static void set_args(struct ndjson_line *line, const char *bytes, size_t size,
                     struct trd_record *out)
{
    static const char needle[] = "\"args\":{";
    const char *args = memmem(bytes, size, needle, sizeof(needle) - 1);

    if (args) {
        out->args_json = args + sizeof(needle) - 2;
        out->args_json_size = (uint32_t)(object_end(out->args_json, bytes + size) - out->args_json);
        return;
    }
    line->args = json_dumps(json_object_get(line->object, "args"), JSON_COMPACT);
    out->args_json = line->args ? line->args : "{}";
    out->args_json_size = (uint32_t)strlen(out->args_json);
}

/* Its moment is told by the anchor, whatever clock the line is in. */
static int set_anchor(struct ndjson_line *line, struct trd_record *out)
{
    const json_t *anchor = json_object_get(line->object, "anchor");

    line->args = json_is_object(anchor) ? json_dumps(anchor, JSON_COMPACT) : NULL;
    if (!line->args)
        return -EBADMSG;
    out->source = TRD_SOURCE_TRACERD;
    out->ts_ns = get_wide(anchor, "mono");
    out->args_json = line->args;
    out->args_json_size = (uint32_t)strlen(line->args);
    return 1;
}

static void set_source(const json_t *object, struct trd_record *out)
{
    const char *source = json_string_value(json_object_get(object, "src"));

    out->source = !source                      ? TRD_SOURCE_TRACERD
                  : strcmp(source, "clr") == 0 ? TRD_SOURCE_CLR
                                               : TRD_SOURCE_FTRACE;
}

static void set_lost(const json_t *object, struct trd_record *out)
{
    const json_t *count = json_object_get(object, "n");

    out->lost = json_is_integer(count) ? (uint64_t)json_integer_value(count) : TRD_LOST_UNKNOWN;
    out->lost_from_ns = get_wide(object, "from");
    out->ts_ns = get_wide(object, "to");
}

/*
 * A text as it was before it was written: bad bytes in it come back, to be repaired the same way
 * when it is written again. In place, since the object is thrown away. NULL if absent.
 */
static const char *get_text(const json_t *object, const char *key, size_t *out_size)
{
    const json_t *value = json_object_get(object, key);
    char *text = (char *)(uintptr_t)json_string_value(value);

    if (!text)
        return NULL;
    *out_size = trd_json_restore(text, json_string_length(value));
    text[*out_size] = '\0';
    return text;
}

static void set_envelope(const json_t *object, struct trd_record *out)
{
    size_t size;

    out->ts_ns = get_wide(object, "ts");
    out->dur_ns = get_wide(object, "dur");
    out->cpu = get_small(object, "cpu");
    out->pid = get_small(object, "pid");
    out->tid = get_small(object, "tid");
    out->flags = get_flags(object);
    out->stream = get_text(object, "stream", &size);
    out->thread = get_text(object, "thread", &size);
    out->thread_size = out->thread ? (uint32_t)size : 0;
    set_source(object, out);
}

int ndjson_line_parse(struct ndjson_line *line, const char *bytes, size_t size,
                      struct trd_record *out)
{
    const json_t *args;
    const char *kind;
    size_t name_size = 0;

    ndjson_line_finish(line);
    while (size > 0 && (bytes[size - 1] == '\n' || bytes[size - 1] == '\r'))
        size--;
    if (size > NDJSON_LINE_MAX || memchr(bytes, '\n', size) || memchr(bytes, '\r', size))
        return -EBADMSG;
    line->object = json_loadb(bytes, size, JSON_ALLOW_NUL, NULL);
    kind = json_string_value(json_object_get(line->object, "k"));
    if (!kind)
        return -EBADMSG;
    line->seq = get_wide(line->object, "seq");
    trd_record_init(out);
    if (!get_kind(kind, &out->kind)) {
        line->is_hello = strcmp(kind, "hello") == 0;
        line->is_next = strcmp(kind, "next") == 0;
        line->is_bye = strcmp(kind, "bye") == 0;
        return 0;
    }
    set_envelope(line->object, out);
    if (out->kind == TRD_KIND_LOST) {
        set_lost(line->object, out);
        return out->lost <= NUMBER_MAX || out->lost == TRD_LOST_UNKNOWN ? 1 : -EBADMSG;
    }
    if (out->kind == TRD_KIND_ANCHOR)
        return set_anchor(line, out);
    out->name = get_text(line->object, "name", &name_size);
    args = json_object_get(line->object, "args");
    if (!out->name || strlen(out->name) != name_size || (args && !json_is_object(args)) ||
        out->dur_ns > NUMBER_MAX || out->dur_ns > UINT64_MAX - out->ts_ns)
        return -EBADMSG;
    set_args(line, bytes, size, out);
    if (out->kind == TRD_KIND_SPAN)
        out->ts_ns += out->dur_ns;
    return 1;
}

void ndjson_line_finish(struct ndjson_line *line)
{
    json_decref(line->object);
    free(line->args);
    *line = (struct ndjson_line){ 0 };
}
