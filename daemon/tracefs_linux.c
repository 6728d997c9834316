#include "tracefs_linux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define TRACEFS_SUPER_MAGIC 0x74726163
#define INSTANCE_PREFIX "tracerd-"

char *read_whole_file(const char *path, size_t *out_size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t size = 0, capacity = 16384;
    char *text = fd < 0 ? NULL : malloc(capacity);
    ssize_t got = -1;

    while (text && (got = read(fd, text + size, capacity - size - 1)) > 0) {
        size += (size_t)got;
        if (capacity - size < 4096) {
            char *bigger = realloc(text, capacity * 2);

            if (!bigger) {
                got = -1;
                break;
            }
            text = bigger;
            capacity *= 2;
        }
    }
    if (fd >= 0) {
        int error = errno;

        close(fd);
        errno = error;
    }
    if (got < 0) {
        free(text);
        return NULL;
    }
    text[size] = '\0';
    if (out_size)
        *out_size = size;
    return text;
}

uint64_t process_start_time(pid_t pid)
{
    char path[64];
    unsigned long long ticks = 0;
    const char *behind_name;
    char *text;

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    text = read_whole_file(path, NULL);
    behind_name = text ? strrchr(text, ')') : NULL;
    if (!behind_name ||
        sscanf(behind_name + 1,
               " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
               &ticks) != 1)
        ticks = 0;
    free(text);
    return ticks;
}

static int is_tracefs(const char *path)
{
    struct statfs status;

    return statfs(path, &status) == 0 && status.f_type == TRACEFS_SUPER_MAGIC;
}

int tracefs_find(char out[TRACEFS_PATH_MAX])
{
    static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (is_tracefs(places[i])) {
            strcpy(out, places[i]);
            return 0;
        }
    if (access(places[0], F_OK) != 0)
        return -ENOENT;
    if (mount("nodev", places[0], "tracefs", 0, NULL) != 0)
        return errno == ENODEV ? -ENOENT : -errno;
    strcpy(out, places[0]);
    return 0;
}

static void join(char *out, const char *base, const char *name)
{
    (void)snprintf(out, 2 * TRACEFS_PATH_MAX, "%s/%s", base, name);
}

static int open_below(const char *base, const char *name, int flags)
{
    char path[2 * TRACEFS_PATH_MAX];
    int fd;

    join(path, base, name);
    fd = open(path, flags | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int tracefs_open(const struct tracefs_instance *instance, const char *name, int flags)
{
    return open_below(instance->path, name, flags);
}

static int write_below(const char *base, const char *name, const char *value, int flags)
{
    int fd = open_below(base, name, O_WRONLY | flags);
    int result = 0;

    if (fd < 0)
        return fd;
    if (write(fd, value, strlen(value)) < 0)
        result = -errno;
    close(fd);
    return result;
}

int tracefs_write(const struct tracefs_instance *instance, const char *name, const char *value)
{
    return write_below(instance->path, name, value, O_TRUNC);
}

int tracefs_append(const struct tracefs_instance *instance, const char *name, const char *value)
{
    return write_below(instance->path, name, value, O_APPEND);
}

char *tracefs_read(const struct tracefs_instance *instance, const char *name, size_t *out_size)
{
    char path[2 * TRACEFS_PATH_MAX];

    join(path, instance->path, name);
    return read_whole_file(path, out_size);
}

char *tracefs_read_root(const struct tracefs_instance *instance, const char *name, size_t *out_size)
{
    char path[2 * TRACEFS_PATH_MAX];

    join(path, instance->root, name);
    return read_whole_file(path, out_size);
}

void tracefs_remove(const struct tracefs_instance *instance)
{
    if (instance->path[0])
        (void)rmdir(instance->path);
}

/* `tracerd-PID-STARTTIME` of a process that lives no more, or whose pid is another's now. */
static int is_stale(const char *name)
{
    unsigned long long started;
    int pid;

    if (sscanf(name, INSTANCE_PREFIX "%d-%llu", &pid, &started) != 2)
        return 0;
    return process_start_time(pid) != started;
}

/*
 * The kernel refuses to remove an instance that somebody holds open, so a mistake here (a process
 * of another pid namespace looks dead to us) harms nobody.
 */
static void remove_stale(const char *root)
{
    char path[TRACEFS_PATH_MAX + 16], stale[TRACEFS_PATH_MAX + 80];
    struct dirent *entry;
    DIR *directory;

    (void)snprintf(path, sizeof(path), "%s/instances", root);
    directory = opendir(path);
    while (directory && (entry = readdir(directory)))
        if (is_stale(entry->d_name)) {
            (void)snprintf(stale, sizeof(stale), "%s/%.63s", path, entry->d_name);
            (void)rmdir(stale);
        }
    if (directory)
        closedir(directory);
}

int tracefs_create(struct tracefs_instance *out)
{
    int result = tracefs_find(out->root);

    out->path[0] = '\0';
    if (result != 0)
        return result;
    remove_stale(out->root);
    (void)snprintf(out->path, sizeof(out->path), "%.128s/instances/" INSTANCE_PREFIX "%d-%llu",
                   out->root, getpid(), (unsigned long long)process_start_time(getpid()));
    if (mkdir(out->path, 0700) == 0)
        return 0;
    result = -errno;
    out->path[0] = '\0';
    return result;
}
