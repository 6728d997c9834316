/*
 * A record: what a reader or a merge hands out, one at a time: an event, a loss, or something
 * derived. All pointers are borrowed from whoever handed it out, until that one's next call.
 */
#ifndef TRACERD_RECORD_H
#define TRACERD_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "tracerd/export.h"
#include "tracerd/schema.h"

enum trd_kind {
    TRD_KIND_EVENT,
    TRD_KIND_SPAN,       /* [ts_ns, ts_ns + dur_ns), derived */
    TRD_KIND_LOST,       /* `lost` events between lost_from_ns and ts_ns */
    TRD_KIND_DEFINITION, /* names something: `definition` */
    TRD_KIND_COUNTER,
    TRD_KIND_HEARTBEAT, /* ts_ns is the watermark */
    TRD_KIND_ANCHOR,    /* from ts_ns on clocks are tied together anew: args_json */
};

enum trd_source {
    TRD_SOURCE_FTRACE,
    TRD_SOURCE_CLR,
    TRD_SOURCE_TRACERD, /* derived by us from both */
};

/* It came after later events had been emitted; its place in the stream is not its place in time. */
#define TRD_RECORD_F_LATE 0x1
/* Its clock could not be aligned with the others. */
#define TRD_RECORD_F_UNALIGNED 0x2
/* It tells of what existed before the trace began. */
#define TRD_RECORD_F_CATCH_UP 0x4
/* A text in it was cut. */
#define TRD_RECORD_F_CUT 0x8
/* A span one of whose ends was lost or lies outside the trace. */
#define TRD_RECORD_F_INCOMPLETE 0x10

#define TRD_LOST_UNKNOWN UINT64_MAX

struct trd_record {
    uint64_t ts_ns;
    uint64_t dur_ns; /* SPAN */
    uint8_t kind;    /* enum trd_kind */
    uint8_t source;  /* enum trd_source */
    uint16_t flags;  /* TRD_RECORD_F_… */
    int32_t cpu;     /* -1 = unknown */
    int32_t pid;     /* process (thread group) in the host's pid namespace; -1 = unknown */
    int32_t tid;     /* -1 = unknown; 0 is the idle task */
    const struct trd_schema *schema; /* EVENT; a SPAN whose args are an event's */
    /* EVENT: kernel: the whole record from common_type on; CLR: the fixed fields and texts. */
    const uint8_t *data;
    uint32_t size;
    /* An event of an EventSource that enrich has read: the clr:event as the process told it, else
     * NULL. */
    const uint8_t *told;
    uint32_t told_size;
    /* The data lives as long as whoever handed it out, not only until its next call: it lies in a
     * mapped file. */
    bool data_stays;
    /* Which stream of the source: instance of a trace.dat, ring of a process; NULL = the only. */
    const char *stream;
    /* Managed name of the thread, filled by enrich; thread_size 0 = unknown. Not terminated. */
    const char *thread;
    uint32_t thread_size;
    /* LOST */
    uint64_t lost; /* TRD_LOST_UNKNOWN if the source cannot tell */
    uint64_t lost_from_ns;
    /* SPAN, COUNTER and DEFINITION: the name, and `args` as ready JSON object text. */
    const char *name;
    const char *args_json;
    uint32_t args_json_size;
};

/* Resets to an event with nothing known. */
TRD_EXPORT void trd_record_init(struct trd_record *record);

#endif
