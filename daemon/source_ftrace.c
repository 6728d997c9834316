/*
 * The live kernel. An instance of our own on the CLOCK_MONOTONIC clock; the events of the options;
 * the kernel's own pid filter with event-fork, which also keeps what concerns the target from
 * outside: sched_waking and sched_switch are kept when either side is a listed task, so wakers are
 * seen, and interrupts are kept while a listed task is the one they interrupt.
 */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ftrace_cpu.h"
#include "log.h"
#include "sources.h"
#include "stream_lines.h"
#include "tally.h"
#include "target_linux.h"

#define CPUS_MAX 4096
#define READ_INTERVAL_MS 5
#define BUFFER_DEFAULT_KB 4096
#define SUB_BUFFER_KB 64

struct ftrace_source {
    struct source source;
    struct pipeline *pipeline;
    struct tracefs_instance instance;
    struct trd_catalog *catalog; /* owned */
    struct ftrace_cpu *cpus;     /* owned; cpu_count of them */
    size_t cpu_count;
    size_t dry; /* inputs that have ended */
    const struct trd_schema *fork_schema;
    const struct trd_field *fork_child;
    uint32_t page_size;
    uv_timer_t timer;
    bool stopped;
    struct ledger ledger;
};

/* Set-up */

static int tell_failure(const char *step, int error)
{
    if (error == -EACCES || error == -EPERM)
        log_error("kernel events are not permitted (%s): run as root, or give CAP_SYS_ADMIN and "
                  "CAP_DAC_OVERRIDE, or use --no-kernel",
                  step);
    else if (error == -ENOENT)
        log_error("this kernel offers no tracefs (%s): use --no-kernel", step);
    else
        log_error("cannot set up kernel events: step=\"%s\", error=\"%s\"", step, strerror(-error));
    return EXIT_NOTHING;
}

static int add_file(struct ftrace_source *ftrace, const char *name,
                    int (*add)(struct trd_catalog *catalog, const char *text, size_t size))
{
    size_t size;
    char *text = tracefs_read(&ftrace->instance, name, &size);
    int result = text ? add(ftrace->catalog, text, size) : -errno;

    free(text);
    return result;
}

/* Calls `each` for every event the kernel offers; stops at its first non-zero answer. */
static int each_event(struct ftrace_source *ftrace,
                      int (*each)(struct ftrace_source *ftrace, const char *system,
                                  const char *event, void *context),
                      void *context)
{
    size_t size;
    char *text = tracefs_read_root(&ftrace->instance, "available_events", &size);
    char *place = NULL;
    int result = text ? 0 : -errno;

    for (char *line = text ? strtok_r(text, "\n", &place) : NULL; line && result == 0;
         line = strtok_r(NULL, "\n", &place)) {
        char *colon = strchr(line, ':');

        if (!colon)
            continue;
        *colon = '\0';
        result = each(ftrace, line, colon + 1, context);
    }
    free(text);
    return result;
}

static int add_format(struct ftrace_source *ftrace, const char *system, const char *event)
{
    char name[192];
    size_t size;
    char *text;

    (void)snprintf(name, sizeof(name), "events/%.80s/%.80s/format", system, event);
    text = tracefs_read(&ftrace->instance, name, &size);
    if (text)
        (void)trd_catalog_add_format(ftrace->catalog, system, text, size);
    free(text);
    return 0;
}

struct selection {
    const struct options *options;
    size_t matched[OPTIONS_LIST_MAX];
    size_t enabled;
};

static int enable(struct ftrace_source *ftrace, const char *system, const char *event)
{
    char name[192];

    (void)snprintf(name, sizeof(name), "events/%.80s/%.80s/enable", system, event);
    return tracefs_write(&ftrace->instance, name, "1");
}

static int select_event(struct ftrace_source *ftrace, const char *system, const char *event,
                        void *context)
{
    struct selection *selection = context;
    char full[192];

    (void)snprintf(full, sizeof(full), "%.80s:%.80s", system, event);
    for (size_t i = 0; i < selection->options->event_count; i++)
        selection->matched[i] += fnmatch(selection->options->events[i], full, 0) == 0;
    if (!tally_matches_events(selection->options, full))
        return 0;
    (void)add_format(ftrace, system, event);
    selection->enabled += enable(ftrace, system, event) == 0;
    return 0;
}

/* Events of the ftrace system are not switched, they come with what causes them (trace_marker). */
static void add_ftrace_formats(struct ftrace_source *ftrace)
{
    static const char *const events[] = { "print",    "bprint",       "bputs",
                                          "raw_data", "kernel_stack", "user_stack" };

    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        (void)add_format(ftrace, "ftrace", events[i]);
}

struct suggestion {
    const char *wanted; /* the part behind the colon */
    char found[192];
};

static int suggest(struct ftrace_source *ftrace, const char *system, const char *event,
                   void *context)
{
    struct suggestion *suggestion = context;

    (void)ftrace;
    if (strcmp(event, suggestion->wanted) != 0 && !strstr(event, suggestion->wanted))
        return 0;
    (void)snprintf(suggestion->found, sizeof(suggestion->found), "%.80s:%.80s", system, event);
    return 1;
}

static int tell_unmatched(struct ftrace_source *ftrace, const char *glob)
{
    struct suggestion suggestion = { .wanted = strchr(glob, ':') + 1 };

    (void)each_event(ftrace, suggest, &suggestion);
    if (suggestion.found[0] && suggestion.wanted[0])
        log_error("--event: this kernel has no event \"%s\"; is \"%s\" meant?", glob,
                  suggestion.found);
    else
        log_error("--event: this kernel has no event \"%s\"; %s/available_events lists them", glob,
                  ftrace->instance.root);
    return EXIT_USAGE;
}

static int select_events(struct ftrace_source *ftrace, const struct options *options)
{
    struct selection selection = { .options = options };
    int result;

    add_ftrace_formats(ftrace);
    result = each_event(ftrace, select_event, &selection);
    if (result != 0)
        return tell_failure("available_events", result);
    for (size_t i = 0; i < options->event_count; i++)
        if (selection.matched[i] == 0 && strncmp(options->events[i], "ftrace:", 7) != 0)
            return tell_unmatched(ftrace, options->events[i]);
    return 0;
}

static int limit_to(struct ftrace_source *ftrace, pid_t pid)
{
    size_t count = 0;
    pid_t *tids = target_threads(pid, &count);
    char text[32];
    int result = 0;

    for (size_t i = 0; i < count; i++) {
        int written;

        (void)snprintf(text, sizeof(text), "%d ", tids[i]);
        written = tracefs_append(&ftrace->instance, "set_event_pid", text);
        /* A thread that ended meanwhile needs no filter. */
        if (written != 0 && written != -ESRCH)
            result = written;
        (void)trd_enrich_set_thread(pipeline_enrich(ftrace->pipeline), tids[i], pid);
    }
    free(tids);
    return result;
}

/* Threads may be made while they are listed: again, until a listing finds no new one. */
static int follow(struct ftrace_source *ftrace, pid_t pid)
{
    size_t before = 0, now = 0;
    int result = 0;

    do {
        before = now;
        result = limit_to(ftrace, pid);
        free(target_threads(pid, &now));
    } while (result == 0 && now != before);
    return result;
}

int source_ftrace_follow(struct source *source, pid_t pid)
{
    return follow((struct ftrace_source *)source, pid);
}

static void set_sizes(struct ftrace_source *ftrace, const struct options *options)
{
    uint64_t kb = options->kernel_buffer_bytes ? (options->kernel_buffer_bytes + 1023) / 1024
                                               : BUFFER_DEFAULT_KB;
    char text[32];

    ftrace->page_size = SUB_BUFFER_KB * 1024;
    /* Kernels before 6.8 know one size only, that of a page. */
    (void)snprintf(text, sizeof(text), "%d", SUB_BUFFER_KB);
    if (tracefs_write(&ftrace->instance, "buffer_subbuf_size_kb", text) != 0) {
        ftrace->page_size = (uint32_t)sysconf(_SC_PAGESIZE);
        log_verbose("this kernel has sub-buffers of one page only");
    }
    (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)kb);
    if (tracefs_write(&ftrace->instance, "buffer_size_kb", text) != 0)
        log_notice("the kernel did not grant a ring buffer of %s KiB per CPU; its default is used",
                   text);
}

static int configure(struct ftrace_source *ftrace, const struct options *options, const pid_t *pids,
                     size_t pid_count)
{
    int result = tracefs_write(&ftrace->instance, "tracing_on", "0");

    if (result == 0)
        result = tracefs_write(&ftrace->instance, "trace_clock", "mono");
    if (result != 0)
        return tell_failure("trace_clock", result);
    set_sizes(ftrace, options);
    result = add_file(ftrace, "events/header_page", trd_catalog_set_header_page);
    if (result != 0)
        return tell_failure("events/header_page", result);
    (void)tracefs_write(&ftrace->instance, "options/event-fork", pid_count > 0 ? "1" : "0");
    for (size_t i = 0; i < pid_count && result == 0; i++)
        result = follow(ftrace, pids[i]);
    if (result != 0)
        return tell_failure("set_event_pid", result);
    return select_events(ftrace, options);
}

/* Records */

/* A new thread belongs to the process that /proc says, as long as it lives. */
static void on_event(struct ftrace_cpu *cpu, const struct trd_record *record)
{
    struct ftrace_source *ftrace = cpu->context;
    char path[64], line[128];
    int32_t child;
    FILE *file;
    int tgid;

    if (record->schema != ftrace->fork_schema || !ftrace->fork_child ||
        ftrace->fork_child->offset + 4u > record->size)
        return;
    memcpy(&child, record->data + ftrace->fork_child->offset, sizeof(child));
    (void)snprintf(path, sizeof(path), "/proc/%d/status", child);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "Tgid: %d", &tgid) == 1) {
            (void)trd_enrich_set_thread(pipeline_enrich(ftrace->pipeline), child, tgid);
            break;
        }
    if (file)
        fclose(file);
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct ftrace_source *ftrace = handle->data;

    pipeline_source_ended(ftrace->pipeline, &ftrace->source);
}

static void on_dry(struct ftrace_cpu *cpu)
{
    struct ftrace_source *ftrace = cpu->context;

    if (++ftrace->dry == ftrace->cpu_count)
        uv_close((uv_handle_t *)&ftrace->timer, on_timer_closed);
}

static void on_read(uv_timer_t *timer)
{
    struct ftrace_source *ftrace = timer->data;

    for (size_t i = 0; i < ftrace->cpu_count; i++)
        ftrace_cpu_read(&ftrace->cpus[i]);
    pipeline_pump(ftrace->pipeline);
}

static int open_cpus(struct ftrace_source *ftrace)
{
    long possible = sysconf(_SC_NPROCESSORS_CONF);
    int result = -ENODEV;

    ftrace->cpus = calloc(CPUS_MAX, sizeof(*ftrace->cpus));
    if (!ftrace->cpus)
        return -ENOMEM;
    for (long i = 0; i < possible && i < CPUS_MAX; i++) {
        struct ftrace_cpu *cpu = &ftrace->cpus[ftrace->cpu_count];

        *cpu = (struct ftrace_cpu){ .instance = &ftrace->instance,
                                    .catalog = ftrace->catalog,
                                    .on_event = on_event,
                                    .on_dry = on_dry,
                                    .context = ftrace,
                                    .cpu = (int32_t)i,
                                    .page_size = ftrace->page_size };
        result = ftrace_cpu_open(cpu);
        if (result == 0)
            ftrace->cpu_count++;
        else if (result != -ENOENT) /* a CPU that was never there */
            return result;
    }
    return ftrace->cpu_count > 0 ? 0 : result;
}

/* End */

static void stop(struct source *source)
{
    struct ftrace_source *ftrace = (struct ftrace_source *)source;
    uint64_t lost = 0;

    (void)tracefs_write(&ftrace->instance, "tracing_on", "0");
    ftrace->stopped = true;
    uv_timer_stop(&ftrace->timer);
    for (size_t i = 0; i < ftrace->cpu_count; i++) {
        struct ftrace_cpu *cpu = &ftrace->cpus[i];
        size_t before;

        /* All that is left, whatever waits already: nothing more is written now. */
        do {
            before = cpu->queued_bytes;
            ftrace_cpu_read(cpu);
            pipeline_pump(ftrace->pipeline);
        } while (cpu->queued_bytes != before);
        lost += ftrace_cpu_stat_lost(cpu);
        cpu->closing = true;
        cpu->input.watermark_ns = UINT64_MAX;
    }
    ftrace->ledger.lost = lost;
    pipeline_pump(ftrace->pipeline);
}

static void account(struct source *source, struct ledger *out)
{
    struct ftrace_source *ftrace = (struct ftrace_source *)source;
    struct ledger *ledger = &ftrace->ledger;

    ledger->delivered = 0;
    for (size_t i = 0; i < ftrace->cpu_count; i++)
        ledger->delivered += ftrace->cpus[i].delivered;
    ledger->produced = ledger->delivered + ledger->lost;
    *out = *ledger;
}

static void destroy(struct source *source)
{
    struct ftrace_source *ftrace = (struct ftrace_source *)source;

    for (size_t i = 0; i < ftrace->cpu_count; i++)
        ftrace_cpu_close(&ftrace->cpus[i]);
    if (ftrace->instance.path[0])
        tracefs_remove(&ftrace->instance);
    trd_catalog_destroy(ftrace->catalog);
    free(ftrace->cpus);
    free(ftrace);
}

static int start(struct ftrace_source *ftrace, const struct options *options, const pid_t *pids,
                 size_t pid_count)
{
    int result = tracefs_create(&ftrace->instance);

    if (result != 0) {
        ftrace->instance.path[0] = '\0';
        return tell_failure("creating an instance", result);
    }
    result =
        trd_catalog_create(&ftrace->catalog, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, sizeof(long));
    if (result != 0)
        return tell_failure("memory", result);
    result = configure(ftrace, options, pids, pid_count);
    if (result != 0)
        return result;
    result = open_cpus(ftrace);
    return result == 0 ? 0 : tell_failure("trace_pipe_raw", result);
}

int source_ftrace_open(struct pipeline *pipeline, const struct options *options, const pid_t *pids,
                       size_t pid_count, struct source **out)
{
    struct ftrace_source *ftrace = calloc(1, sizeof(*ftrace));
    int result;

    if (!ftrace)
        return EXIT_NOTHING;
    strcpy(ftrace->source.name, "ftrace");
    ftrace->source.stop = stop;
    ftrace->source.account = account;
    ftrace->source.destroy = destroy;
    ftrace->source.clock = "mono";
    ftrace->source.owns_schemas = true;
    ftrace->pipeline = pipeline;
    result = start(ftrace, options, pids, pid_count);
    if (result != 0) {
        destroy(&ftrace->source);
        return result;
    }
    ftrace->fork_schema = trd_catalog_find_name(ftrace->catalog, "sched", "sched_process_fork");
    if (ftrace->fork_schema)
        ftrace->fork_child = trd_schema_field(ftrace->fork_schema, "child_pid");
    pipeline_add_catalog(pipeline, ftrace->catalog);
    pipeline_add_source(pipeline, &ftrace->source);
    for (size_t i = 0; i < ftrace->cpu_count; i++)
        (void)pipeline_add_input(pipeline, &ftrace->cpus[i].input);
    uv_timer_init(pipeline_loop(pipeline), &ftrace->timer);
    ftrace->timer.data = ftrace;
    uv_timer_start(&ftrace->timer, on_read, READ_INTERVAL_MS, READ_INTERVAL_MS);
    (void)tracefs_write(&ftrace->instance, "tracing_on", "1");
    *out = &ftrace->source;
    return 0;
}
