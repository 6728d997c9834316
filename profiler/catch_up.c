#include "catch_up.h"

#include <poll.h>

#include "callbacks.h"
#include "elt.h"
#include "event.h"
#include "info.h"
#include "info_code.h"
#include "names.h"
#include "sender.h"
#include "thread_names.h"
#include "unloads.h"

/* Weights between two sweeps: their events stay well below the smallest ring. */
#define SLICE 8
#define SNAPSHOTS_MAX 8
#define QUIET_WAIT_MS 500 /* the daemon's words wait as long */
#define FUNCTION_WEIGHT 3 /* a definition and all its bodies */

struct progress {
    struct corprof_info *info;
    AppDomainID domain; /* that was told last */
    unsigned told;      /* since the last sweep */
    uint64_t unloads;   /* before the snapshot that is being told */
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

/* Nobody lists the application domains; assemblies know theirs. .NET Core has one. */
static void tell_domain(struct progress *progress, AssemblyID assembly)
{
    AppDomainID domain = info_assembly_domain(progress->info, assembly);

    if (!domain || domain == progress->domain)
        return;
    progress->domain = domain;
    emit_appdomain_created(progress->info, domain, S_OK, TRD_EVENT_F_CATCH_UP);
}

static bool tell_module(void *context, UINT_PTR module)
{
    struct progress *progress = context;
    AssemblyID assembly = 0;
    struct info_name path;
    uintptr_t base;

    if (!unloads_hold(progress->unloads))
        return false;
    emit_module_load(progress->info, module, S_OK, TRD_EVENT_F_CATCH_UP);
    if (info_module(progress->info, module, &base, &assembly, &path) && assembly) {
        tell_domain(progress, assembly);
        emit_assembly_load(progress->info, assembly, S_OK, TRD_EVENT_F_CATCH_UP);
    }
    unloads_let_go();
    return may_go_on(progress, 1);
}

static bool tell_function(void *context, FunctionID function, ReJITID rejit)
{
    struct progress *progress = context;

    if (!unloads_hold(progress->unloads))
        return false;
    emit_code(function, rejit, TRD_EVENT_F_CATCH_UP);
    unloads_let_go();
    return may_go_on(progress, FUNCTION_WEIGHT);
}

/* False if it does not come, or if there is no use in going on. */
static bool wait_for_quiet(void)
{
    for (int waited_ms = 0; waited_ms < QUIET_WAIT_MS; waited_ms += UNLOADS_QUIET_MS / 4) {
        if (unloads_are_quiet())
            return true;
        if (!sender_flush())
            return false;
        (void)poll(NULL, 0, UNLOADS_QUIET_MS / 4);
    }
    return false;
}

/* An unload makes the rest of the list worthless: the next one is told from its beginning, and what
 * comes twice does no harm. Where modules come and go all the time the list may stay incomplete;
 * addresses in such code are still found by asking. */
static void tell_functions(struct progress *progress)
{
    for (int i = 0; i < SNAPSHOTS_MAX; i++) {
        if (!wait_for_quiet())
            return;
        progress->unloads = unloads_count();
        info_each_function(progress->info, tell_function, progress);
        if (unloads_count() == progress->unloads)
            return;
    }
}

static void tell_modules(struct progress *progress)
{
    for (int i = 0; i < SNAPSHOTS_MAX; i++) {
        if (!wait_for_quiet())
            return;
        progress->unloads = unloads_count();
        info_each_module(progress->info, tell_module, progress);
        if (unloads_count() == progress->unloads)
            return;
    }
}

void catch_up(struct profiler *profiler, uint32_t categories)
{
    struct progress progress = { .info = profiler->info };

    if (categories & TRD_CATEGORY_BIT(METHOD))
        elt_catch_up(after_method, &progress);
    if (categories & TRD_CATEGORY_BIT(THREAD))
        info_each_thread(profiler->info, tell_thread, &progress);
    if (categories & TRD_CATEGORY_BIT(LOADER))
        tell_modules(&progress);
    if (categories & TRD_CATEGORY_BIT(JIT))
        tell_functions(&progress);
}
