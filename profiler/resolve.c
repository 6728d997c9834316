#include "resolve.h"

#include "callbacks.h"
#include "gate.h"
#include "il_map.h"
#include "info_code.h"
#include "sender.h"
#include "unloads.h"

/* Answers between two sweeps, and how many of the last methods are remembered: addresses of one
 * stack, and of one moment, are often in the same ones. */
#define SLICE 4
#define RECENT 32

struct resolver {
    struct profiler *profiler;
    bool with_il;
    COR_PRF_FUNCTION recent[RECENT];
    unsigned recent_count;
};

/* All its code was told for an earlier address of this request. */
static bool is_told(struct resolver *resolver, FunctionID function, ReJITID rejit)
{
    unsigned count = resolver->recent_count < RECENT ? resolver->recent_count : RECENT;

    for (unsigned i = 0; i < count; i++)
        if (resolver->recent[i].functionId == function && resolver->recent[i].reJitId == rejit)
            return true;
    resolver->recent[resolver->recent_count++ % RECENT] = (COR_PRF_FUNCTION){ function, rejit };
    return false;
}

/* Whether `map` is to be told, once the runtime may go on unloading. */
static bool resolve(struct resolver *resolver, uint64_t address, struct il_map *map)
{
    FunctionID function;
    ReJITID rejit;

    if (!info_function_at(resolver->profiler->info, (UINT_PTR)address, &function, &rejit)) {
        emit_no_code(address);
        return false;
    }
    if (!is_told(resolver, function, rejit))
        emit_code(function, rejit, TRD_EVENT_F_CATCH_UP);
    return resolver->with_il &&
           il_map_find(resolver->profiler, function, rejit, (UINT_PTR)address, map);
}

void resolve_addresses(struct profiler *profiler, const struct trd_resolve *request,
                       const uint64_t *addresses)
{
    struct resolver resolver = { .profiler = profiler,
                                 .with_il = request->flags & TRD_RESOLVE_F_IL };
    static struct il_map map; /* the sender's, and too large for its stack */
    bool has_map;

    if (!gate_wants(TRD_CATEGORY_JIT))
        return;
    for (uint32_t i = 0; i < request->count; i++) {
        /* Beside an unload nothing is said: the daemon asks again once it has heard of that. */
        has_map = false;
        if (unloads_are_quiet() && unloads_hold(unloads_count())) {
            has_map = resolve(&resolver, addresses[i], &map);
            unloads_let_go();
        }
        if (has_map && !il_map_tell(&map))
            return;
        if (i % SLICE == SLICE - 1 && !sender_flush())
            return;
    }
}
