/* What elt.c's own files share. */
#ifndef TRD_PROFILER_ELT_HOOKS_H
#define TRD_PROFILER_ELT_HOOKS_H

#include <stdbool.h>

#include "corprof.h"

/* elt_x86_64.S, elt_arm64.S: what the runtime calls, by a convention of its own. */
void elt_stub_enter(void);
void elt_stub_leave(void);
void elt_stub_tailcall(void);
/* elt.c: what those call. Managed code on its way: nothing but the ring is touched. */
void elt_on_enter(FunctionID function);
void elt_on_leave(FunctionID function);
void elt_on_tailcall(FunctionID function);

/* Methods are hooked in this process. */
bool elt_is_active(void);
void elt_write_leave(FunctionID function, bool unwound);

#endif
