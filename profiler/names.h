/*
 * Names of methods and types as a person writes them: Namespace.Outer+Inner.Method. Asked in
 * callbacks that may call the runtime; answers for types are kept, since exceptions repeat.
 */
#ifndef TRD_PROFILER_NAMES_H
#define TRD_PROFILER_NAMES_H

#include "event.h"
#include "info.h"

/* A little more than a text field holds, so that what is cut here is cut again, and marked, there.
 */
#define NAMES_TEXT_MAX (TRD_TEXT_MAX + 4)

struct method_name {
    ModuleID module; /* 0 for dynamic methods */
    mdToken token;   /* 0 for dynamic methods */
    size_t size;
    char text[NAMES_TEXT_MAX];
};

/* Always gives a text, "?" at worst. */
void names_method(struct corprof_info *info, FunctionID function, struct method_name *out);

/* Whether the present listener was given this method's definition. Two threads may both find that
 * it was not; a second definition does no harm. */
bool names_method_is_known(FunctionID function);
void names_method_set_known(FunctionID function);
/* The method is gone, and its id may come again for another one. */
void names_forget_method(FunctionID function);
/* A new listener knows no name yet. */
void names_forget_methods(void);

/* Full name of an object's type into `text` (of NAMES_TEXT_MAX, no NUL); 0 if it cannot be told. */
size_t names_type_of_object(struct corprof_info *info, ObjectID object, char *text);

/* The module is gone, and its ids may come again for something else. */
void names_forget(ModuleID module);

#endif
