/*
 * The CPUs of a file that have a record to show, the earliest first; equal times in the order the
 * CPUs lie in memory, which is by number, then by buffer. Hot path, see dat_cpu.c.
 */
#ifndef TRD_COMMON_DAT_HEAP_H
#define TRD_COMMON_DAT_HEAP_H

#include "dat_cpu.h"

struct dat_heap {
    struct dat_cpu **cpus; /* owned */
    size_t size;
};

static inline bool dat_heap_before(const struct dat_cpu *a, const struct dat_cpu *b)
{
    return a->ts_ns != b->ts_ns ? a->ts_ns < b->ts_ns : a < b;
}

static inline void dat_heap_sink(struct dat_heap *heap, size_t place)
{
    struct dat_cpu **cpus = heap->cpus;
    struct dat_cpu *cpu = cpus[place];

    for (size_t child = 2 * place + 1; child < heap->size; child = 2 * place + 1) {
        if (child + 1 < heap->size && dat_heap_before(cpus[child + 1], cpus[child]))
            child++;
        if (!dat_heap_before(cpus[child], cpu))
            break;
        cpus[place] = cpus[child];
        place = child;
    }
    cpus[place] = cpu;
}

/* After the CPUs were put in, in any order. */
static inline void dat_heap_order(struct dat_heap *heap)
{
    for (size_t i = heap->size / 2; i-- > 0;)
        dat_heap_sink(heap, i);
}

/* The first one's record has been used: it shows its next one, or leaves. */
static inline void dat_heap_advance(struct dat_heap *heap)
{
    if (dat_cpu_next(heap->cpus[0]) == 0)
        heap->cpus[0] = heap->cpus[--heap->size];
    if (heap->size > 1)
        dat_heap_sink(heap, 0);
}

#endif
