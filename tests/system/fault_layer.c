/*
 * A disk that fails, for LD_PRELOAD: FAULT=KIND:AFTER:NAME is about files whose path ends with
 * NAME, and takes AFTER bytes before it shows. KIND is the name of an errno (ENOSPC, EIO), which
 * every later write gives; KILL, which ends the process there; SHORT, by which every write takes
 * AFTER bytes at most; EINTR, by which every other call does nothing but that.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum kind {
    KIND_NONE,
    KIND_ERROR,
    KIND_KILL,
    KIND_SHORT,
    KIND_EINTR
};

static struct {
    enum kind kind;
    int error;
    size_t after;
    char name[256];
    size_t taken;
    bool interrupted;
    bool ready;
} fault;

static void init(void)
{
    const char *text = getenv("FAULT");
    char kind[16] = "";

    fault.ready = true;
    if (!text || sscanf(text, "%15[^:]:%zu:%255s", kind, &fault.after, fault.name) != 3)
        return;
    fault.error = strcmp(kind, "EIO") == 0 ? EIO : ENOSPC;
    fault.kind = strcmp(kind, "KILL") == 0    ? KIND_KILL
                 : strcmp(kind, "SHORT") == 0 ? KIND_SHORT
                 : strcmp(kind, "EINTR") == 0 ? KIND_EINTR
                                              : KIND_ERROR;
}

static bool is_ours(int fd)
{
    char link[32], path[512];
    ssize_t size;
    size_t name;

    if (!fault.ready)
        init();
    if (fault.kind == KIND_NONE)
        return false;
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    size = readlink(link, path, sizeof(path) - 1);
    name = strlen(fault.name);
    return size >= (ssize_t)name && memcmp(path + size - name, fault.name, name) == 0;
}

/* How many of `size` bytes may be written now; -1 and errno: none. */
static ssize_t allow(size_t size)
{
    size_t left = fault.after - fault.taken;

    switch (fault.kind) {
    case KIND_SHORT:
        return (ssize_t)(size < fault.after ? size : fault.after);
    case KIND_EINTR:
        fault.interrupted = !fault.interrupted;
        errno = EINTR;
        return fault.interrupted ? -1 : (ssize_t)size;
    default:
        break;
    }
    if (left == 0 && fault.kind == KIND_KILL)
        (void)kill(getpid(), SIGKILL);
    if (left == 0) {
        errno = fault.error;
        return -1;
    }
    size = size < left ? size : left;
    fault.taken += size;
    return (ssize_t)size;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *bytes, size_t size)
{
    ssize_t allowed = is_ours(fd) ? allow(size) : (ssize_t)size;

    return allowed < 0 ? -1 : NEXT(write)(fd, bytes, (size_t)allowed);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    ssize_t allowed = is_ours(fd) ? allow(size) : (ssize_t)size;

    return allowed < 0 ? -1 : NEXT(pwrite)(fd, bytes, (size_t)allowed, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset)
{
    return pwrite(fd, bytes, size, offset);
}

ssize_t copy_file_range(int in, off64_t *in_at, int out, off64_t *out_at, size_t size,
                        unsigned flags)
{
    ssize_t allowed = is_ours(out) ? allow(size) : (ssize_t)size;

    return allowed < 0 ? -1 : NEXT(copy_file_range)(in, in_at, out, out_at, (size_t)allowed, flags);
}
