/*
 * One CPU's ring of the instance as a merge input: its pages are taken from the ring's queue and
 * walked when the merge asks. A loss becomes a record at its place. Its count is the page's where
 * that has one, but never more than the CPU's statistics knew when the page was read. What no page
 * told is told within a second, when the ring was found empty, or at the end: so the records sum up
 * to what the kernel counted.
 */
#ifndef TRACERD_DAEMON_FTRACE_CPU_H
#define TRACERD_DAEMON_FTRACE_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "ftrace_ring.h"
#include "tracerd/merge.h"

struct ftrace_cpu {
    struct trd_merge_input input;
    struct ftrace_ring ring;
    const struct trd_catalog *catalog;      /* borrowed */
    void (*on_end)(struct ftrace_cpu *cpu); /* everything was handed out */
    /* Takes every sub-buffer as it is, instead of its records; NULL = records are handed out. */
    void (*on_page)(struct ftrace_cpu *cpu, const uint8_t *bytes, size_t size);
    /* With on_page: what lies before ts_ns has been handed over; UINT64_MAX = everything. */
    void (*on_reached)(struct ftrace_cpu *cpu, uint64_t ts_ns);
    void *context;
    uint64_t delivered;
    uint64_t lost;
    uint64_t damaged_bytes;
    /* private */
    struct page_buffer *first; /* owned: pages taken from the queue; in_page: that one is walked */
    struct trd_page page;
    bool in_page;
    struct trd_page_event held; /* waits behind the loss before it */
    bool has_held;
    bool is_closing;
    uint64_t kernel_lost; /* of the kernel's count, told so far or pending */
    uint64_t pending_lost;
    uint64_t last_ts_ns;
};

/* With the ring open. What is set above `private` stays. */
void ftrace_cpu_init(struct ftrace_cpu *cpu);
/* Closes the ring, too. */
void ftrace_cpu_close(struct ftrace_cpu *cpu);
/* With on_page: hands over what waits, at most so many pages. True if more wait. */
bool ftrace_cpu_hand_over(struct ftrace_cpu *cpu, unsigned pages_max);
/* Tracing is off and nobody reads the ring any more: the input ends behind what is left in it. */
void ftrace_cpu_finish(struct ftrace_cpu *cpu);

#endif
