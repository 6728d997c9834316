#include "catch_up.h"

#include "callbacks.h"
#include "elt.h"
#include "event.h"
#include "info.h"
#include "info_code.h"
#include "names.h"
#include "names_known.h"
#include "sender.h"
#include "thread_names.h"

/* Weights between two sweeps: their events stay well below the smallest ring. */
#define SLICE 8
#define FUNCTION_WEIGHT 3 /* a definition and all its bodies */

struct progress {
    struct corprof_info *info;
    unsigned told; /* since the last sweep */
};

static bool may_go_on(struct progress *progress, unsigned weight)
{
    progress->told += weight;
    if (progress->told < SLICE)
        return true;
    progress->told = 0;
    return sender_flush();
}

static bool after_method(void *context)
{
    return may_go_on(context, 1);
}

static bool tell_thread(void *context, UINT_PTR thread)
{
    struct progress *progress = context;
    char name[NAMES_TEXT_MAX];
    size_t size = thread_names_get(thread, name, sizeof(name));
    DWORD os_tid;

    emit_thread_created(thread, TRD_EVENT_F_CATCH_UP);
    if (info_os_thread(progress->info, thread, &os_tid))
        emit_thread_assigned(thread, os_tid, TRD_EVENT_F_CATCH_UP);
    if (size > 0)
        emit_thread_name(thread, name, size, TRD_EVENT_F_CATCH_UP);
    return may_go_on(progress, 1);
}

static bool tell_module(void *context, UINT_PTR module)
{
    struct progress *progress = context;
    AssemblyID assembly = 0;
    struct info_name path;
    uintptr_t base;

    emit_module_load(progress->info, module, S_OK, TRD_EVENT_F_CATCH_UP);
    if (info_module(progress->info, module, &base, &assembly, &path) && assembly)
        emit_assembly_load(progress->info, assembly, S_OK, TRD_EVENT_F_CATCH_UP);
    return may_go_on(progress, 1);
}

static bool tell_function(void *context, FunctionID function, ReJITID rejit)
{
    struct progress *progress = context;

    (void)emit_code(function, rejit, TRD_EVENT_F_CATCH_UP);
    return may_go_on(progress, FUNCTION_WEIGHT);
}

void catch_up(struct profiler *profiler, uint32_t categories)
{
    struct progress progress = { .info = profiler->info };

    names_forget();
    if (categories & TRD_CATEGORY_BIT(METHOD))
        elt_catch_up(after_method, &progress);
    if (categories & TRD_CATEGORY_BIT(THREAD))
        info_each_thread(profiler->info, tell_thread, &progress);
    if (categories & TRD_CATEGORY_BIT(LOADER))
        info_each_module(profiler->info, tell_module, &progress);
    if (categories & TRD_CATEGORY_BIT(JIT))
        info_each_function(profiler->info, tell_function, &progress);
}
