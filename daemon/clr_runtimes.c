#include "clr_runtimes.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "target_linux.h"

#define RUNTIME_NAME "/libcoreclr.so"

/* A runtime's code is in several mappings of one path. */
static bool next_other(const char **at, const char *first, char *path, size_t size)
{
    while (target_next_code(at, path, size)) {
        const char *name = strrchr(path, '/');

        if (strcmp(name, RUNTIME_NAME) == 0 && (!first || strcmp(path, first) != 0))
            return true;
    }
    return false;
}

bool clr_runtimes_tell(pid_t pid)
{
    char *maps = target_read_maps(pid), first[PATH_MAX], second[PATH_MAX];
    const char *at = maps;
    bool has_other = maps && next_other(&at, NULL, first, sizeof(first)) &&
                     next_other(&at, first, second, sizeof(second));

    free(maps);
    if (has_other)
        log_notice("process %d hosts more than one .NET runtime (%s, %s): the one that started "
                   "first is traced, what runs in the others is not",
                   pid, first, second);
    return has_other;
}
