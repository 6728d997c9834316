/* The inside of a reader, shared with the threads that read slices of its file (lines.c). */
#ifndef TRD_COMMON_READER_PRIVATE_H
#define TRD_COMMON_READER_PRIVATE_H

#include "dat.h"
#include "dat_heap.h"
#include "dat_plan.h"

struct trd_reader {
    struct dat dat;
    struct dat_cpu *cpus; /* owned; by CPU, then buffer: the order of equal times */
    size_t cpu_count;
    struct dat_heap heap;
    bool handed_out;     /* the caller has the first one's record */
    uint64_t first_ns;   /* the first time handed out */
    uint64_t emitted_ns; /* the latest */
    struct dat_totals totals;
    bool summed_up; /* the end was reached and what was skipped has been told */
};

/* What lies before `rest` has been read by others, from first_ns on (0 = nothing has); the reader,
 * of which nothing was asked yet, goes on there. */
void reader_go_on(struct trd_reader *reader, const struct dat_slice *rest, uint64_t first_ns);

#endif
