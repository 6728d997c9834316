/*
 * The rings of our tracefs instance: clock, sizes, and what else makes them ready before events are
 * switched on. What this kernel cannot do is said in one line and gone without.
 */
#ifndef TRACERD_DAEMON_FTRACE_BUFFER_H
#define TRACERD_DAEMON_FTRACE_BUFFER_H

#include "options.h"
#include "tracefs_linux.h"

struct ftrace_buffer {
    uint64_t ring_bytes; /* of each CPU */
    uint32_t page_size;  /* of a sub-buffer */
    const char *failed;  /* the file that made set-up fail */
    char missing[512];   /* what this kernel cannot do, as one sentence; "" = nothing */
};

/* 0 or a negative errno. */
int ftrace_buffer_set_up(struct ftrace_buffer *out, const struct tracefs_instance *instance,
                         const struct options *options);

/* Without --kernel-buffer: a part of the memory, shared by the CPUs. Bytes of each. */
uint64_t ftrace_buffer_default(uint64_t memory_bytes, uint64_t cpus);
/* As large as copying is cheap, but so that a ring has several. */
uint32_t ftrace_buffer_page_size(uint64_t ring_bytes, uint32_t smallest);

/* The CPUs that may ever be there, ascending; allocated. Also those that are off now: the kernel
 * makes their rings when they come. 0 or a negative errno. */
int ftrace_buffer_cpus(const struct tracefs_instance *instance, uint32_t **out_cpus,
                       size_t *out_count);

#endif
