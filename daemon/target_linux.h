/*
 * What /proc tells of a process: namespaces, user, threads, whether it runs .NET. Answers only;
 * what to do about them is the commands' business.
 */
#ifndef TRACERD_DAEMON_TARGET_LINUX_H
#define TRACERD_DAEMON_TARGET_LINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* pid as the process sees itself (last number of NSpid); pid itself if /proc does not say; -ESRCH.
 */
pid_t target_inner_pid(pid_t pid);
/* Effective user and group; -ESRCH. */
int target_user(pid_t pid, uid_t *out_user, gid_t *out_group);
/* Does it see another file system tree than we (mount namespace, or root directory)? -errno if we
 * may not look. */
int target_has_own_root(pid_t pid);
/* What one of its threads calls itself; -ESRCH. */
pid_t target_inner_tid(pid_t pid, pid_t tid);
/* The thread of that name (as in its comm); -ESRCH. */
pid_t target_thread_named(pid_t pid, const char *name);
/* Thread ids now; allocated, *out_count of them. NULL with errno. */
pid_t *target_threads(pid_t pid, size_t *out_count);
/* Value of a variable in the process's initial environment; allocated. NULL: not set or unreadable.
 */
char *target_environment(pid_t pid, const char *name);
/* Does a mapping of the process end in `suffix`, as in "/libcoreclr.so"? -errno if unreadable. */
int target_maps(pid_t pid, const char *suffix);
/* What follows `key` in /proc/PID/status, as in "State" -> "T (stopped)"; 0, or a negative errno.
 */
int target_status(pid_t pid, const char *key, char *out, size_t size);
/* Do its cgroups keep it from running? */
bool target_is_frozen(pid_t pid);
/* Text of its mappings for target_next_code; allocated, NULL with errno. */
char *target_read_maps(pid_t pid);
/* Next file that is mapped to be executed, as the process names it; *at starts at the text. */
bool target_next_code(const char **at, char *out, size_t size);
/* Gone, or only waiting to be reaped. */
bool target_is_dead(pid_t pid);

#endif
