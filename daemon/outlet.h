/*
 * The way out of the pipeline: records become lines, lines are gathered in one buffer and handed to
 * every sink in a few large pieces. Numbers the lines. Belongs to the pipeline; nobody else calls
 * it.
 */
#ifndef TRACERD_DAEMON_OUTLET_H
#define TRACERD_DAEMON_OUTLET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline.h"
#include "tracerd/json.h"
#include "tracerd/lines.h"

struct stream_clock;

struct outlet {
    struct trd_json *json; /* owned */
    struct sink *sinks;
    bool wants_lines, wants_records;     /* of any sink so far */
    const struct trd_catalog **catalogs; /* owned array of borrowed ones */
    size_t catalog_count;
    char *buffer;            /* owned */
    struct line_batch batch; /* what waits in the buffer */
    const struct stream_clock
        *clock;          /* borrowed; of the lines. Sinks of records get CLOCK_MONOTONIC */
    uint64_t last_ns;    /* of the last line's record, in the lines' clock */
    uint64_t seq;        /* of the next line; hello is 0 */
    uint64_t line_count; /* written so far */
    uint64_t unwritten;  /* events that became `lost` lines */
};

int outlet_init(struct outlet *outlet, const struct trd_json_names *names);
/* Ends sinks that are still there. */
void outlet_finish(struct outlet *outlet);

void outlet_add_catalog(struct outlet *outlet, const struct trd_catalog *catalog);

/* To sinks of records, and one line for those of lines. One that cannot be written leaves a `lost`
 * line in its place. */
void outlet_record(struct outlet *outlet, const struct trd_record *record);
/* Lines that others formatted, the first with the outlet's `seq`. */
void outlet_batch(struct outlet *outlet, const struct trd_lines_batch *batch);
/* A sub-buffer as it is, to all sinks: each of them takes such. */
void outlet_page(struct outlet *outlet, uint32_t cpu, const uint8_t *bytes, size_t size);
/* A ready line of any length (hello, bye), handed over at once; uses up the next number. */
void outlet_text(struct outlet *outlet, const char *line);
/* Hands over what waits. */
void outlet_flush(struct outlet *outlet);

void outlet_add(struct outlet *outlet, struct sink *sink);
void outlet_remove(struct outlet *outlet, struct sink *sink);
/* Tells every sink that nothing follows. */
void outlet_end(struct outlet *outlet);

#endif
