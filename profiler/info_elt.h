/* What a start-up profiler asks for to be called when methods are entered and left. */
#ifndef TRD_PROFILER_INFO_ELT_H
#define TRD_PROFILER_INFO_ELT_H

#include <stdbool.h>

#include "corprof.h"

typedef UINT_PTR (*info_mapper)(FunctionID function, void *data, BOOL *hook);

/* Initialize, own thread, after SetEventMask2. The hooks follow the convention of their machine. */
bool info_set_hooks(struct corprof_info *info, void (*enter)(void), void (*leave)(void),
                    void (*tailcall)(void));
bool info_set_mapper(struct corprof_info *info, info_mapper map);

#endif
