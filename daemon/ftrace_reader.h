/*
 * Threads that empty the kernel's rings, so that nothing else a turn of the loop does lets one fill
 * up: they read pages into the rings' queues and do nothing else, before everybody else where that
 * is permitted. The kernel wakes them when a ring is a part full (buffer_percent); by themselves
 * they look often while much comes, and rarely otherwise.
 */
#ifndef TRACERD_DAEMON_FTRACE_READER_H
#define TRACERD_DAEMON_FTRACE_READER_H

#include "ftrace_ring.h"

/* How full a ring is when the kernel wakes its reader, of a hundred; for buffer_percent. */
#define FTRACE_READER_PERCENT 25

struct ftrace_reader;

struct ftrace_reader_options {
    uint64_t ring_bytes; /* of each CPU */
    /* Something was read; called on a reader's thread. */
    void (*on_read)(void *context);
    void *context;
};

/* Starts the threads, each for some of the rings; `rings` (an array of pointers) is copied, the
 * rings are borrowed until the end. 0 or a negative errno. */
int ftrace_reader_create(struct ftrace_reader **out, struct ftrace_ring *const *rings, size_t count,
                         const struct ftrace_reader_options *options);
/* Ends the threads; the rings are then the caller's to read. NULL is fine. */
void ftrace_reader_destroy(struct ftrace_reader *reader);

/* Reads here and now what a thread has not read for `age_ns`. Any thread. */
void ftrace_reader_refresh(struct ftrace_reader *reader, uint64_t age_ns);

/* Kernel thread ids: *out_tids borrowed until the end. */
size_t ftrace_reader_tids(const struct ftrace_reader *reader, const pid_t **out_tids);
/* They go before others: "first" (real-time), "nice", or NULL if neither is permitted. */
const char *ftrace_reader_priority(const struct ftrace_reader *reader);

#endif
