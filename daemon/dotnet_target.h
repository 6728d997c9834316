/*
 * A running .NET process that is to be attached to: is it there, may we, where is its diagnostics
 * socket, and what must lie where inside its own view of the file system. Every "no" is one
 * sentence.
 */
#ifndef TRACERD_DAEMON_DOTNET_TARGET_H
#define TRACERD_DAEMON_DOTNET_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "attach.h"

struct dotnet_target {
    pid_t pid;       /* ours */
    pid_t inner_pid; /* its own */
    uid_t user;
    char root[32];         /* "" or /proc/PID/root: prefix of its paths for us */
    char diagnostics[256]; /* its socket, for us */
    char library[512];     /* the profiler, as the target sees it */
    char copied[600];      /* what was put into its root for that, for us; "" = nothing */
};

/* 0, or EXIT_NOTHING after one sentence on stderr. */
int dotnet_target_find(struct dotnet_target *target, pid_t pid);
/* Makes the library readable for the target, copying it into its root if that is another one: under
 * a name of its content, renamed into place, never over a file that may be mapped. */
int dotnet_target_place_library(struct dotnet_target *target, const char *library);
/*
 * Sends AttachProfiler for the main slot, and where that is taken for a notification-only one.
 * `socket_path`: the daemon's, as the target sees it.
 */
int dotnet_target_attach(const struct dotnet_target *target, const char *socket_path,
                         uint32_t categories);

#endif
