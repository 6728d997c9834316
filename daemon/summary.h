/*
 * What `--summary` prints at the end, for people: what happened how often, how long collections and
 * suspensions held the application up, exceptions by type, and what is missing. Takes notes while
 * records pass by; constant memory but for the durations of pauses.
 */
#ifndef TRACERD_DAEMON_SUMMARY_H
#define TRACERD_DAEMON_SUMMARY_H

#include "stream_lines.h"
#include "tally.h"
#include "tracerd/record.h"

struct summary;

int summary_create(struct summary **out);
void summary_destroy(struct summary *summary);
/* Of the selected ones. */
void summary_note(struct summary *summary, const struct trd_record *record);
/* What another one noted of the same stream's kernel events and losses. */
void summary_add(struct summary *summary, const struct summary *other);
void summary_print(struct summary *summary, const struct tally *tally, const struct bye *bye);

#endif
