/* What elt.c's own files share. */
#ifndef TRD_PROFILER_ELT_HOOKS_H
#define TRD_PROFILER_ELT_HOOKS_H

#include <stdbool.h>

#include "corprof.h"

/* elt_x86_64.S, elt_arm64.S: what the runtime calls, by a convention of its own. */
void elt_stub_enter(void);
void elt_stub_leave(void);
void elt_stub_tailcall(void);
/* elt_hot.c: what those call. */
void elt_on_enter(FunctionID function);
void elt_on_leave(FunctionID function);
void elt_on_tailcall(FunctionID function);

/* elt_call.c: hooks that tell arguments and results, and the id that they know a method by. */
bool elt_call_start(struct corprof_info *info);
UINT_PTR elt_id_of(FunctionID function);
/* Whether the runtime gives the method its arguments as they were, when a hook has looked at them.
 * Where it may be asked for names. */
bool elt_call_allows(FunctionID function);

/* Methods are hooked in this process. */
bool elt_is_active(void);
/* An exception has taken the frame away. */
void elt_write_unwound(FunctionID function);

#endif
