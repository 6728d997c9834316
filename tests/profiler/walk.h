/*
 * Calls every callback that a runtime may call, from the table of the vtable itself: arguments are
 * made from the parameters' types, so a new callback is walked without a line here.
 */
#ifndef TRD_TESTS_WALK_H
#define TRD_TESTS_WALK_H

#include "traced.h"

enum walk_arguments {
    WALK_PLAUSIBLE, /* ids never used before, buffers, an exception object with a message */
    WALK_EMPTY,     /* zero and NULL everywhere */
};

/* Every slot but those of the profiler's own life: Initialize, Shutdown and their kin. Returns how
 * many were called. */
unsigned walk_callbacks(struct traced_object *object, enum walk_arguments arguments);

#define WALK_MESSAGE "what went wrong"

#endif
