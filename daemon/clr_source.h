/*
 * One traced process as a source: its connection, its arena and its rings. Made by the listener
 * when a profiler connects; lives until everything the process wrote has been delivered. A hostile
 * peer costs its own connection, a bounded amount of memory, and nobody else anything.
 */
#ifndef TRACERD_DAEMON_CLR_SOURCE_H
#define TRACERD_DAEMON_CLR_SOURCE_H

#include "pipeline.h"

/* Takes the connected socket over. `introduced` once HELLO was accepted, `ended` when the source is
 * about to be destroyed; both may be NULL. */
struct clr_source_events {
    void (*introduced)(pid_t pid, void *context);
    void (*ended)(pid_t pid, void *context);
    void *context;
};

int clr_source_open(struct pipeline *pipeline, const struct options *options, int fd,
                    pid_t peer_pid, const struct clr_source_events *events);

#endif
