#include "log.h"

#include <stdarg.h>
#include <stdio.h>

static int is_quiet, is_verbose;

void log_init(int quiet, int verbose)
{
    is_quiet = quiet;
    is_verbose = verbose;
}

static void write_line(const char *format, va_list arguments)
{
    char line[1024];

    (void)vsnprintf(line, sizeof(line), format, arguments);
    fprintf(stderr, "tracerd: %s\n", line);
}

void log_error(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    write_line(format, arguments);
    va_end(arguments);
}

void log_notice(const char *format, ...)
{
    va_list arguments;

    if (is_quiet)
        return;
    va_start(arguments, format);
    write_line(format, arguments);
    va_end(arguments);
}

void log_verbose(const char *format, ...)
{
    va_list arguments;

    if (is_quiet || !is_verbose)
        return;
    va_start(arguments, format);
    write_line(format, arguments);
    va_end(arguments);
}
