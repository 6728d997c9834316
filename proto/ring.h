/*
 * The arena: one memfd per traced process that holds a ring per thread. Written by the threads of
 * the traced process through profiler/writer.c; read by the profiler's sender thread, and by the
 * daemon once the process is gone, so that nothing written is lost with a kill -9.
 *
 *   | trd_arena (4 KiB) | trd_ring 0 | trd_ring 1 | …
 *   ring, 2 * ring_size: | head (4 KiB) | … | 16 KiB | 32 KiB | … | ring_size |
 *                        0                  16 KiB   32 KiB         ring_size
 *
 * A ring has one writer at a time. `head` and `tail` are byte positions that only grow. The bytes
 * lie in windows: the one of S bytes begins S bytes behind the ring's own beginning, and holds the
 * byte at position p at p & (S - 1). A thread begins in the smallest. When that is full, and the
 * process may take more memory, what it writes next lies in the next larger one, without waiting
 * for a reader: so each position has one window, and window_from says which. Windows that nobody
 * uses take no memory. Records are 16-aligned and never wrap: padding fills the end of a window.
 * The daemon trusts none of it: it copies, then checks.
 *
 * Watermark. A writer sets `writing` before it reads the clock and clears it after it published
 * `head`. A reader takes the time T, makes every thread pass a barrier (membarrier, or the
 * writer's own fence where that is refused), and then looks at `writing`: a ring found idle can
 * only bring events later than T; a busy one holds the mark back. The daemon may look likewise:
 * what it finds idle, empty and told it need not be sent a mark for.
 */
#ifndef TRD_PROTO_RING_H
#define TRD_PROTO_RING_H

#include <stdatomic.h>
#include <stdint.h>

#include "event.h"

#define TRD_ARENA_MAGIC 0x32414452u /* "RDA2" */
#define TRD_ARENA_HEAD_SIZE 4096
#define TRD_RING_HEAD_SIZE 4096
#define TRD_RING_SIZE_DEFAULT (1024 * 1024)
#define TRD_RING_SIZE_MIN (16 * 1024) /* of the first window, too */
#define TRD_RING_SIZE_MAX (16 * 1024 * 1024)
#define TRD_RING_WINDOWS_MAX                                                                       \
    11 /* from the least to the largest size, each twice the one before                            \
        */
#define TRD_RING_COUNT_DEFAULT                                                                     \
    1024 /* address space only; pages are touched when a thread comes                              \
          */
#define TRD_RING_COUNT_MAX 16384

struct trd_arena {
    uint32_t magic;
    uint32_t version;   /* TRD_PROTOCOL_VERSION */
    uint32_t ring_size; /* of the largest window */
    uint32_t ring_count;
    uint32_t pid; /* as the traced process sees itself */
    /* 1: a barrier of another process reaches the writers: membarrier(GLOBAL_EXPEDITED). */
    _Atomic uint32_t has_barrier;
    uint32_t total_bytes;                         /* what all rings together may grow to */
    _Alignas(64) _Atomic uint32_t ring_used;      /* rings 0 … ring_used-1 have had an owner */
    _Alignas(64) _Atomic uint64_t orphan_dropped; /* events of threads that found no free ring */
};

enum trd_ring_state {
    TRD_RING_FREE,
    TRD_RING_OWNED,
    TRD_RING_LEFT, /* its thread ended; free again once drained */
};

struct trd_ring {
    /* set when a thread takes the ring */
    _Atomic uint32_t state;
    _Atomic uint32_t tid; /* gettid() of the owner */

    /* the writer's */
    _Alignas(64) _Atomic uint64_t head;
    _Atomic uint64_t produced; /* events begun, dropped ones included; padding is no event */
    _Atomic uint64_t dropped;  /* of those, lost because the ring was full */
    _Atomic uint32_t writing;  /* 1 between reading the clock and publishing head */
    _Atomic uint64_t dropped_by_category[16];
    /* Window k holds positions from window_from[k] on, up to window_from[k + 1] if k < window; the
     * first one from wherever the ring begins. Set before head goes beyond window_from. */
    _Atomic uint32_t window;
    _Atomic uint64_t window_from[TRD_RING_WINDOWS_MAX];

    /* Drops nobody has told yet. The writer swaps the count to 0 and tells it with an in-band
     * `lost` event once there is room. The reader of an idle ring claims it with TRD_RING_TELLING
     * and takes it off only once its LOST is sent whole, so that the count of a process that dies
     * meanwhile is still here. */
    _Alignas(64) _Atomic uint64_t untold;
    _Atomic uint64_t untold_from_ns;
    _Atomic uint64_t untold_to_ns;

    /* the reader's */
    _Alignas(64) _Atomic uint64_t tail;
    _Atomic uint64_t taken;        /* events behind tail, and drops that were told */
    _Atomic uint64_t told;         /* drops that LOST frames told: follows untold */
    _Atomic uint32_t window_first; /* the memory of those before it has been given back */
};

/* In `untold`: the reader is about to tell what was counted when it set this. Cleared together with
 * that count, or alone if the LOST did not go out. */
#define TRD_RING_TELLING (UINT64_C(1) << 63)

_Static_assert(sizeof(struct trd_arena) <= TRD_ARENA_HEAD_SIZE, "arena head");
_Static_assert(sizeof(struct trd_ring) <= TRD_RING_HEAD_SIZE, "ring head");
_Static_assert(TRD_CATEGORY_COUNT <= 16, "dropped_by_category");
_Static_assert(TRD_RING_SIZE_MIN << (TRD_RING_WINDOWS_MAX - 1) == TRD_RING_SIZE_MAX, "windows");
_Static_assert(TRD_RING_HEAD_SIZE <= TRD_RING_SIZE_MIN, "the head lies before the first window");

static inline uint64_t trd_arena_size(uint32_t ring_size, uint32_t ring_count)
{
    return TRD_ARENA_HEAD_SIZE + (uint64_t)ring_count * 2 * ring_size;
}

static inline struct trd_ring *trd_arena_ring(struct trd_arena *arena, uint32_t ring_size,
                                              uint32_t index)
{
    return (struct trd_ring *)((uint8_t *)arena + TRD_ARENA_HEAD_SIZE +
                               (uint64_t)index * 2 * ring_size);
}

static inline uint32_t trd_ring_window_size(uint32_t window)
{
    return TRD_RING_SIZE_MIN << window;
}

static inline uint8_t *trd_ring_window(struct trd_ring *ring, uint32_t window)
{
    return (uint8_t *)ring + trd_ring_window_size(window);
}

/*
 * The bytes from `position` on, and in *size how many of them lie there side by side, at most what
 * it was before. Stays within the ring whatever its head says, and gets on.
 */
static inline const uint8_t *trd_ring_run(struct trd_ring *ring, uint32_t ring_size,
                                          uint64_t position, uint64_t *size)
{
    uint32_t newest = atomic_load_explicit(&ring->window, memory_order_relaxed);
    uint64_t left = *size, next = 0, place;
    uint32_t window = 0, window_size;

    while (window < newest && trd_ring_window_size(window) < ring_size) {
        next = atomic_load_explicit(&ring->window_from[window + 1], memory_order_relaxed);
        if (next > position)
            break;
        window++;
    }
    window_size = trd_ring_window_size(window);
    place = position & (window_size - 1);
    if (left > window_size - place)
        left = window_size - place;
    if (next > position && left > next - position)
        left = next - position;
    *size = left;
    return trd_ring_window(ring, window) + place;
}

#endif
