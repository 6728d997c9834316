#include "clr_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clr_arena.h"
#include "clr_ring.h"
#include "log.h"
#include "target_linux.h"

/* Two whole frames: one being read, the start of the next. */
#define INPUT_SIZE (2 * (TRD_FRAME_SIZE_MAX + sizeof(struct trd_frame_head)))
/* Records waiting for the merge; beyond it the socket is not read, and the rings of the process
 * count. */
#define QUEUED_BYTES_MAX (16u << 20)
#define MARK_INTERVAL_MS 10
/* How long a process whose connection broke may take to die before it counts as alive. */
#define DEATH_WAIT_MS 2000
#define DEATH_POLL_MS 5
#define DETACH_WAIT_MS 2000
#define GREETING_WAIT_MS 5000

enum state {
    STATE_GREETING, /* HELLO is awaited */
    STATE_STREAMING,
    STATE_PARTING,  /* connection gone; is the process? */
    STATE_DRAINING, /* all is known; the inputs run dry */
    STATE_ENDED,
};

struct clr_source {
    struct source source;
    struct pipeline *pipeline;
    const struct options *options;
    struct clr_source_events events;
    enum state state;
    pid_t pid; /* of the peer, in our namespace */
    int fd;
    int arena_fd; /* came with HELLO; -1 once mapped */
    bool has_bye;
    bool process_is_dead;
    unsigned waited_ms;
    bool paused;        /* too much is queued */
    bool own_namespace; /* its tids are ours */
    struct trd_hello hello;
    struct trd_goodbye goodbye;
    struct clr_arena arena;
    struct clr_ring control; /* losses outside rings; holds the mark while there is no ring yet */
    struct clr_ring **rings; /* owned, by ring index; NULL where none was seen */
    uint32_t ring_count;
    struct clr_totals totals;
    struct ledger ledger; /* final figures */
    uint64_t mark_ns;
    uint8_t *input; /* owned */
    size_t input_size;
    uv_poll_t poll;
    uv_timer_t timer;
    unsigned open_handles;
};

static void part(struct clr_source *clr);
static void on_drained(void *context);

/* Marks and inputs */

static void set_mark(struct clr_source *clr, uint64_t ts_ns)
{
    if (ts_ns <= clr->mark_ns)
        return;
    clr->mark_ns = ts_ns;
    clr->control.input.watermark_ns = ts_ns;
    for (uint32_t i = 0; i < clr->ring_count; i++)
        if (clr->rings[i])
            clr->rings[i]->input.watermark_ns = ts_ns;
}

static struct clr_ring *get_ring(struct clr_source *clr, uint32_t index)
{
    struct clr_ring *ring;

    if (index >= clr->ring_count)
        return NULL;
    if (clr->rings[index])
        return clr->rings[index];
    ring = malloc(sizeof(*ring));
    if (!ring)
        return NULL;
    clr_ring_init(ring, &clr->totals, clr->pid);
    ring->input.watermark_ns = clr->mark_ns;
    if (pipeline_add_input(clr->pipeline, &ring->input) != 0) {
        clr->totals.open_inputs--;
        free(ring);
        return NULL;
    }
    clr->rings[index] = ring;
    return ring;
}

static int32_t host_tid(struct clr_source *clr, uint32_t inner)
{
    return clr->own_namespace ? (int32_t)inner : (int32_t)target_host_tid(clr->pid, (pid_t)inner);
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
    ring = get_ring(clr, batch.ring);
    if (!ring)
        return -EBADMSG;
    /* A connection's first batch of a ring starts wherever the earlier ones ended. */
    if (ring->tid < 0)
        ring->position = batch.position;
    if (ring->tid < 0 || (uint32_t)ring->tid != batch.tid) {
        ring->tid = (int32_t)batch.tid;
        (void)trd_enrich_set_thread(pipeline_enrich(clr->pipeline), host_tid(clr, batch.tid),
                                    clr->pid);
    }
    return clr_ring_put(ring, batch.position, host_tid(clr, batch.tid), records, records_size);
}

static int on_lost(struct clr_source *clr, const uint8_t *payload, size_t size)
{
    struct trd_ring_lost lost;
    int result = trd_frame_ring_lost(payload, size, &lost);

    return result ? result
                  : clr_ring_put_lost(&clr->control, host_tid(clr, lost.tid), lost.from_ns,
                                      lost.to_ns, lost.count);
}

static int send_frame(struct clr_source *clr, enum trd_frame_type type, const void *payload,
                      size_t size)
{
    uint8_t bytes[64];
    struct trd_frame_head head;

    trd_frame_head_init(&head, type, (uint32_t)size);
    memcpy(bytes, &head, sizeof(head));
    if (size > 0)
        memcpy(bytes + sizeof(head), payload, size);
    /* A few bytes into an empty buffer: whoever does not take them is no peer. */
    return send(clr->fd, bytes, sizeof(head) + size, MSG_NOSIGNAL | MSG_DONTWAIT) ==
                   (ssize_t)(sizeof(head) + size)
               ? 0
               : -EPIPE;
}

static int on_hello(struct clr_source *clr, const uint8_t *payload, size_t size)
{
    struct trd_welcome welcome = { .magic = TRD_PROTOCOL_MAGIC,
                                   .version = TRD_PROTOCOL_VERSION,
                                   .categories = clr->options->clr_categories,
                                   .mark_interval_ms = MARK_INTERVAL_MS };
    int result = trd_frame_hello(payload, size, &clr->hello);

    if (result == 0 && clr->arena_fd < 0)
        result = -EBADMSG;
    if (result == 0)
        result = clr_arena_map(&clr->arena, clr->arena_fd, &clr->hello);
    if (result != 0)
        return result;
    close(clr->arena_fd);
    clr->arena_fd = -1;
    clr->own_namespace = (pid_t)clr->hello.pid == clr->pid;
    clr->rings = calloc(clr->hello.ring_count, sizeof(clr->rings[0]));
    if (!clr->rings)
        return -ENOMEM;
    clr->ring_count = clr->hello.ring_count;
    clr_ring_init(&clr->control, &clr->totals, clr->pid);
    if (pipeline_add_input(clr->pipeline, &clr->control.input) != 0)
        return -ENOMEM;
    clr->state = STATE_STREAMING;
    uv_timer_stop(&clr->timer);
    if (clr->events.introduced)
        clr->events.introduced(clr->pid, clr->events.context);
    return send_frame(clr, TRD_FRAME_WELCOME, &welcome, sizeof(welcome));
}

static int on_frame(struct clr_source *clr, const struct trd_frame_head *head,
                    const uint8_t *payload)
{
    struct trd_mark mark;
    int result;

    if ((head->type == TRD_FRAME_HELLO) != (clr->state == STATE_GREETING))
        return -EBADMSG;
    switch (head->type) {
    case TRD_FRAME_HELLO:
        return on_hello(clr, payload, head->size);
    case TRD_FRAME_BATCH:
        return on_batch(clr, payload, head->size);
    case TRD_FRAME_MARK:
        result = trd_frame_mark(payload, head->size, &mark);
        if (result == 0)
            set_mark(clr, mark.ts_ns);
        return result;
    case TRD_FRAME_LOST:
        return on_lost(clr, payload, head->size);
    case TRD_FRAME_BYE:
        result = trd_frame_goodbye(payload, head->size, &clr->goodbye);
        clr->has_bye = result == 0;
        return result;
    case TRD_FRAME_PONG:
        return 0;
    default:
        return -EBADMSG;
    }
}

static int take_frames(struct clr_source *clr)
{
    struct trd_frame_head head;
    const uint8_t *payload, *at = clr->input;
    int result;

    while ((result = trd_frame_next(at, clr->input_size - (size_t)(at - clr->input), &head,
                                    &payload)) == 1) {
        result = on_frame(clr, &head, payload);
        at = payload + head.size;
        if (result != 0)
            break;
    }
    clr->input_size -= (size_t)(at - clr->input);
    memmove(clr->input, at, clr->input_size);
    return result;
}

/* Socket */

static void take_descriptor(struct clr_source *clr, struct msghdr *message)
{
    for (struct cmsghdr *control = CMSG_FIRSTHDR(message); control;
         control = CMSG_NXTHDR(message, control)) {
        if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t at = 0; at + CMSG_LEN(sizeof(int)) <= control->cmsg_len; at += sizeof(int)) {
            int fd;

            memcpy(&fd, CMSG_DATA(control) + at, sizeof(fd));
            if (clr->state == STATE_GREETING && clr->arena_fd < 0)
                clr->arena_fd = fd;
            else
                close(fd);
        }
    }
}

/* Bytes read, 0 = nothing now, negative = end or error. */
static ssize_t receive(struct clr_source *clr)
{
    union {
        struct cmsghdr head;
        uint8_t bytes[CMSG_SPACE(4 * sizeof(int))];
    } control;
    struct iovec part = { clr->input + clr->input_size, INPUT_SIZE - clr->input_size };
    struct msghdr message = { .msg_iov = &part,
                              .msg_iovlen = 1,
                              .msg_control = &control,
                              .msg_controllen = sizeof(control) };
    ssize_t got = recvmsg(clr->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    take_descriptor(clr, &message);
    if (got == 0)
        return -ECONNRESET;
    clr->input_size += (size_t)got;
    return got;
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    struct clr_source *clr = poll->data;
    ssize_t got = status < 0 ? status : 1;
    int result = 0;

    (void)events;
    while (got > 0 && result == 0 && clr->totals.queued_bytes < QUEUED_BYTES_MAX) {
        got = receive(clr);
        if (got > 0)
            result = take_frames(clr);
    }
    if (result < 0) {
        log_error("a profiler broke the protocol and was disconnected: pid=%d, error=\"%s\"",
                  clr->pid, strerror(-result));
        pipeline_set_partial(clr->pipeline);
    }
    if (result < 0 || got < 0) {
        part(clr);
    } else if (clr->totals.queued_bytes >= QUEUED_BYTES_MAX) {
        clr->paused = true;
        uv_poll_stop(poll);
    }
    pipeline_pump(clr->pipeline);
}

/* End */

static void on_handle_closed(uv_handle_t *handle)
{
    struct clr_source *clr = handle->data;

    if (--clr->open_handles > 0 || clr->state != STATE_ENDED)
        return;
    if (clr->events.ended)
        clr->events.ended(clr->pid, clr->events.context);
    pipeline_source_ended(clr->pipeline, &clr->source);
}

/*
 * Everything has been handed out: settle the figures. What the profiler says it began, and nobody
 * delivered or told as lost, is lost too.
 */
static void settle(struct clr_source *clr)
{
    struct ledger *ledger = &clr->ledger;
    uint64_t begun = clr->has_bye ? clr->goodbye.produced : clr_arena_produced(&clr->arena);

    ledger->delivered = clr->totals.delivered;
    ledger->lost = clr->totals.lost;
    ledger->unknown = clr->totals.bad_records;
    ledger->produced = ledger->delivered + ledger->lost;
    begun = begun > clr->hello.accounted ? begun - clr->hello.accounted : 0;
    /* A process that lives on without a goodbye tells the rest to its next connection. */
    if ((clr->has_bye || clr->process_is_dead) && begun > ledger->produced) {
        ledger->lost += begun - ledger->produced;
        ledger->produced = begun;
    }
}

static void end(struct clr_source *clr)
{
    settle(clr);
    clr->state = STATE_ENDED;
    uv_close((uv_handle_t *)&clr->timer, on_handle_closed);
}

static void on_drained_timer(uv_timer_t *timer)
{
    struct clr_source *clr = timer->data;

    if (clr->totals.open_inputs == 0)
        end(clr);
}

/* An input ran dry: there is room again, or that was the last one. */
static void on_drained(void *context)
{
    struct clr_source *clr = context;

    if (clr->paused && clr->state == STATE_STREAMING &&
        clr->totals.queued_bytes < QUEUED_BYTES_MAX / 2) {
        clr->paused = false;
        uv_poll_start(&clr->poll, UV_READABLE, on_readable);
    }
    if (clr->state == STATE_DRAINING && clr->totals.open_inputs == 0)
        uv_timer_start(&clr->timer, on_drained_timer, 0, 0);
}

/* The process is gone: what its threads had written and its sender had not sent is in the arena. */
static void drain_ring(struct clr_source *clr, uint32_t index)
{
    struct clr_arena_ring state;
    struct clr_ring *ring;
    uint64_t from;
    uint8_t *bytes;

    if (clr_arena_ring(&clr->arena, index, &state) != 0 || !(ring = get_ring(clr, index))) {
        clr->totals.bad_records++;
        return;
    }
    /* The sender may have died between sending and moving the tail. */
    from = ring->tid >= 0 && ring->position > state.tail ? ring->position : state.tail;
    ring->position = from;
    bytes = from < state.head ? malloc(state.head - from) : NULL;
    if (bytes) {
        clr_arena_copy(&clr->arena, index, from, state.head, bytes);
        (void)clr_ring_put(ring, from, host_tid(clr, state.tid), bytes, state.head - from);
        free(bytes);
    }
    if (state.untold > 0)
        (void)clr_ring_put_lost(&clr->control, host_tid(clr, state.tid), state.untold_from_ns,
                                state.untold_to_ns, state.untold);
}

/* Threads that found no ring have no place in the stream but its end. */
static void tell_orphans(struct clr_source *clr)
{
    uint64_t orphans = clr_arena_orphans(&clr->arena);

    if (orphans > 0 && clr->hello.accounted == 0)
        (void)clr_ring_put_lost(&clr->control, -1, clr->mark_ns, clr->mark_ns, orphans);
}

static void close_inputs(struct clr_source *clr)
{
    if (clr->process_is_dead && !clr->has_bye)
        for (uint32_t i = 0; i < clr_arena_used(&clr->arena); i++)
            drain_ring(clr, i);
    if (clr->process_is_dead || clr->has_bye)
        tell_orphans(clr);
    clr->state = STATE_DRAINING;
    clr->control.closing = true;
    for (uint32_t i = 0; i < clr->ring_count; i++)
        if (clr->rings[i])
            clr->rings[i]->closing = true;
    set_mark(clr, UINT64_MAX);
    if (clr->totals.open_inputs == 0)
        uv_timer_start(&clr->timer, on_drained_timer, 0, 0);
    pipeline_pump(clr->pipeline);
}

static void on_parting(uv_timer_t *timer)
{
    struct clr_source *clr = timer->data;

    clr->process_is_dead = target_is_dead(clr->pid);
    clr->waited_ms += DEATH_POLL_MS;
    if (!clr->process_is_dead && clr->waited_ms < DEATH_WAIT_MS)
        return;
    uv_timer_stop(timer);
    close_inputs(clr);
}

/* The connection is over, whoever ended it. */
static void part(struct clr_source *clr)
{
    if (clr->state >= STATE_PARTING)
        return;
    uv_poll_stop(&clr->poll);
    uv_close((uv_handle_t *)&clr->poll, on_handle_closed);
    close(clr->fd);
    uv_timer_stop(&clr->timer);
    if (clr->state == STATE_GREETING) {
        end(clr);
        return;
    }
    clr->state = STATE_PARTING;
    if (clr->has_bye)
        close_inputs(clr);
    else
        uv_timer_start(&clr->timer, on_parting, 0, DEATH_POLL_MS);
}

static void on_timeout(uv_timer_t *timer)
{
    part(timer->data);
}

static void stop(struct source *source)
{
    struct clr_source *clr = (struct clr_source *)source;

    if (clr->state == STATE_GREETING ||
        (clr->state == STATE_STREAMING && send_frame(clr, TRD_FRAME_DETACH, NULL, 0) != 0))
        part(clr);
    else if (clr->state == STATE_STREAMING)
        uv_timer_start(&clr->timer, on_timeout, DETACH_WAIT_MS, 0);
}

static void account(struct source *source, struct ledger *out)
{
    struct clr_source *clr = (struct clr_source *)source;

    if (clr->state != STATE_ENDED)
        settle(clr);
    *out = clr->ledger;
}

static void destroy(struct source *source)
{
    struct clr_source *clr = (struct clr_source *)source;

    for (uint32_t i = 0; i < clr->ring_count; i++)
        if (clr->rings[i]) {
            clr_ring_finish(clr->rings[i]);
            free(clr->rings[i]);
        }
    clr_ring_finish(&clr->control);
    free(clr->rings);
    clr_arena_unmap(&clr->arena);
    if (clr->arena_fd >= 0)
        close(clr->arena_fd);
    free(clr->input);
    free(clr);
}

int clr_source_open(struct pipeline *pipeline, const struct options *options, int fd,
                    pid_t peer_pid, const struct clr_source_events *events)
{
    uv_loop_t *loop = pipeline_loop(pipeline);
    struct clr_source *clr = calloc(1, sizeof(*clr));

    if (clr)
        clr->input = malloc(INPUT_SIZE);
    if (!clr || !clr->input || uv_poll_init(loop, &clr->poll, fd) != 0) {
        if (clr)
            free(clr->input);
        free(clr);
        return -ENOMEM;
    }
    (void)snprintf(clr->source.name, sizeof(clr->source.name), "clr %d", peer_pid);
    clr->source.stop = stop;
    clr->source.account = account;
    clr->source.destroy = destroy;
    clr->source.clock = "mono";
    clr->pipeline = pipeline;
    clr->options = options;
    clr->events = *events;
    clr->pid = peer_pid;
    clr->fd = fd;
    clr->arena_fd = -1;
    clr->totals.drained = on_drained;
    clr->totals.context = clr;
    uv_timer_init(loop, &clr->timer);
    clr->poll.data = clr;
    clr->timer.data = clr;
    clr->open_handles = 2;
    pipeline_add_source(pipeline, &clr->source);
    uv_poll_start(&clr->poll, UV_READABLE, on_readable);
    /* A client that connects and stays silent must not stay for ever. */
    uv_timer_start(&clr->timer, on_timeout, GREETING_WAIT_MS, 0);
    return 0;
}
