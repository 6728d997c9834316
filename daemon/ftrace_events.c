#include "ftrace_events.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "tally.h"

#define NAME_MAX_LENGTH 127 /* longer ones are not compared */
/* Says which thread belongs to which process, where sched_process_fork does not. */
#define NEW_TASK "task:task_newtask"

/* Lines to an array of pointers into the text; the kernel ends each with a newline. */
static int split(struct ftrace_events *out, char *text)
{
    size_t lines = 1;
    char *place = NULL;

    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    out->text = text;
    out->names = malloc(lines * sizeof(*out->names));
    if (!out->names)
        return -ENOMEM;
    for (char *line = strtok_r(text, "\n", &place); line; line = strtok_r(NULL, "\n", &place))
        if (strchr(line, ':'))
            out->names[out->count++] = line;
    return 0;
}

/* Letters to insert, remove or replace to get from one word to the other. */
static size_t distance(const char *a, const char *b)
{
    size_t length = strlen(b);
    size_t row[NAME_MAX_LENGTH + 1];

    for (size_t i = 0; i <= length; i++)
        row[i] = i;
    for (; *a; a++) {
        size_t corner = row[0]++;

        for (size_t i = 0; i < length; i++) {
            size_t best = corner + (*a != b[i]);

            corner = row[i + 1];
            best = row[i] + 1 < best ? row[i] + 1 : best;
            row[i + 1] = corner + 1 < best ? corner + 1 : best;
        }
    }
    return row[length];
}

/* Told in full, or by a system alone that has one letter wrong. */
const char *ftrace_events_nearest(const char *const *offered, size_t count, const char *wanted)
{
    size_t length = strlen(wanted);
    size_t best = length / 4 + 1;
    const char *found = NULL;

    if (length > NAME_MAX_LENGTH)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t away =
            strlen(offered[i]) > NAME_MAX_LENGTH ? SIZE_MAX : distance(wanted, offered[i]);

        if (away < best) {
            best = away;
            found = offered[i];
        }
    }
    return found;
}

/* sched_switch in a system of another name, or a part of the event's name. */
static const char *by_event(const struct ftrace_events *offered, const char *event)
{
    const char *found = NULL;

    for (size_t i = 0; i < offered->count && *event; i++) {
        const char *name = strchr(offered->names[i], ':') + 1;

        if (strcmp(name, event) == 0)
            return offered->names[i];
        if (!found && strstr(name, event))
            found = offered->names[i];
    }
    return found;
}

static int tell_unmatched(const struct ftrace_events *offered, const char *glob)
{
    const char *meant = by_event(offered, strchr(glob, ':') + 1);

    if (!meant)
        meant = ftrace_events_nearest(offered->names, offered->count, glob);
    if (meant)
        log_error("--event: this kernel has no event \"%s\"; is \"%s\" meant?", glob, meant);
    else
        log_error("--event: this kernel has no event \"%s\"; "
                  "/sys/kernel/tracing/available_events lists them",
                  glob);
    return EXIT_USAGE;
}

static int check_globs(const struct ftrace_events *offered, const struct options *options)
{
    for (size_t i = 0; i < options->event_count; i++) {
        const char *glob = options->events[i];
        size_t matched = 0;

        /* Events of ftrace itself come with what causes them; they are not offered. */
        if (strncmp(glob, "ftrace:", 7) == 0)
            continue;
        for (size_t j = 0; j < offered->count && matched == 0; j++)
            matched += fnmatch(glob, offered->names[j], 0) == 0;
        if (matched == 0)
            return tell_unmatched(offered, glob);
    }
    return 0;
}

int ftrace_events_choose(struct ftrace_events *out, const struct options *options, char *available)
{
    size_t chosen = 0;
    int result;

    *out = (struct ftrace_events){ 0 };
    result = split(out, available);
    if (result == 0)
        result = check_globs(out, options);
    if (result != 0) {
        ftrace_events_finish(out);
        return result;
    }
    for (size_t i = 0; i < out->count; i++)
        if (tally_matches_events(options, out->names[i]) || strcmp(out->names[i], NEW_TASK) == 0)
            out->names[chosen++] = out->names[i];
    out->count = chosen;
    return 0;
}

void ftrace_events_finish(struct ftrace_events *events)
{
    free(events->names);
    free(events->text);
    *events = (struct ftrace_events){ 0 };
}
