/*
 * A file to JSON lines on several threads: what reader.h and json.h do one after the other, in
 * slices of time that are read and formatted side by side and handed out in order; byte for byte
 * what one thread would write. For callers with a core to spare (replay, conversion) and a single
 * file; whoever has several, or must not wait, uses reader.h and json.h.
 *
 * Only the plain part of a file can be cut into slices: an uncompressed one, without events of the
 * CLR, up to where it is damaged, disordered or lacks formats. trd_lines_next hands out that part,
 * then leaves the reader at the record that follows it. All threads, the caller's own among them,
 * take slices; they are few at a time, so memory is bounded and a slow receiver holds them back.
 */
#ifndef TRACERD_LINES_H
#define TRACERD_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "tracerd/export.h"
#include "tracerd/reader.h"

#define TRD_LINES_THREADS_MAX 64

struct trd_lines;

/* What the caller thinks of the records; called on all threads, each with a state of its own. */
struct trd_lines_rules {
    /* Is there to be a line? May set flags of the record. Also asked about records of slices that
     * are then thrown away. NULL = always. */
    bool (*select)(void *state, struct trd_record *record);
    /* Once for each record whose line is handed out. NULL = nothing is to be noted. */
    void (*note)(void *state, const struct trd_record *record);
    void *states[TRD_LINES_THREADS_MAX]; /* borrowed until destroy */
    unsigned threads;                    /* with the caller's; 1 to TRD_LINES_THREADS_MAX */
    size_t slice_bytes;                  /* of the file; 0 = what a core's cache holds */
};

/* Whole lines of one slice, or none. Borrowed until the next call. */
struct trd_lines_batch {
    const char *bytes;
    size_t size;
    uint64_t count;
    uint64_t last_seq;          /* number of the last line; with no line, of the one before */
    uint64_t first_ns, last_ns; /* times of the first and the last line's record */
    /* Events that could not be written (no memory); each left a `lost` line in its place. */
    uint64_t unwritten;
    /* What was read, with or without a line. */
    uint64_t read_ns;      /* time of the last record; 0 = there was none */
    uint64_t events;       /* read */
    uint64_t filtered;     /* of them not selected */
    uint64_t lost;         /* sum of the losses with a count */
    uint64_t unknown_lost; /* losses without one */
};

/*
 * `reader` has been asked for nothing yet; nobody may use it before trd_lines_next has returned 0
 * or `lines` is destroyed. The first line gets number `seq`. 0; -EINVAL for a number of threads
 * that makes no sense; -ENOTSUP if the file has no plain part; negative errno of the system.
 */
TRD_EXPORT int trd_lines_create(struct trd_lines **out, struct trd_reader *reader,
                                const struct trd_lines_rules *rules, uint64_t seq);
/* Ends the threads; what was not handed out is dropped. */
TRD_EXPORT void trd_lines_destroy(struct trd_lines *lines);
/* The next lines: 1, or 0: what follows is to be had from the reader. */
TRD_EXPORT int trd_lines_next(struct trd_lines *lines, struct trd_lines_batch *out);
/* Begins no further slice: what was begun is still handed out. */
TRD_EXPORT void trd_lines_stop(struct trd_lines *lines);

#endif
