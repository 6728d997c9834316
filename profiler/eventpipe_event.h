/*
 * Events of the native runtime's provider (Microsoft-Windows-DotNETRuntime) that become events of
 * ours: bytes in, fixed fields out. The runtime delivers them without a description, so the layouts
 * are built in; source: src/coreclr/vm/ClrEtwAll.man, measured on 8, 9 and 10. Pure: no runtime, no
 * ring; fuzzed by tests/fuzz/fuzz_eventpipe.c.
 */
#ifndef TRD_PROFILER_EVENTPIPE_EVENT_H
#define TRD_PROFILER_EVENTPIPE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cursor.h"
#include "event.h"

struct eventpipe_event {
    uint16_t id; /* enum trd_event_id */
    enum trd_category category;
    uint32_t fixed_size;
    /* The one text of some of them: where its word lies in the fixed fields, and its units,
     * borrowed from the payload. bytes is NULL for events without one. */
    uint32_t text_offset;
    struct cursor_string text;
    union {
        struct trd_ev_contention_start contention_start;
        struct trd_ev_contention_stop contention_stop;
        struct trd_ev_pool_worker_start pool_worker_start;
        struct trd_ev_pool_worker_stop pool_worker_stop;
        struct trd_ev_pool_worker_wait pool_worker_wait;
        struct trd_ev_pool_adjustment pool_adjustment;
        struct trd_ev_pool_sample pool_sample;
        struct trd_ev_pool_limits pool_limits;
        struct trd_ev_pool_enqueue pool_enqueue;
        struct trd_ev_pool_dequeue pool_dequeue;
        struct trd_ev_allocation_tick allocation_tick;
        struct trd_ev_allocation_sampled allocation_sampled;
        struct trd_ev_gc_stats gc_stats;
        struct trd_ev_finalizers_end finalizers_end;
    } fixed;
};

/* False for an event that is none of these, or too short to be what it says. Fields that an older
 * version lacks are 0. */
bool eventpipe_event_of_runtime(uint32_t id, const uint8_t *bytes, size_t size,
                                struct eventpipe_event *out);
/* The same for System.Diagnostics.Eventing.FrameworkEventSource. */
bool eventpipe_event_of_framework(uint32_t id, const uint8_t *bytes, size_t size,
                                  struct eventpipe_event *out);

#endif
