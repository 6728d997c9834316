/*
 * Tells a listener what existed before it came, or before it wanted to know: threads with their
 * names, modules, assemblies, compiled methods with their code. In slices, on the sender's thread,
 * never in a callback. What happens meanwhile is told as well, so an item may come twice; none is
 * missing.
 */
#ifndef TRD_PROFILER_CATCH_UP_H
#define TRD_PROFILER_CATCH_UP_H

#include "profiler.h"

/* `categories`: mask of what is to be told. */
void catch_up(struct profiler *profiler, uint32_t categories);

#endif
