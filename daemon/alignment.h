/*
 * Which of several files share a timeline: those on the same clock, unless they tell of different
 * boots; and those whose clocks can be brought together by what they hold (tracerd/align.h). What
 * shares nothing is marked, so that it does not look aligned.
 */
#ifndef TRACERD_DAEMON_ALIGNMENT_H
#define TRACERD_DAEMON_ALIGNMENT_H

#include "pipeline.h"

/*
 * Chooses the source whose clock is the timeline's (the first on the monotonic clock, else the
 * first) and sets `alignment` or `unaligned` of those that do not share it, with one sentence each.
 * Reads them all for that. NULL for an empty list.
 */
const struct source *alignment_decide(struct source *sources);

/* That choice alone. */
struct source *alignment_reference(struct source *sources);

/* What that means for a record of the source: its times, or the mark. */
void alignment_apply(const struct source *source, struct trd_record *record);

#endif
