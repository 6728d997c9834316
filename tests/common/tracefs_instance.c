#include "tracefs_instance.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int tracefs_skip_code(void)
{
    const char *ci = getenv("CI");

    return ci && strcmp(ci, "true") == 0 ? 1 : 77;
}

bool tracefs_instance_init(struct tracefs_instance *instance, const char *name)
{
    (void)snprintf(instance->path, sizeof(instance->path), TRACEFS "/instances/tracerd-test-%s-%d",
                   name, (int)getpid());
    if (mkdir(instance->path, 0700) == 0)
        return true;
    printf("SKIP: tracefs: cannot make %s: %s\n", instance->path, strerror(errno));
    return false;
}

void tracefs_instance_finish(struct tracefs_instance *instance)
{
    (void)tracefs_write(instance, "tracing_on", "0");
    (void)tracefs_write(instance, "events/enable", "0");
    if (rmdir(instance->path) != 0)
        fprintf(stderr, "cannot remove %s: %s\n", instance->path, strerror(errno));
}

int tracefs_write(const struct tracefs_instance *instance, const char *file, const char *text)
{
    char path[256];
    ssize_t written;
    int fd;

    (void)snprintf(path, sizeof(path), "%s/%s", instance->path, file);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    written = write(fd, text, strlen(text));
    (void)close(fd);
    return written == (ssize_t)strlen(text) ? 0 : -EIO;
}

/* Non-blocking, so that trace_pipe_raw ends where the data does. */
char *read_whole(const char *path, size_t *out_size)
{
    size_t capacity = 1 << 16, size = 0;
    char *text = malloc(capacity);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = -1;

    while (fd >= 0 && text && (got = read(fd, text + size, capacity - size - 1)) > 0) {
        size += (size_t)got;
        if (capacity - size < 1 << 15) {
            char *larger = realloc(text, capacity *= 2);

            if (!larger)
                break;
            text = larger;
        }
    }
    if (fd >= 0)
        (void)close(fd);
    if (fd < 0 || !text || (got < 0 && errno != EAGAIN)) {
        free(text);
        return NULL;
    }
    text[size] = '\0';
    if (out_size)
        *out_size = size;
    return text;
}

char *tracefs_read(const struct tracefs_instance *instance, const char *file, size_t *out_size)
{
    char path[256];

    (void)snprintf(path, sizeof(path), "%s/%s", instance->path, file);
    return read_whole(path, out_size);
}
