/*
 * Hot path: profiler callback -> ring. Budget: one clock read, no allocation, no lock, no system
 * call but one to wake the sender each time a ring passes half; measured by
 * tests/bench/bench_ring.c as a multiple of the clock read alone.
 */
#include "writer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "writer_ring.h"

static pthread_key_t ring_key;
static bool key_made;
static void (*wake_sender)(void);
/* One for each ring; memory is touched as threads come. */
static struct writer_ring views[TRD_RING_COUNT_DEFAULT];
struct writer_ring *_Atomic writer_table[1u << WRITER_TABLE_BITS];
#define TABLE_MASK ((1u << WRITER_TABLE_BITS) - 1)

/* The thread ended: its ring can be drained and given away. Not so in a forked child, whose one
 * thread is a copy: the ring goes on to be its parent's. */
static void leave_ring(void *value)
{
    struct writer_ring *owner = value;

    /* The thread pointer may come again for another thread. */
    atomic_store_explicit(&owner->thread, 0, memory_order_relaxed);
    if (arena_get()->pid == (uint32_t)getpid())
        atomic_store_explicit(&owner->ring->state, TRD_RING_LEFT, memory_order_release);
}

int writer_init(void (*wake)(void))
{
    if (arena_get()->ring_count > sizeof(views) / sizeof(views[0]))
        return -EINVAL;
    if (!key_made && pthread_key_create(&ring_key, leave_ring) != 0)
        return -EAGAIN;
    key_made = true;
    wake_sender = wake;
    return 0;
}

static void enter_window(struct writer_ring *owner, uint32_t window, uint64_t from)
{
    owner->bytes = trd_ring_window(owner->ring, window);
    owner->mask = trd_ring_window_size(window) - 1;
    owner->from = from;
    owner->limit = 0;
}

static struct writer_ring *take_ring(void)
{
    struct trd_ring *ring = arena_take_ring();
    struct writer_ring *owner;

    if (!ring)
        return NULL;
    owner = &views[arena_ring_index(ring)];
    owner->ring = ring;
    enter_window(owner, 0, 0);
    owner->fence = arena_writers_fence();
    owner->woken = false;
    owner->kept = (struct writer_place){ 0 };
    atomic_store_explicit(&owner->thread, writer_thread_pointer(), memory_order_relaxed);
    if (pthread_setspecific(ring_key, owner) != 0) {
        leave_ring(owner);
        return NULL;
    }
    return owner;
}

/* Into a place that nobody has, or else into the first: whoever was there asks again. */
static void remember(struct writer_ring *owner, uint32_t first)
{
    for (uint32_t way = 0; way < WRITER_TABLE_WAYS; way++) {
        struct writer_ring *_Atomic *place = &writer_table[(first + way) & TABLE_MASK];
        struct writer_ring *other = atomic_load_explicit(place, memory_order_relaxed);

        if (!other || atomic_load_explicit(&other->thread, memory_order_relaxed) == 0) {
            atomic_store_explicit(place, owner, memory_order_release);
            return;
        }
    }
    atomic_store_explicit(&writer_table[first], owner, memory_order_release);
}

__attribute__((cold, noinline)) struct writer_ring *writer_ring_find_slow(void)
{
    uintptr_t thread = writer_thread_pointer();
    uint32_t first = writer_table_place(thread);
    struct writer_ring *owner;

    for (uint32_t way = 1; way < WRITER_TABLE_WAYS; way++) {
        owner =
            atomic_load_explicit(&writer_table[(first + way) & TABLE_MASK], memory_order_relaxed);
        if (owner && atomic_load_explicit(&owner->thread, memory_order_relaxed) == thread)
            return owner;
    }
    owner = pthread_getspecific(ring_key);
    if (!owner)
        owner = take_ring();
    if (owner)
        remember(owner, first);
    else
        atomic_fetch_add_explicit(&arena_get()->orphan_dropped, 1, memory_order_relaxed);
    return owner;
}

static bool drop(struct writer_ring *owner, enum trd_category category, uint64_t ts_ns)
{
    struct trd_ring *ring = owner->ring;

    /* Whoever sees this drop also sees that it was produced. */
    atomic_fetch_add_explicit(&ring->dropped, 1, memory_order_release);
    writer_count(&ring->dropped_by_category[category]);
    /* The interval is in place before the count that it belongs to. */
    if (atomic_load_explicit(&ring->untold, memory_order_relaxed) == 0)
        atomic_store_explicit(&ring->untold_from_ns, ts_ns, memory_order_relaxed);
    atomic_store_explicit(&ring->untold_to_ns, ts_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&ring->untold, 1, memory_order_release);
    atomic_store_explicit(&ring->writing, 0, memory_order_release);
    owner->limit = 0; /* the next one tells of it, if there is room */
    return false;
}

static void pad(struct writer_ring *owner, uint64_t position, uint64_t size)
{
    *(struct trd_event_head *)(owner->bytes + (position & owner->mask)) =
        (struct trd_event_head){ .size = (uint32_t)size, .id = TRD_EVENT_PADDING };
}

/* Room for `size` contiguous bytes behind *position, which moves over the padding this needs. Up to
 * half of the window, or to its end, what follows needs no other look. */
static bool find_room(struct writer_ring *owner, uint64_t *position, uint32_t size)
{
    uint64_t window_size = owner->mask + 1;
    uint64_t tail = atomic_load_explicit(&owner->ring->tail, memory_order_acquire);
    uint64_t to_end = window_size - (*position & owner->mask);
    uint64_t padding = to_end < size ? to_end : 0;
    uint64_t end = *position + padding + size;
    uint64_t lap_end = ((*position + padding) | owner->mask) + 1;
    uint64_t from = tail > owner->from ? tail : owner->from;
    bool above_half = end - from > window_size / 2;

    if (above_half && !owner->woken)
        wake_sender();
    owner->woken = above_half;
    if (end - from > window_size)
        return false;
    if (padding) {
        pad(owner, *position, padding);
        *position += padding;
    }
    owner->limit = from + (above_half ? window_size : window_size / 2);
    if (owner->limit > lap_end)
        owner->limit = lap_end;
    return true;
}

/* The reader is too slow for this window: on in a larger one, if there is memory for it. */
static bool grow(struct writer_ring *owner, uint64_t position)
{
    if (!arena_grow(owner->ring, position))
        return false;
    enter_window(owner, atomic_load_explicit(&owner->ring->window, memory_order_relaxed), position);
    return true;
}

#define LOST_SIZE trd_event_size(sizeof(struct trd_ev_lost))

/* Room is back: first say what is missing. The caller has made sure that both fit. */
static uint64_t tell_lost(struct writer_ring *owner, uint64_t position, uint64_t ts_ns)
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
    head = (struct trd_event_head *)(owner->bytes + (position & owner->mask));
    *head = (struct trd_event_head){ .size = LOST_SIZE, .id = TRD_EV_lost, .ts_ns = ts_ns };
    event = (struct trd_ev_lost *)(head + 1);
    event->from = atomic_load_explicit(&ring->untold_from_ns, memory_order_relaxed);
    event->to = atomic_load_explicit(&ring->untold_to_ns, memory_order_relaxed);
    event->count = lost;
    return position + LOST_SIZE;
}

__attribute__((cold, noinline)) bool writer_ring_make_room(struct writer_ring *owner,
                                                           uint64_t *position, uint32_t size,
                                                           enum trd_category category, uint64_t ts)
{
    bool untold = atomic_load_explicit(&owner->ring->untold, memory_order_relaxed) != 0;

    uint32_t whole = size + (untold ? LOST_SIZE : 0);

    if (size > TRD_EVENT_SIZE_MAX - LOST_SIZE ||
        (!find_room(owner, position, whole) &&
         !(grow(owner, *position) && find_room(owner, position, whole))))
        return drop(owner, category, ts);
    if (untold)
        *position = tell_lost(owner, *position, ts);
    return true;
}

void *writer_begin(struct writer *writer, uint16_t id, enum trd_category category,
                   uint32_t fixed_size, uint32_t text_size)
{
    struct writer_ring *owner = writer_ring_find();

    if (__builtin_expect(!owner, 0) && !(owner = writer_ring_find_slow()))
        return NULL;
    writer->head = writer_ring_reserve(owner, id, category, trd_event_size(fixed_size + text_size),
                                       &writer->position);
    if (!writer->head)
        return NULL;
    writer->owner = owner;
    writer->used = fixed_size;
    writer->capacity = fixed_size + text_size;
    return writer->head + 1;
}

void *writer_begin_after(struct writer *writer, struct writer_place place, uint16_t id,
                         enum trd_category category, uint32_t fixed_size)
{
    struct writer_ring *owner = writer_ring_find();
    uint32_t size = trd_event_size(fixed_size);

    if (!owner || place.position == 0 || place.position + size > owner->limit ||
        atomic_load_explicit(&owner->ring->head, memory_order_relaxed) != place.position)
        return writer_begin(writer, id, category, fixed_size, 0);
    writer_ring_begin(owner);
    writer->head =
        writer_ring_reserve_at(owner, id, category, size, place.ts_ns, &writer->position);
    if (!writer->head)
        return NULL;
    writer->head->flags = TRD_EVENT_F_SAME_TIME;
    writer->owner = owner;
    writer->used = fixed_size;
    writer->capacity = fixed_size;
    return writer->head + 1;
}

/* NULL before its first event, and for a thread that found none. */
static struct writer_ring *own_ring(void)
{
    struct writer_ring *owner = writer_ring_find();

    return __builtin_expect(owner != NULL, 1) ? owner : pthread_getspecific(ring_key);
}

void writer_keep(struct writer_place place)
{
    struct writer_ring *owner = own_ring();

    if (owner)
        owner->kept = place;
}

struct writer_place writer_kept(void)
{
    const struct writer_ring *owner = own_ring();

    return owner ? owner->kept : (struct writer_place){ 0 };
}

void writer_text(struct writer *writer, struct trd_text *text, const char *bytes, size_t length)
{
    if (!trd_event_put_text(writer->head + 1, &writer->used, writer->capacity, text, bytes, length))
        writer->head->flags |= TRD_EVENT_F_CUT;
}

void writer_bytes(struct writer *writer, const void *bytes, uint32_t size)
{
    if (size > writer->capacity - writer->used)
        size = writer->capacity - writer->used;
    /* An event without data may come with NULL. */
    if (size > 0)
        memcpy((uint8_t *)(writer->head + 1) + writer->used, bytes, size);
    writer->used += size;
}

void writer_flag(struct writer *writer, uint16_t flags)
{
    writer->head->flags |= flags;
}

struct writer_place writer_commit(struct writer *writer)
{
    uint32_t size = trd_event_size(writer->used);
    struct writer_place end = { writer->position + size, writer->head->ts_ns };

    writer->head->size = size;
    writer_ring_publish(writer->owner, end.position);
    return end;
}
