/*
 * Every callback of ICorProfilerCallback … 11: the vtable, and what is recorded. Each recording
 * callback passes the gate, asks the runtime what it must (names before the ring is touched), and
 * writes one event. None waits, none fails. Contexts (preemptive, cooperative, during suspension)
 * are those of corprof: methods named here allow what they do.
 */
#include <stdatomic.h>
#include <string.h>

#include "catch_up.h"
#include "gate.h"
#include "names.h"
#include "profiler.h"
#include "text.h"
#include "writer.h"

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

/* Threads */

static HRESULT on_thread_created(void *self, ThreadID thread)
{
    struct trd_ev_thread_created *event;
    struct writer writer;

    (void)self;
    if (gate_wants(TRD_CATEGORY_THREAD) &&
        (event = WRITER_BEGIN(&writer, thread_created, THREAD, 0))) {
        event->thread = thread;
        writer_commit(&writer);
    }
    return S_OK;
}

static HRESULT on_thread_destroyed(void *self, ThreadID thread)
{
    struct trd_ev_thread_destroyed *event;
    struct writer writer;

    (void)self;
    thread_names_remove(thread);
    if (gate_wants(TRD_CATEGORY_THREAD) &&
        (event = WRITER_BEGIN(&writer, thread_destroyed, THREAD, 0))) {
        event->thread = thread;
        writer_commit(&writer);
    }
    return S_OK;
}

static HRESULT on_thread_assigned(void *self, ThreadID thread, DWORD os_tid)
{
    (void)self;
    if (gate_wants(TRD_CATEGORY_THREAD))
        emit_thread_assigned(thread, os_tid, 0);
    return S_OK;
}

/* `name` has `length` units and no promised NUL; may come before ThreadCreated. */
static HRESULT on_thread_name(void *self, ThreadID thread, ULONG length, WCHAR *name)
{
    char text[TRD_TEXT_MAX];
    size_t size;

    (void)self;
    size = name ? text_from_utf16(name, length, text, sizeof(text) - 1) : 0;
    thread_names_set(thread, text, size);
    if (gate_wants(TRD_CATEGORY_THREAD))
        emit_thread_name(thread, text, size, 0);
    return S_OK;
}

/* Loader */

static HRESULT on_assembly_load(void *self, AssemblyID assembly, HRESULT status)
{
    (void)self;
    if (gate_wants(TRD_CATEGORY_LOADER))
        emit_assembly_load(profiler_get()->info, assembly, status, 0);
    return S_OK;
}

static HRESULT on_assembly_unload(void *self, AssemblyID assembly, HRESULT status)
{
    struct trd_ev_assembly_unload *event;
    struct writer writer;

    (void)self;
    (void)status;
    if (gate_wants(TRD_CATEGORY_LOADER) &&
        (event = WRITER_BEGIN(&writer, assembly_unload, LOADER, 0))) {
        event->assembly = assembly;
        writer_commit(&writer);
    }
    return S_OK;
}

static HRESULT on_module_load(void *self, ModuleID module, HRESULT status)
{
    (void)self;
    if (gate_wants(TRD_CATEGORY_LOADER))
        emit_module_load(profiler_get()->info, module, status, 0);
    return S_OK;
}

static HRESULT on_module_unload(void *self, ModuleID module, HRESULT status)
{
    struct trd_ev_module_unload *event;
    struct writer writer;

    (void)self;
    (void)status;
    names_forget(module);
    if (gate_wants(TRD_CATEGORY_LOADER) &&
        (event = WRITER_BEGIN(&writer, module_unload, LOADER, 0))) {
        event->module = module;
        writer_commit(&writer);
    }
    return S_OK;
}

/* JIT */

static void define_method(FunctionID function, enum trd_category category)
{
    struct method_name name;
    struct trd_ev_method *event;
    struct writer writer;

    if (!names_method_is_new(function))
        return;
    names_method(profiler_get()->info, function, &name);
    event = writer_begin(&writer, TRD_EV_method, category, sizeof(*event), (uint32_t)name.size + 1);
    if (!event)
        return;
    event->method = function;
    event->module = name.module;
    event->token = name.token;
    writer_text(&writer, &event->name, name.text, name.size);
    writer_commit(&writer);
}

static void jit_start(FunctionID function)
{
    struct trd_ev_jit_start *event;
    struct writer writer;

    define_method(function, TRD_CATEGORY_JIT);
    event = WRITER_BEGIN(&writer, jit_start, JIT, 0);
    if (!event)
        return;
    event->method = function;
    writer_commit(&writer);
}

static void jit_end(FunctionID function, HRESULT status)
{
    COR_PRF_CODE_INFO code = { 0 };
    struct trd_ev_jit_end *event;
    struct writer writer;

    (void)info_code(profiler_get()->info, function, &code);
    event = WRITER_BEGIN(&writer, jit_end, JIT, 0);
    if (!event)
        return;
    event->method = function;
    event->status = status;
    event->size = (uint32_t)code.size;
    event->address = code.startAddress;
    writer_commit(&writer);
}

static HRESULT on_jit_start(void *self, FunctionID function, BOOL safe_to_block)
{
    (void)self;
    (void)safe_to_block;
    if (gate_wants(TRD_CATEGORY_JIT))
        jit_start(function);
    return S_OK;
}

static HRESULT on_jit_end(void *self, FunctionID function, HRESULT status, BOOL safe_to_block)
{
    (void)self;
    (void)safe_to_block;
    if (gate_wants(TRD_CATEGORY_JIT))
        jit_end(function, status);
    return S_OK;
}

static HRESULT on_dynamic_jit_start(void *self, FunctionID function, BOOL safe_to_block,
                                    const BYTE *header, ULONG size)
{
    (void)header;
    (void)size;
    return on_jit_start(self, function, safe_to_block);
}

/* Garbage collection and suspension. These run one at a time for the process, on the thread that
 * collects or suspends, except that a foreground collection may nest in a background one. */

#define GC_NESTING_MAX 4

static struct {
    uint32_t open[GC_NESTING_MAX];
    uint32_t depth;
} gc;
static _Atomic COR_PRF_SUSPEND_REASON suspend_reason;

static HRESULT on_gc_start(void *self, int32_t generation_count, BOOL *collected,
                           COR_PRF_GC_REASON reason)
{
    struct trd_ev_gc_start *event;
    uint32_t number, generations = 0;
    struct writer writer;

    (void)self;
    number = ++profiler_get()->collections;
    if (gc.depth < GC_NESTING_MAX)
        gc.open[gc.depth] = number;
    gc.depth++;
    if (!gate_wants(TRD_CATEGORY_GC))
        return S_OK;
    for (int32_t i = 0; collected && i < generation_count && i < 32; i++)
        generations |= collected[i] ? 1u << i : 0;
    event = WRITER_BEGIN(&writer, gc_start, GC, 0);
    if (event) {
        event->number = number;
        event->generations = generations;
        event->reason = (uint32_t)reason;
        writer_commit(&writer);
    }
    return S_OK;
}

static HRESULT on_gc_end(void *self)
{
    struct trd_ev_gc_end *event;
    struct writer writer;
    uint32_t number = 0;

    (void)self;
    if (gc.depth == 0) /* it began before the profiler came */
        return S_OK;
    gc.depth--;
    if (gc.depth < GC_NESTING_MAX)
        number = gc.open[gc.depth];
    if (gate_wants(TRD_CATEGORY_GC) && (event = WRITER_BEGIN(&writer, gc_end, GC, 0))) {
        event->number = number;
        writer_commit(&writer);
    }
    return S_OK;
}

/* The five phases differ in their id only. */
static void emit_suspension(uint16_t id)
{
    struct trd_ev_suspend_begin *event;
    struct writer writer;

    if (!gate_wants(TRD_CATEGORY_GC))
        return;
    event = writer_begin(&writer, id, TRD_CATEGORY_GC, sizeof(*event), 0);
    if (!event)
        return;
    event->reason = (uint32_t)atomic_load_explicit(&suspend_reason, memory_order_relaxed);
    writer_commit(&writer);
}

static HRESULT on_suspend_begin(void *self, COR_PRF_SUSPEND_REASON reason)
{
    (void)self;
    atomic_store_explicit(&suspend_reason, reason, memory_order_relaxed);
    emit_suspension(TRD_EV_suspend_begin);
    return S_OK;
}

static HRESULT on_suspend_end(void *self)
{
    (void)self;
    emit_suspension(TRD_EV_suspend_end);
    return S_OK;
}

static HRESULT on_suspend_aborted(void *self)
{
    (void)self;
    emit_suspension(TRD_EV_suspend_aborted);
    return S_OK;
}

static HRESULT on_resume_begin(void *self)
{
    (void)self;
    emit_suspension(TRD_EV_resume_begin);
    return S_OK;
}

static HRESULT on_resume_end(void *self)
{
    (void)self;
    emit_suspension(TRD_EV_resume_end);
    return S_OK;
}

/* Exceptions */

static HRESULT on_exception_thrown(void *self, ObjectID object)
{
    struct trd_ev_exception_thrown *event;
    const struct type_name *type;
    struct writer writer;

    (void)self;
    if (!gate_wants(TRD_CATEGORY_EXCEPTION))
        return S_OK;
    type = names_type_of_object(profiler_get()->info, object);
    event = WRITER_BEGIN(&writer, exception_thrown, EXCEPTION, type ? (uint32_t)type->size + 1 : 0);
    if (event) {
        event->object = object;
        event->type = (struct trd_text){ 0 };
        if (type)
            writer_text(&writer, &event->type, type->text, type->size);
        writer_commit(&writer);
    }
    return S_OK;
}

static HRESULT on_exception_caught(void *self, FunctionID function, ObjectID object)
{
    struct trd_ev_exception_caught *event;
    const struct type_name *type;
    struct writer writer;

    (void)self;
    if (!gate_wants(TRD_CATEGORY_EXCEPTION))
        return S_OK;
    if (function)
        define_method(function, TRD_CATEGORY_EXCEPTION);
    type = names_type_of_object(profiler_get()->info, object);
    event = WRITER_BEGIN(&writer, exception_caught, EXCEPTION, type ? (uint32_t)type->size + 1 : 0);
    if (event) {
        event->object = object;
        event->method = function;
        event->type = (struct trd_text){ 0 };
        if (type)
            writer_text(&writer, &event->type, type->text, type->size);
        writer_commit(&writer);
    }
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
const struct corprof_callback_vtbl profiler_callbacks = {
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
    .AssemblyLoadFinished = on_assembly_load,
    .AssemblyUnloadFinished = on_assembly_unload,
    .ModuleLoadFinished = on_module_load,
    .ModuleUnloadFinished = on_module_unload,
    .JITCompilationStarted = on_jit_start,
    .JITCompilationFinished = on_jit_end,
    .DynamicMethodJITCompilationStarted = on_dynamic_jit_start,
    .DynamicMethodJITCompilationFinished = on_jit_end,
    .GarbageCollectionStarted = on_gc_start,
    .GarbageCollectionFinished = on_gc_end,
    .RuntimeSuspendStarted = on_suspend_begin,
    .RuntimeSuspendFinished = on_suspend_end,
    .RuntimeSuspendAborted = on_suspend_aborted,
    .RuntimeResumeStarted = on_resume_begin,
    .RuntimeResumeFinished = on_resume_end,
    .ExceptionThrown = on_exception_thrown,
    .ExceptionCatcherEnter = on_exception_caught,
};
#pragma GCC diagnostic pop
