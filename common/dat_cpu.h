/*
 * The pages of one CPU of one buffer of a file, as an input of the merge: constant memory, mapped
 * pages are given back once read.
 */
#ifndef TRD_COMMON_DAT_CPU_H
#define TRD_COMMON_DAT_CPU_H

#include "dat.h"
#include "tracerd/merge.h"
#include "tracerd/page.h"

/* Counts of the whole reader that its CPUs add to. */
struct dat_totals {
    uint64_t unknown_ids; /* records whose id has no format: skipped */
    uint64_t damaged_bytes;
};

struct dat_cpu {
    struct trd_merge_input input;
    struct dat *dat;                 /* borrowed from the reader */
    const struct dat_buffer *buffer; /* borrowed from dat */
    struct dat_totals *totals;
    int32_t cpu;
    uint64_t at; /* in the file */
    uint64_t end;
    uint64_t released; /* below this offset the mapping was given back */
    bool cut;          /* the file ends before this CPU's data does */

    /* compressed: one chunk at a time */
    uint32_t chunks_left;
    uint8_t *chunk; /* owned */
    size_t chunk_capacity;
    size_t chunk_size;
    size_t chunk_at;

    struct trd_page page;
    bool in_page;
    bool started;
    uint64_t last_ts_ns; /* of the last event handed out */
    uint64_t lost;       /* to be told before the next event */
    bool has_lost;
    struct trd_page_event held; /* the event behind that loss */
    bool has_held;
};

int dat_cpu_init(struct dat_cpu *cpu, struct dat *dat, const struct dat_buffer *buffer,
                 const struct dat_cpu_range *range, struct dat_totals *totals);
void dat_cpu_finish(struct dat_cpu *cpu);

#endif
