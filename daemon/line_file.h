/*
 * A file of the stream's lines, plain or in zstd frames (zst_frames.h): what the sinks of both
 * forms write. An error is handed up; output_file_fail tells it.
 */
#ifndef TRACERD_DAEMON_LINE_FILE_H
#define TRACERD_DAEMON_LINE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "output_file.h"
#include "pipeline.h"

struct line_file {
    struct output_file file;
    struct zst_writer *writer; /* owned; NULL = plain */
    uint64_t bytes;            /* of a plain one so far */
};

/* `path` is borrowed until the end. 0, or one sentence on stderr and an exit code. */
int line_file_open(struct line_file *file, const char *path, bool packed);
/* 0 or a negative errno, as all that follow. */
int line_file_lines(struct line_file *file, const struct line_batch *batch);
/* Lines that wait for their frame to become full go out. */
int line_file_flush(struct line_file *file);
/* Completes what was not known to have failed, closes the file, frees what it owned. */
int line_file_end(struct line_file *file);
/* The most bytes the whole file can have if it ends after `more` bytes of lines. */
uint64_t line_file_most(const struct line_file *file, uint64_t more);

#endif
