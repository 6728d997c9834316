/*
 * A running .NET process that is to be attached to: is it there, may we, where is its diagnostics
 * socket, and what must lie where inside its own view of the file system. Every "no" is one
 * sentence on stderr.
 */
#ifndef TRACERD_DAEMON_DOTNET_TARGET_H
#define TRACERD_DAEMON_DOTNET_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "buffer.h"
#include "attach.h"
#include "runtime_dir.h"

struct dotnet_target {
    pid_t pid;       /* ours */
    pid_t inner_pid; /* its own */
    uid_t user;
    gid_t group;
    char root[32];                   /* "" or /proc/PID/root: prefix of its paths for us */
    char diagnostics[256];           /* its socket, for us */
    char directory[RUNTIME_DIR_MAX]; /* made for it, for us; "" = none yet */
    char library[512];               /* the profiler, as the target sees it */
};

/* Steps of finding, each without a word: */
/* Fills user and group: 0, -ESRCH no such process, -EPERM neither its user nor root. */
int dotnet_target_check_user(struct dotnet_target *target);
/* Fills inner_pid and root. */
void dotnet_target_locate(struct dotnet_target *target);
/* Fills diagnostics, with the last place looked at if there is none. */
bool dotnet_target_find_socket(struct dotnet_target *target);
/* Name of the variable that switched its diagnostics off; NULL = none did. */
const char *dotnet_target_switched_off(pid_t pid);
/* May the target's user read this path, as we see it? */
bool dotnet_target_can_read(const struct dotnet_target *target, const char *path);
/* Whom the initial environment meant to have the main slot; allocated, NULL = nobody. */
char *dotnet_target_holder(pid_t pid);

/* All of them. 0, or EXIT_NOTHING. */
int dotnet_target_find(struct dotnet_target *target, pid_t pid);
/*
 * Makes a directory that only the target's user (and we) can enter, and has the library where the
 * target can read it: in that directory, under a new name, unless it can read the original. 0, or
 * EXIT_NOTHING.
 */
int dotnet_target_prepare(struct dotnet_target *target, const char *library);
/* Gives a file in the directory to the target's user. */
int dotnet_target_give(const struct dotnet_target *target, const char *path);
/* Removes the directory. What the target has mapped stays mapped. */
void dotnet_target_finish(struct dotnet_target *target);

/*
 * Sends AttachProfiler for the main slot, and where that is taken for a notification-only one.
 * `socket_path`: the daemon's, as the target sees it; `buffer`: zeroes = as the profiler has it
 * by itself. Blocks for as long as the runtime needs, for
 * seconds at worst; uses nothing of the loop and may run on another thread. 0, or EXIT_NOTHING.
 */
int dotnet_target_attach(const struct dotnet_target *target, const char *socket_path,
                         uint32_t categories, const struct trd_buffer *buffer);

#endif
