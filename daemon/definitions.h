/*
 * The definitions of a stream so far, as the lines they are, so that each file of a recording in
 * parts can begin with them. Kept packed, in bounded memory.
 */
#ifndef TRACERD_DAEMON_DEFINITIONS_H
#define TRACERD_DAEMON_DEFINITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline.h"

#define DEFINITIONS_PIECE (256u << 10) /* lines are packed by so much */
#define DEFINITIONS_MAX (16u << 20)    /* packed; some million names */

struct definitions {
    char *piece; /* owned; lines not yet packed, DEFINITIONS_PIECE */
    size_t piece_size;
    struct definitions_pack *packs; /* owned */
    size_t pack_count;
    size_t packed_bytes;
    bool is_full; /* the rest is not kept */
};

/* Takes those among the lines. -ENOMEM: they are not kept. */
int definitions_note(struct definitions *definitions, const struct line_batch *batch);
/* Hands all of them out, in their order, some whole lines a call, until one call fails. */
int definitions_each(const struct definitions *definitions,
                     int (*take)(void *context, const char *lines, size_t size), void *context);
void definitions_finish(struct definitions *definitions);

#endif
