/*
 * `tracerd --pid`: kernel filter first, then the profiler, so that its first event finds both. The
 * runtime is asked on another thread: it answers when it likes, and the kernel's rings must be read
 * meanwhile.
 */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "dotnet_target.h"
#include "interrupt.h"
#include "log.h"
#include "profiler_library.h"
#include "sources.h"
#include "target_linux.h"

#define WATCH_MS 100
#define INTRODUCTION_MS 5000 /* from the runtime's OK to the profiler's HELLO */

struct attach {
    const struct options *options;
    uv_loop_t loop;
    struct pipeline *pipeline;
    struct profiler_listener *listener;
    struct interrupt interrupt;
    uv_timer_t watch;
    uv_timer_t duration;
    uv_work_t request;
    struct dotnet_target target;
    char socket_path[TRD_SOCKET_PATH_MAX]; /* for us */
    int request_result;
    unsigned waited_ms; /* since the runtime's OK */
    bool is_asking;     /* the request is on its way and cannot be taken back */
    bool is_introduced;
    bool is_ready;
    bool is_unwanted; /* interrupted while asking: detach as soon as it is there */
    bool is_stopped;
    int result;
};

static void stop_all(struct attach *attach)
{
    if (attach->is_stopped)
        return;
    attach->is_stopped = true;
    source_profilers_close(attach->listener);
    attach->listener = NULL;
    uv_timer_stop(&attach->watch);
    uv_timer_stop(&attach->duration);
    pipeline_stop(attach->pipeline);
}

static void fail(struct attach *attach)
{
    attach->result = EXIT_NOTHING;
    stop_all(attach);
}

static void on_duration(uv_timer_t *timer)
{
    stop_all(timer->data);
}

static void start_duration(struct attach *attach)
{
    if (attach->options->duration_ns)
        uv_timer_start(&attach->duration, on_duration, attach->options->duration_ns / 1000000, 0);
}

/* The profiler calls */

/*
 * The profiler introduces itself while the runtime still loads it; callbacks come from the moment
 * the runtime has answered, events of EventSources when it has done what its greeting was answered
 * with. Only then is it true for whoever waits for these words.
 */
static void tell_attached(struct attach *attach)
{
    if (!attach->is_ready || attach->is_asking)
        return;
    log_notice("attached to process %d", attach->target.pid);
    start_duration(attach);
}

static void on_hello(pid_t pid, void *context)
{
    struct attach *attach = context;

    if (pid != attach->target.pid || attach->is_introduced)
        return;
    attach->is_introduced = true;
}

static void on_ready(pid_t pid, void *context)
{
    struct attach *attach = context;

    if (pid != attach->target.pid || attach->is_ready)
        return;
    attach->is_ready = true;
    tell_attached(attach);
}

static void on_end(pid_t pid, void *context)
{
    struct attach *attach = context;

    if (pid == attach->target.pid)
        stop_all(attach);
}

/* Nobody may be there to tell that the process is gone, or that it never called. */
static void on_watch(uv_timer_t *timer)
{
    struct attach *attach = timer->data;

    if (attach->is_introduced) {
        if (attach->is_unwanted)
            stop_all(attach);
        return;
    }
    if (attach->options->no_clr || attach->is_asking) {
        if (!attach->is_asking && target_is_dead(attach->options->pid))
            stop_all(attach);
        return;
    }
    attach->waited_ms += WATCH_MS;
    if (target_is_dead(attach->target.pid))
        log_error("process %d ended before its profiler called", attach->target.pid);
    else if (attach->waited_ms >= INTRODUCTION_MS)
        log_error("the runtime of process %d accepted the profiler, but it did not call here: "
                  "TRACERD_LOG=FILE in the process's environment makes it say why",
                  attach->target.pid);
    else
        return;
    fail(attach);
}

/* The request */

static void request(uv_work_t *work)
{
    struct attach *attach = work->data;

    attach->request_result =
        dotnet_target_attach(&attach->target, attach->socket_path + strlen(attach->target.root),
                             attach->options->clr_categories, &attach->options->clr_buffer);
}

static void on_answer(uv_work_t *work, int status)
{
    struct attach *attach = work->data;

    attach->is_asking = false;
    if (status != 0 || attach->request_result != 0)
        fail(attach);
    else
        tell_attached(attach);
}

static void on_interrupt(void *context, int signal)
{
    struct attach *attach = context;

    (void)signal;
    if (!attach->is_asking) {
        stop_all(attach);
        return;
    }
    attach->is_unwanted = true;
    log_notice("waiting for the runtime's answer, to detach from it again");
}

/* Set-up */

static int listen_for_profiler(struct attach *attach)
{
    const struct profiler_watch watch = {
        .on_hello = on_hello, .on_ready = on_ready, .on_end = on_end, .context = attach
    };
    int result;

    (void)snprintf(attach->socket_path, sizeof(attach->socket_path), "%s/profiler.sock",
                   attach->target.directory);
    result = source_profilers_listen(attach->pipeline, attach->options, attach->socket_path, 0600,
                                     &watch, &attach->listener);
    if (result != 0)
        return result;
    result = dotnet_target_give(&attach->target, attach->socket_path);
    if (result == 0)
        return 0;
    log_error("the socket cannot be given to the user of process %d: %s", attach->target.pid,
              strerror(-result));
    return EXIT_NOTHING;
}

static int open_kernel(struct attach *attach)
{
    int result;

    if (attach->options->no_kernel)
        return 0;
    result = source_ftrace_open(attach->pipeline, attach->options, &attach->options->pid,
                                attach->options->all ? 0 : 1);
    if (result != EXIT_NOTHING || attach->options->no_clr)
        return result;
    log_notice("going on without kernel events");
    return 0;
}

static int start(struct attach *attach)
{
    int result = open_kernel(attach);

    if (result == 0)
        result = pipeline_check_filter(attach->pipeline);
    if (result == 0 && !attach->options->no_clr)
        result = listen_for_profiler(attach);
    if (result != 0)
        return result;
    uv_timer_start(&attach->watch, on_watch, WATCH_MS, WATCH_MS);
    if (attach->options->no_clr) {
        start_duration(attach);
        return 0;
    }
    attach->is_asking = true;
    return uv_queue_work(&attach->loop, &attach->request, request, on_answer) == 0 ? 0
                                                                                   : EXIT_NOTHING;
}

/* Before anything is opened: can it be done at all? */
static int prepare(struct attach *attach)
{
    char library[512];
    int result;

    if (attach->options->no_clr) {
        if (!target_is_dead(attach->options->pid))
            return 0;
        log_error("there is no process %d", attach->options->pid);
        return EXIT_NOTHING;
    }
    result = dotnet_target_find(&attach->target, attach->options->pid);
    if (result != 0)
        return result;
    if (profiler_library_find(library, sizeof(library)) != 0 ||
        profiler_library_check(library) != 0)
        return EXIT_NOTHING;
    return dotnet_target_prepare(&attach->target, library);
}

/* Loop */

static void close_handles(struct attach *attach)
{
    source_profilers_close(attach->listener);
    attach->listener = NULL;
    uv_close((uv_handle_t *)&attach->watch, NULL);
    uv_close((uv_handle_t *)&attach->duration, NULL);
}

static void on_done(struct pipeline *pipeline, void *context)
{
    struct attach *attach = context;

    (void)pipeline;
    interrupt_stop(&attach->interrupt);
    close_handles(attach);
}

static void init_loop(struct attach *attach)
{
    uv_loop_init(&attach->loop);
    uv_timer_init(&attach->loop, &attach->watch);
    uv_timer_init(&attach->loop, &attach->duration);
    attach->watch.data = attach;
    attach->duration.data = attach;
    attach->request.data = attach;
}

static void trace(struct attach *attach)
{
    init_loop(attach);
    attach->result =
        pipeline_create(&attach->pipeline, &attach->loop, attach->options, on_done, attach);
    if (attach->result != 0) {
        close_handles(attach);
        uv_run(&attach->loop, UV_RUN_DEFAULT);
    } else {
        (void)interrupt_start(&attach->interrupt, &attach->loop, on_interrupt, attach);
        attach->result = start(attach);
        if (attach->result != 0)
            stop_all(attach);
        uv_run(&attach->loop, UV_RUN_DEFAULT);
        if (attach->result == 0)
            attach->result = pipeline_exit_code(attach->pipeline);
    }
    pipeline_destroy(attach->pipeline);
    uv_loop_close(&attach->loop);
}

int command_attach(const struct options *options)
{
    struct attach attach = { .options = options };

    attach.result = prepare(&attach);
    if (attach.result == 0)
        trace(&attach);
    dotnet_target_finish(&attach.target);
    return attach.result;
}
