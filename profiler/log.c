#include "log.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach.h"

static char path[PATH_MAX];

void log_init(void)
{
    const char *named = getenv(TRD_ENV_LOG);

    if (named && strlen(named) < sizeof(path))
        strcpy(path, named);
}

void log_line(const char *format, ...)
{
    char line[512];
    va_list arguments;
    int fd, length;

    if (!*path)
        return;
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    va_start(arguments, format);
    length = vsnprintf(line, sizeof(line) - 1, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof(line) - 1)
        length = sizeof(line) - 2;
    line[length] = '\n';
    (void)!write(fd, line, (size_t)length + 1);
    close(fd);
}
