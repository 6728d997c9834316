/* A directory of this run for its socket: 0700, removed at the end. */
#ifndef TRACERD_DAEMON_RUNTIME_DIR_H
#define TRACERD_DAEMON_RUNTIME_DIR_H

#define RUNTIME_DIR_MAX 80 /* leaves room for a file name within sun_path */

/* 0 or a negative errno. `base`: where to make it, as the target sees it ("" or /proc/PID/root). */
int runtime_dir_create(char *out, const char *base);
void runtime_dir_remove(const char *path);

#endif
