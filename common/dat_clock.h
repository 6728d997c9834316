/*
 * From the time in a page to nanoseconds of the trace: what a file says about its clock. As
 * trace-cmd does it: a guest's times become its host's (TIME_SHIFT), then ticks become nanoseconds
 * (TSC2NSEC, whose stored offset is not added since 2021), then OFFSET and DATE are added.
 *
 * trace-cmd shifts a guest's file only when the host's is opened with it; here a file that carries
 * the shift is always told in its host's time, so that it can stand beside any other of that host.
 */
#ifndef TRD_COMMON_DAT_CLOCK_H
#define TRD_COMMON_DAT_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "bytes.h"

struct dat_clock_sample {
    uint64_t time;
    int64_t offset;
    uint64_t scaling;
    uint64_t fraction; /* bits */
};

struct dat_clock_cpu {
    struct dat_clock_sample *samples; /* owned; by time */
    uint32_t count;
};

struct dat_clock {
    uint32_t tsc_mult; /* 0 = none */
    uint32_t tsc_shift;
    int64_t offset_ns;
    bool interpolate;
    struct dat_clock_cpu *cpus; /* owned; TIME_SHIFT, cpu_count of them */
    uint32_t cpu_count;
};

void dat_clock_finish(struct dat_clock *clock);
/* 0; -EBADMSG if it does not hold what it promises, -ENOMEM: there is no shift then. */
int dat_clock_parse_shift(struct dat_clock *clock, struct cursor *option);
int dat_clock_parse_tsc(struct dat_clock *clock, struct cursor *option);
/* `ticks`: this buffer's clock counts ticks, TSC2NSEC applies. */
uint64_t dat_clock_convert(const struct dat_clock *clock, uint64_t ts, int32_t cpu, bool ticks);

#endif
