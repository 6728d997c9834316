/*
 * How each kind of source is opened. Every function returns 0 and hands the source to the pipeline,
 * or says one sentence on stderr and returns an exit code of enum exit_code.
 */
#ifndef TRACERD_DAEMON_SOURCES_H
#define TRACERD_DAEMON_SOURCES_H

#include "pipeline.h"

/* A file of any form that replay reads: trace.dat or tracerd's NDJSON, told apart by content. */
int source_file_open(struct pipeline *pipeline, const char *path);

/*
 * Live ftrace pages of an own tracefs instance, limited to the threads in `pids` (whole thread
 * groups and what they fork) and what concerns them; count 0 = the whole machine.
 */
int source_ftrace_open(struct pipeline *pipeline, const struct options *options, const pid_t *pids,
                       size_t pid_count, struct source **out);
/* One more process to follow: its present threads and what they fork. */
int source_ftrace_follow(struct source *ftrace, pid_t pid);

/*
 * Listens for profilers at `path` (mode 0600, or 0666 for the service's) until
 * source_profilers_close; every connected process becomes a source "clr PID". `on_hello` (may be
 * NULL) tells of each process once it has introduced itself.
 */
struct profiler_listener;
int source_profilers_listen(struct pipeline *pipeline, const struct options *options,
                            const char *path, unsigned mode,
                            void (*on_hello)(pid_t pid, void *context), void *context,
                            struct profiler_listener **out);
void source_profilers_close(struct profiler_listener *listener);

#endif
