/*
 * How each kind of source is opened. Every function returns 0 and hands the source to the pipeline,
 * or says one sentence on stderr and returns an exit code of enum exit_code.
 */
#ifndef TRACERD_DAEMON_SOURCES_H
#define TRACERD_DAEMON_SOURCES_H

#include "pipeline.h"

/* Files of any form that replay reads: trace.dat or tracerd's NDJSON, told apart by content; parts
 * of one recording become one source. Those that can be read are opened, whatever became of the
 * others, which make the pipeline partial. `paths` must outlive the pipeline. */
void source_files_open(struct pipeline *pipeline, char **paths, size_t count);

/*
 * Live ftrace pages of an own tracefs instance, limited to the threads in `pids` (whole thread
 * groups and what they fork) and what concerns them; count 0 = the whole machine.
 */
int source_ftrace_open(struct pipeline *pipeline, const struct options *options, const pid_t *pids,
                       size_t pid_count);

/*
 * Listens for profilers at `path` with file mode `mode` until source_profilers_close; every
 * connected process becomes a source "clr PID". The callbacks run on the loop's thread and may be
 * NULL: `on_hello` once a process has introduced itself, `on_ready` when it has done what it was
 * told in answer and raises the events asked for, `on_end` when all of it was delivered, be the
 * listener closed by then or not.
 */
struct profiler_listener;
struct profiler_watch {
    void (*on_hello)(pid_t pid, void *context);
    void (*on_ready)(pid_t pid, void *context);
    void (*on_end)(pid_t pid, void *context);
    void *context;
};
int source_profilers_listen(struct pipeline *pipeline, const struct options *options,
                            const char *path, unsigned mode, const struct profiler_watch *watch,
                            struct profiler_listener **out);
/* A program was started that may bring a profiler soon: nothing later than now goes out before its
 * connection, within --max-delay and two seconds. */
void source_profilers_await(struct profiler_listener *listener);
/* Takes the connections that wait, then listens no more. Connected processes stay; frees the
 * listener; NULL is fine. */
void source_profilers_close(struct profiler_listener *listener);

#endif
