/*
 * One traced process as a source: its connection, its arena and its rings. Made by the listener
 * when a profiler connects; lives until everything the process wrote has been delivered. A hostile
 * peer costs its own connection, a bounded amount of memory, and nobody else anything.
 */
#ifndef TRACERD_DAEMON_CLR_SOURCE_H
#define TRACERD_DAEMON_CLR_SOURCE_H

#include "sources.h"

/* Takes the connected socket over; 0, or -ENOMEM with the socket left to the caller. `watch` is
 * copied. Its first events may be as old as since_ns. */
int clr_source_open(struct pipeline *pipeline, const struct options *options, int fd,
                    pid_t peer_pid, uint64_t since_ns, const struct profiler_watch *watch);

#endif
