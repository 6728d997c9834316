/*
 * The time of an event, read on the thread that writes it: CLOCK_MONOTONIC, or, where it was asked
 * for and the kernel keeps its own time by it, the processor's time stamp counter, which the daemon
 * turns into nanoseconds.
 */
#ifndef TRD_PROFILER_STAMP_H
#define TRD_PROFILER_STAMP_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

static inline uint64_t stamp_monotonic_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t stamp_now(void)
{
    return stamp_monotonic_ns();
}

#endif
