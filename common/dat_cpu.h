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
};

struct dat_cpu {
    struct trd_record head; /* what dat_cpu_next found */
    /* private */
    struct dat *dat;                 /* borrowed from the reader */
    const struct dat_buffer *buffer; /* borrowed from dat */
    struct dat_totals *totals;
    int32_t cpu;
    bool plain_time; /* only an offset is to be added */
    bool ticks;      /* TSC2NSEC applies */
    bool cut;        /* the file ends before this CPU's data does */
    uint64_t at;     /* in the file */
    uint64_t end;
    uint64_t released; /* below this offset the mapping was given back */
    uint64_t release_step;

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
/* The next record into `head`: 1, 0 at the end. It borrows from the file until the next call. */
int dat_cpu_next(struct dat_cpu *cpu);

#endif
