#include "dat_clock.h"

#include <errno.h>
#include <stdlib.h>

#define SHIFT_INTERPOLATE 1
/* What one sample takes in the option without its fraction. */
#define SAMPLE_SIZE 24
#define CPU_SIZE 4

static void drop_shift(struct dat_clock *clock)
{
    for (uint32_t i = 0; i < clock->cpu_count; i++)
        free(clock->cpus[i].samples);
    free(clock->cpus);
    clock->cpus = NULL;
    clock->cpu_count = 0;
}

void dat_clock_finish(struct dat_clock *clock)
{
    drop_shift(clock);
}

/* u32 n, n u64 times, n s64 offsets, n u64 scalings */
static int parse_cpu(struct dat_clock_cpu *cpu, struct cursor *option)
{
    uint32_t count = cursor_u32(option);

    if (option->failed || count > (option->size - option->at) / SAMPLE_SIZE)
        return -EBADMSG;
    cpu->samples = calloc(count ? count : 1, sizeof(*cpu->samples));
    if (!cpu->samples)
        return -ENOMEM;
    cpu->count = count;
    for (uint32_t i = 0; i < count; i++)
        cpu->samples[i].time = cursor_u64(option);
    for (uint32_t i = 0; i < count; i++)
        cpu->samples[i].offset = (int64_t)cursor_u64(option);
    for (uint32_t i = 0; i < count; i++)
        cpu->samples[i].scaling = cursor_u64(option);
    return 0;
}

static int parse_fractions(struct dat_clock *clock, struct cursor *option)
{
    for (uint32_t i = 0; i < clock->cpu_count; i++)
        for (uint32_t k = 0; k < clock->cpus[i].count; k++) {
            uint64_t fraction = cursor_u64(option);

            if (option->failed || fraction > 63)
                return -EBADMSG;
            clock->cpus[i].samples[k].fraction = fraction;
        }
    return 0;
}

int dat_clock_parse_shift(struct dat_clock *clock, struct cursor *option)
{
    uint32_t flags, count;
    int result = 0;

    (void)cursor_u64(option); /* trace id of the host's file */
    flags = cursor_u32(option);
    count = cursor_u32(option);
    if (option->failed || count > (option->size - option->at) / CPU_SIZE)
        return -EBADMSG;
    drop_shift(clock);
    clock->interpolate = (flags & SHIFT_INTERPOLATE) != 0;
    clock->cpus = calloc(count ? count : 1, sizeof(*clock->cpus));
    if (!clock->cpus)
        return -ENOMEM;
    clock->cpu_count = count;
    for (uint32_t i = 0; i < count && result == 0; i++)
        result = parse_cpu(&clock->cpus[i], option);
    if (result == 0 && option->at < option->size)
        result = parse_fractions(clock, option);
    if (result != 0)
        drop_shift(clock);
    return result;
}

int dat_clock_parse_tsc(struct dat_clock *clock, struct cursor *option)
{
    uint32_t mult = cursor_u32(option);
    uint32_t shift = cursor_u32(option);

    if (option->failed || shift > 63)
        return -EBADMSG;
    clock->tsc_mult = mult;
    clock->tsc_shift = shift;
    return 0;
}

static uint64_t scale(uint64_t ts, const struct dat_clock_sample *sample)
{
    if (sample->scaling == 0 || (sample->scaling == 1 && sample->fraction == 0))
        return ts;
    return (uint64_t)((unsigned __int128)ts * sample->scaling >> sample->fraction);
}

/* The last sample at or before ts, but never the very last: it has a neighbour to go to. */
static const struct dat_clock_sample *find_sample(const struct dat_clock_cpu *cpu, uint64_t ts)
{
    uint32_t low = 0, high = cpu->count - 2;

    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;

        if (cpu->samples[middle].time <= ts)
            low = middle;
        else
            high = middle - 1;
    }
    return &cpu->samples[low];
}

static int64_t interpolate(const struct dat_clock_sample *from, uint64_t ts)
{
    const struct dat_clock_sample *to = from + 1;
    __int128 span = (__int128)to->time - from->time;
    __int128 rise = (__int128)to->offset - from->offset;

    if (span <= 0)
        return from->offset;
    return (int64_t)(from->offset + (rise * ((__int128)ts - from->time) + span / 2) / span);
}

static uint64_t shift_time(const struct dat_clock *clock, const struct dat_clock_cpu *cpu,
                           uint64_t ts)
{
    const struct dat_clock_sample *sample;

    if (cpu->count == 0)
        return ts;
    if (cpu->count == 1)
        return ts + (uint64_t)cpu->samples[0].offset;
    sample = find_sample(cpu, ts);
    if (clock->interpolate)
        return scale(ts, sample) + (uint64_t)interpolate(sample, ts);
    if (ts >= sample[1].time) /* beyond the last but one */
        sample++;
    return scale(ts, sample) + (uint64_t)sample->offset;
}

uint64_t dat_clock_convert(const struct dat_clock *clock, uint64_t ts, int32_t cpu, bool ticks)
{
    if (cpu >= 0 && (uint32_t)cpu < clock->cpu_count)
        ts = shift_time(clock, &clock->cpus[cpu], ts);
    if (ticks && clock->tsc_mult)
        ts = (uint64_t)((unsigned __int128)ts * clock->tsc_mult >> clock->tsc_shift);
    return ts + (uint64_t)clock->offset_ns;
}
