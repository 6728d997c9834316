/*
 * The pages of one CPU of one buffer of a file, record by record: constant memory, mapped pages are
 * given back once read. A loss stands before the event that follows it.
 */
#ifndef TRD_COMMON_DAT_CPU_H
#define TRD_COMMON_DAT_CPU_H

#include "dat.h"
#include "tracerd/page.h"
#include "tracerd/record.h"

/* Time of a loss on a CPU of which no event is left: it spans the trace, the reader says when. */
#define DAT_CPU_NO_TIME UINT64_MAX
#define DAT_UNKNOWN_IDS_MAX 16 /* ids told apart in the account; the rest is told as a sum */

/* Counts of the whole reader that its CPUs add to. */
struct dat_totals {
    struct dat_unknown_id {
        uint32_t id;
        uint64_t count;
    } unknown_ids[DAT_UNKNOWN_IDS_MAX]; /* records without a format: skipped */
    size_t unknown_id_count;
    uint64_t unknown_others;
    uint64_t short_records; /* too short for an id */
    uint64_t damaged_bytes; /* of pages that contradict themselves or are cut off */
    size_t chunk_bytes;     /* decompressed now, by all CPUs */
    bool disordered;        /* on some CPU the time went back */
};

/* Where a reading of a CPU begins. */
struct dat_place {
    uint64_t at;   /* of a page in the file */
    uint64_t told; /* sum of the losses told before it */
};

/*
 * What dat_cpu_next found lies apart from `head`, which holds what all events of the CPU have in
 * common: a copy of something just written in smaller pieces would wait for the store buffer.
 */
struct dat_cpu {
    uint64_t ts_ns; /* of what was found */
    /* private */
    const struct trd_schema *schema; /* of an event; NULL: `head` is all of a loss but its time */
    uint32_t size;
    int32_t tid;
    const uint8_t *data; /* not beside schema as in a record, or both would be loaded as one */
    struct trd_record head;
    struct dat *dat;                 /* borrowed from the reader */
    const struct dat_buffer *buffer; /* borrowed from dat */
    struct dat_totals *totals;
    int32_t cpu;
    bool plain_time; /* only an offset is to be added */
    bool ticks;      /* TSC2NSEC applies */
    bool cut;        /* the file ends before this CPU's data does */
    uint64_t begin;  /* of its pages in the file */
    uint64_t at;
    uint64_t end;
    uint64_t released; /* below this offset the mapping was given back */
    uint64_t release_step;

    bool is_clr;  /* the buffer may be that of our own files: dat_clr.h */
    uint8_t *clr; /* owned; the record of it that was handed out */

    /* compressed: one chunk at a time */
    uint32_t chunks_left;
    uint8_t *chunk; /* owned */
    size_t chunk_capacity;
    size_t chunk_size;
    size_t chunk_at;

    struct trd_page page;
    bool has_lost;
    bool has_held;
    uint64_t first_ts_ns;       /* of the first event handed out */
    uint64_t last_ts_ns;        /* of the last one */
    uint64_t lost;              /* to be told before the next event */
    uint64_t told;              /* sum of the losses told with a count */
    struct trd_page_event held; /* the event behind that loss */
};

void dat_cpu_init(struct dat_cpu *cpu, struct dat *dat, const struct dat_buffer *buffer,
                  const struct dat_cpu_range *range, struct dat_totals *totals);
void dat_cpu_finish(struct dat_cpu *cpu);
/* Finds the next record: 1, 0 at the end. It borrows from the file until the next call. */
int dat_cpu_next(struct dat_cpu *cpu);
static inline void dat_cpu_get(const struct dat_cpu *cpu, struct trd_record *out)
{
    *out = cpu->head;
    out->ts_ns = cpu->ts_ns;
    out->schema = cpu->schema;
    out->data = cpu->data;
    out->size = cpu->size;
    out->tid = cpu->tid;
}
/*
 * Begins anew, in an uncompressed file, at a place before which nothing of from_ns or later lies;
 * `cpu`, or what it was copied from, stood at its first record. Shows the first record that is not
 * before from_ns: 1, 0 if there is none.
 */
int dat_cpu_start(struct dat_cpu *cpu, struct dat_place place, uint64_t from_ns);
/* From the time in its pages to the trace's. */
uint64_t dat_cpu_time(const struct dat_cpu *cpu, uint64_t ts);

#endif
