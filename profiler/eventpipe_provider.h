/*
 * Which provider an event comes from: told apart by its pointer, whose name is asked for once. Any
 * thread, no lock.
 */
#ifndef TRD_PROFILER_EVENTPIPE_PROVIDER_H
#define TRD_PROFILER_EVENTPIPE_PROVIDER_H

#include "corprof.h"

struct corprof_info;

enum eventpipe_provider_kind {
    EVENTPIPE_PROVIDER_OTHER,
    EVENTPIPE_PROVIDER_RUNTIME,   /* Microsoft-Windows-DotNETRuntime */
    EVENTPIPE_PROVIDER_FRAMEWORK, /* System.Diagnostics.Eventing.FrameworkEventSource */
};

enum eventpipe_provider_kind eventpipe_provider_kind(struct corprof_info *info,
                                                     EVENTPIPE_PROVIDER provider);
/* Its address belongs to a new one. */
void eventpipe_provider_forget(EVENTPIPE_PROVIDER provider);

#endif
