/* One slice of a file after the other, each in time order; by the side of other such readings. */
#ifndef TRD_COMMON_DAT_RANGE_H
#define TRD_COMMON_DAT_RANGE_H

#include "dat_heap.h"
#include "dat_plan.h"

struct dat_range {
    const struct dat_cpu *whole; /* borrowed: the CPUs as they stood when the file was opened */
    struct dat_cpu *cpus;        /* owned */
    size_t cpu_count;
    struct dat_heap heap;
    struct dat_totals totals;
    const struct dat_slice *slice; /* borrowed; the one being read */
    bool handed_out;
};

int dat_range_init(struct dat_range *range, const struct dat_cpu *whole, size_t cpu_count);
void dat_range_finish(struct dat_range *range);
void dat_range_start(struct dat_range *range, const struct dat_slice *slice);
/* 1, 0 at the end of the slice. The record borrows from the file only. */
int dat_range_next(struct dat_range *range, struct trd_record *out);
/* At the end: whether a reading in order would have found the same in this slice and nothing to
 * tell about it: no time went back or so far ahead that pages were left out, nothing was damaged
 * or without a format. */
bool dat_range_is_plain(const struct dat_range *range);

#endif
