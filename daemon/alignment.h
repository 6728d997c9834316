/*
 * Which of several files share a timeline: those on the same clock, unless they tell of different
 * boots. Nothing is converted here; what shares nothing is marked, so that it does not look
 * aligned.
 */
#ifndef TRACERD_DAEMON_ALIGNMENT_H
#define TRACERD_DAEMON_ALIGNMENT_H

#include "pipeline.h"

/*
 * Chooses the source whose clock is the timeline's (the first on the monotonic clock, else the
 * first) and sets `unaligned` of those that do not share it, with one sentence each. NULL for an
 * empty list.
 */
const struct source *alignment_decide(struct source *sources);

#endif
