/*
 * Tells a new listener what existed before it came: modules, assemblies, threads and their names.
 * In slices, on the sender's thread, never in a callback.
 */
#ifndef TRD_PROFILER_CATCH_UP_H
#define TRD_PROFILER_CATCH_UP_H

#include "profiler.h"

void catch_up(struct profiler *profiler);

/* Events that callbacks and catch-up share. `flags`: TRD_EVENT_F_…. */
void emit_module_load(struct corprof_info *info, ModuleID module, HRESULT status, uint16_t flags);
void emit_assembly_load(struct corprof_info *info, AssemblyID assembly, HRESULT status,
                        uint16_t flags);
void emit_thread_assigned(ThreadID thread, uint32_t os_tid, uint16_t flags);
void emit_thread_name(ThreadID thread, const char *name, size_t size, uint16_t flags);

/* Names given to threads, kept for listeners to come. Bounded; a thread that finds no room is named
 * to the present listener only. */
void thread_names_set(ThreadID thread, const char *name, size_t size);
void thread_names_remove(ThreadID thread);

#endif
