/*
 * The clock of a traced process's stamps, and ours. Where it stamps with the processor's counter,
 * it tells with each mark which moment that is of CLOCK_MONOTONIC; between two such moments the
 * clocks run evenly. Pure; what a peer tells is not trusted further than that.
 */
#ifndef TRACERD_DAEMON_CLR_CLOCK_H
#define TRACERD_DAEMON_CLR_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "frame.h"

struct clr_clock {
    bool is_tsc;       /* false: stamps are nanoseconds as they are */
    uint64_t error_ns; /* how far a converted stamp may be off, the worst so far */
    /* private */
    struct trd_clock_pair first, last;
    struct trd_clock_pair base; /* the one before the last: where the present piece begins */
    uint64_t rate;      /* of the present piece: nanoseconds per tick, 32 bits of fraction */
    uint64_t rate_ever; /* from the first pair to the last, for what is later than that */
};

/* 0, or -EBADMSG for a clock that is none or pairs that are no progress. */
int clr_clock_init(struct clr_clock *clock, const struct trd_hello *hello);
/* The next moment. It must be later than the one before, or it is left out. */
void clr_clock_add(struct clr_clock *clock, const struct trd_clock_pair *pair);
/* Of a stamp between the last two moments, or after them. Grows with the stamp. */
uint64_t clr_clock_ns(const struct clr_clock *clock, uint64_t stamp);

#endif
