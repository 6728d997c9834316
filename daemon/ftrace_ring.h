/*
 * One CPU's ring of the instance: sub-buffers are read from trace_pipe_raw into buffers of a pool
 * and wait in a queue. Reading is done by one thread at a time, taking by another one (ftrace_cpu).
 * Says how far it has read: the watermark.
 */
#ifndef TRACERD_DAEMON_FTRACE_RING_H
#define TRACERD_DAEMON_FTRACE_RING_H

#include "page_pool.h"
#include "tracefs_linux.h"
#include "tracerd/page.h"

struct ftrace_ring {
    int fd;
    int stats_fd; /* -1 if this kernel has none */
    uint32_t cpu;
    uint32_t page_size;
    const struct trd_page_layout *layout; /* borrowed from the catalog */
    struct page_pool *pool;               /* borrowed */
    struct page_queue queue;
    /* Of everything before it the pages are in the queue, or were; read it before the queue. */
    _Atomic uint64_t watermark_ns;
    _Atomic uint32_t queued; /* pages that are not given back */
    uint64_t counted_ns;     /* when the statistics were last looked at */
    uint64_t counted_lost;   /* what they said */
};

/* 0 or a negative errno; -ENOENT: there is no such CPU. */
int ftrace_ring_open(struct ftrace_ring *ring, const struct tracefs_instance *instance,
                     uint32_t cpu);
void ftrace_ring_close(struct ftrace_ring *ring);

/* Why a reading stopped. */
enum ftrace_ring_stop {
    FTRACE_RING_EMPTY,
    FTRACE_RING_LIMIT,  /* there may be more */
    FTRACE_RING_NO_ROOM /* the pool is used up */
};
/* Reads what is there, up to a limit; never waits. Bytes read. */
size_t ftrace_ring_read(struct ftrace_ring *ring, enum ftrace_ring_stop *out_stop);
/* The consumer is done with a page that it took from the queue. */
void ftrace_ring_give(struct ftrace_ring *ring, struct page_buffer *page);

/* By the kernel's statistics; 0 where it has none. */
struct ftrace_ring_stats {
    uint64_t lost; /* overwritten, dropped since nested too deep, dropped when full */
    uint64_t read; /* events that were read of the ring */
};
void ftrace_ring_count(const struct ftrace_ring *ring, struct ftrace_ring_stats *out);

#endif
