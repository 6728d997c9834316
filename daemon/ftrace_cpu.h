/*
 * One CPU's ring of the instance as a merge input: sub-buffers are read from trace_pipe_raw, wait
 * in a queue, and are walked when the merge asks. A loss becomes a record at its place. Its count
 * is the page's where that has one, but never more than the CPU's statistics know by then, and what
 * no page told is told at the end: so the records sum up to what the kernel counted.
 */
#ifndef TRACERD_DAEMON_FTRACE_CPU_H
#define TRACERD_DAEMON_FTRACE_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "tracefs_linux.h"
#include "tracerd/merge.h"
#include "tracerd/page.h"

struct ftrace_pages;

struct ftrace_cpu {
    struct trd_merge_input input;
    const struct trd_catalog *catalog;      /* borrowed */
    void (*on_end)(struct ftrace_cpu *cpu); /* everything was handed out */
    /* Takes every sub-buffer as it is, instead of its records; NULL = records are handed out. */
    void (*on_page)(struct ftrace_cpu *cpu, const uint8_t *bytes, size_t size);
    void *context;
    int32_t cpu;
    uint64_t delivered;
    uint64_t lost;
    uint64_t damaged_bytes;
    /* private */
    int fd;
    int stats_fd; /* -1 if this kernel has none */
    uint32_t page_size;
    struct ftrace_pages *first, *last, *spare; /* owned */
    size_t queued_bytes;
    struct trd_page page;
    bool in_page;
    struct trd_page_event held; /* waits behind the loss before it */
    bool has_held;
    bool is_closing;
    uint64_t kernel_lost; /* of the kernel's count, told so far or pending */
    uint64_t pending_lost;
    uint64_t told_by_pages; /* of the kernel's count, where pages go as they are */
    uint64_t last_ts_ns;
};

/* 0 or a negative errno; -ENOENT: there is no such CPU. What is set above `private` stays. */
int ftrace_cpu_open(struct ftrace_cpu *cpu, const struct tracefs_instance *instance,
                    uint32_t page_size);
void ftrace_cpu_close(struct ftrace_cpu *cpu);
/* Reads what is there, up to a limit; moves the watermark when nothing more was. Bytes read. */
size_t ftrace_cpu_read(struct ftrace_cpu *cpu);
/* Tracing is off: reads all that is left, whatever waits already, and ends the input behind it. */
void ftrace_cpu_finish(struct ftrace_cpu *cpu);

#endif
