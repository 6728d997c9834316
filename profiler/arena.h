/*
 * The process's arena (proto/ring.h): made once, shared with the daemon as a memfd, kept until the
 * process ends, so that a late callback can never touch unmapped memory.
 */
#ifndef TRD_PROFILER_ARENA_H
#define TRD_PROFILER_ARENA_H

#include <stdbool.h>
#include <stdint.h>

#include "ring.h"

/* 0 or a negative errno. A second call keeps the first arena. */
int arena_create(uint32_t ring_size, uint32_t ring_count);
struct trd_arena *arena_get(void);
int arena_fd(void);

/* Takes a free ring for the calling thread; NULL if there is none. */
struct trd_ring *arena_take_ring(void);
/* Its number in the arena. */
uint32_t arena_ring_index(const struct trd_ring *ring);
/* Gives the ring of an ended thread to the next one, if all of it was taken by the reader. */
void arena_recycle(struct trd_ring *ring);

/* Makes every thread pass a full barrier, so that a ring found idle stays silent about the past. */
void arena_barrier(void);
/* From now on, or soon, the daemon's barrier reaches every thread as well. In a thread of its own:
 * the kernel takes its time over it. */
void arena_admit_barrier(void);
/* The kernel refuses that: writers fence for themselves. */
bool arena_writers_fence(void);

#endif
