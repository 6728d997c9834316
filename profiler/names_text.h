/* How the names_*.c write: into a buffer of NAMES_TEXT_MAX, `used` bytes of it already, returning
 * how many are used then. What does not fit is left out. For them only. */
#ifndef TRD_PROFILER_NAMES_TEXT_H
#define TRD_PROFILER_NAMES_TEXT_H

#include "info_types.h"
#include "module_metadata.h"
#include "names.h"
#include "names_source.h"

size_t names_append(char *text, size_t used, const char *bytes, size_t size);
size_t names_append_name(char *text, size_t used, const struct info_name *name);

#define NAMES_NESTING_MAX 16 /* deeper types are named from the innermost sixteen */

/* The type and what encloses it, innermost first; how many. */
size_t names_enclosing(struct module_metadata *metadata, mdTypeDef type,
                       mdTypeDef chain[NAMES_NESTING_MAX]);

/* Where the arguments of a generic type or method come from: the runtime, or else the names of the
 * parameters. */
struct names_arguments {
    struct corprof_info *info;
    struct module_metadata *metadata; /* NULL: a type that is not in any */
    mdToken owner;
    struct info_arguments given;
    unsigned next; /* the first that is not written yet */
};

/* <A,B> for the next `count`; nothing for none. */
size_t names_append_arguments(char *text, size_t used, struct names_arguments *arguments,
                              unsigned count, unsigned depth);
size_t names_append_class(char *text, size_t used, struct corprof_info *info, ClassID class_id,
                          unsigned depth);

#endif
