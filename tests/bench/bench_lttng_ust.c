/*
 * What LTTng-UST takes for the event of bench_ring, measured the same way: the best of many slices.
 * Run by bench_lttng.py with a session that records it; without one it tells what a disabled
 * tracepoint takes. One line of JSON.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_event.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define SLICES 2000
#define SLICE 256

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int main(void)
{
    uint64_t best = UINT64_MAX;

    for (int slice = 0; slice < SLICES; slice++) {
        uint64_t start = now_ns(), taken;

        for (uint64_t i = 0; i < SLICE; i++)
            lttng_ust_tracepoint(tracerd_bench, number, i);
        taken = now_ns() - start;
        if (taken < best)
            best = taken;
    }
    printf("{\"bench\":\"lttng_ust\",\"event_ns\":%.1f,\"events\":%d}\n", (double)best / SLICE,
           SLICES * SLICE);
    return 0;
}
