/*
 * The rare lines of the stream, built with jansson: `hello` at its start, `bye` at its end, `stall`
 * between. All others come from tracerd/json.h.
 */
#ifndef TRACERD_DAEMON_STREAM_LINES_H
#define TRACERD_DAEMON_STREAM_LINES_H

#include "clock_anchor.h"
#include "ledger.h"
#include "pipeline.h"

/* A random UUID, text with its NUL. */
#define SESSION_SIZE 37
void session_make(char out[SESSION_SIZE]);

/* Allocated lines with their newline; NULL without memory. */

/* `anchor`: the stream is of this machine and of now. NULL: host, boot and anchor are those that
 * `reference`, one of the sources, tells; NULL = none does. `clock`: of the lines; NULL =
 * unknown. */
char *hello_line(const char *session, const char *clock, const struct clock_anchor *anchor,
                 const struct source *sources, const struct source *reference);

/* The merge waits no more for a source, or (`to_ns` not 0) it does again. `offset_ns`: from times
 * inside to times of lines. */
char *stall_line(const struct source *source, uint64_t seq, uint64_t to_ns, int64_t offset_ns);

struct bye {
    uint64_t seq;
    uint64_t lines;     /* written before this one, hello included */
    uint64_t filtered;  /* delivered by sources but not selected */
    uint64_t unwritten; /* delivered by sources but in no line: a loss of our own */
    uint64_t late;
    const struct ledger_book *book;
    const struct sink *outputs;
};
char *bye_line(const struct bye *bye);

#endif
