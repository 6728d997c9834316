/*
 * Every question to ICorProfilerInfo, asked in one place and in one way: outs are zeroed before,
 * the HRESULT is checked, and then the answer itself, since S_OK with a zero or NULL result is
 * normal. Functions return true only with an answer that can be used; nothing is logged.
 * Modes (who may call when) are those of corprof: see each line.
 */
#ifndef TRD_PROFILER_INFO_H
#define TRD_PROFILER_INFO_H

#include <stdbool.h>

#include "corprof.h"
#include "event.h"

/* UTF-16 units, NUL included. A little more than a text field holds, so that what is cut here is
 * cut again, and marked, there. */
#define INFO_NAME_MAX (TRD_TEXT_MAX + 8)

/* A name as the runtime gave it; length excludes the NUL and never exceeds the buffer. */
struct info_name {
    WCHAR units[INFO_NAME_MAX];
    ULONG length;
};

struct info_version {
    USHORT major, minor, build, revision;
};

/* The newest ICorProfilerInfo that `unknown` answers, from 15 down to 8, which has all that is
 * called here (every .NET Core since 2.1); NULL if there is none. */
struct corprof_info *info_query(void *unknown, int *out_version);

/* Initialize, own thread. */
bool info_runtime(struct corprof_info *info, struct info_version *out);
/* Of the runtime's own copy of the environment; info_query gave 11 or later. False where it has the
 * variable, and where it cannot be told. */
bool info_lacks_environment(struct corprof_info *info, const char *name);
bool info_unset_environment(struct corprof_info *info, const char *name);
/* What the runtime is to call back about, COR_PRF_…; and that it let go of this profiler. Any
 * thread, any time; the answer is for the log. */
HRESULT info_set_events(struct corprof_info *info, DWORD low, DWORD high);
HRESULT info_request_detach(struct corprof_info *info, DWORD expected_ms);
/* Any thread, any time. */
bool info_function(struct corprof_info *info, FunctionID function, ModuleID *out_module,
                   mdToken *out_token);
bool info_dynamic_function(struct corprof_info *info, FunctionID function, struct info_name *out);
bool info_code(struct corprof_info *info, FunctionID function, COR_PRF_CODE_INFO *out);
bool info_class(struct corprof_info *info, ClassID class_id, ModuleID *out_module,
                mdTypeDef *out_token);
/* ModuleLoadFinished or later, never in ModuleLoadStarted (3.1 crashes there). *out_assembly may
 * be 0 (not known yet), *out_base 0 (no base). */
bool info_module(struct corprof_info *info, ModuleID module, uintptr_t *out_base,
                 AssemblyID *out_assembly, struct info_name *out_path);
/* COR_PRF_MODULE_FLAGS, 0 if they cannot be told; as info_module. */
DWORD info_module_flags(struct corprof_info *info, ModuleID module);
/* Where its image lies, NULL if it has none, and whether that is as the file has it; as
 * info_module. */
bool info_module_image(struct corprof_info *info, ModuleID module, const uint8_t **out_base,
                       bool *out_flat);
/* In a callback or on a thread the runtime does not know. */
bool info_class_of_object(struct corprof_info *info, ObjectID object, ClassID *out);
bool info_appdomain(struct corprof_info *info, AppDomainID domain, struct info_name *out);
bool info_assembly(struct corprof_info *info, AssemblyID assembly, struct info_name *out);
/* The application domain it is in; 0 if it cannot be told. */
AppDomainID info_assembly_domain(struct corprof_info *info, AssemblyID assembly);
bool info_os_thread(struct corprof_info *info, ThreadID thread, DWORD *out);
/* The caller releases it. NULL if the module has none. */
struct metadata_import *info_metadata(struct corprof_info *info, ModuleID module);

bool metadata_method(struct metadata_import *import, mdToken method, mdTypeDef *out_type,
                     struct info_name *out);
bool metadata_type(struct metadata_import *import, mdTypeDef type, bool *out_nested,
                   struct info_name *out);
bool metadata_field(struct metadata_import *import, mdToken field, struct info_name *out);
bool metadata_enclosing(struct metadata_import *import, mdTypeDef type, mdTypeDef *out);

/* Calls `each` for every module or thread known now, until it returns false; on a thread the
 * runtime does not know. */
typedef bool (*info_each)(void *context, UINT_PTR id);
void info_each_module(struct corprof_info *info, info_each each, void *context);
void info_each_thread(struct corprof_info *info, info_each each, void *context);

#endif
