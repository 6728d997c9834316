/*
 * --filter in the kernel: what it would throw away here is not recorded at all, as far as the
 * kernel's own filters can say it (tracerd/filter.h). The filter here stays the judge, so the
 * stream is the same with and without.
 */
#ifndef TRACERD_DAEMON_FTRACE_FILTERS_H
#define TRACERD_DAEMON_FTRACE_FILTERS_H

#include "ftrace_events.h"
#include "tracefs_linux.h"
#include "tracerd/catalog.h"
#include "tracerd/enrich.h"

/*
 * Writes the filter of each event, before it is switched on, and takes those out of the list that
 * no record of could pass. Left as they are: events that `enrich` reads, and all where stacks
 * follow events or a flight recorder looks at them. A filter that the kernel refuses is told with
 * -v.
 */
void ftrace_filters_set(const struct tracefs_instance *instance, const struct trd_catalog *catalog,
                        struct ftrace_events *events, const struct trd_enrich *enrich,
                        const struct options *options);

#endif
