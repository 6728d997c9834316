/*
 * Which records go out: kind by kind (-e, --clr, decided once; see tally.h), then record by record
 * (--filter, an expression over fields). Belongs to the pipeline.
 */
#ifndef TRACERD_DAEMON_SELECTION_H
#define TRACERD_DAEMON_SELECTION_H

#include "options.h"
#include "tally.h"
#include "tracerd/filter.h"

struct selection {
    struct tally tally;
    struct trd_filter *filter; /* owned; NULL without --filter */
    /* Whose fields the filter may name; owned array of borrowed ones. */
    const struct trd_catalog **catalogs;
    size_t catalog_count;
    bool has_unknown_fields; /* of a recording, or of sources that describe theirs when they come */
};

/* EXIT_USAGE after a sentence on what is wrong with the expression. */
int selection_init(struct selection *selection, const struct options *options);
void selection_finish(struct selection *selection);
void selection_add_catalog(struct selection *selection, const struct trd_catalog *catalog);
/* Who knows the names behind ids; borrowed until finish. */
void selection_set_names(struct selection *selection, const struct trd_json_names *names);
/* EXIT_USAGE after a sentence if the filter names a field that no event has. */
int selection_check(const struct selection *selection);
/* The row to count it in if it goes out, NULL if it does not. */
static inline struct tally_row *selection_find(struct selection *selection,
                                               const struct trd_record *record)
{
    struct tally_row *row = tally_find(&selection->tally, record);

    if (!row->selected || (selection->filter && !trd_filter_match(selection->filter, record)))
        return NULL;
    return row;
}

#endif
