/*
 * A directory of one run for its socket (and, in another mount namespace, the profiler library):
 * mode 0700, named after the process that made it, so that the next run can tell and remove what a
 * crash left behind.
 */
#ifndef TRACERD_DAEMON_RUNTIME_DIR_H
#define TRACERD_DAEMON_RUNTIME_DIR_H

#define RUNTIME_DIR_DEFAULT "/run/tracerd" /* of the service, which does not make it this way */
#define RUNTIME_DIR_MAX 80                 /* leaves room for a file name within sun_path */

/*
 * Makes one in the first of `temporary` (NULL = skip), /tmp, /run, /dev/shm that lets us, below
 * `root` ("" or /proc/PID/root, the target's view). 0 or a negative errno, with "" in `out`.
 */
int runtime_dir_create(char out[RUNTIME_DIR_MAX], const char *root, const char *temporary);
/* With the files in it. Nothing happens for "". */
void runtime_dir_remove(const char *path);

#endif
