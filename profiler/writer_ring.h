/*
 * The road from an event to its ring, inline: for writer.c, and for the hooks in methods, which
 * have no time for anything else. Straight down as long as there is room below `limit`; every other
 * case is writer_ring_slow. No call but the one that reads the clock.
 *
 * A thread finds its ring by its thread pointer in a table of our own: a library that is loaded
 * while the program runs may have no initial-exec variable on musl, and the other ways cost a call.
 * Views of rings are never freed, so a foreign one may be looked at; only the thread itself can
 * find its own pointer there.
 */
#ifndef TRD_PROFILER_WRITER_RING_H
#define TRD_PROFILER_WRITER_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ring.h"
#include "stamp.h"
#include "writer.h"

#define WRITER_TABLE_BITS 11
#define WRITER_TABLE_WAYS 4 /* places that are tried for a thread */

/* A ring as its owner sees it. */
struct writer_ring {
    _Alignas(64) _Atomic uintptr_t thread; /* pointer of the owner; 0 = none */
    struct trd_ring *ring;                 /* borrowed from the arena */
    uint8_t *bytes;                        /* of the window it writes to */
    uint64_t mask;
    uint64_t from;  /* the window holds nothing before */
    uint64_t limit; /* records that end here or before fit, with nothing else to be done first */
    bool fence;
    bool woken;               /* asked for a sweep since the ring was last below half */
    struct writer_place kept; /* writer_keep */
};

extern struct writer_ring *_Atomic writer_table[1u << WRITER_TABLE_BITS];

static inline uintptr_t writer_thread_pointer(void)
{
    uintptr_t pointer;

#if defined(__x86_64__)
    __asm__("movq %%fs:0, %0" : "=r"(pointer));
#elif defined(__aarch64__)
    __asm__("mrs %0, tpidr_el0" : "=r"(pointer));
#else
    pointer = (uintptr_t)__builtin_thread_pointer();
#endif
    return pointer;
}

static inline uint32_t writer_table_place(uintptr_t thread)
{
    return (uint32_t)((thread >> 6) * 0x9e3779b97f4a7c15u >> (64 - WRITER_TABLE_BITS));
}

/* Of the calling thread; NULL = ask writer_ring_find_slow. */
static inline struct writer_ring *writer_ring_find(void)
{
    uintptr_t thread = writer_thread_pointer();
    struct writer_ring *owner =
        atomic_load_explicit(&writer_table[writer_table_place(thread)], memory_order_relaxed);

    if (__builtin_expect(
            owner && atomic_load_explicit(&owner->thread, memory_order_relaxed) == thread, 1))
        return owner;
    return NULL;
}

/* The first event of a thread, or one whose place another thread has. NULL: no ring is free, the
 * event is counted as lost. */
struct writer_ring *writer_ring_find_slow(void);

/*
 * Where `limit` ends: makes room for `size` bytes at *position, which moves over padding and an
 * in-band `lost`. False: the event was dropped and counted, and is over.
 */
bool writer_ring_make_room(struct writer_ring *owner, uint64_t *position, uint32_t size,
                           enum trd_category category, uint64_t ts);

/* Only the owner counts, so load and store do; others merely read. */
static inline void writer_count(_Atomic uint64_t *counter)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/* Begins an event: from here until head is published the sender must not promise a later time. */
static inline void writer_ring_begin(struct writer_ring *owner)
{
    /* The compiler keeps the order; the processor's part is arena_barrier, or the fence where that
     * is refused. */
    atomic_store_explicit(&owner->ring->writing, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(owner->fence, 0))
        atomic_thread_fence(memory_order_seq_cst);
}

/* Publishes the record that ends at `head`, padding and a `lost` before it, to the sender and, once
 * this process is dead, to the daemon. The reader has not moved tail over it yet. */
static inline void writer_ring_publish(struct writer_ring *owner, uint64_t head)
{
    atomic_store_explicit(&owner->ring->head, head, memory_order_release);
    /* The sender may promise the present again as far as this ring goes. */
    atomic_store_explicit(&owner->ring->writing, 0, memory_order_release);
}

/* A record of `size` bytes, multiple of TRD_EVENT_ALIGN, begun and of the time `ts`; its head is
 * written. NULL: it was dropped and counted. */
static inline struct trd_event_head *writer_ring_reserve_at(struct writer_ring *owner, uint16_t id,
                                                            enum trd_category category,
                                                            uint32_t size, uint64_t ts,
                                                            uint64_t *out_position)
{
    struct trd_ring *ring = owner->ring;
    struct trd_event_head *head;
    uint64_t position;

    writer_count(&ring->produced);
    position = atomic_load_explicit(&ring->head, memory_order_relaxed);
    if (__builtin_expect(position + size > owner->limit, 0) &&
        !writer_ring_make_room(owner, &position, size, category, ts))
        return NULL;
    head = (struct trd_event_head *)(owner->bytes + (position & owner->mask));
    *head = (struct trd_event_head){ .size = size, .id = id, .ts_ns = ts };
    *out_position = position;
    return head;
}

/* Begins and stamps one. */
static inline struct trd_event_head *writer_ring_reserve(struct writer_ring *owner, uint16_t id,
                                                         enum trd_category category, uint32_t size,
                                                         uint64_t *out_position)
{
    writer_ring_begin(owner);
    return writer_ring_reserve_at(owner, id, category, size, stamp_now(), out_position);
}

#endif
