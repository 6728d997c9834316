/*
 * How the arguments and the result of a hooked method are read: made once per method, when the
 * runtime asks which hooks it gets, and handed to the hooks as the method's id. A plan is never
 * freed: code that has it may be running.
 */
#ifndef TRD_PROFILER_ELT_PLAN_H
#define TRD_PROFILER_ELT_PLAN_H

#include "signature.h"
#include "value.h"

/* Methods that get one; those beyond tell when they are entered and left, and no more. */
#define ELT_PLANS_MAX 4096

struct elt_plan {
    _Atomic FunctionID function; /* 0: its module is gone, and the id may come again */
    ModuleID module;
    struct value_type result;
    bool is_known; /* the signature could be read */
    uint16_t count;
    struct elt_value {
        struct value_type type;
        uint16_t key; /* where its key begins in `keys`; it ends where the next one begins */
    } values[SIGNATURE_PARAMETERS_MAX + 1 + 1]; /* `this`, and the end of the last key */
    char keys[];                                /* `"count":`, ready to be written */
};

/* That of the method, made if there is none yet; NULL if there are too many. Any thread, where the
 * runtime may be asked. */
const struct elt_plan *elt_plan_get(struct corprof_info *info, FunctionID function);
/* The module is gone. */
void elt_plans_forget(ModuleID module);

#endif
