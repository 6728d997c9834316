/*
 * Cuts the time of an uncompressed file into slices that can be read by themselves, by looking at
 * nothing but the heads of its pages. Only as far as the file is plain: pages whose times go on,
 * whole, none without events that tells a loss. What follows, and the end in any case, is `rest`,
 * for whoever reads in order.
 */
#ifndef TRD_COMMON_DAT_PLAN_H
#define TRD_COMMON_DAT_PLAN_H

#include "dat_cpu.h"

/* Some hundred microseconds of decoding, and lines that a core's own cache holds. */
#define DAT_PLAN_SLICE_BYTES (64 * 1024)

struct dat_slice {
    uint64_t from_ns, until_ns; /* records of [from, until); the rest has no end: DAT_CPU_NO_TIME */
    /* One per CPU; owned by whoever holds the slice. */
    struct dat_place *places;
    uint64_t *ends; /* the page in which, or behind which, the reading has to end */
};

int dat_slice_init(struct dat_slice *slice, size_t cpu_count);
void dat_slice_finish(struct dat_slice *slice);

struct dat_plan;

/* `cpus` stand at their first records and are borrowed. -ENOTSUP for a compressed file. */
int dat_plan_create(struct dat_plan **out, const struct dat_cpu *cpus, size_t cpu_count,
                    size_t slice_bytes);
void dat_plan_destroy(struct dat_plan *plan);
/* The next slice: 1, or 0 and the rest. */
int dat_plan_next(struct dat_plan *plan, struct dat_slice *out);
/* All that was not handed out as a slice is the rest. */
void dat_plan_rest(const struct dat_plan *plan, struct dat_slice *out);

#endif
