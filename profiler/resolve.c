#include "resolve.h"

#include "callbacks.h"
#include "gate.h"
#include "info_code.h"
#include "sender.h"
#include "unloads.h"

/* Answers between two sweeps, and how many of the last methods are remembered: addresses of one
 * stack, and of one moment, are often in the same ones. */
#define SLICE 4
#define RECENT 32

struct resolver {
    struct corprof_info *info;
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

static void resolve(struct resolver *resolver, uint64_t address)
{
    FunctionID function;
    ReJITID rejit;

    if (!info_function_at(resolver->info, (UINT_PTR)address, &function, &rejit))
        emit_no_code(address);
    else if (!is_told(resolver, function, rejit))
        (void)emit_code(function, rejit, TRD_EVENT_F_CATCH_UP);
}

void resolve_addresses(struct profiler *profiler, const struct trd_resolve *request,
                       const uint64_t *addresses)
{
    struct resolver resolver = { .info = profiler->info };

    if (!gate_wants(TRD_CATEGORY_JIT))
        return;
    for (uint32_t i = 0; i < request->count; i++) {
        /* Beside an unload nothing is said: the daemon asks again once it has heard of that. */
        if (unloads_are_quiet() && unloads_hold(unloads_count())) {
            resolve(&resolver, addresses[i]);
            unloads_let_go();
        }
        if (i % SLICE == SLICE - 1 && !sender_flush())
            return;
    }
}
