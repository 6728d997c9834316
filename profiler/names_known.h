/*
 * What is remembered of names: which methods and types the listener was told of, the names of types
 * that objects had, and where metadata lies. Any thread, any time; nothing is allocated, and what
 * finds no room is told or asked again. The runtime gives an id to something else once a module is
 * gone: then all of it is forgotten, in no time.
 */
#ifndef TRD_PROFILER_NAMES_KNOWN_H
#define TRD_PROFILER_NAMES_KNOWN_H

#include <stdbool.h>
#include <stddef.h>

#include "corprof.h"

enum names_kind {
    NAMES_METHODS, /* FunctionID */
    NAMES_TYPES,   /* ClassID */
    NAMES_KIND_COUNT,
};

/* Whether the present listener was given the definition. Two threads may both find that it was not;
 * a second definition does no harm. */
bool names_is_known(enum names_kind kind, UINT_PTR id);
void names_set_known(enum names_kind kind, UINT_PTR id);
/* It is gone, and its id may come again for another one. */
void names_forget_one(enum names_kind kind, UINT_PTR id);
/* A module went, and its ids may come again for something else; or a listener came, who knows none
 * yet. */
void names_forget(void);

/* What answers are kept, so that they need not be asked again. */
enum names_kept {
    NAMES_KEPT_TYPES,  /* ClassID: the type's name, a text */
    NAMES_KEPT_IMAGES, /* ModuleID: struct metadata_tables of its image */
    NAMES_KEPT_COUNT,
};

/* Up to this size; longer names are rare and asked for again. */
#define NAMES_KEPT_MAX 240
/* Bytes into `out` (of NAMES_KEPT_MAX); 0 if nothing was kept. */
size_t names_kept(enum names_kept kind, UINT_PTR id, void *out);
void names_keep(enum names_kept kind, UINT_PTR id, const void *bytes, size_t size);

#endif
