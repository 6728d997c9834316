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

#define NAMES_MAX 4096 /* kinds of events in one file */

struct ndjson_source {
    struct source source;
    struct trd_merge_input input;
    struct pipeline *pipeline;
    FILE *file; /* owned */
    char *line; /* owned; the last one read */
    size_t capacity;
    json_t *object;         /* owned; the line parsed: strings of the last record live here */
    char *args;             /* owned */
    char *names[NAMES_MAX]; /* owned; interned, since rows are kept by address */
    size_t name_count;
    uint64_t line_number;
    uint64_t bad_lines;
    uint64_t first_bad;
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

/* The text of the args object as it stands in the line: it is the last member of every line. */
static void set_args(const char *line, struct trd_record *out)
{
    const char *args = strstr(line, "\"args\":{");
    size_t size;

    if (!args)
        return;
    args += 7;
    size = strlen(args);
    while (size > 0 && (args[size - 1] == '\n' || args[size - 1] == '\r'))
        size--;
    out->args_json = args;
    out->args_json_size = (uint32_t)(size - 1); /* the line's own brace */
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

/* 1 = a record, 0 = a line that is not repeated, -EBADMSG. */
static int parse_line(struct ndjson_source *ndjson, struct trd_record *out)
{
    const char *kind, *name, *thread;

    json_decref(ndjson->object);
    ndjson->object = json_loads(ndjson->line, JSON_ALLOW_NUL, NULL);
    kind = json_string_value(json_object_get(ndjson->object, "k"));
    if (!kind)
        return -EBADMSG;
    trd_record_init(out);
    if (!get_kind(kind, &out->kind)) {
        ndjson->bye_seen |= strcmp(kind, "bye") == 0;
        return 0;
    }
    out->ts_ns = get_wide(ndjson->object, "ts");
    out->dur_ns = get_wide(ndjson->object, "dur");
    out->cpu = get_small(ndjson->object, "cpu");
    out->pid = get_small(ndjson->object, "pid");
    out->tid = get_small(ndjson->object, "tid");
    out->flags = get_flags(ndjson->object);
    out->stream = json_string_value(json_object_get(ndjson->object, "stream"));
    set_source(ndjson->object, out);
    thread = json_string_value(json_object_get(ndjson->object, "thread"));
    if (thread) {
        out->thread = thread;
        out->thread_size = (uint32_t)json_string_length(json_object_get(ndjson->object, "thread"));
    }
    if (out->kind == TRD_KIND_LOST) {
        set_lost(ndjson->object, out);
        return 1;
    }
    name = json_string_value(json_object_get(ndjson->object, "name"));
    if (!name)
        return -EBADMSG;
    out->name = intern(ndjson, name);
    set_args(ndjson->line, out);
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
    if (ndjson->bad_lines > 0) {
        log_error("%s: %" PRIu64 " lines are damaged and were skipped, the first is line %" PRIu64,
                  ndjson->source.name, ndjson->bad_lines, ndjson->first_bad);
        ndjson->ledger.unknown++;
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

static int next(struct trd_merge_input *input, struct trd_record *out)
{
    struct ndjson_source *ndjson =
        (struct ndjson_source *)((char *)input - offsetof(struct ndjson_source, input));

    while (!ndjson->stopped) {
        int result;

        if (getline(&ndjson->line, &ndjson->capacity, ndjson->file) < 0)
            break;
        ndjson->line_number++;
        result = parse_line(ndjson, out);
        if (result == 1) {
            count(&ndjson->ledger, out);
            return 1;
        }
        if (result < 0 && ndjson->bad_lines++ == 0)
            ndjson->first_bad = ndjson->line_number;
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
    free(ndjson->line);
    if (ndjson->file)
        fclose(ndjson->file);
    /* Interned names stay behind in the tally's rows: freed with the process. */
    free(ndjson);
}

int source_ndjson_open(struct pipeline *pipeline, const char *path)
{
    struct ndjson_source *ndjson = calloc(1, sizeof(*ndjson));

    if (ndjson)
        ndjson->file = fopen(path, "re");
    if (!ndjson || !ndjson->file) {
        log_error("cannot read %s: %s", path, strerror(errno));
        free(ndjson);
        return EXIT_NOTHING;
    }
    ndjson->source.stop = stop;
    ndjson->source.account = account;
    ndjson->source.destroy = destroy;
    ndjson->source.clock = "mono";
    ndjson->input.next = next;
    ndjson->pipeline = pipeline;
    source_set_name(&ndjson->source, path);
    pipeline_add_source(pipeline, &ndjson->source);
    (void)pipeline_add_input(pipeline, &ndjson->input);
    return 0;
}
