/*
 * The profiler as a whole: one object per process, its life from load to shutdown or detach, and
 * what the callbacks need of it. The runtime may make the class factory and the object again while
 * this one lives (a second attach): nothing here is reset by that.
 */
#ifndef TRD_PROFILER_PROFILER_H
#define TRD_PROFILER_PROFILER_H

#include <stdbool.h>
#include <stdint.h>

#include "corprof.h"
#include "info.h"

struct profiler {
    const struct corprof_callback_vtbl *vtbl;
    struct corprof_info *info; /* the runtime's; lives as long as the runtime does */
    int info_version;
    struct info_version runtime; /* 3.1 calls itself 4.0.30319 */
    int callback_version;
    bool notification_only;
    bool attached;
    uint32_t collections; /* since load; written by the thread that collects */
};

/* The one object; its vtable is callbacks_counted.c's. */
struct profiler *profiler_get(void);
extern const struct corprof_callback_vtbl profiler_callbacks;

HRESULT profiler_start(void *unknown);
HRESULT profiler_attach(void *unknown, const void *client_data, UINT size);
void profiler_shutdown(void);
void profiler_detached(void);

/* For the sender: what the daemon wants; asks the runtime for just these callbacks. Returns those
 * that were not wanted before. */
uint32_t profiler_set_categories(uint32_t categories);
/* For the sender: EventPipe providers, a list of proto/provider.h. */
void profiler_set_providers(const char *list, size_t size);
/* For the sender: stops the callbacks and asks the runtime to let go of this profiler. False if it
 * refuses, as it does with flags that are for good: then a daemon to come may want events again. */
bool profiler_detach(void);
/* What runs here, as an event of the calling thread. */
void profiler_emit_runtime_info(uint16_t flags);

#endif
