/*
 * Arrows from who wakes a thread to where it runs: for threads of traced processes, whose tracks
 * are there. A waking and a switch to that thread make an instant each, tied by the number of the
 * flow.
 */
#include <string.h>

#include "perfetto_private.h"

#define EVENT_FLOW 47
#define EVENT_FLOW_END 48

static void put_end(struct trd_perfetto *perfetto, uint64_t ts_ns, uint64_t track, const char *name,
                    uint32_t field, uint64_t flow)
{
    struct perfetto_instant instant = { ts_ns, track, name, field, flow };

    perfetto_put_instant(perfetto, &instant);
}

static void begin_flow(struct trd_perfetto *perfetto, const struct trd_record *record,
                       uint64_t track)
{
    uint64_t tid, flow = perfetto->flows + 1;
    void *old;

    if (!perfetto_number(record, "pid", &tid) || tid == 0 ||
        !idmap_get(&perfetto->threads, (uint32_t)tid, 0) ||
        idmap_set(&perfetto->wakings, (uint32_t)tid, 0, (void *)(uintptr_t)flow, &old) != 0)
        return;
    perfetto->flows = flow;
    put_end(perfetto, record->ts_ns, track, "wakes", EVENT_FLOW, flow);
}

static void end_flow(struct trd_perfetto *perfetto, const struct trd_record *record)
{
    uint64_t tid, track, flow;

    if (!perfetto_number(record, "next_pid", &tid) || tid == 0)
        return;
    flow = (uintptr_t)idmap_take(&perfetto->wakings, (uint32_t)tid, 0);
    track = (uintptr_t)idmap_get(&perfetto->threads, (uint32_t)tid, 0);
    if (flow && track)
        put_end(perfetto, record->ts_ns, track, "woken", EVENT_FLOW_END, flow);
}

void perfetto_flow(struct trd_perfetto *perfetto, const struct trd_record *record, uint64_t track)
{
    const char *name = record->name     ? record->name
                       : record->schema ? record->schema->full_name
                                        : "";

    if (strncmp(name, "sched:", 6) != 0)
        return;
    if (track && strcmp(name + 6, "sched_waking") == 0)
        begin_flow(perfetto, record, track);
    else if (strcmp(name + 6, "sched_switch") == 0)
        end_flow(perfetto, record);
}
