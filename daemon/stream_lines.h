/*
 * The rare lines of the stream, built with jansson: `hello` at its start, `bye` at its end. All
 * others come from tracerd/json.h.
 */
#ifndef TRACERD_DAEMON_STREAM_LINES_H
#define TRACERD_DAEMON_STREAM_LINES_H

#include "pipeline.h"

/* A pair of readings of both clocks, the closest of several tries. */
struct clock_anchor {
    uint64_t mono_ns;
    uint64_t realtime_ns;
    uint64_t error_ns; /* half the bracket around the realtime reading */
};

void clock_anchor_take(struct clock_anchor *out);
uint64_t clock_now_ns(void); /* CLOCK_MONOTONIC */

/* Allocated line with its newline; NULL without memory. `live`: the stream is of now, with an
 * anchor to wall-clock time. */
char *hello_line(const struct options *options, bool live);

struct bye_source {
    char name[64];
    const char *clock;
    struct ledger ledger;
};
struct bye {
    uint64_t seq;
    uint64_t lines;    /* written before this one, hello included */
    uint64_t filtered; /* delivered by sources but not selected */
    uint64_t late;
    const struct bye_source *sources;
    size_t source_count;
};
char *bye_line(const struct bye *bye);

#endif
