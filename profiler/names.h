/*
 * Names of methods and types as a person writes them: Namespace.Outer+Inner.Method. Asked in
 * callbacks that may call the runtime; answers for types are kept, since exceptions repeat.
 */
#ifndef TRD_PROFILER_NAMES_H
#define TRD_PROFILER_NAMES_H

#include "event.h"
#include "info.h"

struct method_name {
    ModuleID module; /* 0 for dynamic methods */
    mdToken token;   /* 0 for dynamic methods */
    size_t size;
    char text[TRD_TEXT_MAX];
};

/* Always gives a text, "?" at worst. */
void names_method(struct corprof_info *info, FunctionID function, struct method_name *out);
/* True once per method until names_forget or names_forget_all: the caller sends the definition. */
bool names_method_is_new(FunctionID function);

struct type_name {
    _Atomic ClassID class_id; /* 0 once forgotten */
    ModuleID module;
    size_t size;
    char text[TRD_TEXT_MAX];
};

/* Full name of an object's type; NULL if it cannot be told. Kept until its module goes. */
const struct type_name *names_type_of_object(struct corprof_info *info, ObjectID object);

/* The module is gone, and its ids may come again for something else. */
void names_forget(ModuleID module);
/* A new listener knows no name yet. */
void names_forget_methods(void);

#endif
