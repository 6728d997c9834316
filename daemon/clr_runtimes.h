/*
 * A process that hosts more than one .NET runtime: there is one profiler in it, and it serves the
 * runtime that loaded it first. That the others are not traced is said once.
 */
#ifndef TRACERD_DAEMON_CLR_RUNTIMES_H
#define TRACERD_DAEMON_CLR_RUNTIMES_H

#include <stdbool.h>
#include <sys/types.h>

/* Reads the process's mappings: not for every turn. True: there is a second runtime, and one
 * sentence was said. */
bool clr_runtimes_tell(pid_t pid);

#endif
