/*
 * A tracefs instance of a test's own: made under instances/tracerd-test-…, removed by finish. The
 * top-level buffer is never touched.
 */
#ifndef TRD_TESTS_TRACEFS_INSTANCE_H
#define TRD_TESTS_TRACEFS_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>

#define TRACEFS "/sys/kernel/tracing"

struct tracefs_instance {
    char path[128];
};

/*
 * False, with what is missing printed as `SKIP: …`, where this machine cannot; the caller's exit
 * code is then tracefs_skip_code().
 */
bool tracefs_instance_init(struct tracefs_instance *instance, const char *name);
void tracefs_instance_finish(struct tracefs_instance *instance);
/* 77, or 1 where CI=true makes a missing facility a failure. */
int tracefs_skip_code(void);

/* Writes a control file of the instance; 0 or negative errno. */
int tracefs_write(const struct tracefs_instance *instance, const char *file, const char *text);

/* A whole file, NUL-terminated; NULL if it cannot be read. The caller frees it. */
char *read_whole(const char *path, size_t *out_size);
char *tracefs_read(const struct tracefs_instance *instance, const char *file, size_t *out_size);

#endif
