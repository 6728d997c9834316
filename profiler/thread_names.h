/*
 * Names given to managed threads, kept for listeners to come: the runtime cannot be asked for them.
 * Bounded; a thread that finds no room is named to the present listener only. Called in callbacks
 * that may block and by the sender; the lock is never held across a call elsewhere.
 */
#ifndef TRD_PROFILER_THREAD_NAMES_H
#define TRD_PROFILER_THREAD_NAMES_H

#include <stddef.h>

#include "corprof.h"

void thread_names_set(ThreadID thread, const char *name, size_t size);
void thread_names_remove(ThreadID thread);
/* Copies the name into `text` and returns its size, 0 for a nameless thread. */
size_t thread_names_get(ThreadID thread, char *text, size_t capacity);

#endif
