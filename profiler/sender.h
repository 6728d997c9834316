/*
 * The sender thread: connects to the daemon, introduces the process, takes what the threads wrote
 * into their rings, and sends it with watermarks; obeys the daemon's few commands. The only place
 * of the profiler that does I/O, and the only one that may wait. Without a daemon it tries again
 * and again, ever more slowly, while the rings count what they cannot keep.
 */
#ifndef TRD_PROFILER_SENDER_H
#define TRD_PROFILER_SENDER_H

#include <stdbool.h>

/* Starts the thread. `path` is copied. A sender that runs already is left alone. */
int sender_start(const char *path);
/* Asks for a sweep before the next mark is due; any thread. */
void sender_wake(void);
/* Last sweep and goodbye, at most timeout_ms; any thread but the sender's. */
void sender_finish(unsigned timeout_ms);

/* Sends what the rings hold now, so that a long catch-up goes on in slices. Sender thread only;
 * false if there is no use in going on. */
bool sender_flush(void);

#endif
