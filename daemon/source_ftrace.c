/*
 * The live kernel. An instance of our own on the CLOCK_MONOTONIC clock; the events of the options;
 * the kernel's own pid filter with event-fork, which also keeps what concerns the target from
 * outside: sched_waking and sched_switch are kept when either side is a listed task, so wakers are
 * seen, and interrupts are kept while a listed task is the one they interrupt. The ring is of the
 * overwriting kind: under pressure the newest events stay, and every page that follows a loss says
 * so.
 */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ftrace_buffer.h"
#include "ftrace_catalog.h"
#include "ftrace_cpu.h"
#include "ftrace_events.h"
#include "ftrace_filters.h"
#include "ftrace_reader.h"
#include "log.h"
#include "sources.h"
#include "stream_lines.h"
#include "target_linux.h"

/* The news of others need those of the kernel beside them, unless these are fresh. */
#define REFRESH_NS UINT64_C(1000000)
/* Pages that wait to be decoded or written; beyond it the kernel's rings have to hold them. */
#define PAGES_BYTES_MAX (UINT64_C(64) << 20)
/* A flight recorder has its window to hold them. */
#define PAGES_BYTES_FLIGHT (UINT64_C(24) << 20)
/* From the first on the loop goes before others, so that it catches up before something is lost;
 * below the second it is one among all again. Of a hundred of the pages. */
#define HURRY_PERCENT 20
#define CALM_PERCENT 5
#define HURRY_NICE (-20)
#define HAND_OVER_MAX 64     /* pages of a CPU in one turn of the loop, which has others to serve */
#define FOLLOW_TRIES_MAX 100 /* a process that makes threads faster than /proc lists them */

struct ftrace_source {
    struct source source;
    struct pipeline *pipeline;
    struct tracefs_instance instance;
    struct trd_catalog *catalog; /* owned */
    struct ftrace_cpu *cpus;     /* owned; cpu_count of them */
    size_t cpu_count;
    size_t ended;     /* inputs that have ended */
    bool has_targets; /* else it is the whole machine */
    struct ftrace_buffer buffer;
    struct page_pool *pool;       /* owned */
    struct ftrace_reader *reader; /* owned; NULL before the start and after the stop */
    uv_async_t news;              /* the readers have read */
    pid_t loop_tid;
    int calm_nice, calm_policy; /* of the loop's thread, as it was started */
    _Atomic bool hurries;
};

static int tell_failure(const char *step, int error)
{
    if (error == -EACCES || error == -EPERM)
        log_error("kernel events are not permitted (%s): run as root, or give CAP_SYS_ADMIN and "
                  "CAP_DAC_OVERRIDE, or use --no-kernel",
                  step);
    else if (error == -ENOENT || error == -ENODEV)
        log_error("this kernel offers no tracefs (%s): use --no-kernel", step);
    else if (error == -EINVAL && strcmp(step, "trace_clock") == 0)
        log_error(
            "the trace buffers of this kernel know no clock that programs read as well "
            "(trace_clock has no \"mono\"): its events cannot stand beside those of the CLR; "
            "use --no-kernel, or record with trace-cmd and align the file with tracerd replay");
    else
        log_error("cannot set up kernel events: step=\"%s\", error=\"%s\"", step, strerror(-error));
    return EXIT_NOTHING;
}

/* Targets */

static int limit_to(struct ftrace_source *ftrace, pid_t pid, size_t *out_count)
{
    pid_t *tids = target_threads(pid, out_count);
    char *text = tids ? malloc(*out_count * 12 + 1) : NULL;
    size_t used = 0;
    int result = -ENOMEM;

    if (!tids)
        return 0; /* it ended meanwhile and needs no filter */
    for (size_t i = 0; text && i < *out_count; i++) {
        used += (size_t)snprintf(text + used, 12, "%d ", tids[i]);
        (void)trd_enrich_set_thread(pipeline_enrich(ftrace->pipeline), tids[i], pid);
    }
    if (text)
        result = tracefs_append(&ftrace->instance, "set_event_pid", text);
    free(text);
    free(tids);
    return result;
}

/* Threads may be made while they are listed: again, until a listing finds as many as the last. */
static int follow(struct ftrace_source *ftrace, pid_t pid)
{
    size_t before, now = 0;
    int tries = 0;
    int result;

    do {
        before = now;
        result = limit_to(ftrace, pid, &now);
    } while (result == 0 && now != before && ++tries < FOLLOW_TRIES_MAX);
    return result;
}

/* The whole machine: whose threads are those that run already? */
static void learn_processes(struct ftrace_source *ftrace)
{
    DIR *directory = opendir("/proc");
    struct dirent *entry;

    while (directory && (entry = readdir(directory))) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        size_t count = 0;
        pid_t *tids = pid > 0 ? target_threads(pid, &count) : NULL;

        for (size_t i = 0; i < count; i++)
            (void)trd_enrich_set_thread(pipeline_enrich(ftrace->pipeline), tids[i], pid);
        free(tids);
    }
    if (directory)
        closedir(directory);
}

static int choose_targets(struct ftrace_source *ftrace, const pid_t *pids, size_t count)
{
    int result = 0;

    ftrace->has_targets = count > 0;
    if (count == 0) {
        learn_processes(ftrace);
        return 0;
    }
    result = tracefs_write(&ftrace->instance, "options/event-fork", "1");
    for (size_t i = 0; i < count && result == 0; i++)
        result = follow(ftrace, pids[i]);
    return result == 0 ? 0 : tell_failure("set_event_pid", result);
}

/* Set-up */

static int configure(struct ftrace_source *ftrace, const struct options *options)
{
    int result = ftrace_buffer_set_up(&ftrace->buffer, &ftrace->instance, options);

    if (result != 0)
        return tell_failure(ftrace->buffer.failed, result);
    if (ftrace->buffer.missing[0])
        log_notice("with this kernel %s", ftrace->buffer.missing);
    return 0;
}

static void enable(struct ftrace_source *ftrace, const struct ftrace_events *events)
{
    for (size_t i = 0; i < events->count; i++) {
        const char *name = events->names[i];
        char file[320];
        int result;

        (void)snprintf(file, sizeof(file), "events/%.*s/%.128s/enable", (int)strcspn(name, ":"),
                       name, strchr(name, ':') + 1);
        result = tracefs_write(&ftrace->instance, file, "1");
        if (result != 0)
            log_notice("the kernel refuses to record %s: %s", name, strerror(-result));
    }
}

static int choose_events(struct ftrace_source *ftrace, const struct options *options,
                         struct ftrace_symbols *symbols)
{
    char *available = tracefs_read_root(&ftrace->instance, "available_events", NULL);
    struct ftrace_events events;
    int result;

    if (!available)
        return tell_failure("available_events", -errno);
    result = ftrace_events_choose(&events, options, available);
    if (result != 0)
        return result < 0 ? tell_failure("available_events", result) : result;
    result = ftrace_catalog_create(&ftrace->catalog, &ftrace->instance, &events, symbols);
    if (result == 0) {
        ftrace_filters_set(&ftrace->instance, ftrace->catalog, &events,
                           pipeline_enrich(ftrace->pipeline), options);
        enable(ftrace, &events);
    } else {
        result = tell_failure("events/header_page", result);
    }
    ftrace_events_finish(&events);
    return result;
}

/* Reading */

static void on_news_closed(uv_handle_t *handle)
{
    struct ftrace_source *ftrace = handle->data;

    pipeline_source_ended(ftrace->pipeline, &ftrace->source);
}

static void on_end(struct ftrace_cpu *cpu)
{
    struct ftrace_source *ftrace = cpu->context;

    if (++ftrace->ended == ftrace->cpu_count)
        uv_close((uv_handle_t *)&ftrace->news, on_news_closed);
}

static void hand_over(struct ftrace_source *ftrace)
{
    bool more = false;

    for (size_t i = 0; i < ftrace->cpu_count; i++)
        more |= ftrace_cpu_hand_over(&ftrace->cpus[i], HAND_OVER_MAX);
    if (more)
        uv_async_send(&ftrace->news);
}

static void on_news(uv_async_t *async)
{
    struct ftrace_source *ftrace = async->data;

    if (pipeline_takes_pages(ftrace->pipeline) && ftrace->reader)
        hand_over(ftrace);
    pipeline_pump(ftrace->pipeline);
}

/* Groups of processes share a core whatever the nice values in them, hence real-time; what is
 * started meanwhile does not inherit it. The kernel leaves the others a twentieth at least. */
static bool hurry(const struct ftrace_source *ftrace)
{
    const struct sched_param first = { .sched_priority = 1 };

    if (ftrace->calm_policy != SCHED_OTHER) /* we were started as something else */
        return true;
    return sched_setscheduler(ftrace->loop_tid, SCHED_RR | SCHED_RESET_ON_FORK, &first) == 0 ||
           setpriority(PRIO_PROCESS, (id_t)ftrace->loop_tid, HURRY_NICE) == 0;
}

static bool calm_down(const struct ftrace_source *ftrace)
{
    const struct sched_param none = { 0 };

    if (ftrace->calm_policy != SCHED_OTHER)
        return true;
    (void)sched_setscheduler(ftrace->loop_tid, SCHED_OTHER, &none);
    return setpriority(PRIO_PROCESS, (id_t)ftrace->loop_tid, ftrace->calm_nice) == 0;
}

/* Those who make more than we can decode have to make less for a moment. The loop itself might not
 * get to it. */
static void choose_pace(struct ftrace_source *ftrace)
{
    unsigned percent = page_pool_percent(ftrace->pool);
    bool hurried = atomic_load(&ftrace->hurries);
    bool hurries = percent >= (hurried ? CALM_PERCENT : HURRY_PERCENT);

    if (hurries == hurried || !atomic_compare_exchange_strong(&ftrace->hurries, &hurried, hurries))
        return;
    if (!(hurries ? hurry(ftrace) : calm_down(ftrace)))
        log_verbose("events come faster than they are decoded, and this user may not go first");
}

/* On a reader's thread. */
static void on_read(void *context)
{
    choose_pace(context);
    uv_async_send(&((struct ftrace_source *)context)->news);
}

static void refresh(struct source *source)
{
    struct ftrace_source *ftrace = (struct ftrace_source *)source;

    if (!ftrace->reader)
        return;
    if (pipeline_takes_pages(ftrace->pipeline))
        hand_over(ftrace);
    else
        ftrace_reader_refresh(ftrace->reader, REFRESH_NS);
}

static void on_page(struct ftrace_cpu *cpu, const uint8_t *bytes, size_t size)
{
    struct ftrace_source *ftrace = cpu->context;

    pipeline_page(ftrace->pipeline, cpu->ring.cpu, bytes, size);
}

static void on_reached(struct ftrace_cpu *cpu, uint64_t ts_ns)
{
    struct ftrace_source *ftrace = cpu->context;

    pipeline_page_reached(ftrace->pipeline, cpu->ring.cpu, ts_ns);
}

/* Of threads whose records nobody looked at. */
static void tell_cmdlines(struct ftrace_source *ftrace)
{
    size_t size;
    char *text = tracefs_read_root(&ftrace->instance, "saved_cmdlines", &size);

    if (text)
        pipeline_cmdlines(ftrace->pipeline, text, size);
    free(text);
}

static int open_cpu(struct ftrace_source *ftrace, struct ftrace_cpu *cpu, uint32_t number)
{
    int result;

    *cpu = (struct ftrace_cpu){ .catalog = ftrace->catalog,
                                .on_end = on_end,
                                .context = ftrace,
                                .ring = { .page_size = ftrace->buffer.page_size,
                                          .layout = trd_catalog_get_layout(ftrace->catalog),
                                          .pool = ftrace->pool } };
    if (pipeline_takes_pages(ftrace->pipeline)) {
        cpu->on_page = on_page;
        cpu->on_reached = on_reached;
    }
    result = ftrace_ring_open(&cpu->ring, &ftrace->instance, number);
    if (result == 0)
        ftrace_cpu_init(cpu);
    return result;
}

static int open_cpus(struct ftrace_source *ftrace)
{
    bool is_flight = pipeline_options(ftrace->pipeline)->flight != NULL;
    uint64_t pages_bytes = is_flight ? PAGES_BYTES_FLIGHT : PAGES_BYTES_MAX;
    uint32_t *numbers = NULL;
    size_t count = 0;
    int result = ftrace_buffer_cpus(&ftrace->instance, &numbers, &count);

    ftrace->cpus = calloc(count + 1, sizeof(*ftrace->cpus));
    if (result == 0 && (!ftrace->cpus || page_pool_create(&ftrace->pool, ftrace->buffer.page_size,
                                                          pages_bytes) != 0))
        result = -ENOMEM;
    for (size_t i = 0; i < count && result == 0; i++) {
        result = open_cpu(ftrace, &ftrace->cpus[i], numbers[i]);
        ftrace->cpu_count += result == 0;
    }
    free(numbers);
    return result;
}

static int start_reader(struct ftrace_source *ftrace)
{
    const struct ftrace_reader_options options = { ftrace->buffer.ring_bytes, on_read, ftrace };
    struct ftrace_ring **rings = calloc(ftrace->cpu_count, sizeof(struct ftrace_ring *));
    int result = -ENOMEM;

    for (size_t i = 0; rings && i < ftrace->cpu_count; i++)
        rings[i] = &ftrace->cpus[i].ring;
    if (rings)
        result = ftrace_reader_create(&ftrace->reader, rings, ftrace->cpu_count, &options);
    free(rings);
    return result;
}

/* Source */

static void stop(struct source *source)
{
    struct ftrace_source *ftrace = (struct ftrace_source *)source;

    (void)tracefs_write(&ftrace->instance, "tracing_on", "0");
    ftrace_reader_destroy(ftrace->reader);
    ftrace->reader = NULL;
    if (atomic_exchange(&ftrace->hurries, false))
        (void)calm_down(ftrace);
    for (size_t i = 0; i < ftrace->cpu_count; i++)
        ftrace_cpu_finish(&ftrace->cpus[i]);
    if (pipeline_takes_pages(ftrace->pipeline))
        tell_cmdlines(ftrace);
    pipeline_pump(ftrace->pipeline);
}

/*
 * Since Linux 5.7; elsewhere its events stay. A switch is left out if both of its tasks are named
 * here, hence the idle task and ourselves beside it: no list of targets holds these, so nothing
 * else goes with them. A switch between the thread and any other task is told.
 */
static void leave_out(struct source *source, pid_t tid)
{
    struct ftrace_source *ftrace = (struct ftrace_source *)source;
    char text[32];

    if (!ftrace->has_targets) /* of the whole machine everything is told */
        return;
    (void)snprintf(text, sizeof(text), "0 %d %d", getpid(), tid);
    if (tracefs_append(&ftrace->instance, "set_event_notrace_pid", text) != 0)
        log_verbose("this kernel cannot leave out the events of one thread");
}

static void account(struct source *source, struct ledger *out)
{
    struct ftrace_source *ftrace = (struct ftrace_source *)source;

    *out = (struct ledger){ 0 };
    for (size_t i = 0; i < ftrace->cpu_count; i++) {
        out->delivered += ftrace->cpus[i].delivered;
        out->lost += ftrace->cpus[i].lost;
        out->damaged_bytes += ftrace->cpus[i].damaged_bytes;
    }
    out->produced = out->delivered + out->lost;
}

static void destroy(struct source *source)
{
    struct ftrace_source *ftrace = (struct ftrace_source *)source;

    ftrace_reader_destroy(ftrace->reader);
    for (size_t i = 0; i < ftrace->cpu_count; i++)
        ftrace_cpu_close(&ftrace->cpus[i]);
    page_pool_destroy(ftrace->pool);
    tracefs_remove(&ftrace->instance);
    trd_catalog_destroy(ftrace->catalog);
    free(ftrace->cpus);
    free(ftrace);
}

static int set_up(struct ftrace_source *ftrace, const struct options *options, const pid_t *pids,
                  size_t pid_count)
{
    int result = tracefs_create(&ftrace->instance);
    struct ftrace_symbols symbols;

    if (result != 0)
        return tell_failure("creating an instance", result);
    ftrace_symbols_start(&symbols);
    result = configure(ftrace, options);
    if (result == 0)
        result = choose_targets(ftrace, pids, pid_count);
    if (result == 0)
        result = choose_events(ftrace, options, &symbols);
    ftrace_symbols_finish(&symbols);
    if (result != 0)
        return result;
    result = open_cpus(ftrace);
    return result == 0 ? 0 : tell_failure("trace_pipe_raw", result);
}

static void on_failed(uv_handle_t *handle)
{
    destroy(handle->data);
}

/* What the readers do concerns no target; what wakes them may happen in one. */
static void leave_out_readers(struct ftrace_source *ftrace)
{
    const pid_t *tids;
    size_t count = ftrace_reader_tids(ftrace->reader, &tids);

    for (size_t i = 0; i < count; i++)
        leave_out(&ftrace->source, tids[i]);
}

static int start(struct ftrace_source *ftrace)
{
    int result;

    uv_async_init(pipeline_loop(ftrace->pipeline), &ftrace->news, on_news);
    ftrace->news.data = ftrace;
    result = start_reader(ftrace);
    if (result != 0) {
        uv_close((uv_handle_t *)&ftrace->news, on_failed);
        return tell_failure("starting a thread", result);
    }
    if (!ftrace_reader_priority(ftrace->reader))
        log_verbose("the kernel's rings are read at the priority of everybody else");
    leave_out_readers(ftrace);
    pipeline_add_catalog(ftrace->pipeline, ftrace->catalog);
    pipeline_add_source(ftrace->pipeline, &ftrace->source);
    for (size_t i = 0; i < ftrace->cpu_count; i++)
        if (pipeline_add_input(ftrace->pipeline, &ftrace->source, &ftrace->cpus[i].input) != 0)
            ftrace->ended++; /* no memory: its events are told as lost */
    (void)tracefs_write(&ftrace->instance, "tracing_on", "1");
    return 0;
}

int source_ftrace_open(struct pipeline *pipeline, const struct options *options, const pid_t *pids,
                       size_t pid_count)
{
    struct ftrace_source *ftrace = calloc(1, sizeof(*ftrace));
    int result;

    if (!ftrace)
        return tell_failure("memory", -ENOMEM);
    strcpy(ftrace->source.name, "ftrace");
    ftrace->source.stop = stop;
    ftrace->source.refresh = refresh;
    ftrace->source.leave_out = leave_out;
    ftrace->source.account = account;
    ftrace->source.destroy = destroy;
    ftrace->source.clock = "mono";
    ftrace->source.owns_schemas = true;
    ftrace->pipeline = pipeline;
    ftrace->loop_tid = gettid();
    ftrace->calm_policy = sched_getscheduler(0);
    ftrace->calm_nice = getpriority(PRIO_PROCESS, 0);
    result = set_up(ftrace, options, pids, pid_count);
    if (result != 0) {
        destroy(&ftrace->source);
        return result;
    }
    return start(ftrace);
}
