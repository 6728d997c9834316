#include "clr_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clr_resolve.h"
#include "attach.h"
#include "clr_runtimes.h"
#include "clr_source_private.h"
#include "log.h"
#include "option_values.h"
#include "stream_lines.h"
#include "target_linux.h"

/*
 * Records waiting for the merge; beyond it the socket is not read, and the rings of the process
 * count. One sweep of its sender must fit, since the mark that lets the merge go on comes behind
 * it: so as much as its rings hold is added, up to a limit of its own.
 */
#define QUEUED_BYTES_MIN (16u << 20)
#define SWEEP_BYTES_MAX (64u << 20)
#define MARK_INTERVAL_MS 40   /* what an event of a quiet process may wait for */
#define LOOK_INTERVAL_MS 30   /* the same where it is looked into, plus the way to it and back */
#define GREETING_WAIT_MS 5000 /* a client that connects and stays silent must not stay for ever */
#define WATCH_MS 500          /* how long a dead process may go unnoticed */
#define RUNTIMES_EVERY 20     /* in how many of those turns a second runtime is looked for */
#define DETACH_WAIT_MS 2000

/* Marks and inputs */

void clr_source_set_mark(struct clr_source *clr, uint64_t ts_ns)
{
    if (ts_ns <= clr->mark_ns)
        return;
    clr->mark_ns = ts_ns;
    clr->control.input.watermark_ns = ts_ns;
    for (uint32_t i = 0; i < clr->ring_count; i++)
        if (clr->rings[i])
            clr->rings[i]->input.watermark_ns = ts_ns;
}

struct clr_ring *clr_source_ring(struct clr_source *clr, uint32_t index)
{
    struct clr_ring *ring;

    if (index >= clr->ring_count)
        return NULL;
    if (clr->rings[index])
        return clr->rings[index];
    ring = malloc(sizeof(*ring));
    if (!ring)
        return NULL;
    clr_ring_init(ring, &clr->totals);
    ring->input.watermark_ns = clr->mark_ns;
    if (pipeline_add_input(clr->pipeline, &clr->source, &ring->input) != 0) {
        clr->totals.open_inputs--;
        free(ring);
        return NULL;
    }
    clr->rings[index] = ring;
    return ring;
}

void clr_source_set_owner(struct clr_source *clr, struct clr_ring *ring, uint32_t inner_tid)
{
    if (ring->inner_tid == inner_tid && ring->host_tid >= 0)
        return;
    ring->inner_tid = inner_tid;
    ring->host_tid = clr_tids_host(&clr->tids, inner_tid);
    if (ring->host_tid > 0)
        (void)trd_enrich_set_thread(pipeline_enrich(clr->pipeline), ring->host_tid, clr->pid);
}

static size_t queued_bytes_max(const struct clr_source *clr)
{
    uint64_t sweep = clr_arena_total_bytes(&clr->arena) +
                     (uint64_t)clr_arena_used(&clr->arena) * TRD_RING_SIZE_MIN;

    return QUEUED_BYTES_MIN + (size_t)(sweep < SWEEP_BYTES_MAX ? sweep : SWEEP_BYTES_MAX);
}

/* Frames */

static int on_batch(struct clr_source *clr, const uint8_t *payload, size_t size)
{
    struct trd_batch batch;
    struct clr_ring *ring;
    const uint8_t *records;
    size_t records_size;
    int result = trd_frame_batch(payload, size, &batch, &records, &records_size);

    if (result != 0)
        return result;
    ring = clr_source_ring(clr, batch.ring);
    if (!ring)
        return -EBADMSG;
    /* A connection's first batch of a ring starts wherever the earlier ones ended. */
    if (!ring->is_placed)
        ring->position = batch.position;
    ring->is_placed = true;
    clr_source_set_owner(clr, ring, batch.tid);
    return clr_ring_put(ring, batch.position, records, records_size);
}

static int on_lost(struct clr_source *clr, const uint8_t *payload, size_t size)
{
    struct trd_ring_lost lost;
    struct clr_loss loss;
    struct clr_ring *ring;
    int result = trd_frame_ring_lost(payload, size, &lost);

    if (result != 0)
        return result;
    ring = clr_source_ring(clr, lost.ring);
    if (!ring)
        return -EBADMSG;
    clr_source_set_owner(clr, ring, lost.tid);
    ring->last_lost.count = lost.count;
    ring->last_lost.told = lost.told;
    loss = (struct clr_loss){ clr_clock_ns(&clr->clock, lost.from_ns),
                              clr_clock_ns(&clr->clock, lost.to_ns), lost.count };
    return clr_ring_put_lost(ring, &loss);
}

void clr_source_stamp(struct clr_source *clr)
{
    for (uint32_t i = 0; i < clr->ring_count; i++)
        if (clr->rings[i])
            clr_ring_stamp(clr->rings[i]);
}

static int on_mark(struct clr_source *clr, const uint8_t *payload, size_t size)
{
    struct trd_mark mark;
    int result = trd_frame_mark(payload, size, &mark);
    uint64_t now_ns = clock_now_ns();

    if (result == 0 && clr->clock.is_tsc)
        clr_clock_add(&clr->clock, &mark.pair);
    clr_source_stamp(clr);
    if (result == 0)
        clr_source_set_mark(clr, mark.ts_ns < now_ns ? mark.ts_ns : now_ns);
    if (result == 0)
        clr_resolve_wanted(clr);
    return result;
}

static int open_arena(struct clr_source *clr)
{
    int result = clr->socket.descriptor < 0
                     ? -EBADMSG
                     : clr_arena_map(&clr->arena, clr->socket.descriptor, &clr->hello);

    if (result != 0)
        return result;
    clr->rings = calloc(clr->hello.ring_count, sizeof(clr->rings[0]));
    if (!clr->rings)
        return -ENOMEM;
    clr->ring_count = clr->hello.ring_count;
    return 0;
}

/* If it fails the peer is gone: what it had sent before is read until the end shows. */
static void send_frame(struct clr_source *clr, enum trd_frame_type type, const void *payload,
                       size_t size)
{
    (void)clr_socket_send(&clr->socket, type, payload, size);
}

static void send_providers(struct clr_source *clr)
{
    const struct options *options = clr->options;
    char list[TRD_PROVIDERS_SIZE_MAX + 1];

    if (options->provider_count > 0 &&
        option_join_providers(options->providers, options->provider_count, list))
        send_frame(clr, TRD_FRAME_PROVIDERS, list, strlen(list));
}

/* Answered when everything before it is done: frames are taken in their order. */
static void ask_whether_ready(struct clr_source *clr)
{
    const struct trd_ping ping = { .token = 1 };

    send_frame(clr, TRD_FRAME_PING, &ping, sizeof(ping));
}

static int on_pong(struct clr_source *clr)
{
    if (!clr->is_ready && clr->watch.on_ready)
        clr->watch.on_ready(clr->pid, clr->watch.context);
    clr->is_ready = true;
    return 0;
}

static void on_watch(uv_timer_t *timer);
static void on_look(uv_timer_t *timer);

/* Its thread wakes up for every mark: in a quiet process that would be most of what is told. */
static void leave_out_sender(struct clr_source *clr)
{
    pid_t sender = target_thread_named(clr->pid, TRD_SENDER_NAME);

    if (sender > 0)
        pipeline_leave_out(clr->pipeline, sender);
}

static int on_hello(struct clr_source *clr, const uint8_t *payload, size_t size)
{
    struct trd_welcome welcome = { .magic = TRD_PROTOCOL_MAGIC,
                                   .version = TRD_PROTOCOL_VERSION,
                                   .categories = clr->options->clr_categories,
                                   .mark_interval_ms = MARK_INTERVAL_MS };
    int result = trd_frame_hello(payload, size, &clr->hello);

    if (result == 0)
        result = clr_clock_init(&clr->clock, &clr->hello);
    if (result == 0)
        result = open_arena(clr);
    if (result != 0)
        return result;
    if (clr->hello.flags & TRD_HELLO_F_SWEEPS) {
        welcome.flags = TRD_WELCOME_F_LOOKS;
        uv_timer_start(&clr->look, on_look, LOOK_INTERVAL_MS, LOOK_INTERVAL_MS);
    }
    clr_tids_init(&clr->tids, clr->pid, clr->hello.pid);
    if (clr->hello.accounted > 0)
        clr_arena_dropped(&clr->arena, clr->dropped_before);
    clr->totals.events_revision = clr->hello.events_revision;
    clr->state = CLR_STREAMING;
    uv_timer_start(&clr->timer, on_watch, WATCH_MS, WATCH_MS);
    send_frame(clr, TRD_FRAME_WELCOME, &welcome, sizeof(welcome));
    send_providers(clr);
    ask_whether_ready(clr);
    log_verbose("a profiler introduced itself: pid=%d", clr->pid);
    leave_out_sender(clr);
    /* Two connections need not be read in the order they were made in. */
    clr->is_left =
        pipeline_meet(clr->pipeline, &clr->source, clr->pid, clr->hello.instance, clr->began_ns);
    if (clr->watch.on_hello)
        clr->watch.on_hello(clr->pid, clr->watch.context);
    return 0;
}

static int on_frame(struct clr_source *clr, const struct trd_frame_head *head,
                    const uint8_t *payload)
{
    int result;

    if ((head->type == TRD_FRAME_HELLO) != (clr->state == CLR_GREETING))
        return -EBADMSG;
    switch (head->type) {
    case TRD_FRAME_HELLO:
        return on_hello(clr, payload, head->size);
    case TRD_FRAME_BATCH:
        return on_batch(clr, payload, head->size);
    case TRD_FRAME_MARK:
        return on_mark(clr, payload, head->size);
    case TRD_FRAME_LOST:
        return on_lost(clr, payload, head->size);
    case TRD_FRAME_BYE:
        result = trd_frame_goodbye(payload, head->size, &clr->goodbye);
        clr->has_goodbye = result == 0;
        return result;
    case TRD_FRAME_PONG:
        return on_pong(clr);
    default:
        return -EBADMSG;
    }
}

static int take_frames(struct clr_source *clr)
{
    struct trd_frame_head head;
    const uint8_t *payload;
    int result;

    while ((result = clr_socket_next(&clr->socket, &head, &payload)) == 1) {
        result = on_frame(clr, &head, payload);
        if (result != 0)
            break;
    }
    return result;
}

/* Socket */

static void break_off(struct clr_source *clr, int error)
{
    clr->is_broken = true;
    log_error("a profiler broke the protocol and was disconnected: pid=%d, error=\"%s\"", clr->pid,
              strerror(-error));
    pipeline_set_partial(clr->pipeline);
}

static void read_socket(struct clr_source *clr)
{
    ssize_t got = 1;
    int result = 0;

    while (got > 0 && result == 0 && clr->totals.queued_bytes < queued_bytes_max(clr)) {
        got = clr_socket_receive(&clr->socket);
        if (got > 0)
            result = take_frames(clr);
    }
    if (result < 0)
        break_off(clr, result);
    if (result < 0 || got < 0) {
        clr_end_part(clr);
    } else if (got > 0) {
        clr->is_paused = true;
        uv_poll_stop(&clr->poll);
    }
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct clr_source *clr = poll->data;

    (void)status; /* a read tells more */
    (void)events;
    read_socket(clr);
    pipeline_pump(clr->pipeline);
}

/* There is room again, or that was the last input. */
static void on_drained(void *context)
{
    struct clr_source *clr = context;

    if (clr->is_paused && clr->state == CLR_STREAMING &&
        clr->totals.queued_bytes < queued_bytes_max(clr) / 2) {
        clr->is_paused = false;
        uv_poll_start(&clr->poll, UV_READABLE, on_readable);
    }
    if (clr->state == CLR_DRAINING)
        clr_end_on_drained(clr);
}

/* A forked child may hold the connection open beyond the death of the process. */
static void on_watch(uv_timer_t *timer)
{
    struct clr_source *clr = timer->data;

    if (clr->watches++ % RUNTIMES_EVERY == 0 && !clr->has_told_runtimes)
        clr->has_told_runtimes = clr_runtimes_tell(clr->pid);
    if (clr->is_paused || !target_is_dead(clr->pid))
        return;
    read_socket(clr);
    if (!clr->is_paused)
        clr_end_part(clr);
}

/*
 * A process that has nothing to say need not wake up to say so: what it would promise shows in its
 * arena. It is asked for what lies there, and where there is no seeing: by the counter's time a
 * mark is needed to convert it with.
 */
static void on_look(uv_timer_t *timer)
{
    struct clr_source *clr = timer->data;
    uint64_t now_ns = clock_now_ns();

    if (clr->is_paused)
        return;
    if (clr->clock.is_tsc || !clr_arena_is_quiet(&clr->arena)) {
        if (clr_socket_was_read(&clr->socket))
            send_frame(clr, TRD_FRAME_SWEEP, NULL, 0);
        return;
    }
    /* What it sent before that is in the socket, at the latest. */
    read_socket(clr);
    if (clr->state == CLR_STREAMING && !clr->is_paused) {
        clr_source_set_mark(clr, now_ns);
        clr_resolve_wanted(clr);
    }
    pipeline_pump(clr->pipeline);
}

static void on_greeting_timeout(uv_timer_t *timer)
{
    clr_end_part(timer->data);
}

static void on_detach_timeout(uv_timer_t *timer)
{
    struct clr_source *clr = timer->data;

    if (!clr->is_paused)
        clr_end_part(clr);
}

/* Source */

static void stop(struct source *source)
{
    struct clr_source *clr = (struct clr_source *)source;

    /* A process that lived for a moment only has said all it had to say by now. */
    if (clr->state == CLR_GREETING)
        read_socket(clr);
    if (clr->state == CLR_GREETING)
        clr_end_part(clr);
    if (clr->state != CLR_STREAMING)
        return;
    send_frame(clr, TRD_FRAME_DETACH, NULL, 0);
    uv_timer_start(&clr->timer, on_detach_timeout, DETACH_WAIT_MS, DETACH_WAIT_MS);
}

static bool meet(struct source *source, pid_t pid, uint64_t instance, uint64_t since_ns)
{
    struct clr_source *clr = (struct clr_source *)source;

    if (clr->pid != pid || clr->hello.instance != instance || clr->state == CLR_GREETING)
        return false;
    if (clr->began_ns > since_ns)
        return true;
    if (clr->state < CLR_DRAINING)
        clr->is_left = true;
    return false;
}

static void account(struct source *source, struct ledger *out)
{
    clr_end_account((struct clr_source *)source, out);
}

static void destroy(struct source *source)
{
    struct clr_source *clr = (struct clr_source *)source;

    for (uint32_t i = 0; i < clr->ring_count; i++)
        if (clr->rings[i]) {
            clr_ring_finish(clr->rings[i]);
            free(clr->rings[i]);
        }
    if (clr->control.totals)
        clr_ring_finish(&clr->control);
    free(clr->rings);
    clr_arena_unmap(&clr->arena);
    clr_tids_finish(&clr->tids);
    clr_maps_finish(&clr->maps);
    clr_socket_finish(&clr->socket);
    free(clr);
}

static void open_handles(struct clr_source *clr)
{
    uv_timer_init(pipeline_loop(clr->pipeline), &clr->timer);
    uv_timer_init(pipeline_loop(clr->pipeline), &clr->look);
    clr->poll.data = clr;
    clr->timer.data = clr;
    clr->look.data = clr;
    clr->open_handles = 3;
    uv_poll_start(&clr->poll, UV_READABLE, on_readable);
    uv_timer_start(&clr->timer, on_greeting_timeout, GREETING_WAIT_MS, 0);
}

int clr_source_open(struct pipeline *pipeline, const struct options *options, int fd,
                    pid_t peer_pid, uint64_t since_ns, const struct profiler_watch *watch)
{
    struct clr_source *clr = calloc(1, sizeof(*clr));

    if (!clr)
        return -ENOMEM;
    (void)snprintf(clr->source.name, sizeof(clr->source.name), "clr %d", peer_pid);
    clr->source.stop = stop;
    clr->source.account = account;
    clr->source.meet = meet;
    clr->source.destroy = destroy;
    clr->source.clock = "mono";
    clr->pipeline = pipeline;
    clr->options = options;
    clr->watch = *watch;
    clr->pid = peer_pid;
    clr->began_ns = clock_now_ns();
    clr->totals = (struct clr_totals){ .pid = peer_pid,
                                       .tids = &clr->tids,
                                       .clock = &clr->clock,
                                       .drained = on_drained,
                                       .context = clr };
    clr_ring_init(&clr->control, &clr->totals);
    clr->control.input.watermark_ns = since_ns;
    if (pipeline_add_input(pipeline, &clr->source, &clr->control.input) != 0 ||
        clr_socket_init(&clr->socket, fd) != 0 ||
        uv_poll_init(pipeline_loop(pipeline), &clr->poll, fd) != 0) {
        pipeline_remove_input(pipeline, &clr->control.input);
        clr_ring_finish(&clr->control);
        free(clr->socket.input);
        free(clr);
        return -ENOMEM;
    }
    open_handles(clr);
    pipeline_add_source(pipeline, &clr->source);
    return 0;
}
