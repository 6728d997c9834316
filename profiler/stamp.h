/*
 * The time of an event, read on the thread that writes it: CLOCK_MONOTONIC, or, where it was asked
 * for and the kernel keeps its own time by it, the processor's time stamp counter. That is read in
 * a third of the time; the daemon turns it into nanoseconds with the pairs that the sender gives.
 */
#ifndef TRD_PROFILER_STAMP_H
#define TRD_PROFILER_STAMP_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* One moment on both clocks. */
struct stamp_pair {
    uint64_t tsc;
    uint64_t ns;
    uint64_t window; /* ticks between the readings of the counter around that of the clock */
};

extern bool stamp_is_tsc;               /* constant once stamp_init has returned */
extern struct stamp_pair stamp_started; /* the same, if stamp_is_tsc */

/* Once, before the first event: reads TRD_ENV_STAMP. False if what was asked for cannot be had. */
bool stamp_init(void);
/* The best of a few tries; some hundred nanoseconds. Any thread. */
void stamp_read_pair(struct stamp_pair *out);

static inline uint64_t stamp_monotonic_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/*
 * Nothing waits for earlier instructions here. That a reading is not too old for the mark (ring.h)
 * is the barrier's affair: it interrupts the thread, and an interrupt finds either the store before
 * this done or this not yet.
 */
static inline uint64_t stamp_tsc(void)
{
#if defined(__x86_64__)
    return __rdtsc();
#else
    return 0;
#endif
}

static inline uint64_t stamp_now(void)
{
    return stamp_is_tsc ? stamp_tsc() : stamp_monotonic_ns();
}

#endif
