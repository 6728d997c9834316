/*
 * One row per kind of event: whether it is selected (-e, --clr), decided once, and how many there
 * were. Found by the schema's address, so that the selection costs a look-up and no comparison of
 * names per event.
 */
#ifndef TRACERD_DAEMON_TALLY_H
#define TRACERD_DAEMON_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"
#include "tracerd/record.h"

struct tally_row {
    const void *key;  /* schema, or the interned name of a record without one */
    const char *name; /* borrowed */
    bool selected;
    uint64_t count; /* of the selected */
};

struct tally {
    const struct options *options; /* borrowed */
    struct tally_row *rows;        /* owned; open addressing */
    size_t count;
    size_t capacity;
    struct tally_row overflow; /* stands in when there is no memory */
};

void tally_init(struct tally *tally, const struct options *options);
void tally_finish(struct tally *tally);
/* The row of an event record; never NULL. */
struct tally_row *tally_find(struct tally *tally, const struct trd_record *record);

/* Does SYSTEM:EVENT match one of the globs, or the default set if there are none? */
bool tally_matches_events(const struct options *options, const char *full_name);

#endif
