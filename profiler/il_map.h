/*
 * The IL-to-native map of one body of code, told on request: which IL each run of its native code
 * was made from. On the sender's thread only.
 */
#ifndef TRD_PROFILER_IL_MAP_H
#define TRD_PROFILER_IL_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include "corprof.h"
#include "profiler.h"

/* Entries of one map that are told; longer maps are cut, and their last entry is marked so. */
#define IL_MAP_MAX 1024

struct il_map {
    FunctionID function;
    UINT_PTR start; /* of the body */
    bool is_cut;
    size_t count;
    COR_DEBUG_IL_TO_NATIVE_MAP entries[IL_MAP_MAX];
};

/* The map of that method's body which holds the address; false if there is none. */
bool il_map_find(struct profiler *profiler, FunctionID function, ReJITID rejit, UINT_PTR address,
                 struct il_map *out);
/* As clr:il_offset, with sweeps in between; asks the runtime nothing. False if there is no use in
 * going on. */
bool il_map_tell(const struct il_map *map);

#endif
