#include "dotnet_target.h"

#include <errno.h>
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "copy_file.h"
#include "log.h"
#include "options.h"
#include "profiler_library.h"
#include "target_linux.h"
#include "tracefs_linux.h"

/* Finding */

int dotnet_target_check_user(struct dotnet_target *target)
{
    if (target_user(target->pid, &target->user, &target->group) != 0 || target_is_dead(target->pid))
        return -ESRCH;
    return geteuid() == 0 || geteuid() == target->user ? 0 : -EPERM;
}

static int check_permission(struct dotnet_target *target)
{
    int result = dotnet_target_check_user(target);

    if (result == 0)
        return 0;
    if (result == -ESRCH)
        log_error("there is no process %d", target->pid);
    else
        log_error("process %d belongs to another user (uid %u): run tracerd as that user or as "
                  "root",
                  target->pid, target->user);
    return EXIT_NOTHING;
}

void dotnet_target_locate(struct dotnet_target *target)
{
    target->inner_pid = target_inner_pid(target->pid);
    if (target_has_own_root(target->pid) == 1)
        (void)snprintf(target->root, sizeof(target->root), "/proc/%d/root", target->pid);
}

/* `{TMPDIR or /tmp}/dotnet-diagnostic-{pid}-{start time}-socket`, as the target names both. */
bool dotnet_target_find_socket(struct dotnet_target *target)
{
    char *temporary = target_environment(target->pid, "TMPDIR");
    const char *places[2] = { temporary && *temporary ? temporary : "/tmp", "/tmp" };
    bool found = false;

    for (int i = 0; i < 2 && !found; i++) {
        size_t length = strlen(places[i]);

        while (length > 1 && places[i][length - 1] == '/')
            length--;
        found = snprintf(target->diagnostics, sizeof(target->diagnostics),
                         "%s%.*s/dotnet-diagnostic-%d-%llu-socket", target->root, (int)length,
                         places[i], target->inner_pid,
                         (unsigned long long)process_start_time(target->pid)) <
                    (int)sizeof(target->diagnostics) &&
                access(target->diagnostics, F_OK) == 0;
    }
    free(temporary);
    return found;
}

const char *dotnet_target_switched_off(pid_t pid)
{
    static const char *const names[] = { "DOTNET_EnableDiagnostics", "COMPlus_EnableDiagnostics",
                                         "DOTNET_EnableDiagnostics_IPC",
                                         "DOTNET_EnableDiagnostics_Profiler" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char *value = target_environment(pid, names[i]);
        bool off = value && strcmp(value, "0") == 0;

        free(value);
        if (off)
            return names[i];
    }
    return NULL;
}

static int tell_no_socket(const struct dotnet_target *target)
{
    int runtime = target_maps(target->pid, "/libcoreclr.so");

    if (runtime < 0)
        log_error("process %d cannot be looked into: %s%s", target->pid, strerror(-runtime),
                  geteuid() == 0 ? "" : "; run tracerd as root");
    else if (dotnet_target_switched_off(target->pid))
        log_error("process %d runs with its diagnostics switched off (DOTNET_EnableDiagnostics=0): "
                  "start it with them on, or with tracerd run",
                  target->pid);
    else if (runtime)
        log_error("process %d runs .NET but its diagnostics socket %s is missing: was TMPDIR "
                  "changed or cleaned?",
                  target->pid, target->diagnostics);
    else
        log_error("process %d does not run .NET (no libcoreclr.so in it, no diagnostics socket); "
                  "--no-clr traces its kernel events",
                  target->pid);
    return EXIT_NOTHING;
}

int dotnet_target_find(struct dotnet_target *target, pid_t pid)
{
    int result;

    *target = (struct dotnet_target){ .pid = pid };
    result = check_permission(target);
    if (result != 0)
        return result;
    dotnet_target_locate(target);
    return dotnet_target_find_socket(target) ? 0 : tell_no_socket(target);
}

/* Preparing */

static int make_directory(struct dotnet_target *target)
{
    char *temporary = target_environment(target->pid, "TMPDIR");
    int result = runtime_dir_create(target->directory, target->root, temporary);

    free(temporary);
    if (result == 0)
        result = dotnet_target_give(target, target->directory);
    if (result == 0)
        return 0;
    log_error("cannot make a directory for process %d in %s/tmp: %s", target->pid, target->root,
              strerror(-result));
    return EXIT_NOTHING;
}

/* In a child process, since only one user at a time can ask. */
bool dotnet_target_can_read(const struct dotnet_target *target, const char *path)
{
    int status = 1;
    pid_t child;

    if (geteuid() == target->user)
        return access(path, R_OK) == 0;
    child = fork();
    if (child == 0)
        _exit(setgroups(0, NULL) != 0 || setgid(target->group) != 0 || setuid(target->user) != 0 ||
              access(path, R_OK) != 0);
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int dotnet_target_prepare(struct dotnet_target *target, const char *library)
{
    char path[sizeof(target->library)];
    int result = make_directory(target);

    if (result != 0)
        return result;
    if (!target->root[0] && dotnet_target_can_read(target, library)) {
        (void)snprintf(target->library, sizeof(target->library), "%s", library);
        return 0;
    }
    (void)snprintf(path, sizeof(path), "%s/" PROFILER_LIBRARY_NAME, target->directory);
    (void)snprintf(target->library, sizeof(target->library), "%s", path + strlen(target->root));
    result = copy_file(library, path, 0755);
    if (result == 0)
        return 0;
    log_error("the profiler library cannot be put where process %d can read it: path=%s, "
              "error=\"%s\"",
              target->pid, path, strerror(-result));
    return EXIT_NOTHING;
}

int dotnet_target_give(const struct dotnet_target *target, const char *path)
{
    if (target->user == geteuid())
        return 0;
    return lchown(path, target->user, target->group) == 0 ? 0 : -errno;
}

void dotnet_target_finish(struct dotnet_target *target)
{
    runtime_dir_remove(target->directory);
    target->directory[0] = '\0';
}
