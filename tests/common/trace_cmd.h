/*
 * trace-cmd as a witness: what `trace-cmd report` prints for a file, line by line, taken apart; and
 * the pieces of a live recording that are made with it.
 */
#ifndef TRD_TESTS_TRACE_CMD_H
#define TRD_TESTS_TRACE_CMD_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct trace_cmd_line {
    uint64_t ts_ns;
    int32_t cpu;
    int32_t pid;
    char name[64];
    char stream[32];    /* instance, "" for the top one */
    const char *fields; /* `name=value …`, until the next line */
};

struct trace_cmd {
    FILE *pipe;
    regex_t pattern;
    char *text; /* owned */
    size_t capacity;
};

bool trace_cmd_is_there(void);
/* Runs it and fails the test if it fails; arguments as for printf. */
void trace_cmd_run(const char *format, ...) __attribute__((format(printf, 1, 2)));

void trace_cmd_report(struct trace_cmd *report, const char *path);
/* The next event; false at the end. */
bool trace_cmd_next(struct trace_cmd *report, struct trace_cmd_line *out);
void trace_cmd_finish(struct trace_cmd *report);
enum trace_cmd_answer {
    TRACE_CMD_SILENT, /* no such field, or it is printed as something else */
    TRACE_CMD_AGREES,
    TRACE_CMD_DIFFERS
};

/*
 * Whether `name=` is followed by this value. Numbers come as decimal, as 0x…, or, where the print
 * format says %x, as hexadecimal without a sign of it: either reading may agree.
 */
enum trace_cmd_answer trace_cmd_check(const char *fields, const char *name, uint64_t value,
                                      uint64_t mask);

#endif
