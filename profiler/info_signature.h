/* Questions to metadata about what methods take and return, asked as info.h asks. */
#ifndef TRD_PROFILER_INFO_SIGNATURE_H
#define TRD_PROFILER_INFO_SIGNATURE_H

#include <stdbool.h>

#include "info.h"
#include "signature.h"

/* A length beyond that is a lie, not a signature. */
#define INFO_SIGNATURE_MAX 4096

/* The method's signature, and the type that has it. */
bool metadata_signature(struct metadata_import *import, mdToken method, mdTypeDef *out_type,
                        struct signature *out);
/* The name of a method's parameter; `index` counts from 1. */
bool metadata_argument(struct metadata_import *import, mdToken method, unsigned index,
                       struct info_name *out);
/* The type's own name, nested or not, and what it derives from: 0 for System.Object, interfaces. */
bool metadata_base(struct metadata_import *import, mdTypeDef type, struct info_name *out,
                   mdToken *out_base);
/* A reference to a type of another module: its name, and its scope, which may be another one. */
bool metadata_reference(struct metadata_import *import, mdToken reference, mdToken *out_scope,
                        struct info_name *out);
/* The definition of that name; `enclosing` is 0, or the definition it is nested in. */
bool metadata_find_type(struct metadata_import *import, const struct info_name *name,
                        mdTypeDef enclosing, mdTypeDef *out);
/* CorElementType of an enum's numbers. */
bool metadata_enum_element(struct metadata_import *import, mdTypeDef type, uint8_t *out);

#endif
