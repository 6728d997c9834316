#include "sinks.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

struct file_sink {
    struct sink sink;
    int fd;
    bool failed;
    const char *path; /* borrowed from argv */
};

/* Somebody made our standard output non-blocking; the next error tells if it is gone. */
static void wait_for_room(int fd)
{
    struct pollfd wait = { .fd = fd, .events = POLLOUT };

    (void)poll(&wait, 1, -1);
}

static int write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(fd, bytes, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno == EAGAIN) {
            wait_for_room(fd);
            continue;
        }
        if (written < 0)
            return -errno;
        bytes += written;
        size -= (size_t)written;
    }
    return 0;
}

/* Whoever closed the pipe knows; anything else is news. */
static void fail(struct file_sink *file, int error)
{
    file->failed = true;
    if (error != EPIPE)
        log_error("cannot write the output: path=%s, error=\"%s\"", file->path, strerror(error));
    pipeline_sink_failed(file->sink.pipeline);
}

static void lines(struct sink *sink, const struct line_batch *batch)
{
    struct file_sink *file = (struct file_sink *)sink;
    int result = file->failed ? 0 : write_all(file->fd, batch->bytes, batch->size);

    if (result != 0)
        fail(file, -result);
}

static void end(struct sink *sink)
{
    struct file_sink *file = (struct file_sink *)sink;

    if (file->fd != STDOUT_FILENO && close(file->fd) != 0 && !file->failed)
        fail(file, errno);
    pipeline_sink_closed(sink->pipeline, sink);
    free(file);
}

int sink_file_open(struct pipeline *pipeline, const char *path)
{
    struct file_sink *file = calloc(1, sizeof(*file));

    if (!file) {
        log_error("cannot open %s: no memory", path);
        return EXIT_NOTHING;
    }
    file->sink.lines = lines;
    file->sink.end = end;
    file->path = path;
    file->fd = STDOUT_FILENO;
    if (strcmp(path, "-") != 0)
        file->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file->fd < 0) {
        log_error("cannot create the output file: path=%s, error=\"%s\"", path, strerror(errno));
        free(file);
        return EXIT_USAGE;
    }
    pipeline_add_sink(pipeline, &file->sink);
    return 0;
}
