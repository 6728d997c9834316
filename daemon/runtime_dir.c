#include "runtime_dir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int runtime_dir_create(char *out, const char *base)
{
    if (snprintf(out, RUNTIME_DIR_MAX, "%s/tmp/tracerd-XXXXXX", base) >= RUNTIME_DIR_MAX)
        return -ENAMETOOLONG;
    return mkdtemp(out) ? 0 : -errno;
}

void runtime_dir_remove(const char *path)
{
    (void)rmdir(path);
}
