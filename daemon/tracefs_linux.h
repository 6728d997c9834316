/*
 * tracefs: finding or mounting it, and one instance of our own in it. Everything tracerd changes
 * lies in that instance; the top buffer is never touched. Says nothing; the caller tells errors.
 */
#ifndef TRACERD_DAEMON_TRACEFS_LINUX_H
#define TRACERD_DAEMON_TRACEFS_LINUX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TRACEFS_PATH_MAX 256

struct tracefs_instance {
    char root[TRACEFS_PATH_MAX]; /* of tracefs */
    char path[TRACEFS_PATH_MAX]; /* of the instance */
};

/* Where tracefs is; mounts it at its usual place if it is nowhere and we may. Errors as below. */
int tracefs_find(char out[TRACEFS_PATH_MAX]);
/* Makes `tracerd-PID-STARTTIME`, after removing those whose process is gone (a crashed run's).
 * 0 or a negative errno: -ENOENT no tracefs in this kernel, -EACCES, -EPERM not permitted. */
int tracefs_create(struct tracefs_instance *out);
/* The instance gone with all that was switched on in it; descriptors into it must be closed before.
 * Nothing happens if it was never made. */
void tracefs_remove(const struct tracefs_instance *instance);

/* Whole content of a file below the instance; allocated, NUL-terminated. NULL with errno. */
char *tracefs_read(const struct tracefs_instance *instance, const char *name, size_t *out_size);
/* The same below the root of tracefs. */
char *tracefs_read_root(const struct tracefs_instance *instance, const char *name,
                        size_t *out_size);
int tracefs_write(const struct tracefs_instance *instance, const char *name, const char *value);
int tracefs_append(const struct tracefs_instance *instance, const char *name, const char *value);
/* A descriptor, or a negative errno. */
int tracefs_open(const struct tracefs_instance *instance, const char *name, int flags);

/* Field 22 of /proc/PID/stat, clock ticks; 0 if there is no such process. */
uint64_t process_start_time(pid_t pid);
/* Whole content of any file; allocated, NUL-terminated. NULL with errno. */
char *read_whole_file(const char *path, size_t *out_size);

#endif
