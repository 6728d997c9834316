/* The inside of a Perfetto writer: packets and interning (perfetto.c), the kernel's events
 * (perfetto_kernel.c), who wakes whom (perfetto_flows.c), arguments of the CLR's (perfetto_args.c).
 */
#ifndef TRD_COMMON_PERFETTO_PRIVATE_H
#define TRD_COMMON_PERFETTO_PRIVATE_H

#include "idmap.h"
#include "proto_out.h"
#include "tracerd/perfetto.h"

#define PERFETTO_CPUS_MAX 4096

/* What a text is interned as: each kind counts by itself. The numbers are InternedData's. */
enum perfetto_intern {
    PERFETTO_CATEGORY = 1,
    PERFETTO_EVENT_NAME = 2,
    PERFETTO_ARG_NAME = 3,
};

struct perfetto_cpu {
    struct proto_out events; /* of the bundle that is gathered */
};

struct trd_perfetto {
    const struct trd_json_names *names; /* borrowed; NULL = none */
    trd_perfetto_write write;
    void *context;
    struct proto_out packets;  /* whole ones, on their way out */
    struct proto_out packet;   /* the one being made */
    struct perfetto_cpu *cpus; /* owned; PERFETTO_CPUS_MAX */
    struct idmap interned;     /* (hash of text, kind) -> struct text, owned */
    struct idmap tracks;       /* (uuid, 0) -> hash of its name */
    struct idmap plans;        /* (schema, 0) -> struct perfetto_plan, owned */
    struct idmap threads; /* (tid, 0) -> uuid of its track, of threads whose process is known */
    struct idmap wakings; /* (tid, 0) -> flow that ends where it runs */
    uint64_t flows;
    uint64_t next_iid;
    bool begun;
};

/* The text's id, announced in a packet of its own where it is new; 0: it has none, write it out. */
uint64_t perfetto_intern(struct trd_perfetto *perfetto, enum perfetto_intern kind, const char *text,
                         size_t size);

/* An instant of the category sched, with one end of a flow. */
struct perfetto_instant {
    uint64_t ts_ns, track;
    const char *name;
    uint32_t flow_field;
    uint64_t flow;
};
void perfetto_put_instant(struct trd_perfetto *perfetto, const struct perfetto_instant *instant);
/* Of any kernel event; `track` is that of its thread, 0 = it has none. */
void perfetto_flow(struct trd_perfetto *perfetto, const struct trd_record *record, uint64_t track);

/* Appends a FtraceEvent to the record's CPU. */
void perfetto_kernel_event(struct trd_perfetto *perfetto, const struct trd_record *record);
void perfetto_destroy_plan(void *plan);

/* A number of that name, with or without a schema; false if it has none. */
bool perfetto_number(const struct trd_record *record, const char *name, uint64_t *out);
/* Appends the record's arguments to a TrackEvent. */
void perfetto_args(struct trd_perfetto *perfetto, struct proto_out *out,
                   const struct trd_record *record);
/* Announces the names of its arguments, before the packet that uses them is begun. */
void perfetto_intern_args(struct trd_perfetto *perfetto, const struct trd_record *record);

#endif
