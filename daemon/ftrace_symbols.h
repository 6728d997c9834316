/*
 * The text of the kernel's symbols. Reading it takes as long as everything else in the set-up of
 * the kernel half, which mostly waits, so it is read beside that, on a thread of its own.
 */
#ifndef TRACERD_DAEMON_FTRACE_SYMBOLS_H
#define TRACERD_DAEMON_FTRACE_SYMBOLS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define FTRACE_SYMBOLS_PATH "/proc/kallsyms"

struct ftrace_symbols {
    pthread_t thread;
    bool has_thread;
    char *text; /* owned; the thread's until it was joined */
    size_t size;
};

/* Begins to read; without a thread it is read when it is taken. */
void ftrace_symbols_start(struct ftrace_symbols *symbols);
/* Waits for it; allocated and the caller's. NULL if it cannot be read. Once. */
char *ftrace_symbols_take(struct ftrace_symbols *symbols, size_t *out_size);
/* What nobody took. */
void ftrace_symbols_finish(struct ftrace_symbols *symbols);

#endif
