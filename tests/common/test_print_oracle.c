/*
 * trd_event_print against the kernel: all events on in an own instance, a mixed load, then the same
 * ring read twice, as `trace` text and as raw pages. Per CPU both are in the same order, so line
 * and record go hand in hand. Every difference needs a reason out of the list below.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel_catalog.h"
#include "print.h"
#include "tracefs_instance.h"
#include "tracerd/page.h"

#define TEXT_MAX 65536
#define EVENTS_MIN 10000
#define SHOWN_MAX 20

enum reason {
    REASON_NONE,
    REASON_OWN_FUNCTION, /* system calls: the same numbers in a form of the kernel's own */
    REASON_KERNEL_ONLY,  /* print_error says so; the text around it is the same */
    REASON_KERNEL_TEXT,  /* `%s` of a pointer whose text lies in kernel memory */
    REASON_COUNT,
};

static const char *const reason_texts[REASON_COUNT] = {
    [REASON_NONE] = "without a reason",
    [REASON_OWN_FUNCTION] =
        "system calls: same numbers, but `sys_read(fd: 3, ...)` instead of the print format",
    [REASON_KERNEL_ONLY] = "same around a part only the kernel knows, named in print_error",
    [REASON_KERNEL_TEXT] = "text in kernel memory, only its address is recorded",
};

struct oracle {
    struct trd_catalog *catalog;
    uint64_t equal;
    uint64_t different[REASON_COUNT];
    uint8_t *kinds; /* by event id: bit 0 seen, bit 1 differs without reason */
    unsigned shown;
};

static bool is_kernel_text(const struct node *node)
{
    while (node->kind == NODE_CAST)
        node = node->operand.a;
    return node->kind == NODE_INT;
}

static enum reason reason_of(const struct trd_schema *schema)
{
    const struct trd_print_format *format = schema->print_format;

    if (strcmp(schema->system, "syscalls") == 0)
        return REASON_OWN_FUNCTION;
    if (schema->print_error)
        return REASON_KERNEL_ONLY;
    for (size_t i = 0; i < format->count; i++)
        if (format->pieces[i].conversion == 's' && is_kernel_text(format->pieces[i].argument))
            return REASON_KERNEL_TEXT;
    return REASON_NONE;
}

/* Ours with `<known to the kernel only>` or a call in place of what the kernel looked up. */
static bool matches_around_gaps(const char *ours, const char *line)
{
    static const char gap[] = "<known to the kernel only>";
    size_t line_size = strcspn(line, "\n");
    const char *end = line + line_size;

    for (;;) {
        const char *next = strstr(ours, gap);
        size_t size = next ? (size_t)(next - ours) : strlen(ours);

        if ((size_t)(end - line) < size || memcmp(line, ours, size) != 0)
            return false;
        if (!next)
            return line + size == end;
        line += size;
        ours = next + sizeof(gap) - 1;
        line += *ours ? strcspn(line, " ,:;)") : (size_t)(end - line);
    }
}

/* The next number behind `: ` or `-> `; NULL at the end of the line. */
static const char *next_number(const char *at, unsigned long long *out)
{
    for (; *at && *at != '\n'; at++)
        if ((at[0] == ':' || at[0] == '>') && at[1] == ' ' && at[2] &&
            strchr("0123456789abcdef", at[2])) {
            char *end;

            *out = strtoull(at + 2, &end, 16);
            if (strchr(" ,)\n", *end)) /* else the name of an argument */
                return end;
        }
    return NULL;
}

/* System calls: the kernel writes the same numbers as `sys_read(fd: 3, …)`, `sys_read -> 0x1`. */
static bool same_numbers(const char *ours, const char *line)
{
    unsigned long long a, b;

    for (;;) {
        ours = next_number(ours, &a);
        line = next_number(line, &b);
        if (!ours || !line)
            return !ours && !line;
        if (a != b)
            return false;
    }
}

static enum reason reason_for(const struct trd_schema *schema, const char *ours, const char *line)
{
    enum reason reason = reason_of(schema);

    if (reason == REASON_KERNEL_ONLY && !matches_around_gaps(ours, line))
        return REASON_NONE;
    if (reason == REASON_OWN_FUNCTION && !same_numbers(ours, line))
        return REASON_NONE;
    return reason;
}

static void note_difference(struct oracle *oracle, const struct trd_schema *schema,
                            const char *ours, const char *line)
{
    enum reason reason = reason_for(schema, ours, line);

    oracle->different[reason]++;
    if (reason != REASON_NONE || oracle->kinds[schema->id] & 2)
        return;
    oracle->kinds[schema->id] |= 2;
    if (oracle->shown++ >= SHOWN_MAX)
        return;
    printf("%s\n  kernel: %.*s\n  ours:   %s\n", schema->full_name, (int)strcspn(line, "\n"), line,
           ours);
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return line + (*line == '\n');
}

/* Compares one event with the text at *line and moves that behind it. */
static void compare(struct oracle *oracle, const struct trd_page_event *event, const char **line)
{
    static char ours[TEXT_MAX];
    struct trd_record record;
    size_t name_size, size;

    trd_record_init(&record);
    if (!trd_page_event_record(oracle->catalog, event, &record)) {
        printf("an event without a format\n");
        oracle->different[REASON_NONE]++;
        return;
    }
    if (strncmp(*line, "CPU:", 4) == 0) /* where events were lost */
        *line = next_line(*line);
    oracle->kinds[record.schema->id] |= 1;
    /* ftrace's own events stand without their name. */
    name_size = strcmp(record.schema->system, "ftrace") == 0
                    ? 0
                    : (size_t)snprintf(ours, sizeof(ours), "%s: ", record.schema->name);
    size = name_size + trd_event_print(oracle->catalog, record.schema, record.data, record.size,
                                       ours + name_size, sizeof(ours) - name_size);
    if (size < sizeof(ours) && strncmp(*line, ours, size) == 0 && (*line)[size] == '\n') {
        oracle->equal++;
        *line += size + 1;
        return;
    }
    note_difference(oracle, record.schema, ours, *line);
    *line = next_line(*line);
}

static bool compare_cpu(struct oracle *oracle, const struct tracefs_instance *instance, int cpu,
                        size_t page_size)
{
    char file[64];
    size_t size = 0;
    char *text, *pages;
    const char *line;

    (void)snprintf(file, sizeof(file), "per_cpu/cpu%d/trace", cpu);
    text = tracefs_read(instance, file, NULL);
    (void)snprintf(file, sizeof(file), "per_cpu/cpu%d/trace_pipe_raw", cpu);
    pages = tracefs_read(instance, file, &size);
    line = text;
    while (line && (strncmp(line, "# tracer", 8) == 0 || strncmp(line, "#\n", 2) == 0))
        line = next_line(line);
    for (size_t at = 0; text && pages && at + page_size <= size; at += page_size) {
        struct trd_page page;
        struct trd_page_event event;

        if (trd_page_init(&page, (const uint8_t *)pages + at, page_size,
                          trd_catalog_get_layout(oracle->catalog)) != 0)
            continue;
        while (trd_page_next(&page, &event) == 1)
            compare(oracle, &event, &line);
    }
    if (line && *line) {
        printf("cpu %d: text without a record: %.80s\n", cpu, line);
        oracle->different[REASON_NONE]++;
    }
    free(text);
    free(pages);
    return line != NULL;
}

/* Files, processes, sockets, timers, signals, memory: whatever a shell reaches in a second. */
static void make_load(void)
{
    static const char *const commands[] = {
        "ls -lR /usr/share/doc 2>/dev/null | sort | gzip | wc -c",
        "for i in 1 2 3 4 5 6 7 8 9 10; do sh -c 'sleep 0.02 & kill $!; wait'; done",
        "dd if=/dev/zero of=$T/load bs=64k count=64 conv=fsync; cat $T/load | md5sum; rm $T/load",
        "bash -c 'exec 3<>/dev/tcp/127.0.0.1/1'", /* refused, after its way through the stack */
        "timeout 0.2 cat /dev/urandom | head -c 2000000 | md5sum",
        "mkdir -p $T/a/b; touch $T/a/b/c; chmod 700 $T/a; mv $T/a $T/z; ln -s z $T/l; rm -r $T/z",
    };
    char command[1024];

    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        (void)snprintf(command, sizeof(command),
                       "T=$(mktemp -d); { %s; } >/dev/null 2>&1; rm -rf $T", commands[i]);
        if (system(command) != 0)
            continue; /* its exit code says nothing about the events it made */
    }
}

static int prepare(const struct tracefs_instance *instance)
{
    /* Without hashing of %p, and with events only: no task, no time, no flags in front. */
    int result = tracefs_write(instance, "tracing_on", "0");

    (void)tracefs_write(instance, "options/hash-ptr", "0");
    if (result == 0)
        result = tracefs_write(instance, "options/context-info", "0");
    if (result == 0)
        result = tracefs_write(instance, "options/overwrite", "0");
    if (result == 0)
        result = tracefs_write(instance, "buffer_size_kb", "8192");
    if (result == 0)
        result = tracefs_write(instance, "events/enable", "1");
    return result;
}

static int report(const struct oracle *oracle)
{
    unsigned kinds = 0;

    for (size_t id = 0; id < 65536; id++)
        kinds += oracle->kinds[id] & 1;
    printf("%llu events of %u kinds as the kernel prints them\n", (unsigned long long)oracle->equal,
           kinds);
    for (int reason = 0; reason < REASON_COUNT; reason++)
        printf("%8llu differ: %s\n", (unsigned long long)oracle->different[reason],
               reason_texts[reason]);
    if (oracle->equal < EVENTS_MIN)
        printf("too few events to say anything\n");
    return oracle->equal >= EVENTS_MIN && oracle->different[REASON_NONE] == 0 ? 0 : 1;
}

int main(void)
{
    struct tracefs_instance instance;
    struct oracle oracle = { 0 };
    size_t size = 0;
    char *header;
    int result = 1;

    if (!tracefs_instance_init(&instance, "oracle"))
        return tracefs_skip_code();
    oracle.kinds = calloc(65536, 1);
    oracle.catalog = kernel_catalog_create();
    header = tracefs_read(&instance, "events/header_page", &size);
    if (oracle.kinds && oracle.catalog && header && prepare(&instance) == 0 &&
        trd_catalog_set_header_page(oracle.catalog, header, size) == 0) {
        (void)tracefs_write(&instance, "tracing_on", "1");
        (void)tracefs_write(&instance, "events/timer/timer_start/trigger", "stacktrace:20");
        (void)tracefs_write(&instance, "trace_marker", "a marker with a newline\n");
        (void)tracefs_write(&instance, "trace_marker", "and one without: 100%");
        (void)tracefs_write(&instance, "trace_marker_raw", "\1\2\3\4raw bytes");
        make_load();
        (void)tracefs_write(&instance, "events/timer/timer_start/trigger", "!stacktrace");
        (void)tracefs_write(&instance, "tracing_on", "0");
        (void)tracefs_write(&instance, "events/enable", "0");
        for (int cpu = 0; cpu < (int)sysconf(_SC_NPROCESSORS_CONF); cpu++)
            (void)compare_cpu(&oracle, &instance, cpu, 4096);
        result = report(&oracle);
    } else {
        printf("cannot set up the instance\n");
    }
    tracefs_instance_finish(&instance);
    trd_catalog_destroy(oracle.catalog);
    free(oracle.kinds);
    free(header);
    return result;
}
