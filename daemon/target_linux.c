#include "target_linux.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tracefs_linux.h"

static char *read_proc(pid_t pid, const char *name, size_t *out_size)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
    return read_whole_file(path, out_size);
}

/* The last number of a line like `NSpid:\t4242\t7`. */
static long last_number(const char *status, const char *key)
{
    const char *line = strstr(status, key);
    long number = -1;

    if (!line)
        return -1;
    line += strlen(key);
    while (*line && *line != '\n') {
        char *end;
        long value = strtol(line, &end, 10);

        if (end == line)
            break;
        number = value;
        line = end;
        while (*line == '\t' || *line == ' ')
            line++;
    }
    return number;
}

static pid_t inner_id(pid_t pid, const char *name)
{
    char *status = read_proc(pid, name, NULL);
    long inner = status ? last_number(status, "\nNSpid:") : -ESRCH;

    free(status);
    return (pid_t)inner;
}

pid_t target_inner_pid(pid_t pid)
{
    pid_t inner = inner_id(pid, "status");

    return inner == -1 ? pid : inner; /* a kernel that does not say has one namespace */
}

pid_t target_inner_tid(pid_t pid, pid_t tid)
{
    char name[32];
    pid_t inner;

    (void)snprintf(name, sizeof(name), "task/%d/status", tid);
    inner = inner_id(pid, name);
    return inner == -1 ? tid : inner;
}

/* The second number of a line like `Uid:\t1000\t1000\t1000\t1000`: the effective one. */
static int effective_id(const char *status, const char *key, unsigned *out)
{
    const char *line = status ? strstr(status, key) : NULL;

    return line && sscanf(line + strlen(key), "%*u %u", out) == 1 ? 0 : -ESRCH;
}

int target_user(pid_t pid, uid_t *out_user, gid_t *out_group)
{
    char *status = read_proc(pid, "status", NULL);
    int result = effective_id(status, "\nUid:", out_user);

    if (result == 0)
        result = effective_id(status, "\nGid:", out_group);
    free(status);
    return result;
}

static int same_file(const char *ours, const char *theirs)
{
    struct stat a, b;

    if (stat(ours, &a) != 0 || stat(theirs, &b) != 0)
        return -errno;
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int target_has_own_root(pid_t pid)
{
    char path[64];
    int same;

    (void)snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
    same = same_file("/proc/self/ns/mnt", path);
    if (same == 1) {
        (void)snprintf(path, sizeof(path), "/proc/%d/root/", pid);
        same = same_file("/", path);
    }
    return same < 0 ? same : !same;
}

pid_t *target_threads(pid_t pid, size_t *out_count)
{
    char path[64];
    struct dirent *entry;
    pid_t *tids = NULL;
    size_t count = 0;
    DIR *directory;

    (void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
    directory = opendir(path);
    if (!directory)
        return NULL;
    while ((entry = readdir(directory))) {
        long tid = strtol(entry->d_name, NULL, 10);

        if (tid <= 0)
            continue;
        if (count % 64 == 0) {
            pid_t *bigger = realloc(tids, (count + 64) * sizeof(*tids));

            if (!bigger)
                break;
            tids = bigger;
        }
        tids[count++] = (pid_t)tid;
    }
    closedir(directory);
    *out_count = count;
    return tids;
}

char *target_environment(pid_t pid, const char *name)
{
    size_t size = 0, length = strlen(name);
    char *text = read_proc(pid, "environ", &size);
    char *value = NULL;

    for (char *entry = text; entry && entry < text + size && !value; entry += strlen(entry) + 1)
        if (strncmp(entry, name, length) == 0 && entry[length] == '=')
            value = strdup(entry + length + 1);
    free(text);
    return value;
}

int target_maps(pid_t pid, const char *suffix)
{
    char *text = read_proc(pid, "maps", NULL);
    size_t length = strlen(suffix);
    int found = 0;

    if (!text)
        return -errno;
    for (const char *at = strstr(text, suffix); at && !found; at = strstr(at + 1, suffix))
        found = at[length] == '\n' || at[length] == ' ';
    free(text);
    return found;
}

bool target_is_dead(pid_t pid)
{
    char *stat = read_proc(pid, "stat", NULL);
    const char *behind_name = stat ? strrchr(stat, ')') : NULL;
    long threads = 0;
    char state = 'X';
    bool dead;

    if (behind_name)
        (void)sscanf(behind_name + 1,
                     " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld",
                     &state, &threads);
    /* A first thread that has ended waits as a zombie while others go on. */
    dead = state == 'X' || (state == 'Z' && threads <= 1);
    free(stat);
    return dead;
}
