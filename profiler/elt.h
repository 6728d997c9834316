/*
 * Method tracing: chosen methods tell when they are entered and left. The runtime compiles the
 * calls into them when it compiles the methods, so the choice (TRD_ENV_METHODS) is made once,
 * before any code exists, by a main profiler that was there from the start; it makes the runtime
 * compile everything anew. All other methods stay as they are.
 */
#ifndef TRD_PROFILER_ELT_H
#define TRD_PROFILER_ELT_H

#include <stdbool.h>

#include "corprof.h"
#include "event.h"

struct corprof_info;

/* In Initialize only, after SetEventMask2 with elt_event_mask(). False: no method can be hooked,
 * and what SetEventMask2 is given no longer asks for it. */
bool elt_start(struct corprof_info *info);
/* Reads the patterns; before the first elt_event_mask(). */
void elt_choose(bool may_hook);
/* What must be among the low event flags from Initialize on; 0 if no method is to be hooked. */
DWORD elt_event_mask(void);

/* Whether the method is traced: it must not be inlined then, or nobody would see it called. Any
 * callback that may ask for names. */
bool elt_takes(FunctionID function);
/* Tells the definitions of hooked methods again, until `go_on` returns false. */
void elt_catch_up(bool (*go_on)(void *context), void *context);
/* For the sender, after each sweep: definitions that found no room before. */
void elt_tell_untold(void);
/* The module is gone, and its ids may come again for something else. */
void elt_forget(ModuleID module);

/* An exception goes through the frame of a method (hooked or not) on this thread, has gone through
 * it, or is caught there. */
void elt_unwind_enter(FunctionID function);
void elt_unwind_leave(void);
void elt_unwind_caught(void);

#endif
