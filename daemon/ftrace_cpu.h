/*
 * One CPU's ring of the instance as a merge input: sub-buffers are read from trace_pipe_raw, wait
 * in a queue, and are walked when the merge asks. Losses that pages tell without a number are
 * looked up in the CPU's statistics, so that the sum is exact.
 */
#ifndef TRACERD_DAEMON_FTRACE_CPU_H
#define TRACERD_DAEMON_FTRACE_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline.h"
#include "tracefs_linux.h"
#include "tracerd/page.h"

struct ftrace_pages;

struct ftrace_cpu {
    struct trd_merge_input input;
    const struct tracefs_instance *instance; /* borrowed from the source, like the catalog */
    const struct trd_catalog *catalog;
    void (*on_event)(struct ftrace_cpu *cpu, const struct trd_record *record);
    void (*on_dry)(struct ftrace_cpu *cpu); /* the input has ended */
    void *context;
    int32_t cpu;
    int fd;
    uint32_t page_size;
    struct ftrace_pages *first, *last, *spare; /* owned */
    size_t queued_bytes;
    struct trd_page page;
    bool in_page;
    bool closing;
    uint64_t last_ts_ns;
    uint64_t delivered;
    uint64_t lost;        /* told in records */
    uint64_t unknown_ids; /* of no format: not delivered, not lost in the ring */
    uint64_t pending_lost;
    struct trd_page_event held;
    bool has_held;
};

/* 0 or a negative errno. */
int ftrace_cpu_open(struct ftrace_cpu *cpu);
void ftrace_cpu_close(struct ftrace_cpu *cpu);
/* Reads what is there, up to a limit; moves the watermark when nothing more was. */
void ftrace_cpu_read(struct ftrace_cpu *cpu);
/* Events that were begun on this CPU and cannot come any more: overwritten, dropped, left behind.
 */
uint64_t ftrace_cpu_stat_lost(const struct ftrace_cpu *cpu);

#endif
