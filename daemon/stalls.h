/*
 * Which sources the merge has stopped to wait for, so that the stream can say so: a stopped
 * process, a frozen group. Part of the pipeline, which looks regularly; says nothing by itself.
 */
#ifndef TRACERD_DAEMON_STALLS_H
#define TRACERD_DAEMON_STALLS_H

#include "pipeline.h"

/* `to_ns`: the stall is over by then; 0 = it has begun. */
typedef void (*stall_teller)(struct pipeline *pipeline, const struct source *source,
                             uint64_t to_ns);

/* To be called when the merge is dry: what waits in it has been promised already. */
void stalls_look(struct source *sources, const struct trd_merge *merge, uint64_t now_ns,
                 stall_teller tell, struct pipeline *pipeline);
/* The source ends. */
void stalls_end(struct source *source, uint64_t now_ns, stall_teller tell,
                struct pipeline *pipeline);

#endif
