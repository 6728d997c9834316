/*
 * What was decided of each method that the runtime asked about: a bounded table of ids, read and
 * written by any thread without a lock. What finds no room is decided anew each time.
 */
#ifndef TRD_PROFILER_ELT_SET_H
#define TRD_PROFILER_ELT_SET_H

#include <stdbool.h>

#include "corprof.h"

#define ELT_SET_SIZE (1u << 15)

enum elt_set_answer {
    ELT_SET_UNKNOWN,
    ELT_SET_TAKEN,
    ELT_SET_LEFT,
};

enum elt_set_answer elt_set_find(FunctionID function);
/* Two threads may add the same method: they decided the same. */
void elt_set_add(FunctionID function, ModuleID module, bool taken);
/* Calls `each` for every method that was taken, until it returns false. */
void elt_set_each_taken(bool (*each)(void *context, FunctionID function), void *context);
void elt_set_forget(ModuleID module);

#endif
