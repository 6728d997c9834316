/*
 * Which kernel events are wanted: -e globs or the default set against what the kernel offers. The
 * choice is made once, before anything is switched on.
 */
#ifndef TRACERD_DAEMON_FTRACE_EVENTS_H
#define TRACERD_DAEMON_FTRACE_EVENTS_H

#include <stddef.h>

#include "options.h"

struct ftrace_events {
    const char **names; /* owned array of "sched:sched_switch", in the kernel's order */
    size_t count;
    char *text; /* owned; the names lie in it */
};

/*
 * Chooses from `available`, the text of tracefs' available_events, which is taken over (even on
 * failure). 0; EXIT_USAGE after one sentence about a glob that matches nothing; -ENOMEM.
 */
int ftrace_events_choose(struct ftrace_events *out, const struct options *options, char *available);
void ftrace_events_finish(struct ftrace_events *events);

/* The offered name that `wanted` was most likely meant to be; NULL if none is near. */
const char *ftrace_events_nearest(const char *const *offered, size_t count, const char *wanted);

#endif
