/*
 * Questions about the heap, asked as info.h asks: how large it is, and where in an object a field
 * lies. All may be asked in any callback; none triggers a collection.
 */
#ifndef TRD_PROFILER_INFO_HEAP_H
#define TRD_PROFILER_INFO_HEAP_H

#include <stdbool.h>

#include "info.h"

#define INFO_GENERATIONS 5 /* 0, 1, 2, large objects, pinned objects */

struct info_heap {
    uint64_t used[INFO_GENERATIONS]; /* bytes */
    uint64_t reserved[INFO_GENERATIONS];
    uint32_t ranges;
    bool partial; /* more ranges than are looked at */
};

/* As the last collection left it. One thread at a time: the one that collects. */
bool info_heap(struct corprof_info *info, struct info_heap *out);

/* *out_parent is 0 for System.Object and interfaces. False for arrays and the like. */
bool info_class_parent(struct corprof_info *info, ClassID class_id, ClassID *out_parent);

/* Where the instance field of that name (ASCII), declared by the class itself, lies in an object.
 * Never 0. */
bool info_field_offset(struct corprof_info *info, ClassID class_id, const char *name,
                       uint32_t *out_offset);

/* Where a string keeps its length in units (32 bits) and its first unit. */
struct info_string_layout {
    uint32_t length;
    uint32_t buffer;
};
bool info_string_layout(struct corprof_info *info, struct info_string_layout *out);

#endif
