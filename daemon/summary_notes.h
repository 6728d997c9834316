/* What summary.c notes and summary_print.c prints; nobody else looks inside. */
#ifndef TRACERD_DAEMON_SUMMARY_NOTES_H
#define TRACERD_DAEMON_SUMMARY_NOTES_H

#include <stddef.h>
#include <stdint.h>

#define EXCEPTIONS_MAX 256 /* types; more are summed as others */
#define CPUS_MAX 4096

struct durations {
    uint64_t *values_ns; /* owned */
    size_t count;
    size_t capacity;
    uint64_t total_ns;
};

struct exception_row {
    char *type; /* owned */
    uint64_t count;
};

struct cpu_span {
    uint64_t first_ns;
    uint64_t last_ns;
    uint64_t count;
};

struct summary {
    struct durations collections;
    struct durations gc_pauses;
    struct durations suspensions;
    struct durations jits;
    uint64_t threads_created;
    uint64_t threads_destroyed;
    struct exception_row exceptions[EXCEPTIONS_MAX];
    size_t exception_count;
    uint64_t exceptions_other;
    uint64_t first_ns, last_ns;
    struct cpu_span *cpus; /* owned, CPUS_MAX */
    uint64_t loss_records;
};

#endif
