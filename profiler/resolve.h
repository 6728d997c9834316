/*
 * Answers the daemon's RESOLVE: whose code lies at these addresses. Code that came compiled with
 * its module raises no event when it is first used, so an address in it is known to nobody before.
 * On the sender's thread, in slices; the answers are clr:method and clr:code, flagged as caught up.
 */
#ifndef TRD_PROFILER_RESOLVE_H
#define TRD_PROFILER_RESOLVE_H

#include <stdint.h>

#include "frame.h"
#include "profiler.h"

void resolve_addresses(struct profiler *profiler, const struct trd_resolve *resolve,
                       const uint64_t *addresses);

#endif
