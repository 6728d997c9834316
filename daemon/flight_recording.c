/*
 * One recording of the flight recorder: a pipeline whose sources are the lanes of the window. They
 * give up what they hold while new entries still come in, until the time behind the trigger is
 * over; so what is written is not in the window any more, and the next window begins behind it.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event.h"
#include "flight_private.h"
#include "line_values.h"
#include "log.h"
#include "sinks.h"
#include "stream_lines.h"
#include "tracerd/page.h"

/* What arrives this much after its time is still waited for. */
#define SETTLE_NS UINT64_C(500000000)
#define PUMPS_MAX 64
#define PATH_SIZE 4096

struct lane_input {
    struct trd_merge_input input;
    struct flight_recording *recording;
    struct lane_source *source;
    uint32_t lane;
    bool has_ended;
};

struct page_input {
    struct lane_input lane;
    struct trd_page page;
    bool in_page;
    struct trd_page_event held; /* waits behind the loss before it */
    bool has_held;
    uint64_t pending_lost;
    bool lost_unknown;
    uint64_t last_ts_ns;
};

struct clr_input {
    struct lane_input lane;
    bool known_is_told;
    bool trigger_is_told;
    uint8_t bytes[TRD_EVENT_SIZE_MAX]; /* of the record that was handed out */
};

struct lane_source {
    struct source source;
    struct flight_recording *recording;
    unsigned open_inputs;
    struct ledger ledger;
};

struct flight_recording {
    struct flight *flight;
    struct pipeline *pipeline;
    struct options options;
    char *paths[OPTIONS_LIST_MAX]; /* owned */
    struct lane_source kernel, clr;
    struct page_input *cpus;  /* owned */
    struct clr_input *events; /* owned */
    struct flight_cause cause;
    char *trigger_json; /* owned */
    uint64_t until_ns;
    uint64_t taken; /* entries */
    bool is_closing;
};

/* Lanes */

static int end_lane(struct lane_input *lane)
{
    struct flight_recording *recording = lane->recording;

    lane->has_ended = true;
    flight_window_hold(recording->flight->window, lane->lane, false);
    if (--lane->source->open_inputs == 0)
        pipeline_source_ended(recording->pipeline, &lane->source->source);
    return 0;
}

static void take(struct lane_input *lane)
{
    flight_window_take(lane->recording->flight->window, lane->lane);
    lane->recording->taken++;
}

static void fill(const struct page_input *cpu, struct trd_record *out)
{
    trd_record_init(out);
    out->source = TRD_SOURCE_FTRACE;
    out->cpu = (int32_t)cpu->lane.lane;
}

static int hand_out_loss(struct page_input *cpu, uint64_t ts_ns, struct trd_record *out)
{
    struct ledger *ledger = &cpu->lane.source->ledger;

    fill(cpu, out);
    out->kind = TRD_KIND_LOST;
    out->ts_ns = ts_ns;
    out->lost_from_ns = cpu->last_ts_ns ? cpu->last_ts_ns : ts_ns;
    out->lost = cpu->lost_unknown ? TRD_LOST_UNKNOWN : cpu->pending_lost;
    ledger->unknown += cpu->lost_unknown;
    ledger->lost += cpu->lost_unknown ? 0 : cpu->pending_lost;
    cpu->lost_unknown = false;
    cpu->pending_lost = 0;
    return 1;
}

static bool hand_out(struct page_input *cpu, const struct trd_page_event *event,
                     struct trd_record *out)
{
    if (cpu->pending_lost > 0 || cpu->lost_unknown) {
        cpu->held = *event;
        cpu->has_held = true;
        return hand_out_loss(cpu, event->ts, out);
    }
    cpu->last_ts_ns = event->ts;
    fill(cpu, out);
    if (!trd_page_event_record(cpu->lane.recording->flight->catalog, event, out)) {
        cpu->pending_lost++;
        return false;
    }
    out->ts_ns = event->ts;
    cpu->lane.source->ledger.delivered++;
    return true;
}

static void leave_page(struct page_input *cpu)
{
    cpu->lane.source->ledger.damaged_bytes += cpu->page.damaged;
    cpu->in_page = false;
    take(&cpu->lane);
}

/* What was dropped for want of room lies before the page that found room again. */
static void note_losses(struct page_input *cpu)
{
    struct flight *flight = cpu->lane.recording->flight;
    uint64_t *lost = &flight->lane_lost[cpu->lane.lane];

    if (cpu->page.ts <= flight->done_ns[cpu->lane.lane])
        return; /* told by the recording that read the page's beginning */
    if (cpu->page.lost_events && cpu->page.lost == TRD_LOST_UNKNOWN)
        cpu->lost_unknown = true;
    else
        cpu->pending_lost += cpu->page.lost;
    cpu->pending_lost += *lost;
    *lost = 0;
}

/* 1: stands on a page; else what next() returns. */
static int next_page(struct page_input *cpu)
{
    const struct flight_recording *recording = cpu->lane.recording;
    const uint8_t *bytes;
    size_t size;

    if (cpu->in_page)
        leave_page(cpu);
    if (!flight_window_first(recording->flight->window, cpu->lane.lane, &bytes, &size))
        return recording->is_closing ? end_lane(&cpu->lane) : -EAGAIN;
    (void)trd_page_init(&cpu->page, bytes, size,
                        trd_catalog_get_layout(recording->flight->catalog));
    cpu->in_page = true;
    note_losses(cpu);
    return 1;
}

static int next_of_cpu(struct trd_merge_input *input, struct trd_record *out)
{
    struct page_input *cpu = (struct page_input *)input;
    const struct flight_recording *recording = cpu->lane.recording;
    struct trd_page_event event;
    int result;

    for (;;) {
        if (cpu->has_held) {
            cpu->has_held = false;
            event = cpu->held;
        } else if (!cpu->in_page || trd_page_next(&cpu->page, &event) != 1) {
            result = next_page(cpu);
            if (result != 1)
                return result;
            continue;
        }
        if (event.ts <= recording->flight->done_ns[cpu->lane.lane])
            continue;
        if (event.ts > recording->until_ns) {
            recording->flight->done_ns[cpu->lane.lane] = recording->until_ns;
            return end_lane(&cpu->lane);
        }
        if (hand_out(cpu, &event, out))
            return 1;
    }
}

/* The CLR's */

static void hand_out_event(struct clr_input *clr, const struct flight_event *event,
                           const uint8_t *bytes, struct trd_record *out)
{
    struct ledger *ledger = &clr->lane.source->ledger;

    memcpy(clr->bytes, bytes, event->size);
    flight_event_record(event, clr->bytes, out);
    if (event->kind == TRD_KIND_EVENT)
        ledger->delivered++;
    else if (event->lost == TRD_LOST_UNKNOWN)
        ledger->unknown++;
    else
        ledger->lost += event->lost;
}

/* What was known before the window began. When code began to be, it says itself. */
static bool hand_out_known(struct clr_input *clr, struct trd_record *out)
{
    const struct flight_event *event;
    const uint8_t *bytes;

    if (clr->known_is_told ||
        !flight_known_next(clr->lane.recording->flight->known, &event, &bytes)) {
        clr->known_is_told = true;
        return false;
    }
    hand_out_event(clr, event, bytes, out);
    if (event->id != TRD_EV_code)
        out->flags |= TRD_RECORD_F_CATCH_UP;
    return true;
}

static int hand_out_trigger(struct clr_input *clr, struct trd_record *out)
{
    const struct flight_recording *recording = clr->lane.recording;

    clr->trigger_is_told = true;
    trd_record_init(out);
    out->kind = TRD_KIND_DEFINITION;
    out->source = TRD_SOURCE_TRACERD;
    out->ts_ns = recording->cause.ts_ns;
    out->name = "trigger";
    out->args_json = recording->trigger_json;
    out->args_json_size = (uint32_t)strlen(recording->trigger_json);
    return 1;
}

static int next_of_clr(struct trd_merge_input *input, struct trd_record *out)
{
    struct clr_input *clr = (struct clr_input *)input;
    struct flight_recording *recording = clr->lane.recording;
    struct flight_event event;
    const uint8_t *bytes;
    size_t size;
    bool has_one, is_due;

    if (hand_out_known(clr, out))
        return 1;
    has_one = flight_window_first(recording->flight->window, clr->lane.lane, &bytes, &size);
    if (has_one)
        memcpy(&event, bytes, sizeof(event));
    is_due = has_one ? event.ts_ns > recording->cause.ts_ns
                     : recording->is_closing || input->watermark_ns > recording->cause.ts_ns;
    if (!clr->trigger_is_told && is_due)
        return hand_out_trigger(clr, out);
    if (!has_one)
        return recording->is_closing ? end_lane(&clr->lane) : -EAGAIN;
    if (event.ts_ns > recording->until_ns)
        return end_lane(&clr->lane);
    hand_out_event(clr, &event, bytes + sizeof(event), out);
    flight_known_note(recording->flight->known, &event, clr->bytes);
    take(&clr->lane);
    return 1;
}

/* Sources */

static void stop(struct source *source)
{
    ((struct lane_source *)source)->recording->is_closing = true;
}

static void account(struct source *source, struct ledger *out)
{
    *out = ((struct lane_source *)source)->ledger;
    out->produced = out->delivered + out->lost;
}

static void count(struct flight_recording *recording)
{
    struct flight_counts *counts = &recording->flight->counts;

    counts->recorded += recording->kernel.ledger.delivered + recording->clr.ledger.delivered;
}

/* It lies in the recording. */
static void destroy(struct source *source)
{
    (void)source;
}

static void init_source(struct flight_recording *recording, struct lane_source *lanes,
                        const char *name)
{
    lanes->recording = recording;
    (void)snprintf(lanes->source.name, sizeof(lanes->source.name), "%s", name);
    lanes->source.stop = stop;
    lanes->source.account = account;
    lanes->source.destroy = destroy;
    lanes->source.clock = "mono";
    pipeline_add_source(recording->pipeline, &lanes->source);
}

static void add_lane(struct flight_recording *recording, struct lane_source *source,
                     struct lane_input *lane, uint32_t index,
                     int (*next)(struct trd_merge_input *input, struct trd_record *out))
{
    *lane = (struct lane_input){
        .input.next = next, .recording = recording, .source = source, .lane = index
    };
    source->open_inputs++;
    flight_window_hold(recording->flight->window, index, true);
    if (pipeline_add_input(recording->pipeline, NULL, &lane->input) != 0)
        (void)end_lane(lane);
}

static void add_sources(struct flight_recording *recording)
{
    struct flight *flight = recording->flight;

    flight_known_rewind(flight->known);
    init_source(recording, &recording->clr, "clr");
    add_lane(recording, &recording->clr, &recording->events->lane, flight->cpu_count, next_of_clr);
    if (!flight->catalog)
        return;
    pipeline_add_catalog(recording->pipeline, flight->catalog);
    init_source(recording, &recording->kernel, "ftrace");
    for (uint32_t i = 0; i < flight->cpu_count; i++)
        add_lane(recording, &recording->kernel, &recording->cpus[i].lane, i, next_of_cpu);
}

/* Life */

static void free_recording(struct flight_recording *recording)
{
    pipeline_destroy(recording->pipeline);
    for (size_t i = 0; i < OPTIONS_LIST_MAX; i++)
        free(recording->paths[i]);
    free(recording->trigger_json);
    free(recording->cpus);
    free(recording->events);
    free(recording);
}

static void on_done(struct pipeline *pipeline, void *context)
{
    struct flight_recording *recording = context;
    struct flight *flight = recording->flight;

    count(recording);
    if (pipeline_exit_code(pipeline) != EXIT_COMPLETE)
        pipeline_set_partial(flight->pipeline);
    log_notice("recorded %" PRIu64 " events in %s",
               recording->kernel.ledger.delivered + recording->clr.ledger.delivered,
               recording->paths[0]);
    free_recording(recording);
    flight_on_recorded(flight);
}

/* STEM.000001.EXTENSION */
static char *number_path(const char *path, unsigned number)
{
    int stem = (int)sink_stem_size(path);
    char *numbered = NULL;

    return asprintf(&numbered, "%.*s.%06u%s", stem, path, number, path + stem) < 0 ? NULL
                                                                                   : numbered;
}

/* Numbers go on behind those of an earlier run. */
static bool name_outputs(struct flight_recording *recording)
{
    struct flight *flight = recording->flight;
    struct options *options = &recording->options;
    bool is_free;

    do {
        is_free = true;
        flight->number++;
        for (size_t i = 0; i < options->output_count; i++) {
            free(recording->paths[i]);
            recording->paths[i] = number_path(flight->options->outputs[i], flight->number);
            if (!recording->paths[i])
                return false;
            options->outputs[i] = recording->paths[i];
            is_free = is_free && access(recording->paths[i], F_OK) != 0;
        }
    } while (!is_free);
    return true;
}

/* False without memory. */
static bool describe_trigger(struct flight_recording *recording)
{
    const struct flight *flight = recording->flight;
    const struct flight_cause *cause = &recording->cause;
    json_t *object =
        json_pack("{s:I,s:s}", "number", (json_int_t)flight->number, "cause", cause->kind);

    if (cause->event)
        json_object_set_new(object, "event", line_text(cause->event));
    json_object_set_new(object, "before_ns", line_wide(flight->options->flight_ns));
    json_object_set_new(object, "after_ns", line_wide(flight->options->after_ns));
    json_object_set_new(object, "suppressed", line_wide(flight->suppressed_since));
    recording->trigger_json = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    return recording->trigger_json != NULL;
}

static void own_thread(void *context, int32_t tid, int32_t pid)
{
    (void)trd_enrich_set_thread(context, tid, pid);
}

static bool open_pipeline(struct flight_recording *recording)
{
    struct flight *flight = recording->flight;

    if (!name_outputs(recording) ||
        pipeline_create(&recording->pipeline, pipeline_loop(flight->pipeline), &recording->options,
                        on_done, recording) != 0)
        return false;
    trd_enrich_each_thread(pipeline_enrich(flight->pipeline), own_thread,
                           pipeline_enrich(recording->pipeline));
    return true;
}

bool flight_recording_start(struct flight *flight, const struct flight_cause *cause)
{
    struct flight_recording *recording = calloc(1, sizeof(*recording));

    if (!recording)
        return false;
    recording->flight = flight;
    recording->cause = *cause;
    recording->options = *flight->options;
    recording->options.flight = NULL;
    if (flight->needs_offcpu && recording->options.offcpu_ns == 0)
        recording->options.offcpu_ns = 1; /* what fired is to be found in it */
    recording->until_ns = cause->ts_ns + flight->options->after_ns;
    recording->cpus = calloc(flight->cpu_count, sizeof(*recording->cpus));
    recording->events = calloc(1, sizeof(*recording->events));
    if (!recording->cpus || !recording->events || !open_pipeline(recording) ||
        !describe_trigger(recording)) {
        free_recording(recording);
        return false;
    }
    add_sources(recording);
    pipeline_finish_when_ended(recording->pipeline);
    flight->recording = recording;
    log_notice("%s: recording the time from %" PRIu64 " ms before it in %s",
               cause->event ? cause->event : cause->kind, flight->options->flight_ns / 1000000,
               recording->paths[0]);
    flight_recording_tick(recording);
    return true;
}

static void promise(struct lane_input *lane, uint64_t ts_ns)
{
    if (!lane->has_ended && ts_ns > lane->input.watermark_ns)
        lane->input.watermark_ns = ts_ns;
}

static void promise_all(struct flight_recording *recording, uint64_t ts_ns)
{
    promise(&recording->events->lane, ts_ns);
    for (uint32_t i = 0; i < recording->flight->cpu_count && recording->flight->catalog; i++)
        promise(&recording->cpus[i].lane, ts_ns);
}

void flight_recording_tick(struct flight_recording *recording)
{
    struct flight *flight = recording->flight;

    if (clock_now_ns() > recording->until_ns + SETTLE_NS) {
        flight_recording_close(recording);
        return;
    }
    promise(&recording->events->lane, pipeline_watermark(flight->pipeline));
    for (uint32_t i = 0; i < flight->cpu_count && flight->catalog; i++)
        promise(&recording->cpus[i].lane, flight->reached_ns[i]);
}

void flight_recording_close(struct flight_recording *recording)
{
    recording->is_closing = true;
    promise_all(recording, UINT64_MAX);
}

bool flight_recording_make_room(struct flight_recording *recording)
{
    uint64_t before = recording->taken;

    promise_all(recording, clock_now_ns());
    for (int i = 0; i < PUMPS_MAX && recording->taken == before; i++)
        pipeline_pump(recording->pipeline);
    return recording->taken > before;
}
