/*
 * The process's arena (proto/ring.h): made once, shared with the daemon as a memfd, kept until the
 * process ends, so that a late callback can never touch unmapped memory.
 */
#ifndef TRD_PROFILER_ARENA_H
#define TRD_PROFILER_ARENA_H

#include <stdbool.h>
#include <stdint.h>

#include "ring.h"

/*
 * Rings may grow to ring_size, a power of two, as long as all of them together take no more than
 * total_bytes; each thread has a smallest one whatever that makes. 0 or a negative errno. A second
 * call keeps the first arena.
 */
int arena_create(uint32_t total_bytes, uint32_t ring_size, uint32_t ring_count);
struct trd_arena *arena_get(void);
int arena_fd(void);

/* Takes a free ring for the calling thread; NULL if there is none. */
struct trd_ring *arena_take_ring(void);
/* Its number in the arena. */
uint32_t arena_ring_index(const struct trd_ring *ring);
/* Its owner's: a larger window for what is written from `position` on. False if the ring is as
 * large as it may be, or the process would have too little left for others. */
bool arena_grow(struct trd_ring *ring, uint64_t position);
/* The sender's: gives back the memory of windows that its owner has left and that were taken. */
void arena_release_drained(struct trd_ring *ring);
/* The sender's: gives the ring of an ended thread to the next one, and its memory back, if all of
 * it was taken. */
void arena_recycle(struct trd_ring *ring);

/* Makes every thread pass a full barrier, so that a ring found idle stays silent about the past. */
void arena_barrier(void);
/* From now on, or soon, the daemon's barrier reaches every thread as well. In a thread of its own:
 * the kernel takes its time over it. */
void arena_admit_barrier(void);
/* The kernel refuses that: writers fence for themselves. */
bool arena_writers_fence(void);

#endif
