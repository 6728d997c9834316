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
/* What another one counted, of the same options. */
void tally_add(struct tally *tally, const struct tally *other);
/* Where the search for a key begins, below capacity. */
static inline size_t tally_home(const struct tally *tally, const void *key)
{
    return ((uintptr_t)key * 0x9e3779b97f4a7c15u >> 20) & (tally->capacity - 1);
}

struct tally_row *tally_find_slow(struct tally *tally, const struct trd_record *record);

/* The row of an event record; never NULL. */
static inline struct tally_row *tally_find(struct tally *tally, const struct trd_record *record)
{
    if (tally->capacity > 0 && record->schema) {
        struct tally_row *row = &tally->rows[tally_home(tally, record->schema)];

        if (row->key == record->schema)
            return row;
    }
    return tally_find_slow(tally, record);
}

/* Does SYSTEM:EVENT match one of the globs, or the default set if there are none? */
bool tally_matches_events(const struct options *options, const char *full_name);

#endif
