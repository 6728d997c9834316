#include "dat_range.h"

#include <errno.h>
#include <stdlib.h>

int dat_range_init(struct dat_range *range, const struct dat_cpu *whole, size_t cpu_count)
{
    *range = (struct dat_range){ .whole = whole, .cpu_count = cpu_count };
    range->cpus = calloc(cpu_count, sizeof(*range->cpus));
    range->heap.cpus = calloc(cpu_count, sizeof(*range->heap.cpus));
    return range->cpus && range->heap.cpus ? 0 : -ENOMEM;
}

void dat_range_finish(struct dat_range *range)
{
    free(range->cpus);
    free(range->heap.cpus);
}

void dat_range_start(struct dat_range *range, const struct dat_slice *slice)
{
    range->heap.size = 0;
    range->slice = slice;
    range->handed_out = false;
    range->totals = (struct dat_totals){ 0 };
    for (size_t i = 0; i < range->cpu_count; i++) {
        struct dat_cpu *cpu = &range->cpus[i];

        *cpu = range->whole[i];
        cpu->totals = &range->totals;
        if (dat_cpu_start(cpu, slice->places[i], slice->from_ns) == 1)
            range->heap.cpus[range->heap.size++] = cpu;
    }
    dat_heap_order(&range->heap);
}

int dat_range_next(struct dat_range *range, struct trd_record *out)
{
    if (range->handed_out)
        dat_heap_advance(&range->heap);
    range->handed_out = range->heap.size > 0 && range->heap.cpus[0]->ts_ns < range->slice->until_ns;
    if (range->handed_out)
        dat_cpu_get(range->heap.cpus[0], out);
    return range->handed_out;
}

static bool left_pages_out(const struct dat_range *range)
{
    for (size_t i = 0; i < range->heap.size; i++) {
        const struct dat_cpu *cpu = range->heap.cpus[i];

        if (cpu->at - cpu->buffer->public.page_size < range->slice->ends[cpu - range->cpus])
            return true;
    }
    return false;
}

bool dat_range_is_plain(const struct dat_range *range)
{
    const struct dat_totals *totals = &range->totals;

    return !totals->disordered && totals->unknown_id_count == 0 && totals->short_records == 0 &&
           totals->damaged_bytes == 0 && !left_pages_out(range);
}
