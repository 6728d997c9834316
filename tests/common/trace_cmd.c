#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>
#include <cmocka.h>

#include "trace_cmd.h"

bool trace_cmd_is_there(void)
{
    return system("command -v trace-cmd >/dev/null 2>&1") == 0;
}

void trace_cmd_run(const char *format, ...)
{
    va_list arguments;
    char command[2048] = "trace-cmd ";
    size_t at = strlen(command);

    va_start(arguments, format);
    at += (size_t)vsnprintf(command + at, sizeof(command) - at, format, arguments);
    va_end(arguments);
    (void)snprintf(command + at, sizeof(command) - at, " >/dev/null 2>&1");
    assert_int_equal(system(command), 0);
}

void trace_cmd_report(struct trace_cmd *report, const char *path)
{
    char command[1024];

    memset(report, 0, sizeof(*report));
    assert_int_equal(regcomp(&report->pattern,
                             "^ *(([a-zA-Z0-9_-]+): +)?.*-([0-9]+) +\\[([0-9]+)\\] +"
                             "([0-9]+)\\.([0-9]{9}): +([^ :]+): *",
                             REG_EXTENDED),
                     0);
    /* -N no plugins, -t nanoseconds, -R fields instead of text */
    (void)snprintf(command, sizeof(command), "trace-cmd report -N -t -R -i '%s' 2>/dev/null", path);
    report->pipe = popen(command, "r");
    assert_non_null(report->pipe);
}

static void copy(char *out, size_t size, const char *text, const regmatch_t *match)
{
    out[0] = '\0';
    if (match->rm_so >= 0)
        (void)snprintf(out, size, "%.*s", (int)(match->rm_eo - match->rm_so), text + match->rm_so);
}

bool trace_cmd_next(struct trace_cmd *report, struct trace_cmd_line *out)
{
    regmatch_t match[8];

    /* Lines without the pattern are continuations of an event's text, or the number of CPUs. */
    do {
        if (getline(&report->text, &report->capacity, report->pipe) < 0)
            return false;
    } while (regexec(&report->pattern, report->text, 8, match, 0) != 0);
    copy(out->stream, sizeof(out->stream), report->text, &match[2]);
    copy(out->name, sizeof(out->name), report->text, &match[7]);
    out->pid = (int32_t)strtol(report->text + match[3].rm_so, NULL, 10);
    out->cpu = (int32_t)strtol(report->text + match[4].rm_so, NULL, 10);
    out->ts_ns = strtoull(report->text + match[5].rm_so, NULL, 10) * 1000000000u +
                 strtoull(report->text + match[6].rm_so, NULL, 10);
    out->fields = report->text + match[0].rm_eo;
    return true;
}

void trace_cmd_finish(struct trace_cmd *report)
{
    assert_int_equal(pclose(report->pipe), 0);
    regfree(&report->pattern);
    free(report->text);
}

/* Reads a whole word; never as octal: trace-cmd pads with zeros. */
static bool read_number(const char *text, int base, uint64_t *out)
{
    char *end;

    *out = *text == '-' ? (uint64_t)strtoll(text, &end, base) : strtoull(text, &end, base);
    return end != text && (*end == '\0' || isspace((unsigned char)*end));
}

enum trace_cmd_answer trace_cmd_check(const char *fields, const char *name, uint64_t value,
                                      uint64_t mask)
{
    size_t length = strlen(name);
    const char *at = fields;
    uint64_t decimal, hexadecimal;
    bool is_decimal;

    while ((at = strstr(at, name)) && !((at == fields || at[-1] == ' ') && at[length] == '='))
        at++;
    if (!at || !read_number(at + length + 1, 16, &hexadecimal))
        return TRACE_CMD_SILENT;
    is_decimal = read_number(at + length + 1, 10, &decimal);
    if ((hexadecimal & mask) == (value & mask) ||
        (is_decimal && (decimal & mask) == (value & mask)))
        return TRACE_CMD_AGREES;
    return TRACE_CMD_DIFFERS;
}
