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

static bool is_named(pid_t pid, pid_t tid, const char *name)
{
    size_t length = strlen(name);
    char file[32], *comm;
    bool same;

    (void)snprintf(file, sizeof(file), "task/%d/comm", tid);
    comm = read_proc(pid, file, NULL);
    same = comm && strncmp(comm, name, length) == 0 && comm[length] == '\n';
    free(comm);
    return same;
}

pid_t target_thread_named(pid_t pid, const char *name)
{
    size_t count = 0;
    pid_t *tids = target_threads(pid, &count);
    pid_t found = -ESRCH;

    for (size_t i = 0; i < count && found < 0; i++)
        if (is_named(pid, tids[i], name))
            found = tids[i];
    free(tids);
    return found;
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

char *target_read_maps(pid_t pid)
{
    return read_proc(pid, "maps", NULL);
}

/* `7f00-7f10 r-xp 00000000 08:01 1234   /path with blanks`; an unlinked one ends in " (deleted)".
 */
bool target_next_code(const char **at, char *out, size_t size)
{
    while (**at) {
        const char *line = *at, *end = strchrnul(line, '\n');
        char rights[5];
        int path_at = 0;

        *at = *end ? end + 1 : end;
        if (sscanf(line, "%*x-%*x %4s %*x %*x:%*x %*u %n", rights, &path_at) != 1 ||
            rights[2] != 'x' || path_at == 0 || line + path_at >= end || line[path_at] != '/')
            continue;
        if ((size_t)(end - line - path_at) >= size)
            continue;
        memcpy(out, line + path_at, (size_t)(end - line - path_at));
        out[end - line - path_at] = '\0';
        return true;
    }
    return false;
}

int target_status(pid_t pid, const char *key, char *out, size_t size)
{
    char *status = read_proc(pid, "status", NULL);
    char wanted[32];
    const char *line;
    int result = -ENOENT;

    if (!status)
        return -errno;
    (void)snprintf(wanted, sizeof(wanted), "%s:\t", key);
    line = status;
    while (line && strncmp(line, wanted, strlen(wanted)) != 0) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    if (line) {
        line += strlen(wanted);
        (void)snprintf(out, size, "%.*s", (int)strcspn(line, "\n"), line);
        result = 0;
    }
    free(status);
    return result;
}

static bool file_tells(const char *path, const char *word)
{
    char *text = read_whole_file(path, NULL);
    bool tells = text && strstr(text, word);

    free(text);
    return tells;
}

/* `line` is one of /proc/PID/cgroup: `0::/path` (version 2) or `7:freezer:/path` (version 1). */
static bool group_is_frozen(const char *line)
{
    static const struct {
        const char *controllers, *format, *word;
    } places[] = {
        { "0::", "/sys/fs/cgroup%s/cgroup.events", "frozen 1" },
        { "0::", "/sys/fs/cgroup/unified%s/cgroup.events", "frozen 1" },
        { ":freezer:", "/sys/fs/cgroup/freezer%s/freezer.state", "FROZEN" },
    };
    const char *group = strstr(line, ":/");
    char path[1024];

    for (size_t i = 0; group && i < sizeof(places) / sizeof(places[0]); i++) {
        if (!strstr(line, places[i].controllers))
            continue;
        (void)snprintf(path, sizeof(path), places[i].format, group + 1);
        if (file_tells(path, places[i].word))
            return true;
    }
    return false;
}

bool target_is_frozen(pid_t pid)
{
    char *text = read_proc(pid, "cgroup", NULL), *place = NULL;
    bool frozen = false;

    for (char *line = text ? strtok_r(text, "\n", &place) : NULL; line && !frozen;
         line = strtok_r(NULL, "\n", &place))
        frozen = group_is_frozen(line);
    free(text);
    return frozen;
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
