/*
 * Names of methods and types as a person writes them: Namespace.Outer<Arguments>+Inner.Method<…>,
 * arrays as Element[,]. What compilers make of lambdas, local functions and state machines is led
 * back to the method in the source (names_source.h). Type arguments are those the runtime tells:
 * System.__Canon stands for every class in code they share, and the parameter's own name (T) where
 * it tells none. What cannot be told is "?". Asked in callbacks that may call the runtime.
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
    uint32_t form;   /* SOURCE_… */
    size_t size;
    size_t raw_size; /* 0 if it is the same */
    char text[NAMES_TEXT_MAX];
    char raw[NAMES_TEXT_MAX]; /* as metadata spells it: Space.Type`1+<Run>d__3.MoveNext */
};

/* Always gives a text. */
void names_method(struct corprof_info *info, FunctionID function, struct method_name *out);

struct type_name {
    ModuleID module; /* 0 for arrays, pointers, and what is not loaded yet */
    mdToken token;   /* likewise */
    size_t size;
    char text[NAMES_TEXT_MAX];
};

/* Always gives a text. */
void names_type(struct corprof_info *info, ClassID class_id, struct type_name *out);

/* Full name of an object's type into `text` (of NAMES_TEXT_MAX, no NUL), which is kept, since
 * exceptions repeat; 0 if it cannot be told. */
size_t names_type_of_object(struct corprof_info *info, ObjectID object, char *text);

#endif
