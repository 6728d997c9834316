/*
 * From the types of a signature to how their values are shown (value.h): what is a number, what a
 * reference, which enum has how many bits. Asks metadata, of other modules too, and the runtime for
 * what type parameters stand for. In callbacks that may call the runtime, where time is: once per
 * method.
 */
#ifndef TRD_PROFILER_VALUE_TYPES_H
#define TRD_PROFILER_VALUE_TYPES_H

#include "info_types.h"
#include "signature.h"
#include "value.h"

struct value_context {
    struct corprof_info *info;
    struct metadata_import *import; /* of the method's module */
    struct info_arguments of_type;  /* what its parameters stand for */
    struct info_arguments of_method;
};

struct value_type value_type_of(const struct value_context *context,
                                const struct signature_type *type);
/* Of `this` in a method of the type. */
struct value_type value_type_of_this(const struct value_context *context, mdTypeDef type);

#endif
