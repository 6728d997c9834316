#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

int output_file_open(struct output_file *file, const char *path)
{
    *file = (struct output_file){ .path = path, .fd = STDOUT_FILENO };
    if (strcmp(path, "-") != 0)
        file->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file->fd >= 0)
        return 0;
    log_error("cannot create the output file: path=%s, error=\"%s\"", path, strerror(errno));
    return -errno;
}

int output_file_open_seekable(struct output_file *file, const char *path)
{
    int error = 0;

    *file = (struct output_file){ .path = path };
    file->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file->fd < 0)
        error = errno;
    else if (lseek(file->fd, 0, SEEK_END) < 0)
        error = errno;
    if (error == 0)
        return 0;
    if (file->fd >= 0)
        close(file->fd);
    log_error("cannot create the output file: path=%s, error=\"%s\"", path, strerror(error));
    return -error;
}

/* Somebody made our standard output non-blocking; the next error tells if it is gone. */
static void wait_for_room(int fd)
{
    struct pollfd wait = { .fd = fd, .events = POLLOUT };

    (void)poll(&wait, 1, -1);
}

static bool is_full(int error)
{
    return error == ENOSPC || error == EDQUOT;
}

int output_file_write(void *context, const void *bytes, size_t size)
{
    struct output_file *file = context;

    while (size > 0) {
        ssize_t written = write(file->fd, bytes, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno == EAGAIN) {
            wait_for_room(file->fd);
            continue;
        }
        if (written < 0 && is_full(errno) && file->make_room && file->make_room(file))
            continue;
        if (written < 0)
            return -errno;
        bytes = (const char *)bytes + written;
        size -= (size_t)written;
    }
    return 0;
}

void output_file_fail(struct output_file *file, int error)
{
    file->failed = true;
    if (error != EPIPE)
        log_error("cannot write the output: path=%s, error=\"%s\"", file->path, strerror(error));
}

int output_file_close(struct output_file *file)
{
    return file->fd != STDOUT_FILENO && close(file->fd) != 0 ? -errno : 0;
}
