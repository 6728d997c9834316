/*
 * The accounts of sources that have ended, for `bye` and the summary: one row each, in the order
 * they ended; bounded, later ones are summed into the last row.
 */
#ifndef TRACERD_DAEMON_LEDGER_H
#define TRACERD_DAEMON_LEDGER_H

#include <stdbool.h>
#include <stddef.h>

#include "pipeline.h"

#define LEDGER_ROWS_MAX 256 /* processes of a service come and go for months */

struct ledger_row {
    char name[64];
    const char *clock; /* static text; NULL = unknown */
    struct ledger ledger;
};

struct ledger_book {
    struct ledger_row rows[LEDGER_ROWS_MAX];
    size_t count;
};

void ledger_add(struct ledger *sum, const struct ledger *ledger);
/* Is anything missing from what the source produced? */
bool ledger_has_loss(const struct ledger *ledger);
/* What was handed to the sink is produced; what it wrote, delivered: files until they fail. */
struct ledger sink_account(const struct sink *sink);
/* What is counted there: "lines", "records" or "sub-buffers". */
const char *sink_unit(const struct sink *sink);
/* Says for people what is missing of the source `name`; nothing if nothing is. */
void ledger_tell(const char *name, const struct ledger *ledger);

void ledger_book_enter(struct ledger_book *book, const struct source *source,
                       const struct ledger *ledger);
struct ledger ledger_book_total(const struct ledger_book *book);

#endif
