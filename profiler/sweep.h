/*
 * One pass over the arena, on the sender's thread: sends what the threads have published, tells the
 * drops of quiet rings, gives back the rings of ended threads, and closes with the watermark. Also
 * the sums that HELLO and BYE carry. Decides nothing about when; sender.c does.
 */
#ifndef TRD_PROFILER_SWEEP_H
#define TRD_PROFILER_SWEEP_H

#include <stdint.h>

#include "connection.h"

/*
 * 0, or what connection_send failed with: then the rings keep what was not sent whole. No MARK is
 * sent when a writer was met between reading the clock and publishing, and stayed there.
 */
int sweep(struct connection *connection);

/* Over the whole life of the arena. Quiet and swept: produced = taken + orphans. */
struct sweep_sums {
    uint64_t produced;
    uint64_t dropped;
    uint64_t taken;   /* sent, or told to be lost */
    uint64_t orphans; /* of threads that found no ring; part of produced and dropped */
};

void sweep_sum(struct sweep_sums *out);

#endif
