/* What a start-up profiler asks for to be called when methods are entered and left, and what its
 * hooks ask about the call they are in. */
#ifndef TRD_PROFILER_INFO_ELT_H
#define TRD_PROFILER_INFO_ELT_H

#include <stdbool.h>

#include "corprof.h"

typedef UINT_PTR (*info_mapper)(FunctionID function, void *data, BOOL *hook);

/* Initialize, own thread, after SetEventMask2. The hooks follow the convention of their machine. */
bool info_set_hooks(struct corprof_info *info, void (*enter)(void), void (*leave)(void),
                    void (*tailcall)(void));
/* The same, where the event mask holds COR_PRF_ENABLE_FUNCTION_…: ordinary functions. */
bool info_set_hooks_with_info(struct corprof_info *info, COR_PRF_ELT_HOOK *enter,
                              COR_PRF_ELT_HOOK *leave, COR_PRF_ELT_HOOK *tailcall);
bool info_set_mapper(struct corprof_info *info, info_mapper map);

/* More ranges than a plan has values. */
#define INFO_RANGES_MAX 64
#define INFO_RANGES_SIZE(count)                                                                    \
    (sizeof(COR_PRF_FUNCTION_ARGUMENT_INFO) + (count) * sizeof(COR_PRF_FUNCTION_ARGUMENT_RANGE))

/*
 * In a hook: where the arguments of the call lie, `this` first. `function` is the method's own id,
 * whatever the mapper made of it; *size is that of `out`. Where it is too small *size becomes what
 * is needed; otherwise it is 0 after a failure. A range may be NULL or empty.
 */
bool info_arguments(struct corprof_info *info, FunctionID function, COR_PRF_ELT_INFO call,
                    COR_PRF_FUNCTION_ARGUMENT_INFO *out, ULONG *size);
/* In a hook: where the result lies; NULL and empty for a method that has none. */
bool info_result(struct corprof_info *info, FunctionID function, COR_PRF_ELT_INFO call,
                 COR_PRF_FUNCTION_ARGUMENT_RANGE *out);

#endif
