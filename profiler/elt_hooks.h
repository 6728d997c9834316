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

/* Methods are hooked in this process. */
bool elt_is_active(void);
/* An exception has taken the frame away. */
void elt_write_unwound(FunctionID function);

#endif
