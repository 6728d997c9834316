#include "pipeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "sinks.h"
#include "stream_lines.h"
#include "summary.h"
#include "tally.h"
#include "tracerd/json.h"

/* A pump does this much, then the loop may read sockets and pages again. */
#define PUMP_RECORDS_MAX 16384
#define BUFFER_FLUSH (256 * 1024)
#define BUFFER_SIZE (BUFFER_FLUSH + TRD_JSON_LINE_MAX)
#define TICK_MS 10 /* stalled inputs are looked at this often */
#define HEARTBEAT_NS UINT64_C(1000000000)
#define SOURCES_SUMMED_MAX 256 /* rows of `bye`; later ones are summed into the last */

struct pipeline {
    uv_loop_t *loop;
    const struct options *options;
    void (*done)(struct pipeline *pipeline, void *context);
    void *context;
    bool live;

    struct trd_merge *merge;
    struct trd_enrich *enrich;
    struct trd_json *json;
    struct tally tally;
    struct summary *summary; /* NULL without --summary */
    struct source *sources;  /* owned list */
    struct sink *sinks;
    char *hello; /* owned */

    char *buffer; /* owned; whole lines that wait for the flush */
    size_t used;
    uint64_t buffered_lines;
    uint64_t seq; /* of the next line; hello is 0 */
    uint64_t lines;
    uint64_t filtered;
    uint64_t events; /* written */
    uint64_t last_ts_ns;
    uint64_t last_heartbeat_ns;

    struct bye_source ended[SOURCES_SUMMED_MAX];
    size_t ended_count;

    uv_timer_t tick;
    uv_idle_t more; /* active while a pump stopped at its limit */
    bool pumping;
    bool stopping;
    bool finish_when_ended;
    bool finished;
    bool partial;
    bool sink_failed;
    unsigned open_handles;
};

static void pump(struct pipeline *pipeline);

static void on_tick(uv_timer_t *timer)
{
    pump(timer->data);
}

static void on_more(uv_idle_t *idle)
{
    pump(idle->data);
}

static int create_parts(struct pipeline *pipeline)
{
    int result =
        trd_merge_create(&pipeline->merge, pipeline->live ? pipeline->options->max_delay_ns : 0);

    if (result == 0)
        result = trd_enrich_create(&pipeline->enrich);
    if (result == 0)
        result = trd_json_create(&pipeline->json, trd_enrich_names(pipeline->enrich));
    if (result == 0 && pipeline->options->summary)
        result = summary_create(&pipeline->summary);
    pipeline->buffer = malloc(BUFFER_SIZE);
    pipeline->hello = hello_line(pipeline->options, pipeline->live);
    return result == 0 && pipeline->buffer && pipeline->hello ? 0 : -ENOMEM;
}

/* With no -o at all: standard output, but not under `run`, whose application owns it. */
static int open_outputs(struct pipeline *pipeline)
{
    const struct options *options = pipeline->options;

    if (options->output_count == 0 && options->command != COMMAND_SERVICE)
        return sink_file_open(pipeline, "-");
    for (size_t i = 0; i < options->output_count; i++) {
        int result = sink_file_open(pipeline, options->outputs[i]);

        if (result != 0)
            return result;
    }
    return 0;
}

int pipeline_create(struct pipeline **out, uv_loop_t *loop, const struct options *options,
                    void (*done)(struct pipeline *pipeline, void *context), void *context)
{
    struct pipeline *pipeline = calloc(1, sizeof(*pipeline));
    int result;

    if (!pipeline)
        return -ENOMEM;
    pipeline->loop = loop;
    pipeline->options = options;
    pipeline->done = done;
    pipeline->context = context;
    pipeline->live = options->command != COMMAND_REPLAY;
    pipeline->seq = 1;
    pipeline->lines = 1;
    tally_init(&pipeline->tally, options);
    uv_timer_init(loop, &pipeline->tick);
    uv_idle_init(loop, &pipeline->more);
    pipeline->tick.data = pipeline;
    pipeline->more.data = pipeline;
    pipeline->open_handles = 2;
    result = create_parts(pipeline);
    if (result != 0)
        log_error("cannot start: no memory");
    else
        result = open_outputs(pipeline);
    if (result == 0 && pipeline->live)
        uv_timer_start(&pipeline->tick, on_tick, TICK_MS, TICK_MS);
    *out = pipeline;
    return result;
}

void pipeline_destroy(struct pipeline *pipeline)
{
    if (!pipeline)
        return;
    trd_merge_destroy(pipeline->merge);
    trd_json_destroy(pipeline->json);
    trd_enrich_destroy(pipeline->enrich);
    summary_destroy(pipeline->summary);
    tally_finish(&pipeline->tally);
    free(pipeline->buffer);
    free(pipeline->hello);
    free(pipeline);
}

struct trd_enrich *pipeline_enrich(struct pipeline *pipeline)
{
    return pipeline->enrich;
}

void pipeline_add_catalog(struct pipeline *pipeline, const struct trd_catalog *catalog)
{
    trd_json_add_catalog(pipeline->json, catalog);
}

/* Lines */

static void flush(struct pipeline *pipeline)
{
    struct sink *next;

    if (pipeline->used == 0)
        return;
    for (struct sink *sink = pipeline->sinks; sink; sink = next) {
        next = sink->next; /* a failing sink takes itself out */
        sink->lines(sink, pipeline->buffer, pipeline->used, pipeline->buffered_lines);
    }
    pipeline->used = 0;
    pipeline->buffered_lines = 0;
}

static void write_record(struct pipeline *pipeline, const struct trd_record *record)
{
    int64_t size;

    if (pipeline->used >= BUFFER_FLUSH)
        flush(pipeline);
    size = trd_json_line(pipeline->json, record, pipeline->seq, pipeline->buffer + pipeline->used,
                         BUFFER_SIZE - pipeline->used);
    if (size < 0) {
        log_verbose("a record does not fit into a line: name=%s, bytes=%u",
                    record->schema ? record->schema->full_name : "?", record->size);
        pipeline->filtered++;
        return;
    }
    pipeline->used += (size_t)size;
    pipeline->buffered_lines++;
    pipeline->seq++;
    pipeline->lines++;
}

static void write_text_line(struct pipeline *pipeline, const char *line)
{
    size_t size = strlen(line);

    if (pipeline->used + size > BUFFER_SIZE)
        flush(pipeline);
    memcpy(pipeline->buffer + pipeline->used, line, size);
    pipeline->used += size;
    pipeline->buffered_lines++;
    pipeline->lines++;
}

static void write_derived(struct pipeline *pipeline)
{
    struct trd_record record;

    while (trd_enrich_derived(pipeline->enrich, &record) == 1) {
        if (pipeline->options->no_clr)
            continue;
        if (pipeline->summary)
            summary_note(pipeline->summary, &record, NULL);
        write_record(pipeline, &record);
    }
}

static void take_record(struct pipeline *pipeline, struct trd_record *record)
{
    struct tally_row *row = NULL;

    if (record->ts_ns > pipeline->last_ts_ns)
        pipeline->last_ts_ns = record->ts_ns;
    (void)trd_enrich_record(pipeline->enrich, record);
    if (record->kind == TRD_KIND_EVENT) {
        row = tally_find(&pipeline->tally, record);
        if (row->selected) {
            row->count++;
            pipeline->events++;
            write_record(pipeline, record);
        } else {
            pipeline->filtered++;
        }
    } else {
        write_record(pipeline, record);
    }
    if (pipeline->summary && (!row || row->selected))
        summary_note(pipeline->summary, record, row);
    write_derived(pipeline);
}

static void write_heartbeat(struct pipeline *pipeline, uint64_t now_ns)
{
    struct trd_record record;

    if (!pipeline->live || now_ns - pipeline->last_heartbeat_ns < HEARTBEAT_NS)
        return;
    pipeline->last_heartbeat_ns = now_ns;
    trd_record_init(&record);
    record.kind = TRD_KIND_HEARTBEAT;
    record.ts_ns = trd_merge_watermark(pipeline->merge);
    write_record(pipeline, &record);
}

/* Sources */

void pipeline_add_source(struct pipeline *pipeline, struct source *source)
{
    source->next = pipeline->sources;
    pipeline->sources = source;
    if (pipeline->stopping && !source->stopping) {
        source->stopping = true;
        source->stop(source);
    }
}

int pipeline_add_input(struct pipeline *pipeline, struct trd_merge_input *input)
{
    return trd_merge_add(pipeline->merge, input);
}

void pipeline_remove_input(struct pipeline *pipeline, struct trd_merge_input *input)
{
    trd_merge_remove(pipeline->merge, input);
}

void pipeline_source_ended(struct pipeline *pipeline, struct source *source)
{
    source->ended = true;
    if (!pipeline->pumping)
        uv_idle_start(&pipeline->more, on_more);
}

void pipeline_set_partial(struct pipeline *pipeline)
{
    pipeline->partial = true;
}

static void add_ledger(struct ledger *sum, const struct ledger *ledger)
{
    sum->produced += ledger->produced;
    sum->delivered += ledger->delivered;
    sum->lost += ledger->lost;
    sum->unknown += ledger->unknown;
    sum->damaged_bytes += ledger->damaged_bytes;
}

static void keep_account(struct pipeline *pipeline, struct source *source)
{
    struct ledger ledger = { 0 };
    struct bye_source *row;

    source->account(source, &ledger);
    if (ledger.lost > 0 || ledger.unknown > 0 || ledger.damaged_bytes > 0)
        pipeline->partial = true;
    if (pipeline->ended_count == SOURCES_SUMMED_MAX) {
        row = &pipeline->ended[SOURCES_SUMMED_MAX - 1];
        add_ledger(&row->ledger, &ledger);
        strcpy(row->name, "others");
        return;
    }
    row = &pipeline->ended[pipeline->ended_count++];
    memcpy(row->name, source->name, sizeof(row->name));
    row->clock = source->clock;
    row->ledger = ledger;
}

/* Sources that said they ended are accounted for and freed, now that no callback of theirs runs. */
static void reap(struct pipeline *pipeline)
{
    struct source **link = &pipeline->sources;

    while (*link) {
        struct source *source = *link;

        if (!source->ended) {
            link = &source->next;
            continue;
        }
        *link = source->next;
        keep_account(pipeline, source);
        source->destroy(source);
    }
}

void pipeline_stop(struct pipeline *pipeline)
{
    if (pipeline->stopping)
        return;
    pipeline->stopping = true;
    pipeline->finish_when_ended = true;
    for (struct source *source = pipeline->sources; source; source = source->next)
        if (!source->stopping && !source->ended) {
            source->stopping = true;
            source->stop(source);
        }
    uv_idle_start(&pipeline->more, on_more);
}

void pipeline_finish_when_ended(struct pipeline *pipeline)
{
    pipeline->finish_when_ended = true;
    uv_idle_start(&pipeline->more, on_more);
}

/* Sinks */

void pipeline_add_sink(struct pipeline *pipeline, struct sink *sink)
{
    sink->pipeline = pipeline;
    sink->next = pipeline->sinks;
    pipeline->sinks = sink;
    sink->lines(sink, pipeline->hello, strlen(pipeline->hello), 1);
}

void pipeline_remove_sink(struct pipeline *pipeline, struct sink *sink)
{
    for (struct sink **link = &pipeline->sinks; *link; link = &(*link)->next)
        if (*link == sink) {
            *link = sink->next;
            return;
        }
}

void pipeline_sink_failed(struct pipeline *pipeline)
{
    pipeline->sink_failed = true;
    pipeline_stop(pipeline);
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct pipeline *pipeline = handle->data;

    if (--pipeline->open_handles == 0)
        pipeline->done(pipeline, pipeline->context);
}

static void close_handles(struct pipeline *pipeline)
{
    uv_close((uv_handle_t *)&pipeline->tick, on_handle_closed);
    uv_close((uv_handle_t *)&pipeline->more, on_handle_closed);
}

void pipeline_sink_closed(struct pipeline *pipeline, struct sink *sink)
{
    pipeline_remove_sink(pipeline, sink);
    if (pipeline->finished && !pipeline->sinks)
        close_handles(pipeline);
}

static void write_bye(struct pipeline *pipeline)
{
    struct bye bye = { .seq = pipeline->seq,
                       .lines = pipeline->lines,
                       .filtered = pipeline->filtered,
                       .late = trd_merge_late(pipeline->merge),
                       .sources = pipeline->ended,
                       .source_count = pipeline->ended_count };
    char *line = bye_line(&bye);

    if (line)
        write_text_line(pipeline, line);
    free(line);
    if (pipeline->summary)
        summary_print(pipeline->summary, &pipeline->tally, &bye);
}

/* Every source has ended and the merge is dry. */
static void finish(struct pipeline *pipeline)
{
    struct sink *next;

    pipeline->finished = true;
    uv_timer_stop(&pipeline->tick);
    uv_idle_stop(&pipeline->more);
    trd_enrich_finish(pipeline->enrich, pipeline->last_ts_ns);
    write_derived(pipeline);
    write_bye(pipeline);
    flush(pipeline);
    if (!pipeline->sinks)
        close_handles(pipeline);
    for (struct sink *sink = pipeline->sinks; sink; sink = next) {
        next = sink->next;
        sink->end(sink);
    }
}

static void pump(struct pipeline *pipeline)
{
    uint64_t now_ns = pipeline->live ? clock_now_ns() : 0;
    struct trd_record record;
    int result = 0;

    if (pipeline->pumping || pipeline->finished)
        return;
    pipeline->pumping = true;
    for (int i = 0; i < PUMP_RECORDS_MAX; i++) {
        result = trd_merge_next(pipeline->merge, now_ns, &record);
        if (result != 1)
            break;
        take_record(pipeline, &record);
    }
    write_heartbeat(pipeline, now_ns);
    if (pipeline->live)
        flush(pipeline);
    reap(pipeline);
    pipeline->pumping = false;
    if (result == 1)
        uv_idle_start(&pipeline->more, on_more);
    else
        uv_idle_stop(&pipeline->more);
    if (result == 0 && !pipeline->sources && pipeline->finish_when_ended)
        finish(pipeline);
}

void pipeline_pump(struct pipeline *pipeline)
{
    pump(pipeline);
}

int pipeline_exit_code(const struct pipeline *pipeline)
{
    if (!pipeline->partial && !pipeline->sink_failed)
        return EXIT_COMPLETE;
    return pipeline->events == 0 ? EXIT_NOTHING : EXIT_PARTIAL;
}
