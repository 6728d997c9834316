#include "pipeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "alignment.h"
#include "flight.h"
#include "ledger.h"
#include "log.h"
#include "outlet.h"
#include "parallel.h"
#include "selection.h"
#include "sinks.h"
#include "stalls.h"
#include "stream_clock.h"
#include "stream_lines.h"
#include "summary.h"
#include "tracerd/align.h"

/* A pump does this much, then the loop may read sockets and pages again. */
#define PUMP_RECORDS_MAX 4096
#define PUMP_SLICES_MAX 16 /* likewise */
#define TICK_MS 50         /* stalled inputs are looked at this often */
#define SOON_MS 5          /* what others are to promise yet is asked for again */
#define HEARTBEAT_NS UINT64_C(1000000000)

struct pipeline {
    uv_loop_t *loop;
    const struct options *options;
    struct options live_options; /* what `options` points to where a flight recorder takes all */
    const struct options *flight_asked;
    struct flight *flight; /* a sink; NULL = none */
    void (*done)(struct pipeline *pipeline, void *context);
    void *context;
    bool live;
    char session[SESSION_SIZE];

    struct trd_merge *merge;
    struct trd_enrich *enrich;
    struct outlet outlet;
    struct selection selection;
    struct summary *summary;        /* NULL without --summary */
    struct parallel *parallel;      /* while a file's plain part is read on several threads */
    struct source *sources;         /* owned list */
    struct source *kept;            /* owned list: ended, but their schemas are in use */
    const struct source *reference; /* whose clock is the timeline's; replay */
    struct stream_clock clock;
    struct ledger_book book;

    uint64_t filtered;
    uint64_t last_ts_ns;
    uint64_t last_heartbeat_ns;

    uv_timer_t tick;
    uv_timer_t soon; /* active while records wait in the merge */
    uv_idle_t more;  /* active while a pump stopped at its limit */
    bool started;    /* hello has been written */
    bool pumping;
    bool stopping;
    bool finish_when_ended;
    bool finished;
    bool partial;
    bool sink_failed;
    unsigned open_handles;
};

static void pump(struct pipeline *pipeline);

static void tell_stall(struct pipeline *pipeline, const struct source *source, uint64_t to_ns)
{
    char *line = stall_line(source, pipeline->outlet.seq, to_ns, pipeline->clock.offset_ns);

    if (line)
        outlet_text(&pipeline->outlet, line);
    free(line);
}

static void on_tick(uv_timer_t *timer)
{
    struct pipeline *pipeline = timer->data;

    pump(pipeline);
    if (!uv_is_active((uv_handle_t *)&pipeline->more))
        stalls_look(pipeline->sources, pipeline->merge, clock_now_ns(), tell_stall, pipeline);
}

static void on_soon(uv_timer_t *timer)
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
    if (result == 0 && pipeline->options->offcpu_ns)
        trd_enrich_derive_offcpu(pipeline->enrich, pipeline->options->offcpu_ns,
                                 pipeline->options->all ||
                                     pipeline->options->command == COMMAND_SERVICE);
    if (result == 0)
        result = outlet_init(&pipeline->outlet, trd_enrich_names(pipeline->enrich));
    if (result == 0 && pipeline->options->summary)
        result = summary_create(&pipeline->summary);
    return result;
}

/* Standard output where no -o names another place; a service has its consumers. */
static int open_outputs(struct pipeline *pipeline)
{
    const struct options *options = pipeline->options;

    if (pipeline->flight_asked)
        return flight_open(&pipeline->flight, pipeline, pipeline->flight_asked);
    if (options->output_count == 0 && options->command != COMMAND_SERVICE)
        return sink_open(pipeline, "-");
    for (size_t i = 0; i < options->output_count; i++) {
        int result = sink_open(pipeline, options->outputs[i]);

        if (result != 0)
            return result;
    }
    return 0;
}

static void open_handles(struct pipeline *pipeline)
{
    uv_timer_init(pipeline->loop, &pipeline->tick);
    uv_timer_init(pipeline->loop, &pipeline->soon);
    uv_idle_init(pipeline->loop, &pipeline->more);
    pipeline->tick.data = pipeline;
    pipeline->soon.data = pipeline;
    pipeline->more.data = pipeline;
    pipeline->open_handles = 3;
    if (!pipeline->live)
        return;
    uv_timer_start(&pipeline->tick, on_tick, TICK_MS, TICK_MS);
    stream_clock_init_live(&pipeline->clock, pipeline->loop, pipeline->options->clock);
}

int pipeline_create(struct pipeline **out, uv_loop_t *loop, const struct options *options,
                    void (*done)(struct pipeline *pipeline, void *context), void *context)
{
    struct pipeline *pipeline = calloc(1, sizeof(*pipeline));
    int result;

    *out = pipeline;
    if (!pipeline)
        return EXIT_NOTHING;
    pipeline->loop = loop;
    pipeline->options = options;
    if (options->flight) {
        pipeline->flight_asked = options;
        pipeline->live_options = flight_live_options(options);
        pipeline->options = options = &pipeline->live_options;
    }
    pipeline->done = done;
    pipeline->context = context;
    pipeline->live = options->command != COMMAND_REPLAY;
    pipeline->last_heartbeat_ns = clock_now_ns();
    pipeline->clock.watch.fd = -1;
    pipeline->outlet.clock = &pipeline->clock;
    session_make(pipeline->session);
    result = selection_init(&pipeline->selection, options);
    if (result != 0)
        return result;
    if (create_parts(pipeline) != 0) {
        log_error("cannot start: no memory");
        return EXIT_NOTHING;
    }
    selection_set_names(&pipeline->selection, trd_enrich_names(pipeline->enrich));
    result = open_outputs(pipeline);
    if (result == 0)
        open_handles(pipeline);
    return result;
}

static void destroy_source(struct source *source)
{
    trd_alignment_destroy(source->alignment);
    source->destroy(source);
}

static void destroy_list(struct source *source)
{
    while (source) {
        struct source *next = source->next;

        destroy_source(source);
        source = next;
    }
}

void pipeline_destroy(struct pipeline *pipeline)
{
    if (!pipeline)
        return;
    parallel_destroy(pipeline->parallel);
    outlet_finish(&pipeline->outlet);
    stream_clock_finish(&pipeline->clock);
    destroy_list(pipeline->sources);
    destroy_list(pipeline->kept);
    trd_merge_destroy(pipeline->merge);
    trd_enrich_destroy(pipeline->enrich);
    summary_destroy(pipeline->summary);
    selection_finish(&pipeline->selection);
    free(pipeline);
}

struct trd_enrich *pipeline_enrich(struct pipeline *pipeline)
{
    return pipeline->enrich;
}

void pipeline_add_catalog(struct pipeline *pipeline, const struct trd_catalog *catalog)
{
    outlet_add_catalog(&pipeline->outlet, catalog);
    selection_add_catalog(&pipeline->selection, catalog);
}

void pipeline_add_unknown_fields(struct pipeline *pipeline)
{
    pipeline->selection.has_unknown_fields = true;
}

int pipeline_check_filter(const struct pipeline *pipeline)
{
    return pipeline->flight ? flight_check(pipeline->flight)
                            : selection_check(&pipeline->selection);
}

uint64_t pipeline_watermark(const struct pipeline *pipeline)
{
    return trd_merge_watermark(pipeline->merge);
}

int pipeline_check_clock(struct pipeline *pipeline)
{
    return stream_clock_init_replay(&pipeline->clock, alignment_reference(pipeline->sources),
                                    pipeline->options->clock);
}

bool pipeline_is_live(const struct pipeline *pipeline)
{
    return pipeline->live;
}

const struct options *pipeline_options(const struct pipeline *pipeline)
{
    return pipeline->options;
}

uv_loop_t *pipeline_loop(struct pipeline *pipeline)
{
    return pipeline->loop;
}

/* Records */

/* An event, or what stands beside events. */
static void write_selected(struct pipeline *pipeline, const struct trd_record *record)
{
    struct tally_row *row = selection_find(&pipeline->selection, record);

    if (!row) {
        pipeline->filtered += record->kind == TRD_KIND_EVENT;
        return;
    }
    row->count += record->kind == TRD_KIND_EVENT;
    outlet_record(&pipeline->outlet, record);
    if (pipeline->summary)
        summary_note(pipeline->summary, record);
}

static void write_derived(struct pipeline *pipeline)
{
    struct trd_record record;

    while (trd_enrich_derived(pipeline->enrich, &record) == 1)
        write_selected(pipeline, &record);
}

/* What a record, or a heartbeat, of ts_ns must have before it. */
static void tell_anchors(struct pipeline *pipeline, uint64_t ts_ns)
{
    struct trd_record anchor;

    while (stream_clock_next(&pipeline->clock, ts_ns, &anchor) == 1)
        outlet_record(&pipeline->outlet, &anchor);
}

static void take_record(struct pipeline *pipeline, struct trd_record *record)
{
    bool has_derived;

    if (__builtin_expect(record->kind == TRD_KIND_ANCHOR, 0)) {
        stream_clock_take(&pipeline->clock, record);
        outlet_record(&pipeline->outlet, record);
        return;
    }
    if (__builtin_expect(pipeline->clock.waiting_count > 0, 0))
        tell_anchors(pipeline, record->ts_ns);
    if (record->ts_ns > pipeline->last_ts_ns)
        pipeline->last_ts_ns = record->ts_ns;
    if (record->kind == TRD_KIND_SPAN)
        record->ts_ns -= record->dur_ns;
    has_derived = trd_enrich_record(pipeline->enrich, record) == 1;
    write_selected(pipeline, record);
    if (has_derived)
        write_derived(pipeline);
}

static void write_heartbeat(struct pipeline *pipeline, uint64_t now_ns)
{
    struct trd_record record;

    if (!pipeline->live || now_ns - pipeline->last_heartbeat_ns < HEARTBEAT_NS)
        return;
    pipeline->last_heartbeat_ns = now_ns;
    stream_clock_check(&pipeline->clock);
    trd_record_init(&record);
    record.kind = TRD_KIND_HEARTBEAT;
    record.ts_ns = trd_merge_watermark(pipeline->merge);
    tell_anchors(pipeline, record.ts_ns);
    outlet_record(&pipeline->outlet, &record);
}

/* Sources */

void pipeline_add_source(struct pipeline *pipeline, struct source *source)
{
    struct source **link = &pipeline->sources;

    while (*link)
        link = &(*link)->next;
    *link = source;
    source->next = NULL;
    if (pipeline->stopping && !source->stopping) {
        source->stopping = true;
        source->stop(source);
    }
}

int pipeline_add_input(struct pipeline *pipeline, struct source *source,
                       struct trd_merge_input *input)
{
    input->owner = source;
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

void pipeline_leave_out(struct pipeline *pipeline, pid_t tid)
{
    for (struct source *source = pipeline->sources; source; source = source->next)
        if (source->leave_out && !source->ended)
            source->leave_out(source, tid);
}

bool pipeline_meet(struct pipeline *pipeline, const struct source *source, pid_t pid,
                   uint64_t instance, uint64_t since_ns)
{
    bool is_left = false;

    for (struct source *other = pipeline->sources; other; other = other->next)
        if (other != source && other->meet && !other->ended)
            is_left |= other->meet(other, pid, instance, since_ns);
    return is_left;
}

void pipeline_set_partial(struct pipeline *pipeline)
{
    pipeline->partial = true;
}

static void keep_account(struct pipeline *pipeline, struct source *source)
{
    struct ledger ledger = { 0 };

    source->account(source, &ledger);
    if (source->alignment)
        ledger.stamp_error_ns = trd_alignment_error_ns(source->alignment);
    pipeline->partial |= ledger_has_loss(&ledger);
    ledger_tell(source->name, &ledger);
    ledger_book_enter(&pipeline->book, source, &ledger);
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
        stalls_end(source, clock_now_ns(), tell_stall, pipeline);
        keep_account(pipeline, source);
        if (source->owns_schemas) {
            source->next = pipeline->kept;
            pipeline->kept = source;
        } else {
            destroy_source(source);
        }
    }
}

void pipeline_stop(struct pipeline *pipeline)
{
    if (pipeline->stopping || pipeline->finished)
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

bool pipeline_has_begun(const struct pipeline *pipeline)
{
    return pipeline->started;
}

char *pipeline_hello(struct pipeline *pipeline)
{
    const char *clock = output_clock_name(pipeline->clock.clock);

    return hello_line(pipeline->session, clock ? clock : pipeline_clock(pipeline),
                      pipeline->live ? &pipeline->clock.anchor : NULL, pipeline->sources,
                      pipeline->reference);
}

const char *pipeline_clock(const struct pipeline *pipeline)
{
    const struct source *source = pipeline->reference ? pipeline->reference : pipeline->sources;

    return pipeline->live || !source ? "mono" : source->clock;
}

bool pipeline_takes_pages(const struct pipeline *pipeline)
{
    const struct options *options = pipeline->options;
    const struct sink *sink = pipeline->outlet.sinks;

    if (!sink || options->filter || options->summary || options->command == COMMAND_SERVICE)
        return false;
    for (; sink; sink = sink->next)
        if (!sink->page)
            return false;
    return true;
}

void pipeline_page(struct pipeline *pipeline, uint32_t cpu, const uint8_t *bytes, size_t size)
{
    outlet_page(&pipeline->outlet, cpu, bytes, size);
}

void pipeline_page_reached(struct pipeline *pipeline, uint32_t cpu, uint64_t ts_ns)
{
    for (struct sink *sink = pipeline->outlet.sinks; sink; sink = sink->next)
        if (sink->reached)
            sink->reached(sink, cpu, ts_ns);
}

void pipeline_cmdlines(struct pipeline *pipeline, const char *text, size_t size)
{
    for (struct sink *sink = pipeline->outlet.sinks; sink; sink = sink->next)
        if (sink->cmdlines)
            sink->cmdlines(sink, text, size);
}

void pipeline_add_sink(struct pipeline *pipeline, struct sink *sink)
{
    sink->pipeline = pipeline;
    outlet_add(&pipeline->outlet, sink);
}

void pipeline_sink_failed(struct pipeline *pipeline, struct sink *sink)
{
    sink->failed = true;
    pipeline->sink_failed = true;
    for (sink = pipeline->outlet.sinks; sink; sink = sink->next)
        if (!sink->failed)
            return;
    if (pipeline->options->command != COMMAND_SERVICE)
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
    uv_close((uv_handle_t *)&pipeline->soon, on_handle_closed);
    uv_close((uv_handle_t *)&pipeline->more, on_handle_closed);
    clock_watch_stop(&pipeline->clock.watch);
}

void pipeline_sink_closed(struct pipeline *pipeline, struct sink *sink)
{
    outlet_remove(&pipeline->outlet, sink);
    if (pipeline->finished && !pipeline->outlet.sinks)
        close_handles(pipeline);
}

/* Start and end of the stream */

static void start(struct pipeline *pipeline)
{
    char *line;

    pipeline->started = true;
    if (!pipeline->live)
        pipeline->reference = alignment_decide(pipeline->sources);
    line = pipeline_hello(pipeline);
    if (line)
        outlet_text(&pipeline->outlet, line);
    free(line);
    if (!pipeline->outlet.wants_records && !pipeline->options->offcpu_ns && pipeline->sources &&
        !pipeline->sources->next && pipeline->sources->reader)
        pipeline->parallel =
            parallel_create(pipeline->sources->reader, pipeline->options, pipeline->outlet.seq);
}

static void write_bye(struct pipeline *pipeline)
{
    struct bye bye = { .seq = pipeline->outlet.seq,
                       .lines = pipeline->outlet.line_count,
                       .filtered = pipeline->filtered,
                       .unwritten = pipeline->outlet.unwritten,
                       .late = trd_merge_late(pipeline->merge),
                       .book = &pipeline->book,
                       .outputs = pipeline->outlet.sinks };
    char *line;

    outlet_flush(&pipeline->outlet);
    line = bye_line(&bye);

    if (line)
        outlet_text(&pipeline->outlet, line);
    free(line);
    if (pipeline->summary)
        summary_print(pipeline->summary, &pipeline->selection.tally, &bye);
}

static void tell_unwritten(struct pipeline *pipeline)
{
    if (pipeline->outlet.unwritten == 0)
        return;
    log_error("%" PRIu64 " events could not be written as lines; each left a loss in its place",
              pipeline->outlet.unwritten);
    pipeline->partial = true;
}

/* Every source has ended and the merge is dry. */
static void finish(struct pipeline *pipeline)
{
    pipeline->finished = true;
    uv_timer_stop(&pipeline->tick);
    uv_timer_stop(&pipeline->soon);
    uv_idle_stop(&pipeline->more);
    trd_enrich_finish(pipeline->enrich, pipeline->last_ts_ns);
    write_derived(pipeline);
    outlet_flush(&pipeline->outlet); /* so that every line is counted */
    tell_unwritten(pipeline);
    write_bye(pipeline);
    if (!pipeline->outlet.sinks)
        close_handles(pipeline);
    else
        outlet_end(&pipeline->outlet);
}

/* The plain part of a file: lines come ready. */
static void pump_parallel(struct pipeline *pipeline)
{
    struct trd_lines_batch batch;

    for (int i = 0; i < PUMP_SLICES_MAX; i++) {
        if (parallel_next(pipeline->parallel, pipeline->stopping, &batch) != 1) {
            parallel_sum_up(pipeline->parallel, &pipeline->selection.tally, pipeline->summary);
            parallel_destroy(pipeline->parallel);
            pipeline->parallel = NULL;
            return;
        }
        outlet_batch(&pipeline->outlet, &batch);
        pipeline->filtered += batch.filtered;
        if (batch.read_ns > pipeline->last_ts_ns)
            pipeline->last_ts_ns = batch.read_ns;
        pipeline->sources->count(pipeline->sources, &batch);
    }
}

/* Record by record. */
static int pump_records(struct pipeline *pipeline, uint64_t now_ns)
{
    struct trd_record record;
    int result = 0;

    for (int i = 0; i < PUMP_RECORDS_MAX; i++) {
        result = trd_merge_next(pipeline->merge, now_ns, &record);
        if (result != 1)
            break;
        take_record(pipeline, &record);
    }
    return result;
}

static void refresh(struct pipeline *pipeline)
{
    for (struct source *source = pipeline->sources; source; source = source->next)
        if (source->refresh && !source->stopping && !source->ended)
            source->refresh(source);
}

static void pump(struct pipeline *pipeline)
{
    uint64_t now_ns = pipeline->live ? clock_now_ns() : 0;
    int result = 1;

    if (pipeline->pumping || pipeline->finished)
        return;
    pipeline->pumping = true;
    if (!pipeline->started)
        start(pipeline);
    refresh(pipeline);
    if (pipeline->parallel)
        pump_parallel(pipeline);
    else
        result = pump_records(pipeline, now_ns);
    write_heartbeat(pipeline, now_ns);
    if (pipeline->live)
        outlet_flush(&pipeline->outlet);
    reap(pipeline);
    pipeline->pumping = false;
    if (result == 1)
        uv_idle_start(&pipeline->more, on_more);
    else
        uv_idle_stop(&pipeline->more);
    if (pipeline->live && result == -EAGAIN && trd_merge_is_holding(pipeline->merge))
        uv_timer_start(&pipeline->soon, on_soon, SOON_MS, 0);
    if (result == 0 && !pipeline->sources && pipeline->finish_when_ended)
        finish(pipeline);
}

void pipeline_pump(struct pipeline *pipeline)
{
    pump(pipeline);
}

int pipeline_exit_code(const struct pipeline *pipeline)
{
    struct ledger total = ledger_book_total(&pipeline->book);

    if (pipeline->sink_failed)
        return EXIT_PARTIAL;
    if (!pipeline->partial)
        return EXIT_COMPLETE;
    return total.delivered == 0 ? EXIT_NOTHING : EXIT_PARTIAL;
}
