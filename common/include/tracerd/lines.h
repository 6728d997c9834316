/*
 * Records to JSON lines on several threads: what json.h does, in blocks that are formatted side by
 * side and handed out in order; byte for byte what one thread would write. For callers with many
 * records at a time (replay, conversion) and a core to spare; whoever must not wait writes with
 * json.h himself.
 *
 * The caller's thread gathers records into blocks; workers format them; the caller formats a block
 * too when all are waiting for one. Blocks are few, so memory is bounded and a slow receiver holds
 * the caller back, not the memory. All functions, and `ready`, belong to the caller's one thread.
 */
#ifndef TRACERD_LINES_H
#define TRACERD_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "tracerd/catalog.h"
#include "tracerd/export.h"
#include "tracerd/json.h"
#include "tracerd/record.h"

#define TRD_LINES_WORKERS_MAX 64

struct trd_lines;

/* Whole lines in the order they were put; borrowed for the call. */
struct trd_lines_batch {
    const char *bytes;
    size_t size;
    uint64_t count;
    uint64_t last_seq;          /* number of the last line */
    uint64_t first_ns, last_ns; /* times of the first and the last line's record */
    /* Events that could not be written (no memory); each left a `lost` line in its place. */
    uint64_t unwritten;
};

/*
 * Starts 1 to TRD_LINES_WORKERS_MAX threads. `names` (may be NULL) is asked on the caller's thread
 * while a record is put, since what it answers changes with the stream. 0, -EINVAL, or negative
 * errno of the system.
 */
TRD_EXPORT int trd_lines_create(struct trd_lines **out, unsigned workers,
                                const struct trd_json_names *names,
                                void (*ready)(void *context, const struct trd_lines_batch *batch),
                                void *context);
/* Ends the threads; what was not flushed is dropped. */
TRD_EXPORT void trd_lines_destroy(struct trd_lines *lines);

/* As trd_json_add_catalog; flushes first. */
TRD_EXPORT void trd_lines_add_catalog(struct trd_lines *lines, const struct trd_catalog *catalog);

/*
 * Copies the record with what it points at, but for the schema and for data that stays: both must
 * live until the next flush. `seq` is one more than the last record's, or any other number behind a
 * flush. May hand out finished blocks. 0, or -ENOMEM: the record was not taken.
 */
TRD_EXPORT int trd_lines_put(struct trd_lines *lines, const struct trd_record *record,
                             uint64_t seq);
/* Hands out everything that was put. */
TRD_EXPORT void trd_lines_flush(struct trd_lines *lines);

#endif
