/*
 * The rare lines of the stream, built with jansson: `hello` at its start, `bye` at its end, `stall`
 * between. All others come from tracerd/json.h.
 */
#ifndef TRACERD_DAEMON_STREAM_LINES_H
#define TRACERD_DAEMON_STREAM_LINES_H

#include "ledger.h"
#include "pipeline.h"

/* A pair of readings of both clocks, the closest of several tries. */
struct clock_anchor {
    uint64_t mono_ns;
    uint64_t realtime_ns;
    uint64_t error_ns; /* half the bracket around the realtime reading */
};

void clock_anchor_take(struct clock_anchor *out);
uint64_t clock_now_ns(void); /* CLOCK_MONOTONIC */

/* A random UUID, text with its NUL. */
#define SESSION_SIZE 37
void session_make(char out[SESSION_SIZE]);

/* Allocated lines with their newline; NULL without memory. */

/* `live`: the stream is of this machine and of now, with an anchor to wall-clock time. Else host,
 * boot and anchor are those that `reference`, one of the sources, tells; NULL = none does. */
char *hello_line(const char *session, bool live, const struct source *sources,
                 const struct source *reference);

/* The merge waits no more for a source, or (`to_ns` not 0) it does again. */
char *stall_line(const struct source *source, uint64_t seq, uint64_t to_ns);

struct bye {
    uint64_t seq;
    uint64_t lines;     /* written before this one, hello included */
    uint64_t filtered;  /* delivered by sources but not selected */
    uint64_t unwritten; /* delivered by sources but in no line: a loss of our own */
    uint64_t late;
    const struct ledger_book *book;
};
char *bye_line(const struct bye *bye);

#endif
