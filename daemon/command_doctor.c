/*
 * `tracerd doctor`: what works here, step by step. Standard output gets the report, as text or as
 * one JSON object; the exit code says whether what is needed is there.
 */
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "doctor.h"
#include "log.h"

#define STEPS_MAX 64

struct report {
    const struct doctor_step *steps[STEPS_MAX];
    struct doctor_finding findings[STEPS_MAX];
    size_t count;
    size_t first; /* failing one that is needed; count = none */
};

static const char *const verdicts[] = {
    [DOCTOR_NONE] = "-", [DOCTOR_OK] = "ok", [DOCTOR_NO] = "no"
};

/* Paths and variables of others end up on a terminal and in JSON. */
static void make_printable(char *text)
{
    json_t *probe = json_string(text);

    for (char *at = text; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f || (!probe && (*at & 0x80)))
            *at = '?';
    json_decref(probe);
}

static void say(struct doctor_finding *out, enum doctor_verdict verdict, const char *format,
                va_list arguments)
{
    out->verdict = verdict;
    (void)vsnprintf(out->found, sizeof(out->found), format, arguments);
    make_printable(out->found);
}

void doctor_ok(struct doctor_finding *out, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(out, DOCTOR_OK, format, arguments);
    va_end(arguments);
}

void doctor_no(struct doctor_finding *out, const char *advice, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(out, DOCTOR_NO, format, arguments);
    va_end(arguments);
    (void)snprintf(out->advice, sizeof(out->advice), "%s", advice);
    make_printable(out->advice);
}

void doctor_none(struct doctor_finding *out, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(out, DOCTOR_NONE, format, arguments);
    va_end(arguments);
}

static void take(struct report *report, struct doctor *doctor, const struct doctor_step *steps)
{
    for (; steps->name && report->count < STEPS_MAX; steps++) {
        struct doctor_finding *finding = &report->findings[report->count];

        report->steps[report->count++] = steps;
        steps->look(doctor, finding);
    }
}

static void find_first(struct report *report)
{
    report->first = 0;
    while (report->first < report->count &&
           !(report->findings[report->first].verdict == DOCTOR_NO &&
             report->steps[report->first]->is_needed))
        report->first++;
}

static void examine(struct report *report, struct doctor *doctor)
{
    const struct options *options = doctor->options;

    if (!options->no_kernel)
        take(report, doctor, doctor_kernel_steps);
    if (!options->no_clr)
        take(report, doctor, doctor_library_steps);
    if (options->pid > 0)
        take(report, doctor, doctor_process_steps);
    if (options->pid > 0 && !options->no_clr)
        take(report, doctor, doctor_dotnet_steps);
    find_first(report);
}

static void print_text(const struct report *report)
{
    const char *group = "";

    for (size_t i = 0; i < report->count; i++) {
        const struct doctor_finding *finding = &report->findings[i];

        if (report->steps[i]->group != group)
            printf("%s%s\n", *group ? "\n" : "", report->steps[i]->group);
        group = report->steps[i]->group;
        printf("  %-3s %-20s %s\n", verdicts[finding->verdict], report->steps[i]->name,
               finding->found);
        if (finding->verdict == DOCTOR_NO && !report->steps[i]->is_needed)
            printf("  %-3s %-20s goes without; to have it: %s\n", "", "", finding->advice);
    }
    if (report->first == report->count) {
        printf("\nEverything that is needed is there.\n");
        return;
    }
    printf("\nFirst missing: %s: %s\nWhat to do: %s\n", report->steps[report->first]->name,
           report->findings[report->first].found, report->findings[report->first].advice);
}

static json_t *step_object(const struct doctor_step *step, const struct doctor_finding *finding)
{
    json_t *object = json_pack("{s:s, s:s, s:s, s:b, s:s}", "group", step->group, "name",
                               step->name, "verdict", verdicts[finding->verdict], "needed",
                               (int)step->is_needed, "found", finding->found);

    if (object && finding->verdict == DOCTOR_NO)
        (void)json_object_set_new(object, "advice", json_string(finding->advice));
    return object;
}

static int print_json(const struct report *report, const struct options *options)
{
    json_t *steps = json_array();
    json_t *root = json_pack("{s:s, s:i, s:b, s:o}", "doctor", TRACERD_VERSION, "v", 1, "ok",
                             (int)(report->first == report->count), "steps", steps);
    int result = 0;

    for (size_t i = 0; i < report->count; i++)
        result |= json_array_append_new(steps, step_object(report->steps[i], &report->findings[i]));
    if (options->pid > 0)
        result |= json_object_set_new(root, "pid", json_integer(options->pid));
    result |= json_object_set_new(root, "first",
                                  report->first == report->count
                                      ? json_null()
                                      : json_string(report->steps[report->first]->name));
    if (!root || result != 0 || json_dumpf(root, stdout, JSON_COMPACT) != 0) {
        log_error("cannot print the report");
        json_decref(root);
        return EXIT_NOTHING;
    }
    putchar('\n');
    json_decref(root);
    return 0;
}

int command_doctor(const struct options *options)
{
    struct doctor doctor = { .options = options };
    struct report report = { .count = 0 };
    int result = 0;

    examine(&report, &doctor);
    tracefs_remove(&doctor.instance);
    elf_close(&doctor.profiler);
    if (options->json)
        result = print_json(&report, options);
    else
        print_text(&report);
    if (result == 0 && report.first < report.count)
        result = EXIT_NOTHING;
    return fflush(stdout) == 0 ? result : EXIT_NOTHING;
}
