/*
 * What made the runtime load this profiler is inherited by every process that the application
 * starts, so each .NET child would load it too. Unless TRACERD_FOLLOW says that children are
 * wanted, it is taken out of the environment once the profiler runs; what belongs to others, a
 * profiler beside this one for example, stays.
 */
#ifndef TRD_PROFILER_ENVIRONMENT_H
#define TRD_PROFILER_ENVIRONMENT_H

#include "info.h"

/*
 * In Initialize: no managed code has run, nobody has kept a copy. `info_version` is that of
 * info_query: from 11 on the runtime is told as well, which has a copy of its own (3.1 hands it to
 * children; later ones hand on libc's).
 */
void environment_clear(struct corprof_info *info, int info_version);

/* The decision alone: *out is what is to become of `variable` ("NAME=value"): itself, NULL (goes),
 * or a new string, allocated. */
void environment_filter(char *variable, bool is_main, char **out);

#endif
