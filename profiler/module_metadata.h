/*
 * What a module's metadata says of names. It is read where it lies in the module's image, since
 * having the runtime open it (GetModuleMetaData) makes the runtime itself go over to metadata that
 * can be written, for good, and slower: every compilation after that takes a tenth longer. Asked
 * for only what no image holds: modules made at run time, and what was added by editing code.
 *
 * For one question or a few, while the module cannot go: in a callback about what is in it, or
 * under unloads_hold. Texts go into `text`, at most `room` bytes, without NUL; they return how many
 * bytes that were, 0 for what cannot be told.
 */
#ifndef TRD_PROFILER_MODULE_METADATA_H
#define TRD_PROFILER_MODULE_METADATA_H

#include "info.h"
#include "metadata_tables.h"

struct module_metadata {
    /* private */
    struct corprof_info *info;
    ModuleID module;
    struct metadata_tables tables;  /* empty: there is no image */
    struct metadata_import *import; /* NULL until it is needed */
    bool has_asked;
};

void module_metadata_open(struct corprof_info *info, ModuleID module, struct module_metadata *out);
void module_metadata_close(struct module_metadata *metadata);

/* False if there is no such type. */
bool module_metadata_is_nested(struct module_metadata *metadata, mdTypeDef type, bool *out);
size_t module_metadata_type(struct module_metadata *metadata, mdTypeDef type, char *text,
                            size_t room);
size_t module_metadata_method(struct module_metadata *metadata, mdToken method, mdTypeDef *out_type,
                              char *text, size_t room);
size_t module_metadata_field(struct module_metadata *metadata, mdToken field, char *text,
                             size_t room);
bool module_metadata_enclosing(struct module_metadata *metadata, mdTypeDef type, mdTypeDef *out);
/* Whether the type itself has a method of that name, whatever its signature. */
bool module_metadata_has_method(struct module_metadata *metadata, mdTypeDef type,
                                const char *ascii_name);
/* The name that a generic type or method gives its parameter (T); `index` counts from 0. */
size_t module_metadata_parameter(struct module_metadata *metadata, mdToken owner, unsigned index,
                                 char *text, size_t room);

#endif
