#include "sweep.h"

#include <stdbool.h>

#include "arena.h"
#include "stamp.h"

/* A writer needs some ten nanoseconds; one that was descheduled holds the mark back. */
#define BUSY_SPINS 2000

/*
 * Records are whole and never wrap, so a batch is one run of bytes. Returns the bytes that make one
 * frame; *out_events is what they account for: their events, and the drops that a `lost` tells.
 */
static uint32_t batch_extent(const uint8_t *bytes, uint64_t available, uint64_t *out_events)
{
    uint32_t size = 0;

    *out_events = 0;
    while (size < available) {
        const struct trd_event_head *head = (const void *)(bytes + size);

        if (size + head->size > CONNECTION_BATCH_MAX)
            break;
        if (head->id == TRD_EV_lost)
            *out_events += ((const struct trd_ev_lost *)(const void *)(head + 1))->count;
        else if (head->id != TRD_EVENT_PADDING)
            *out_events += 1;
        size += head->size;
    }
    return size;
}

static int send_ring(struct connection *connection, struct trd_ring *ring, uint32_t index,
                     uint64_t head)
{
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

    while (tail < head) {
        uint64_t run = head - tail;
        const uint8_t *bytes = trd_ring_run(ring, arena_get()->ring_size, tail, &run);
        struct trd_batch batch = { .ring = index, .tid = ring->tid, .position = tail };
        uint64_t events;
        uint32_t size = batch_extent(bytes, run, &events);
        int result =
            connection_send(connection, TRD_FRAME_BATCH, &batch, sizeof(batch), bytes, size);

        if (result != 0)
            return result;
        tail += size;
        atomic_fetch_add_explicit(&ring->taken, events, memory_order_relaxed);
        /* The kernel has it all: the writer may use the room again. */
        atomic_store_explicit(&ring->tail, tail, memory_order_release);
    }
    arena_release_drained(ring);
    return 0;
}

/*
 * Drops of a ring that is quiet now: no event of its own would tell them soon. The writer may drop
 * another one meanwhile; the interval then comes out wider than the count, never narrower. This
 * thread may end at any instruction: until the frame is out whole the count stays in the ring, and
 * what is out whole is known by `told` to whoever received it.
 */
static int send_untold(struct connection *connection, struct trd_ring *ring, uint32_t index)
{
    struct trd_ring_lost lost = { .ring = index, .tid = ring->tid };
    int result;

    lost.from_ns = atomic_load_explicit(&ring->untold_from_ns, memory_order_relaxed);
    /* From here the writer leaves the count to us. */
    lost.count = atomic_fetch_or_explicit(&ring->untold, TRD_RING_TELLING, memory_order_acq_rel);
    lost.to_ns = atomic_load_explicit(&ring->untold_to_ns, memory_order_relaxed);
    lost.told = atomic_load_explicit(&ring->told, memory_order_relaxed) + lost.count;
    result = lost.count > 0
                 ? connection_send(connection, TRD_FRAME_LOST, &lost, sizeof(lost), NULL, 0)
                 : 0;
    if (result != 0)
        lost.count = 0;
    /* The writer may tell again, of what it dropped since. */
    atomic_fetch_sub_explicit(&ring->untold, TRD_RING_TELLING + lost.count, memory_order_release);
    atomic_fetch_add_explicit(&ring->told, lost.count, memory_order_relaxed);
    atomic_fetch_add_explicit(&ring->taken, lost.count, memory_order_relaxed);
    return result;
}

static bool is_settled(struct trd_ring *ring)
{
    for (int i = 0; i < BUSY_SPINS; i++)
        if (!atomic_load_explicit(&ring->writing, memory_order_acquire))
            return true;
    return false;
}

static int take_ring(struct connection *connection, uint32_t index, bool *all_settled)
{
    struct trd_ring *ring = trd_arena_ring(arena_get(), arena_get()->ring_size, index);
    /* Looked at first: once its thread has left, nothing can follow what head says next. */
    bool left = atomic_load_explicit(&ring->state, memory_order_acquire) == TRD_RING_LEFT;
    int result;

    *all_settled = is_settled(ring) && *all_settled;
    result =
        send_ring(connection, ring, index, atomic_load_explicit(&ring->head, memory_order_acquire));
    if (result == 0 && atomic_load_explicit(&ring->untold, memory_order_relaxed) != 0)
        result = send_untold(connection, ring, index);
    if (result == 0 && left)
        arena_recycle(ring);
    return result;
}

static void take_time(struct trd_mark *mark)
{
    struct stamp_pair pair;

    if (!stamp_is_tsc) {
        mark->ts_ns = stamp_monotonic_ns();
        return;
    }
    stamp_read_pair(&pair);
    *mark = (struct trd_mark){ pair.ns, { pair.tsc, pair.ns, pair.window } };
}

/*
 * Everything published before now, and then the promise that nothing earlier follows: the time was
 * taken before the barrier, and every ring was seen settled after it (proto/ring.h).
 */
int sweep(struct connection *connection)
{
    struct trd_mark mark;
    bool all_settled = true;
    uint32_t used;
    int result = 0;

    take_time(&mark);
    arena_barrier();
    used = atomic_load_explicit(&arena_get()->ring_used, memory_order_acquire);
    for (uint32_t i = 0; i < used && result == 0; i++)
        result = take_ring(connection, i, &all_settled);
    if (result != 0 || !all_settled)
        return result;
    return connection_send(connection, TRD_FRAME_MARK, &mark,
                           stamp_is_tsc ? sizeof(mark) : TRD_MARK_SIZE_MIN, NULL, 0);
}

void sweep_sum(struct sweep_sums *out)
{
    struct trd_arena *arena = arena_get();
    uint64_t orphans = atomic_load_explicit(&arena->orphan_dropped, memory_order_relaxed);
    uint32_t used = atomic_load_explicit(&arena->ring_used, memory_order_acquire);

    *out = (struct sweep_sums){ .produced = orphans, .dropped = orphans, .orphans = orphans };
    for (uint32_t i = 0; i < used; i++) {
        struct trd_ring *ring = trd_arena_ring(arena, arena->ring_size, i);

        /* In this order, so that a running writer cannot make dropped exceed produced. */
        out->taken += atomic_load_explicit(&ring->taken, memory_order_acquire);
        out->dropped += atomic_load_explicit(&ring->dropped, memory_order_acquire);
        out->produced += atomic_load_explicit(&ring->produced, memory_order_relaxed);
    }
}
