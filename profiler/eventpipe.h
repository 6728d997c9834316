/*
 * The EventPipe session of this profiler: what only the runtime's own events tell (locks, thread
 * pool, allocation), and whatever providers were asked for by name. One session at a time, since
 * every profiler is delivered the events of all; it is made anew when what is wanted changes, and
 * there is none while nothing is. Called at load and then by the sender's thread, never by a
 * callback: its events arrive at on_eventpipe_event, the first before its start returns.
 */
#ifndef TRD_PROFILER_EVENTPIPE_H
#define TRD_PROFILER_EVENTPIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler.h"

/* What needs a session. */
#define EVENTPIPE_CATEGORIES                                                                       \
    (TRD_CATEGORY_BIT(CONTENTION) | TRD_CATEGORY_BIT(THREADPOOL) | TRD_CATEGORY_BIT(ALLOCATION) |  \
     TRD_CATEGORY_BIT(PROVIDER) | TRD_CATEGORY_BIT(GCHEAP))

/* .NET 5 and later; the notification then needs COR_PRF_HIGH_MONITOR_EVENT_PIPE. */
bool eventpipe_is_available(const struct profiler *profiler);

/* The list of proto/provider.h, copied; what is none is left out, and so is all behind it. Counts
 * from the next eventpipe_set on. */
void eventpipe_set_providers(const char *list, size_t size);
/* The runtime's own provider is among them: all of its events are wanted. Any thread. */
bool eventpipe_names_runtime(void);
/* Makes the session what these categories and the providers want. Where that cannot be, the stream
 * is told, once. */
void eventpipe_set(struct profiler *profiler, uint32_t categories);
/* No event comes after it; before a detach. */
void eventpipe_stop(struct profiler *profiler);

#endif
