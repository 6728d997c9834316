/*
 * Questions about native code, asked as info.h asks: which bodies a method has, where each lies,
 * and whose code lies at an address. May be asked in callbacks of the JIT and on a thread that the
 * runtime does not know.
 */
#ifndef TRD_PROFILER_INFO_CODE_H
#define TRD_PROFILER_INFO_CODE_H

#include <stdbool.h>
#include <stddef.h>

#include "corprof.h"

/* Bodies of one method (tiers, OSR entries) and runs of code of one body (hot, cold) that are asked
 * for; the runtime's own limit of runs is two. */
#define INFO_BODIES_MAX 32
#define INFO_PARTS_MAX 4

/* First bytes of the bodies, in the runtime's order, 0 for one that is being compiled; how many
 * there are, 0 if it cannot be told. Needs ICorProfilerInfo9. */
size_t info_code_starts(struct corprof_info *info, FunctionID function, ReJITID rejit,
                        UINT_PTR starts[INFO_BODIES_MAX]);
/* Runs of code of the body at `start`; those without address or size are left out. Needs
 * ICorProfilerInfo9. */
size_t info_code_parts(struct corprof_info *info, UINT_PTR start,
                       COR_PRF_CODE_INFO parts[INFO_PARTS_MAX]);
/* Which IL the runs of the body's code were made from; how many entries, at most `capacity`, in the
 * runtime's order. None where nobody may debug. Needs ICorProfilerInfo9. */
size_t info_il_map(struct corprof_info *info, UINT_PTR start, COR_DEBUG_IL_TO_NATIVE_MAP *out,
                   size_t capacity, bool *out_cut);
/* Whose code lies at that address; also code that was compiled ahead of time and dynamic methods.
 * Not in a callback that the runtime may suspend. */
bool info_function_at(struct corprof_info *info, UINT_PTR address, FunctionID *out_function,
                      ReJITID *out_rejit);
/* Whether the address lies in the module's image, so that the code came with it. */
bool info_module_has(struct corprof_info *info, ModuleID module, UINT_PTR address);

/* Calls `each` for every function that has been compiled, until it returns false; on a thread the
 * runtime does not know. */
typedef bool (*info_each_body)(void *context, FunctionID function, ReJITID rejit);
void info_each_function(struct corprof_info *info, info_each_body each, void *context);

#endif
