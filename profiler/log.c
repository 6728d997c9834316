#include "log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "attach.h"

void log_line(const char *format, ...)
{
    const char *path = getenv(TRD_ENV_LOG);
    char line[512];
    va_list arguments;
    int fd, length;

    if (!path || !*path)
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
