#include "runtime_dir.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tracefs_linux.h"

#define PREFIX "tracerd-"

void runtime_dir_remove(const char *path)
{
    struct dirent *entry;
    DIR *directory = *path ? opendir(path) : NULL;

    if (!directory)
        return;
    while ((entry = readdir(directory)))
        if (entry->d_name[0] != '.')
            (void)unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    (void)rmdir(path);
}

/* `tracerd-PID-STARTTIME-XXXXXX` of ours, whose maker is gone. */
static int is_stale(const char *path, const char *name)
{
    unsigned long long started;
    struct stat status;
    int pid;

    return sscanf(name, PREFIX "%d-%llu-", &pid, &started) == 2 &&
           process_start_time(pid) != started && lstat(path, &status) == 0 &&
           S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

/* Only in our own view: in another pid namespace everybody would look dead. */
static void remove_stale(const char *base)
{
    DIR *directory = opendir(base);
    struct dirent *entry;

    while (directory && (entry = readdir(directory))) {
        char path[512];

        if (snprintf(path, sizeof(path), "%s/%s", base, entry->d_name) < (int)sizeof(path) &&
            is_stale(path, entry->d_name))
            runtime_dir_remove(path);
    }
    if (directory)
        closedir(directory);
}

static int create_in(char *out, const char *root, const char *base)
{
    int length = snprintf(out, RUNTIME_DIR_MAX, "%s%s/" PREFIX "%d-%llu-XXXXXX", root, base,
                          getpid(), (unsigned long long)process_start_time(getpid()));

    if (length >= RUNTIME_DIR_MAX)
        return -ENAMETOOLONG;
    if (!*root)
        remove_stale(base);
    return mkdtemp(out) ? 0 : -errno;
}

int runtime_dir_create(char out[RUNTIME_DIR_MAX], const char *root, const char *temporary)
{
    const char *const bases[] = { temporary, "/tmp", "/run", "/dev/shm" };
    int result = -ENOENT;

    for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]) && result != 0; i++)
        if (bases[i] && *bases[i] == '/')
            result = create_in(out, root, bases[i]);
    if (result != 0)
        out[0] = '\0';
    return result;
}
