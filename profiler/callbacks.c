#include "callbacks.h"

#include <string.h>

#include "profiler.h"
#include "unloads.h"

/* The object as the runtime sees it: QueryInterface, the life cycle, and what is behind the
 * vtable of ICorProfilerCallback … 11. */

static HRESULT ignore(void *self)
{
    (void)self;
    return S_OK;
}

/* Life cycle */

static HRESULT on_initialize(void *self, void *info)
{
    (void)self;
    return profiler_start(info);
}

static HRESULT on_initialize_for_attach(void *self, void *info, void *data, UINT size)
{
    (void)self;
    return profiler_attach(info, data, size);
}

static HRESULT on_shutdown(void *self)
{
    (void)self;
    profiler_shutdown();
    return S_OK;
}

static HRESULT on_detach_succeeded(void *self)
{
    (void)self;
    profiler_detached();
    return S_OK;
}

static HRESULT on_load_as_notification_only(void *self, BOOL *out)
{
    (void)self;
    if (out)
        *out = profiler_get()->notification_only;
    return S_OK;
}

/* The vtable */

static ULONG add_ref(void *self)
{
    (void)self;
    return 1; /* lives as long as the process */
}

static const struct {
    int version;
    GUID iid;
} callback_ids[] = {
    { 0, IID_IUNKNOWN },
    { 1, { 0x176fbed1, 0xa55c, 0x4796, { 0x98, 0xca, 0xa9, 0xda, 0x0e, 0xf8, 0x83, 0xe7 } } },
    { 2, { 0x8a8cc829, 0xccf2, 0x49fe, { 0xbb, 0xae, 0x0f, 0x02, 0x22, 0x28, 0x07, 0x1a } } },
    { 3, { 0x4fd2ed52, 0x7731, 0x4b8d, { 0x94, 0x69, 0x03, 0xd2, 0xcc, 0x30, 0x86, 0xc5 } } },
    { 4, { 0x7b63b2e3, 0x107d, 0x4d48, { 0xb2, 0xf6, 0xf6, 0x1e, 0x22, 0x94, 0x70, 0xd2 } } },
    { 5, { 0x8dfba405, 0x8c9f, 0x45f8, { 0xbf, 0xfa, 0x83, 0xb1, 0x4c, 0xef, 0x78, 0xb5 } } },
    { 6, { 0xfc13df4b, 0x4448, 0x4f4f, { 0x95, 0x0c, 0xba, 0x8d, 0x19, 0xd0, 0x0c, 0x36 } } },
    { 7, { 0xf76a2dba, 0x1d52, 0x4539, { 0x86, 0x6c, 0x2a, 0xa5, 0x18, 0xf9, 0xef, 0xc3 } } },
    { 8, { 0x5bed9b15, 0xc079, 0x4d47, { 0xbf, 0xe2, 0x21, 0x5a, 0x14, 0x0c, 0x07, 0xe0 } } },
    { 9, { 0x27583ec3, 0xc8f5, 0x482f, { 0x80, 0x52, 0x19, 0x4b, 0x8c, 0xe4, 0x70, 0x5a } } },
    { 10, { 0xcec5b60e, 0xc69c, 0x495f, { 0x87, 0xf6, 0x84, 0xd2, 0x8e, 0xe1, 0x6f, 0xfb } } },
    { 11, { 0x42350846, 0xaaed, 0x47f7, { 0xb1, 0x28, 0xfd, 0x0c, 0x98, 0x88, 0x1c, 0xde } } },
};

static HRESULT query_interface(void *self, const GUID *iid, void **out)
{
    struct profiler *profiler = self;

    if (!out)
        return E_POINTER;
    *out = NULL;
    for (size_t i = 0; i < sizeof(callback_ids) / sizeof(callback_ids[0]); i++)
        if (memcmp(iid, &callback_ids[i].iid, sizeof(*iid)) == 0) {
            if (callback_ids[i].version > profiler->callback_version)
                profiler->callback_version = callback_ids[i].version;
            *out = self;
            return S_OK;
        }
    return E_NOINTERFACE;
}

#pragma GCC diagnostic push
/* Every slot is first filled with `ignore`, which takes `this` and leaves the rest to the caller
 * (measured on all runtimes); the recorded ones replace it. */
#pragma GCC diagnostic ignored "-Wcast-function-type"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Winitializer-overrides"
#else
#pragma GCC diagnostic ignored "-Woverride-init"
#endif
const struct corprof_callback_vtbl callbacks_recorded = {
#define CORPROF_SLOT(slot, method, ...) .method = (HRESULT(*)(void *, ##__VA_ARGS__))(void *)ignore,
#include "callback_slots.def"
#undef CORPROF_SLOT
    .QueryInterface = query_interface,
    .AddRef = add_ref,
    .Release = add_ref,
    .Initialize = on_initialize,
    .InitializeForAttach = on_initialize_for_attach,
    .Shutdown = on_shutdown,
    .ProfilerDetachSucceeded = on_detach_succeeded,
    .LoadAsNotificationOnly = on_load_as_notification_only,
    .ThreadCreated = on_thread_created,
    .ThreadDestroyed = on_thread_destroyed,
    .ThreadAssignedToOSThread = on_thread_assigned,
    .ThreadNameChanged = on_thread_name,
    .AppDomainCreationFinished = on_appdomain_created,
    .AppDomainShutdownFinished = on_appdomain_shutdown,
    .ClassLoadFinished = on_class_load,
    .ClassUnloadFinished = on_class_unload,
    .AssemblyLoadFinished = on_assembly_load,
    .AssemblyUnloadFinished = on_assembly_unload,
    .ModuleLoadFinished = on_module_load,
    .ModuleUnloadStarted = on_module_unload_started,
    .ModuleUnloadFinished = on_module_unload,
    .JITCompilationStarted = on_jit_start,
    .JITCompilationFinished = on_jit_end,
    .DynamicMethodJITCompilationStarted = on_dynamic_jit_start,
    .DynamicMethodJITCompilationFinished = on_dynamic_jit_end,
    .DynamicMethodUnloaded = on_dynamic_method_unloaded,
    .JITInlining = on_inlining,
    .JITCachedFunctionSearchFinished = on_cached_search,
    .GarbageCollectionStarted = on_gc_start,
    .GarbageCollectionFinished = on_gc_end,
    .MovedReferences2 = on_moved,
    .SurvivingReferences2 = on_survived,
    .RuntimeSuspendStarted = on_suspend_begin,
    .RuntimeSuspendFinished = on_suspend_end,
    .RuntimeSuspendAborted = on_suspend_aborted,
    .RuntimeResumeStarted = on_resume_begin,
    .RuntimeResumeFinished = on_resume_end,
    .UnmanagedToManagedTransition = on_to_managed,
    .ManagedToUnmanagedTransition = on_to_native,
    .ExceptionThrown = on_exception_thrown,
    .ExceptionSearchFunctionEnter = on_search_enter,
    .ExceptionSearchFunctionLeave = on_search_leave,
    .ExceptionSearchFilterEnter = on_filter_enter,
    .ExceptionSearchFilterLeave = on_filter_leave,
    .ExceptionSearchCatcherFound = on_exception_found,
    .ExceptionUnwindFunctionEnter = on_unwind_enter,
    .ExceptionUnwindFunctionLeave = on_unwind_leave,
    .ExceptionUnwindFinallyEnter = on_finally_enter,
    .ExceptionUnwindFinallyLeave = on_finally_leave,
    .ExceptionCatcherEnter = on_exception_caught,
    .ExceptionCatcherLeave = on_catch_leave,
    .EventPipeEventDelivered = on_eventpipe_event,
    .EventPipeProviderCreated = on_eventpipe_provider,
};
#pragma GCC diagnostic pop
