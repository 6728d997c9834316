/*
 * Hot path: profiler callback -> ring. Budget: one clock read, no allocation, no lock, no system
 * call but one to wake the sender each time a ring passes half; measured by
 * tests/bench/bench_ring.c as a multiple of the clock read alone.
 */
#include "writer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct writer_ring {
    struct trd_ring *ring; /* borrowed from the arena */
    uint8_t *bytes;
    uint64_t mask;
    bool fence;
    bool woken; /* asked for a sweep since the ring was last below half */
};

static pthread_key_t ring_key;
static bool key_made;
static void (*wake_sender)(void);

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The thread ended: its ring can be drained and given away. Not so in a forked child, whose one
 * thread is a copy: the ring goes on to be its parent's. */
static void leave_ring(void *value)
{
    struct writer_ring *owner = value;

    if (arena_get()->pid == (uint32_t)getpid())
        atomic_store_explicit(&owner->ring->state, TRD_RING_LEFT, memory_order_release);
    free(owner);
}

int writer_init(void (*wake)(void))
{
    if (!key_made && pthread_key_create(&ring_key, leave_ring) != 0)
        return -EAGAIN;
    key_made = true;
    wake_sender = wake;
    return 0;
}

static __attribute__((cold, noinline)) struct writer_ring *take_ring(void)
{
    struct writer_ring *owner = malloc(sizeof(*owner));
    struct trd_ring *ring = owner ? arena_take_ring() : NULL;

    if (!ring) {
        free(owner);
        return NULL;
    }
    *owner = (struct writer_ring){ .ring = ring,
                                   .bytes = trd_ring_bytes(ring),
                                   .mask = arena_get()->ring_size - 1,
                                   .fence = arena_writers_fence() };
    if (pthread_setspecific(ring_key, owner) != 0) {
        leave_ring(owner);
        return NULL;
    }
    return owner;
}

static __attribute__((cold, noinline)) struct writer_ring *take_ring_or_count(void)
{
    struct writer_ring *owner = take_ring();

    if (!owner)
        atomic_fetch_add_explicit(&arena_get()->orphan_dropped, 1, memory_order_relaxed);
    return owner;
}

/* Only the owner counts, so load and store do; others merely read. */
static inline void count(_Atomic uint64_t *counter)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

static __attribute__((cold, noinline)) void *drop(struct trd_ring *ring, enum trd_category category,
                                                  uint64_t ts_ns)
{
    /* Whoever sees this drop also sees that it was produced. */
    atomic_fetch_add_explicit(&ring->dropped, 1, memory_order_release);
    count(&ring->dropped_by_category[category]);
    /* The interval is in place before the count that it belongs to. */
    if (atomic_load_explicit(&ring->untold, memory_order_relaxed) == 0)
        atomic_store_explicit(&ring->untold_from_ns, ts_ns, memory_order_relaxed);
    atomic_store_explicit(&ring->untold_to_ns, ts_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&ring->untold, 1, memory_order_release);
    atomic_store_explicit(&ring->writing, 0, memory_order_release);
    return NULL;
}

static __attribute__((cold, noinline)) void ask_for_sweep(struct writer_ring *owner)
{
    if (!owner->woken)
        wake_sender();
    owner->woken = true;
}

/* Room for `size` contiguous bytes behind *position, which moves over the padding this needs. */
static inline bool find_room(struct writer_ring *owner, uint64_t *position, uint32_t size)
{
    uint64_t ring_size = owner->mask + 1;
    uint64_t tail = atomic_load_explicit(&owner->ring->tail, memory_order_acquire);
    uint64_t to_end = ring_size - (*position & owner->mask);
    uint64_t padding = to_end < size ? to_end : 0;
    uint64_t taken = *position - tail;

    if (__builtin_expect(taken > ring_size / 2, 0))
        ask_for_sweep(owner);
    else
        owner->woken = false;
    if (taken + padding + size > ring_size)
        return false;
    if (padding) {
        *(struct trd_event_head *)(owner->bytes + (*position & owner->mask)) =
            (struct trd_event_head){ .size = (uint32_t)padding, .id = TRD_EVENT_PADDING };
        *position += padding;
    }
    return true;
}

static inline struct trd_event_head *place_head(struct writer_ring *owner, uint64_t position,
                                                uint16_t id, uint32_t size, uint64_t ts_ns)
{
    struct trd_event_head *head =
        (struct trd_event_head *)(owner->bytes + (position & owner->mask));

    *head = (struct trd_event_head){ .size = size, .id = id, .ts_ns = ts_ns };
    return head;
}

#define LOST_SIZE trd_event_size(sizeof(struct trd_ev_lost))

/* Room is back: first say what is missing. The caller has made sure that both fit. */
static __attribute__((cold, noinline)) uint64_t tell_lost(struct writer_ring *owner,
                                                          uint64_t position, uint64_t ts_ns)
{
    struct trd_ring *ring = owner->ring;
    uint64_t lost = atomic_load_explicit(&ring->untold, memory_order_relaxed);
    struct trd_event_head *head;
    struct trd_ev_lost *event;

    /* Only the reader changes it meanwhile, and then it tells it: it was faster. */
    if (lost == 0 || lost & TRD_RING_TELLING ||
        !atomic_compare_exchange_strong_explicit(&ring->untold, &lost, 0, memory_order_acquire,
                                                 memory_order_relaxed))
        return position;
    head = place_head(owner, position, TRD_EV_lost, LOST_SIZE, ts_ns);
    event = (struct trd_ev_lost *)(head + 1);
    event->from = atomic_load_explicit(&ring->untold_from_ns, memory_order_relaxed);
    event->to = atomic_load_explicit(&ring->untold_to_ns, memory_order_relaxed);
    event->count = lost;
    return position + LOST_SIZE;
}

void *writer_begin(struct writer *writer, uint16_t id, enum trd_category category,
                   uint32_t fixed_size, uint32_t text_size)
{
    struct writer_ring *owner = pthread_getspecific(ring_key);
    uint32_t size = trd_event_size(fixed_size + text_size);
    struct trd_ring *ring;
    uint64_t ts_ns, position;
    bool untold;

    if (__builtin_expect(!owner, 0) && !(owner = take_ring_or_count()))
        return NULL;
    ring = owner->ring;

    /* From here until head is published the sender must not promise a later time. The compiler
     * keeps the order; the processor's part is arena_barrier, or the fence where that is refused.
     */
    atomic_store_explicit(&ring->writing, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(owner->fence, 0))
        atomic_thread_fence(memory_order_seq_cst);
    ts_ns = now_ns();
    count(&ring->produced);

    position = atomic_load_explicit(&ring->head, memory_order_relaxed);
    untold = atomic_load_explicit(&ring->untold, memory_order_relaxed) != 0;
    if (size > TRD_EVENT_SIZE_MAX - LOST_SIZE ||
        !find_room(owner, &position, size + (untold ? LOST_SIZE : 0)))
        return drop(ring, category, ts_ns);
    if (__builtin_expect(untold, 0))
        position = tell_lost(owner, position, ts_ns);

    writer->owner = owner;
    writer->position = position;
    writer->head = place_head(owner, position, id, size, ts_ns);
    writer->used = fixed_size;
    writer->capacity = fixed_size + text_size;
    return writer->head + 1;
}

void writer_text(struct writer *writer, struct trd_text *text, const char *bytes, size_t length)
{
    if (!trd_event_put_text(writer->head + 1, &writer->used, writer->capacity, text, bytes, length))
        writer->head->flags |= TRD_EVENT_F_CUT;
}

void writer_flag(struct writer *writer, uint16_t flags)
{
    writer->head->flags |= flags;
}

void writer_commit(struct writer *writer)
{
    struct trd_ring *ring = writer->owner->ring;
    uint32_t size = trd_event_size(writer->used);

    writer->head->size = size;
    /* Publishes the record, padding and a `lost` before it, to the sender and, once this process is
     * dead, to the daemon. The reader has not moved tail over it yet. */
    atomic_store_explicit(&ring->head, writer->position + size, memory_order_release);
    /* The sender may promise the present again as far as this ring goes. */
    atomic_store_explicit(&ring->writing, 0, memory_order_release);
}
