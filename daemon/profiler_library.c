#include "profiler_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log.h"

static int program_directory(char *out, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", out, size - 1);
    char *slash;

    if (length <= 0)
        return -ENOENT;
    out[length] = '\0';
    slash = strrchr(out, '/');
    if (!slash)
        return -ENOENT;
    *slash = '\0';
    return 0;
}

int profiler_library_locate(char *out, size_t size)
{
    static const char *const places[] = { "%s/" PROFILER_LIBRARY_NAME,
                                          "%s/../lib/" PROFILER_LIBRARY_NAME,
                                          "%s/../" TRACERD_LIBDIR
                                          "/tracerd/" PROFILER_LIBRARY_NAME };
    const char *named = getenv("TRACERD_PROFILER");
    char directory[PATH_MAX], path[PATH_MAX + 64], *resolved;

    if (named && *named) {
        (void)snprintf(out, size, "%s", named);
        return 0; /* whatever is wrong with it, the check will say */
    }
    if (program_directory(directory, sizeof(directory)) == 0)
        for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
            (void)snprintf(path, sizeof(path), places[i], directory);
            resolved = realpath(path, NULL);
            if (!resolved)
                continue;
            (void)snprintf(out, size, "%s", resolved);
            free(resolved);
            return 0;
        }
    return -ENOENT;
}

int profiler_library_find(char *out, size_t size)
{
    if (profiler_library_locate(out, size) == 0)
        return 0;
    log_error("cannot find " PROFILER_LIBRARY_NAME
              ": it belongs beside the program or in the library directory; TRACERD_PROFILER names "
              "another place");
    return -ENOENT;
}

/* In the child: the reason goes up the pipe. */
static void try_to_load(const char *path, int fd)
{
    void *library = dlopen(path, RTLD_LAZY);
    const char *reason = NULL;

    if (!library)
        reason = dlerror();
    else if (!dlsym(library, "DllGetClassObject"))
        reason = "it has no DllGetClassObject";
    if (reason)
        (void)!write(fd, reason, strlen(reason));
    _exit(reason ? 1 : 0);
}

int profiler_library_try(const char *path, char *reason, size_t size)
{
    int pipes[2], status = 0;
    pid_t child;
    ssize_t got;

    reason[0] = '\0';
    if (pipe(pipes) != 0)
        return 0;
    child = fork();
    if (child == 0)
        try_to_load(path, pipes[1]);
    close(pipes[1]);
    got = child > 0 ? read(pipes[0], reason, size - 1) : 0;
    close(pipes[0]);
    if (child < 0 || waitpid(child, &status, 0) != child ||
        (WIFEXITED(status) && !WEXITSTATUS(status)))
        return 0;
    if (got > 0)
        reason[got] = '\0';
    else
        (void)snprintf(reason, size, "loading it ended the process that tried");
    return -ENOEXEC;
}

int profiler_library_check(const char *path)
{
    char reason[512];
    int result = profiler_library_try(path, reason, sizeof(reason));

    if (result != 0)
        log_error("the profiler library cannot be loaded: path=%s, reason=\"%s\"", path, reason);
    return result;
}

/* libtracerd_profiler.so, libtracerd_profiler-0123456789abcdef.so; once removed, "… (deleted)". */
bool profiler_library_is_ours(const char *path)
{
    const char *name = strrchr(path, '/');

    name = name ? name + 1 : path;
    if (strncmp(name, PROFILER_LIBRARY_STEM, sizeof(PROFILER_LIBRARY_STEM) - 1) != 0)
        return false;
    name += sizeof(PROFILER_LIBRARY_STEM) - 1;
    if (*name == '-')
        name += 1 + strspn(name + 1, "0123456789abcdef");
    return strcmp(name, ".so") == 0 || strcmp(name, ".so (deleted)") == 0;
}
