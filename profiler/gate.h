/*
 * The gate every callback passes: the categories that are wanted now, 0 = closed. It lies in a page
 * of its own that a fork wipes, so a forked child, which shares the arena but has no sender, finds
 * it closed without a system call per event.
 */
#ifndef TRD_PROFILER_GATE_H
#define TRD_PROFILER_GATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "event.h"

extern _Atomic uint32_t *gate_mask; /* never NULL */

int gate_init(void);
void gate_open(uint32_t categories);
void gate_close(void);

static inline bool gate_wants(enum trd_category category)
{
    return atomic_load_explicit(gate_mask, memory_order_relaxed) >> category & 1;
}

/* `categories` is a mask of TRD_CATEGORY_BIT. */
static inline bool gate_wants_any(uint32_t categories)
{
    return (atomic_load_explicit(gate_mask, memory_order_relaxed) & categories) != 0;
}

static inline bool gate_is_open(void)
{
    return gate_wants(TRD_CATEGORY_RUNTIME);
}

#endif
