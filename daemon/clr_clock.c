#include "clr_clock.h"

#include <errno.h>

#define RATE_BITS 32
/* 62.5 MHz to 64 GHz: what a counter may be. */
#define RATE_MIN (UINT64_C(1) << (RATE_BITS - 6))
#define RATE_MAX (UINT64_C(1) << (RATE_BITS + 4))

static uint64_t scaled(uint64_t ticks, uint64_t rate)
{
    return (uint64_t)((unsigned __int128)ticks * rate >> RATE_BITS);
}

/* 0 for pairs that are no progress, or none that a counter could make. */
static uint64_t rate_of(const struct trd_clock_pair *from, const struct trd_clock_pair *to)
{
    unsigned __int128 rate;

    if (to->tsc <= from->tsc || to->ns <= from->ns)
        return 0;
    rate = ((unsigned __int128)(to->ns - from->ns) << RATE_BITS) / (to->tsc - from->tsc);
    return rate < RATE_MIN || rate > RATE_MAX ? 0 : (uint64_t)rate;
}

/* The clock was read somewhere in the window around it. */
static uint64_t reading_error(const struct clr_clock *clock, const struct trd_clock_pair *pair)
{
    return scaled(pair->window / 2, clock->rate_ever) + 1;
}

static void note_error(struct clr_clock *clock, uint64_t error_ns)
{
    if (error_ns > clock->error_ns)
        clock->error_ns = error_ns;
}

int clr_clock_init(struct clr_clock *clock, const struct trd_hello *hello)
{
    *clock = (struct clr_clock){ .is_tsc = hello->clock == TRD_CLOCK_TSC };
    if (!clock->is_tsc)
        return hello->clock == TRD_CLOCK_MONOTONIC ? 0 : -EBADMSG;
    clock->first = clock->base = hello->started;
    clock->last = hello->now;
    clock->rate = clock->rate_ever = rate_of(&clock->base, &clock->last);
    if (clock->rate == 0)
        return -EBADMSG;
    note_error(clock, reading_error(clock, &clock->first));
    note_error(clock, reading_error(clock, &clock->last));
    return 0;
}

void clr_clock_add(struct clr_clock *clock, const struct trd_clock_pair *pair)
{
    uint64_t rate = rate_of(&clock->last, pair);
    uint64_t expected, missed;

    if (rate == 0)
        return;
    /* If the kernel changed the pace of its clock within this piece, a stamp in it is off by less
     * than the piece's end would have been at the old pace. */
    expected = clr_clock_ns(clock, pair->tsc);
    missed = expected > pair->ns ? expected - pair->ns : pair->ns - expected;
    clock->base = clock->last;
    clock->last = *pair;
    clock->rate = rate;
    clock->rate_ever = rate_of(&clock->first, pair);
    note_error(clock, reading_error(clock, pair) + missed);
}

uint64_t clr_clock_ns(const struct clr_clock *clock, uint64_t stamp)
{
    uint64_t before;

    if (!clock->is_tsc)
        return stamp;
    if (stamp >= clock->last.tsc)
        return clock->last.ns + scaled(stamp - clock->last.tsc, clock->rate_ever);
    if (stamp >= clock->base.tsc)
        return clock->base.ns + scaled(stamp - clock->base.tsc, clock->rate);
    before = scaled(clock->base.tsc - stamp, clock->rate_ever);
    return before < clock->base.ns ? clock->base.ns - before : 0;
}
