/*
 * What each thread's exceptions are doing: the runtime names the method when a step of exception
 * handling begins and says nothing when it ends. Steps nest, also with the exceptions that filters,
 * finally and catch blocks raise themselves, and one that is left by another exception never ends.
 */
#ifndef TRD_PROFILER_EXCEPTION_STEPS_H
#define TRD_PROFILER_EXCEPTION_STEPS_H

#include "corprof.h"

enum exception_step {
    STEP_SEARCH = 1,
    STEP_FILTER,
    STEP_UNWIND,
    STEP_FINALLY,
    STEP_CATCH,
};

/* Before the first exception; 0 or a negative errno. */
int exception_steps_init(void);

void exception_steps_begin(enum exception_step step, FunctionID method);
/* The method of the innermost step of that kind, which ends with all that began within it; 0 if its
 * beginning was not seen. */
FunctionID exception_steps_end(enum exception_step step);

#endif
