/*
 * A recording of tracerd as a source. Lines come back as they were: the args of an event are handed
 * on as the text they are, the envelope is read with jansson. hello, bye and hb belong to the
 * recording and are not repeated; spans and definitions are, so nothing is derived twice.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "source_files.h"
#include "tracerd/json.h"

#define NAMES_MAX 4096 /* kinds of events in one file */

struct ndjson_source {
    struct source source;
    struct trd_merge_input input;
    struct pipeline *pipeline;
    FILE *file; /* owned */
    char *line; /* owned; the last one read */
    size_t capacity;
    size_t size;            /* of the line, without its end */
    json_t *object;         /* owned; the line parsed: strings of the last record live here */
    char *names[NAMES_MAX]; /* owned; interned, since rows are kept by address */
    size_t name_count;
    uint64_t line_number;
    uint64_t last_ts_ns;
    uint64_t bad_lines; /* since the last good one: told before the next */
    uint64_t all_bad_lines;
    uint64_t first_bad;
    struct trd_record held; /* waits behind the loss that bad lines were */
    bool has_held;
    struct ledger ledger;
    bool bye_seen;
    bool stopped;
};

static const char *intern(struct ndjson_source *ndjson, const char *name)
{
    for (size_t i = ndjson->name_count; i-- > 0;)
        if (strcmp(ndjson->names[i], name) == 0)
            return ndjson->names[i];
    if (ndjson->name_count == NAMES_MAX)
        return "(too many names)";
    ndjson->names[ndjson->name_count] = strdup(name);
    return ndjson->names[ndjson->name_count] ? ndjson->names[ndjson->name_count++] : "?";
}

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
    } kinds[] = { { "ev", TRD_KIND_EVENT },
                  { "span", TRD_KIND_SPAN },
                  { "lost", TRD_KIND_LOST },
                  { "def", TRD_KIND_DEFINITION },
                  { "ctr", TRD_KIND_COUNTER } };

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

/* The text of the args object as it stands in the line. No string can hold the needle: its quotes
 * would be escaped. */
static void set_args(const struct ndjson_source *ndjson, struct trd_record *out)
{
    static const char needle[] = "\"args\":{";
    const char *args = memmem(ndjson->line, ndjson->size, needle, sizeof(needle) - 1);

    out->args_json = args ? args + sizeof(needle) - 2 : "{}";
    out->args_json_size =
        args ? (uint32_t)(object_end(out->args_json, ndjson->line + ndjson->size) - out->args_json)
             : 2;
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

static void set_envelope(struct ndjson_source *ndjson, struct trd_record *out)
{
    const json_t *object = ndjson->object;
    const json_t *thread = json_object_get(object, "thread");

    out->ts_ns = get_wide(object, "ts");
    out->dur_ns = get_wide(object, "dur");
    out->cpu = get_small(object, "cpu");
    out->pid = get_small(object, "pid");
    out->tid = get_small(object, "tid");
    out->flags = get_flags(object);
    out->stream = json_string_value(json_object_get(object, "stream"));
    set_source(object, out);
    if (json_is_string(thread)) {
        out->thread = json_string_value(thread);
        out->thread_size = (uint32_t)json_string_length(thread);
    }
}

/* 1 = a record, 0 = a line that is not repeated, -EBADMSG. */
static int parse_line(struct ndjson_source *ndjson, struct trd_record *out)
{
    const char *kind, *name;

    json_decref(ndjson->object);
    ndjson->object = json_loadb(ndjson->line, ndjson->size, JSON_ALLOW_NUL, NULL);
    kind = json_string_value(json_object_get(ndjson->object, "k"));
    if (!kind)
        return -EBADMSG;
    trd_record_init(out);
    if (!get_kind(kind, &out->kind)) {
        ndjson->bye_seen |= strcmp(kind, "bye") == 0;
        return 0;
    }
    set_envelope(ndjson, out);
    if (out->kind == TRD_KIND_LOST) {
        set_lost(ndjson->object, out);
        return 1;
    }
    name = json_string_value(json_object_get(ndjson->object, "name"));
    if (!name || out->dur_ns > UINT64_MAX - out->ts_ns)
        return -EBADMSG;
    out->name = intern(ndjson, name);
    set_args(ndjson, out);
    if (out->kind == TRD_KIND_SPAN)
        out->ts_ns += out->dur_ns;
    return 1;
}

static void count(struct ledger *ledger, const struct trd_record *record)
{
    if (record->kind == TRD_KIND_EVENT) {
        ledger->produced++;
        ledger->delivered++;
    } else if (record->kind == TRD_KIND_LOST && record->lost == TRD_LOST_UNKNOWN) {
        ledger->unknown++;
    } else if (record->kind == TRD_KIND_LOST) {
        ledger->produced += record->lost;
        ledger->lost += record->lost;
    }
}

static void end(struct ndjson_source *ndjson)
{
    if (ndjson->all_bad_lines > 0) {
        log_error("%s: %" PRIu64 " lines are damaged and were skipped, the first is line %" PRIu64,
                  ndjson->source.name, ndjson->all_bad_lines, ndjson->first_bad);
        pipeline_set_partial(ndjson->pipeline);
    }
    if (!ndjson->bye_seen && !ndjson->stopped) {
        log_error(
            "%s: the recording has no end (was it cut or interrupted?); all it holds was read",
            ndjson->source.name);
        pipeline_set_partial(ndjson->pipeline);
    }
    pipeline_source_ended(ndjson->pipeline, &ndjson->source);
}

static void note_bad_line(struct ndjson_source *ndjson)
{
    if (ndjson->all_bad_lines++ == 0)
        ndjson->first_bad = ndjson->line_number;
    ndjson->bad_lines++;
}

/* 1 and a record, 0 at the end of the file. */
static int read_record(struct ndjson_source *ndjson, struct trd_record *out)
{
    while (!ndjson->stopped) {
        ssize_t size = getline(&ndjson->line, &ndjson->capacity, ndjson->file);
        int result;

        if (size < 0)
            return 0;
        ndjson->line_number++;
        while (size > 0 && (ndjson->line[size - 1] == '\n' || ndjson->line[size - 1] == '\r'))
            size--;
        ndjson->size = (size_t)size;
        /* Nothing that we write is longer, nor could it be written again. */
        result = size > TRD_JSON_LINE_MAX / 2 ? -EBADMSG : parse_line(ndjson, out);
        if (result == 1)
            return 1;
        if (result < 0)
            note_bad_line(ndjson);
    }
    return 0;
}

/* Damaged lines, as one loss between the good ones. */
static void tell_bad_lines(struct ndjson_source *ndjson, uint64_t ts_ns, struct trd_record *out)
{
    trd_record_init(out);
    out->kind = TRD_KIND_LOST;
    out->source = TRD_SOURCE_TRACERD;
    out->stream = ndjson->source.name;
    out->lost_from_ns = ndjson->last_ts_ns;
    out->ts_ns = ts_ns;
    out->lost = ndjson->bad_lines;
    ndjson->bad_lines = 0;
}

static int hand_out(struct ndjson_source *ndjson, struct trd_record *out)
{
    count(&ndjson->ledger, out);
    ndjson->last_ts_ns = out->ts_ns;
    if (ndjson->source.unaligned)
        out->flags |= TRD_RECORD_F_UNALIGNED;
    return 1;
}

static int next(struct trd_merge_input *input, struct trd_record *out)
{
    struct ndjson_source *ndjson =
        (struct ndjson_source *)((char *)input - offsetof(struct ndjson_source, input));

    if (!ndjson->has_held)
        ndjson->has_held = read_record(ndjson, &ndjson->held) == 1;
    if (ndjson->bad_lines > 0) {
        tell_bad_lines(ndjson, ndjson->has_held ? ndjson->held.ts_ns : ndjson->last_ts_ns, out);
        return hand_out(ndjson, out);
    }
    if (ndjson->has_held) {
        ndjson->has_held = false;
        *out = ndjson->held;
        return hand_out(ndjson, out);
    }
    end(ndjson);
    return 0;
}

static void stop(struct source *source)
{
    ((struct ndjson_source *)source)->stopped = true;
}

static void account(struct source *source, struct ledger *out)
{
    *out = ((struct ndjson_source *)source)->ledger;
}

static void destroy(struct source *source)
{
    struct ndjson_source *ndjson = (struct ndjson_source *)source;

    json_decref(ndjson->object);
    json_decref(ndjson->source.origin);
    free(ndjson->line);
    if (ndjson->file)
        fclose(ndjson->file);
    for (size_t i = 0; i < ndjson->name_count; i++)
        free(ndjson->names[i]);
    free(ndjson);
}

/* What `hello` says of where the recording comes from, if the first line is one. */
static void read_origin(struct ndjson_source *ndjson)
{
    static const char *const members[] = { "host", "boot_id", "anchor" };
    const char *clock;
    json_t *hello = NULL;
    ssize_t size = getline(&ndjson->line, &ndjson->capacity, ndjson->file);

    if (size > 0)
        hello = json_loadb(ndjson->line, (size_t)size, 0, NULL);
    clock = json_string_value(json_object_get(hello, "clock"));
    if (clock)
        ndjson->source.clock = source_clock_name(clock);
    ndjson->source.origin = json_object();
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        if (json_object_get(hello, members[i]))
            json_object_set(ndjson->source.origin, members[i], json_object_get(hello, members[i]));
    json_decref(hello);
    rewind(ndjson->file);
}

int source_ndjson_open(struct pipeline *pipeline, const char *path)
{
    struct ndjson_source *ndjson = calloc(1, sizeof(*ndjson));

    if (ndjson)
        ndjson->file = fopen(path, "re");
    if (!ndjson || !ndjson->file) {
        log_error("cannot open the file: path=%s, error=\"%s\"", path, strerror(errno));
        free(ndjson);
        return EXIT_NOTHING;
    }
    ndjson->source.stop = stop;
    ndjson->source.account = account;
    ndjson->source.destroy = destroy;
    ndjson->source.owns_schemas = true;
    ndjson->input.next = next;
    ndjson->pipeline = pipeline;
    source_set_name(&ndjson->source, path);
    read_origin(ndjson);
    pipeline_add_source(pipeline, &ndjson->source);
    (void)pipeline_add_input(pipeline, &ndjson->input);
    return 0;
}
