#include "flight.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event.h"
#include "flight_private.h"
#include "log.h"
#include "stream_lines.h"
#include "tracerd/page.h"

#define TICK_MS 50
/* A trigger is seen this much after its time at most: until then its window must stay. */
#define LOOK_NS UINT64_C(1000000000)
/* Beside the window: names of a large application are a few MiB. */
#define KNOWN_BYTES_MAX (16u << 20)

/* What leaves unread */

/* Events of a page behind a time. */
static uint64_t count_page(const struct flight *flight, const uint8_t *bytes, size_t size,
                           uint64_t behind_ns)
{
    struct trd_page_event event;
    struct trd_page page;
    uint64_t count = 0;

    (void)trd_page_init(&page, bytes, size, trd_catalog_get_layout(flight->catalog));
    while (trd_page_next(&page, &event) == 1)
        count += event.ts > behind_ns;
    return count;
}

static void discard(void *context, uint32_t lane, const uint8_t *bytes, size_t size)
{
    struct flight *flight = context;
    struct flight_event event;

    if (lane < flight->cpu_count) {
        flight->counts.discarded += count_page(flight, bytes, size, flight->done_ns[lane]);
        return;
    }
    memcpy(&event, bytes, sizeof(event));
    flight->counts.discarded += event.kind == TRD_KIND_EVENT;
    flight_known_note(flight->known, &event, bytes + sizeof(event));
}

static bool make_room(void *context)
{
    struct flight *flight = context;

    return flight->recording && flight_recording_make_room(flight->recording);
}

/* The trigger */

/* What became of it, as a line. */
static const char *fire(struct flight *flight, const struct flight_cause *cause)
{
    uint64_t now_ns = clock_now_ns();

    if (flight->recording ||
        (flight->fired_ns && now_ns - flight->fired_ns < flight->options->flight_every_ns)) {
        flight->counts.suppressed++;
        flight->suppressed_since++;
        log_verbose("%s: the last recording is too recent",
                    cause->event ? cause->event : cause->kind);
        return "too soon behind the last recording: counted\n";
    }
    flight->counts.triggers++;
    flight->fired_ns = now_ns;
    if (flight_recording_start(flight, cause)) {
        flight->suppressed_since = 0;
        return "recording\n";
    }
    flight->counts.failed++;
    pipeline_set_partial(flight->pipeline);
    return "the recording cannot be written: tracerd says why\n";
}

static void on_signal(uv_signal_t *handle, int signal)
{
    const struct flight_cause cause = { .kind = "signal", .ts_ns = clock_now_ns() };

    (void)signal;
    (void)fire(handle->data, &cause);
}

static const char *on_command(void *context)
{
    const struct flight_cause cause = { .kind = "command", .ts_ns = clock_now_ns() };
    struct flight *flight = context;

    return flight->is_ending ? "it is ending\n" : fire(flight, &cause);
}

/* What was there before we came is no news. */
static bool fires(struct flight *flight, const struct trd_record *record)
{
    return flight->trigger && !flight->is_ending &&
           (record->kind == TRD_KIND_EVENT || record->kind == TRD_KIND_SPAN) &&
           !(record->flags & TRD_RECORD_F_CATCH_UP) && trd_filter_match(flight->trigger, record);
}

/* What comes in */

static void keep_event(struct flight *flight, const struct trd_record *record)
{
    struct flight_event event;
    const uint8_t *bytes = NULL;
    uint8_t *place;

    if (!flight_event_take(record, &event, &bytes))
        return;
    flight->counts.events += event.kind == TRD_KIND_EVENT;
    place = flight_window_put(flight->window, flight->cpu_count, clock_now_ns(),
                              sizeof(event) + event.size);
    if (!place) {
        flight->counts.lost++;
        flight->lane_lost[flight->cpu_count]++;
        return;
    }
    memcpy(place, &event, sizeof(event));
    if (event.size > 0)
        memcpy(place + sizeof(event), bytes, event.size);
}

static void record(struct sink *sink, const struct trd_record *record)
{
    struct flight *flight = (struct flight *)sink;

    keep_event(flight, record);
    if (fires(flight, record))
        (void)fire(flight, &(struct flight_cause){
                               .kind = "event",
                               .event = record->name ? record->name : record->schema->full_name,
                               .ts_ns = record->ts_ns +
                                        (record->kind == TRD_KIND_SPAN ? record->dur_ns : 0) });
}

/* A page without what nobody wrote into it. */
static size_t used_size(const struct trd_page_layout *layout, const uint8_t *bytes, size_t size)
{
    struct trd_page page;
    size_t used;

    if (trd_page_init(&page, bytes, size, layout) != 0)
        return size;
    used = (size_t)layout->data_offset + page.end +
           (page.lost_events && page.lost != TRD_LOST_UNKNOWN ? layout->long_size : 0);
    return used < size ? used : size;
}

static void page(struct sink *sink, uint32_t cpu, const uint8_t *bytes, size_t size)
{
    struct flight *flight = (struct flight *)sink;
    uint8_t *place;

    if (!flight->catalog || cpu >= flight->cpu_count)
        return;
    if (flight->watch)
        flight_watch_page(flight->watch, cpu, bytes, size);
    size = used_size(trd_catalog_get_layout(flight->catalog), bytes, size);
    place = flight_window_put(flight->window, cpu, clock_now_ns(), size);
    if (place) {
        memcpy(place, bytes, size);
    } else {
        uint64_t count = count_page(flight, bytes, size, 0);

        flight->counts.lost += count;
        flight->lane_lost[cpu] += count;
    }
}

static void reached(struct sink *sink, uint32_t cpu, uint64_t ts_ns)
{
    struct flight *flight = (struct flight *)sink;

    if (cpu >= flight->cpu_count)
        return;
    flight->reached_ns[cpu] = ts_ns;
    if (flight->watch)
        flight_watch_reached(flight->watch, cpu, ts_ns);
}

static void catalog(struct sink *sink, const struct trd_catalog *catalog)
{
    struct flight *flight = (struct flight *)sink;

    flight->catalog = catalog;
    if (flight->trigger && flight_watch_create(&flight->watch, flight) != 0)
        log_error("--trigger cannot look at the kernel's events: no memory");
}

/* Time passes */

static void on_tick(uv_timer_t *timer)
{
    struct flight *flight = timer->data;
    uint64_t now_ns = clock_now_ns();

    if (flight->recording)
        flight_recording_tick(flight->recording);
    else if (now_ns > flight->options->flight_ns + LOOK_NS)
        flight_window_discard(flight->window, now_ns - flight->options->flight_ns - LOOK_NS);
}

/* The end */

static void tell(const struct flight *flight)
{
    const struct flight_counts *counts = &flight->counts;

    if (counts->recorded + counts->discarded + counts->triggers == 0)
        return; /* nothing was begun */
    log_notice(
        "flight recorder: %" PRIu64 " recordings with %" PRIu64 " events; %" PRIu64
        " triggers came too soon behind another; %" PRIu64 " events left the window unrecorded",
        counts->triggers - counts->failed, counts->recorded, counts->suppressed, counts->discarded);
    if (flight_known_refused(flight->known) > 0)
        log_notice("%" PRIu64 " names did not fit into memory: recordings show these as numbers",
                   flight_known_refused(flight->known));
}

static void free_flight(struct flight *flight)
{
    flight_window_destroy(flight->window);
    flight_known_destroy(flight->known);
    flight_watch_destroy(flight->watch);
    trd_filter_destroy(flight->trigger);
    free(flight->lane_lost);
    free(flight->done_ns);
    free(flight->reached_ns);
    free(flight);
}

static void on_part_closed(void *context)
{
    struct flight *flight = context;
    struct pipeline *pipeline = flight->pipeline;

    if (--flight->open_handles > 0)
        return;
    /* Whatever is left in the window was not recorded. */
    flight_window_discard(flight->window, UINT64_MAX);
    tell(flight);
    pipeline_sink_closed(pipeline, &flight->sink);
    free_flight(flight);
}

static void on_closed(uv_handle_t *handle)
{
    on_part_closed(handle->data);
}

static void close_handles(struct flight *flight)
{
    if (flight->has_control)
        flight_control_close(&flight->control);
    uv_close((uv_handle_t *)&flight->timer, on_closed);
    uv_close((uv_handle_t *)&flight->signal, on_closed);
}

void flight_on_recorded(struct flight *flight)
{
    flight->recording = NULL;
    if (flight->is_ending)
        close_handles(flight);
}

static void end(struct sink *sink)
{
    struct flight *flight = (struct flight *)sink;

    flight->is_ending = true;
    if (flight->recording)
        flight_recording_close(flight->recording);
    else
        close_handles(flight);
}

/* Set-up */

struct options flight_live_options(const struct options *options)
{
    struct options live = *options;

    live.filter = NULL;
    live.summary = false;
    live.clr_categories = TRD_CATEGORIES_ALL;
    live.event_count = 0;
    live.output_count = 0;
    return live;
}

static int create_parts(struct flight *flight)
{
    const struct flight_window_user user = { discard, make_room, flight };
    uint32_t lanes = flight->cpu_count + 1;
    int result;

    flight->lane_lost = calloc(lanes, sizeof(*flight->lane_lost));
    flight->done_ns = calloc(lanes, sizeof(*flight->done_ns));
    flight->reached_ns = malloc(lanes * sizeof(*flight->reached_ns));
    if (!flight->lane_lost || !flight->done_ns || !flight->reached_ns)
        return -ENOMEM;
    for (uint32_t i = 0; i < lanes; i++)
        flight->reached_ns[i] = UINT64_MAX;
    result = flight_window_create(&flight->window, flight->options->flight_bytes, lanes, &user);
    return result != 0 ? result : flight_known_create(&flight->known, KNOWN_BYTES_MAX);
}

static int compile(struct flight *flight)
{
    char error[512];

    if (!flight->options->trigger)
        return 0;
    if (trd_filter_create(&flight->trigger, flight->options->trigger, error, sizeof(error)) != 0) {
        log_error("--trigger: %s", error);
        return EXIT_USAGE;
    }
    if (trd_filter_may_match(flight->trigger, NULL, "sched:offcpu")) {
        flight->needs_offcpu = true;
        trd_enrich_derive_offcpu(pipeline_enrich(flight->pipeline), 0, flight->options->all);
    }
    trd_filter_set_names(flight->trigger, trd_enrich_names(pipeline_enrich(flight->pipeline)));
    return 0;
}

static void open_handles(struct flight *flight)
{
    uv_loop_t *loop = pipeline_loop(flight->pipeline);

    uv_timer_init(loop, &flight->timer);
    uv_signal_init(loop, &flight->signal);
    flight->timer.data = flight;
    flight->signal.data = flight;
    flight->open_handles = 2;
    uv_unref((uv_handle_t *)&flight->signal);
    flight->control = (struct flight_control){ .fire = on_command,
                                               .on_closed = on_part_closed,
                                               .context = flight };
    flight->has_control = flight_control_open(&flight->control, loop, flight->options->pid);
    flight->open_handles += flight->has_control;
    uv_timer_start(&flight->timer, on_tick, TICK_MS, TICK_MS);
    uv_signal_start(&flight->signal, on_signal, SIGUSR1);
}

static int check(const struct flight *flight, const struct trd_filter *filter, const char *option)
{
    char error[512];
    bool has_unknown_fields = flight->options->provider_count > 0;

    if (!filter || has_unknown_fields ||
        trd_filter_check(filter, &flight->catalog, flight->catalog ? 1 : 0, error, sizeof(error)) ==
            0)
        return 0;
    log_error("%s: %s", option, error);
    return EXIT_USAGE;
}

/* Of what is recorded here: a misspelt name would wait for ever. */
static bool can_fire(const struct flight *flight)
{
    static const char *const spans[] = { "clr:gc_pause", "clr:suspension", "clr:gc",
                                         "clr:jit",      "clr:call",       "clr:contention" };
    const struct trd_event_info *info;

    for (size_t i = 0; (info = trd_event_get(i)); i++)
        if (trd_filter_may_match(flight->trigger, trd_clr_schema(info->id), NULL))
            return true;
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
        if (trd_filter_may_match(flight->trigger, NULL, spans[i]))
            return true;
    return flight->watch || flight->options->provider_count > 0;
}

int flight_check(const struct flight *flight)
{
    struct trd_filter *filter = NULL;
    char error[512];
    int result = check(flight, flight->trigger, "--trigger");

    if (result == 0 && flight->trigger && !can_fire(flight)) {
        log_error("--trigger: no event or span that is recorded here can fire it: %s",
                  flight->options->trigger);
        return EXIT_USAGE;
    }
    if (result != 0 || !flight->options->filter)
        return result;
    if (trd_filter_create(&filter, flight->options->filter, error, sizeof(error)) != 0) {
        log_error("--filter: %s", error);
        return EXIT_USAGE;
    }
    result = check(flight, filter, "--filter");
    trd_filter_destroy(filter);
    return result;
}

int flight_open(struct flight **out, struct pipeline *pipeline, const struct options *options)
{
    struct flight *flight = calloc(1, sizeof(*flight));
    int result = EXIT_NOTHING;

    if (flight) {
        flight->pipeline = pipeline;
        flight->options = options;
        flight->cpu_count = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
        result = create_parts(flight) == 0 ? compile(flight) : EXIT_NOTHING;
    }
    if (!flight || result != 0) {
        if (result == EXIT_NOTHING)
            log_error("cannot set up the flight recorder: no memory");
        if (flight)
            free_flight(flight);
        return result;
    }
    flight->sink.record = record;
    flight->sink.page = page;
    flight->sink.reached = reached;
    flight->sink.catalog = catalog;
    flight->sink.end = end;
    pipeline_add_sink(pipeline, &flight->sink);
    open_handles(flight);
    *out = flight;
    return 0;
}
