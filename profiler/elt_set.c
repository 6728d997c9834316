#include "elt_set.h"

#include <stdatomic.h>
#include <stddef.h>

#define PROBES_MAX 16

/* In the low bits of an id, which is the address of something aligned. */
#define TAKEN 1u
#define LEFT 2u
#define BITS (TAKEN | LEFT)
/* A place that can be used again and does not end a search. */
#define FORGOTTEN BITS

static struct {
    _Atomic UINT_PTR id;
    _Atomic ModuleID module; /* set before the id is */
} entries[ELT_SET_SIZE];

static size_t place_of(FunctionID function, size_t probe)
{
    size_t hash = (size_t)((function >> 3) * 0x9e3779b97f4a7c15u >> 32);

    return (hash + probe) & (ELT_SET_SIZE - 1);
}

enum elt_set_answer elt_set_find(FunctionID function)
{
    for (size_t i = 0; i < PROBES_MAX; i++) {
        UINT_PTR id =
            atomic_load_explicit(&entries[place_of(function, i)].id, memory_order_relaxed);

        if (id == 0)
            break;
        if ((id & ~(UINT_PTR)BITS) == function)
            return id & TAKEN ? ELT_SET_TAKEN : ELT_SET_LEFT;
    }
    return ELT_SET_UNKNOWN;
}

/* Whoever sets the module has the place. */
static bool fill(size_t at, UINT_PTR expected, FunctionID function, ModuleID module, bool taken)
{
    ModuleID owner = 0;

    if (atomic_load_explicit(&entries[at].id, memory_order_relaxed) != expected ||
        !atomic_compare_exchange_strong(&entries[at].module, &owner, module ? module : 1))
        return false;
    /* The module is in place: whoever forgets it finds this method. */
    atomic_store_explicit(&entries[at].id, function | (taken ? TAKEN : LEFT), memory_order_release);
    return true;
}

void elt_set_add(FunctionID function, ModuleID module, bool taken)
{
    if (!function || function & BITS)
        return;
    for (size_t i = 0; i < PROBES_MAX; i++) {
        size_t at = place_of(function, i);

        if (fill(at, 0, function, module, taken) || fill(at, FORGOTTEN, function, module, taken))
            return;
    }
}

void elt_set_each_taken(bool (*each)(void *context, FunctionID function), void *context)
{
    for (size_t i = 0; i < ELT_SET_SIZE; i++) {
        UINT_PTR id = atomic_load_explicit(&entries[i].id, memory_order_relaxed);

        if ((id & BITS) == TAKEN && !each(context, id & ~(UINT_PTR)BITS))
            return;
    }
}

void elt_set_forget(ModuleID module)
{
    for (size_t i = 0; module && i < ELT_SET_SIZE; i++) {
        if (atomic_load_explicit(&entries[i].module, memory_order_acquire) != module)
            continue;
        atomic_store_explicit(&entries[i].id, FORGOTTEN, memory_order_relaxed);
        atomic_store_explicit(&entries[i].module, 0, memory_order_release);
    }
}
