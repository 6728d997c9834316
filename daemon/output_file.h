/* A file that a sink writes: opened, written whole, closed; an error is told once. */
#ifndef TRACERD_DAEMON_OUTPUT_FILE_H
#define TRACERD_DAEMON_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct output_file {
    int fd;
    bool failed;
    const char *path; /* borrowed */
    /* The disk is full: true = something was done about it, try again. NULL: nothing can be. */
    bool (*make_room)(struct output_file *file);
};

/* "-" is standard output. Negative errno after one sentence. */
int output_file_open(struct output_file *file, const char *path);
/* A file to be written here and there and read back: neither standard output nor a pipe. */
int output_file_open_seekable(struct output_file *file, const char *path);
/* All of it, waiting for room where our standard output is not blocking: 0 or negative errno.
 * `file` is a struct output_file, so that writers of formats take this as it is. */
int output_file_write(void *file, const void *bytes, size_t size);
/* Says what is wrong, but for a reader that left (EPIPE), who knows. */
void output_file_fail(struct output_file *file, int error);
/* 0 or negative errno: what was written may not be there. */
int output_file_close(struct output_file *file);

#endif
