/*
 * What is recorded, one family of callbacks per file. Each recording callback passes the gate, asks
 * the runtime what it must (names before the ring is touched), and writes one event. None waits,
 * none fails. Contexts (preemptive, cooperative, during suspension) are those of corprof: the
 * callbacks chosen here allow what they do. The emit_ functions are what catch_up.c tells a later
 * listener with; `flags` is TRD_EVENT_F_….
 */
#ifndef TRD_PROFILER_CALLBACKS_H
#define TRD_PROFILER_CALLBACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "corprof.h"
#include "event.h"
#include "info_code.h"

struct corprof_info;

/* callbacks.c: what each slot does; the runtime comes to it through callbacks_counted.c. */
extern const struct corprof_callback_vtbl callbacks_recorded;

/* callbacks_thread.c */
HRESULT on_thread_created(void *self, ThreadID thread);
HRESULT on_thread_destroyed(void *self, ThreadID thread);
HRESULT on_thread_assigned(void *self, ThreadID thread, DWORD os_tid);
/* `name` has `length` units and no promised NUL; may come before ThreadCreated. */
HRESULT on_thread_name(void *self, ThreadID thread, ULONG length, WCHAR *name);
void emit_thread_created(ThreadID thread, uint16_t flags);
void emit_thread_assigned(ThreadID thread, uint32_t os_tid, uint16_t flags);
void emit_thread_name(ThreadID thread, const char *name, size_t size, uint16_t flags);

/* callbacks_loader.c */
HRESULT on_assembly_load(void *self, AssemblyID assembly, HRESULT status);
HRESULT on_assembly_unload(void *self, AssemblyID assembly, HRESULT status);
HRESULT on_module_load(void *self, ModuleID module, HRESULT status);
HRESULT on_module_unload(void *self, ModuleID module, HRESULT status);
void emit_assembly_load(struct corprof_info *info, AssemblyID assembly, HRESULT status,
                        uint16_t flags);
void emit_module_load(struct corprof_info *info, ModuleID module, HRESULT status, uint16_t flags);

void emit_appdomain_created(struct corprof_info *info, AppDomainID domain, HRESULT status,
                            uint16_t flags);
HRESULT on_appdomain_created(void *self, AppDomainID domain, HRESULT status);
HRESULT on_appdomain_shutdown(void *self, AppDomainID domain, HRESULT status);

/* callbacks_class.c */
HRESULT on_class_load(void *self, ClassID class_id, HRESULT status);
HRESULT on_class_unload(void *self, ClassID class_id, HRESULT status);
/* Names the type, unless the listener knows it; `category` is that of the event it is for. */
void emit_type(ClassID class_id, enum trd_category category);

/* callbacks_jit.c */
HRESULT on_jit_start(void *self, FunctionID function, BOOL safe_to_block);
HRESULT on_jit_end(void *self, FunctionID function, HRESULT status, BOOL safe_to_block);
HRESULT on_dynamic_jit_start(void *self, FunctionID function, BOOL safe_to_block,
                             const BYTE *header, ULONG size);
HRESULT on_dynamic_jit_end(void *self, FunctionID function, HRESULT status, BOOL safe_to_block);
/* Names the method, unless the listener knows it; `category` is that of the event it is for. */
void emit_method(FunctionID function, enum trd_category category);
void emit_method_flagged(FunctionID function, enum trd_category category, uint16_t flags);
/* Neither answers: what the runtime has preset holds. */
HRESULT on_inlining(void *self, FunctionID caller, FunctionID callee, BOOL *should_inline);
HRESULT on_cached_search(void *self, FunctionID function, COR_PRF_JIT_CACHE result);

/* callbacks_code.c */
HRESULT on_dynamic_method_unloaded(void *self, FunctionID function);
/* Every body of the method that this ReJITID has (0: those nobody asked for), as clr:code, its name
 * before. Not where the runtime is suspended. */
void emit_code(FunctionID function, ReJITID rejit, uint16_t flags);
/* What the JIT has just made of a method; no parts if the runtime does not say. */
struct jitted {
    FunctionID function;
    bool dynamic; /* has no metadata, and one body only */
    size_t count; /* bodies of the method, this one included */
    UINT_PTR starts[INFO_BODIES_MAX];
    COR_PRF_CODE_INFO parts[INFO_PARTS_MAX];
    size_t part_count;
};
void jitted_find(struct jitted *out, FunctionID function, bool dynamic);
void emit_jitted(const struct jitted *jitted);
/* Nothing of the runtime lies there. */
void emit_no_code(uint64_t address);

/* callbacks_gc.c */
HRESULT on_gc_start(void *self, int32_t generation_count, BOOL *collected,
                    COR_PRF_GC_REASON reason);
HRESULT on_gc_end(void *self);
HRESULT on_moved(void *self, ULONG count, ObjectID *old_starts, ObjectID *new_starts,
                 SIZE_T *lengths);
/* Whether this runtime tells what moved without MONITOR_GC. */
bool gc_tells_survivors(void);
HRESULT on_survived(void *self, ULONG count, ObjectID *starts, SIZE_T *lengths);
HRESULT on_suspend_begin(void *self, COR_PRF_SUSPEND_REASON reason);
HRESULT on_suspend_end(void *self);
HRESULT on_suspend_aborted(void *self);
HRESULT on_resume_begin(void *self);
HRESULT on_resume_end(void *self);

/* callbacks_exception.c */
HRESULT on_exception_thrown(void *self, ObjectID object);
HRESULT on_exception_found(void *self, FunctionID function);
HRESULT on_exception_caught(void *self, FunctionID function, ObjectID object);
HRESULT on_search_enter(void *self, FunctionID function);
HRESULT on_search_leave(void *self);
HRESULT on_filter_enter(void *self, FunctionID function);
HRESULT on_filter_leave(void *self);
HRESULT on_unwind_enter(void *self, FunctionID function);
HRESULT on_unwind_leave(void *self);
HRESULT on_finally_enter(void *self, FunctionID function);
HRESULT on_finally_leave(void *self);
HRESULT on_catch_leave(void *self);

/* callbacks_eventpipe.c */
HRESULT on_eventpipe_event(void *self, EVENTPIPE_PROVIDER provider, DWORD event_id,
                           DWORD event_version, ULONG metadata_size, const BYTE *metadata,
                           ULONG data_size, const BYTE *data, const GUID *activity,
                           const GUID *related_activity, ThreadID thread, ULONG frame_count,
                           UINT_PTR *frames);
HRESULT on_eventpipe_provider(void *self, EVENTPIPE_PROVIDER provider);

/* callbacks_transition.c */
HRESULT on_to_native(void *self, FunctionID function, COR_PRF_TRANSITION_REASON reason);
HRESULT on_to_managed(void *self, FunctionID function, COR_PRF_TRANSITION_REASON reason);

#endif
