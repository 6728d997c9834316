/*
 * Reads a trace.dat file (versions 6 and 7; no compression, zlib, zstd) and hands out the events
 * of all CPUs and all buffers in time order, with a loss record where events are missing. Constant
 * memory whatever the file's size. Damaged and truncated files give every event that can be read,
 * a loss record for what cannot, and an account of it.
 *
 * Nothing is shared between readers: one thread may use one at a time, several threads several. A
 * file is mapped: it must not shrink while it is read.
 */
#ifndef TRACERD_READER_H
#define TRACERD_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracerd/catalog.h"
#include "tracerd/export.h"
#include "tracerd/record.h"

struct trd_reader;

struct trd_reader_buffer {
    const char *name;  /* instance, "" for the top one */
    const char *clock; /* "mono", "local", … ; "" if the file does not say */
    uint32_t cpu_count;
    uint32_t page_size;
};

/* What could not be read, in words for people; borrowed until destroy. Complete at the end. */
struct trd_damage {
    const char *what; /* one sentence: what, where, what was done about it */
    uint64_t bytes;   /* given up */
};

/*
 * Opens `path` (or memory). 0, or negative: -errno of the system, -EBADMSG no trace.dat,
 * -EPROTONOSUPPORT version, -ENOTSUP codec that is not built in or a `latency` text file. `error`
 * (of error_size bytes) gets one sentence in every failing case.
 */
TRD_EXPORT int trd_reader_open(struct trd_reader **out, const char *path, char *error,
                               size_t error_size);
TRD_EXPORT int trd_reader_open_memory(struct trd_reader **out, const uint8_t *bytes, size_t size,
                                      char *error, size_t error_size);
TRD_EXPORT void trd_reader_destroy(struct trd_reader *reader);

TRD_EXPORT const struct trd_catalog *trd_reader_catalog(const struct trd_reader *reader);
/* NULL past the end. */
TRD_EXPORT const struct trd_reader_buffer *trd_reader_buffer(const struct trd_reader *reader,
                                                             size_t index);
TRD_EXPORT const struct trd_damage *trd_reader_damage(const struct trd_reader *reader,
                                                      size_t index);
TRD_EXPORT const char *
trd_reader_uname(const struct trd_reader *reader); /* "" if the file does not say */

/*
 * Next record of the whole file in time order: 1, 0 at the end, negative only when nothing more
 * can be read at all. Time is raw time plus the file's own conversions (TSC2NSEC, OFFSET, DATE,
 * TIME_SHIFT: a guest's file is told in its host's time). Events of equal time come by lower CPU,
 * then in the order of the buffers; one that a damaged page puts before its predecessors is marked
 * TRD_RECORD_F_LATE. Borrowed until the next call.
 *
 * A loss (kind LOST) stands before the event that follows it. Behind the last event of a CPU stands
 * what has no place of its own: what a cut file lacks, and what the kernel counted (CPUSTAT) beyond
 * what pages told. A loss of a CPU that has no event left comes at the end and spans the trace.
 */
TRD_EXPORT int trd_reader_next(struct trd_reader *reader, struct trd_record *out);

#endif
