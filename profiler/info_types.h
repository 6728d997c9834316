/*
 * Questions about types and what generic ones were made with, asked as info.h asks. May be asked in
 * any callback whose type or method lives, and on a thread that the runtime does not know.
 */
#ifndef TRD_PROFILER_INFO_TYPES_H
#define TRD_PROFILER_INFO_TYPES_H

#include <stdbool.h>

#include "info.h"

/* Type arguments that are asked for; a tuple has eight, a type made by a compiler may have more. */
#define INFO_ARGUMENTS_MAX 24

struct info_arguments {
    ClassID ids[INFO_ARGUMENTS_MAX]; /* System.__Canon in code that several share; may be 0 */
    unsigned count;
};

/* What the runtime says of the array's elements; ELEMENT_CLASS and the like, corhdr.h. */
struct info_array {
    ClassID element; /* 0 if it has none to tell */
    CorElementType kind;
    ULONG rank;
};

/* As info_function, and the method's type and its own arguments: *out_class is 0 for code that is
 * shared by several types; *out is empty for what is not generic. */
bool info_function_types(struct corprof_info *info, FunctionID function, ModuleID *out_module,
                         mdToken *out_token, ClassID *out_class, struct info_arguments *out);
/* False for arrays, pointers, references, and for types that are not loaded yet. */
bool info_class_types(struct corprof_info *info, ClassID class_id, ModuleID *out_module,
                      mdTypeDef *out_token, struct info_arguments *out);
bool info_array(struct corprof_info *info, ClassID class_id, struct info_array *out);

/* Whether the type itself has a method of that name, whatever its signature. */
bool metadata_has_method(struct metadata_import *import, mdTypeDef type, const char *ascii_name);
/* The name that a generic type or method gives its parameter (T); `index` counts from 0. */
bool metadata_parameter(struct metadata_import *import, mdToken owner, unsigned index,
                        struct info_name *out);

#endif
