/* `tracerd --pid`: kernel filter first, then the profiler, so that its first event finds both. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "dotnet_target.h"
#include "interrupt.h"
#include "log.h"
#include "profiler_library.h"
#include "runtime_dir.h"
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
    struct dotnet_target target;
    char directory[RUNTIME_DIR_MAX];       /* for us */
    char socket_path[TRD_SOCKET_PATH_MAX]; /* for us */
    unsigned waited_ms;
    bool introduced;
    bool failed;
    bool stopped;
};

static void stop_all(struct attach *attach)
{
    if (attach->stopped)
        return;
    attach->stopped = true;
    source_profilers_close(attach->listener);
    attach->listener = NULL;
    uv_timer_stop(&attach->watch);
    uv_timer_stop(&attach->duration);
    pipeline_stop(attach->pipeline);
}

static void on_hello(pid_t pid, void *context)
{
    struct attach *attach = context;

    attach->introduced |= pid == attach->target.pid;
    log_notice("attached to process %d", pid);
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

    attach->waited_ms += WATCH_MS;
    if (attach->options->no_clr) {
        if (target_is_dead(attach->options->pid))
            stop_all(attach);
        return;
    }
    if (attach->introduced || attach->waited_ms < INTRODUCTION_MS)
        return;
    log_error("the runtime accepted the profiler but it did not call home: TRACERD_LOG=FILE in the "
              "environment of process %d makes it say why",
              attach->target.pid);
    attach->failed = true;
    stop_all(attach);
}

static void on_duration(uv_timer_t *timer)
{
    stop_all(timer->data);
}

static void on_interrupt(void *context, int signal)
{
    (void)signal;
    stop_all(context);
}

static void on_done(struct pipeline *pipeline, void *context)
{
    struct attach *attach = context;

    (void)pipeline;
    interrupt_stop(&attach->interrupt);
    uv_close((uv_handle_t *)&attach->watch, NULL);
    uv_close((uv_handle_t *)&attach->duration, NULL);
}

static int listen_for_profiler(struct attach *attach)
{
    const struct profiler_watch watch = { on_hello, on_end, attach };
    int result = runtime_dir_create(attach->directory, attach->target.root);

    if (result != 0) {
        log_error("cannot make a directory for the socket below %s/tmp: %s", attach->target.root,
                  strerror(-result));
        attach->directory[0] = '\0';
        return EXIT_NOTHING;
    }
    (void)snprintf(attach->socket_path, sizeof(attach->socket_path), "%s/profiler.sock",
                   attach->directory);
    result = source_profilers_listen(attach->pipeline, attach->options, attach->socket_path, 0600,
                                     &watch, &attach->listener);
    /* The target's user must reach a socket that root made. */
    if (result == 0 && attach->target.user != geteuid() &&
        (chown(attach->directory, attach->target.user, (gid_t)-1) != 0 ||
         chown(attach->socket_path, attach->target.user, (gid_t)-1) != 0))
        log_notice("the socket could not be given to uid %u", attach->target.user);
    return result;
}

static int open_kernel(struct attach *attach)
{
    struct source *ftrace;
    int result;

    if (attach->options->no_kernel)
        return 0;
    result =
        source_ftrace_open(attach->pipeline, attach->options, &attach->options->pid, 1, &ftrace);
    if (result == EXIT_NOTHING && !attach->options->no_clr) {
        log_notice("going on without kernel events");
        return 0;
    }
    return result;
}

static int attach_profiler(struct attach *attach)
{
    char library[512];
    int result;

    if (profiler_library_find(library, sizeof(library)) != 0 ||
        profiler_library_check(library) != 0)
        return EXIT_NOTHING;
    result = dotnet_target_place_library(&attach->target, library);
    if (result == 0)
        result = listen_for_profiler(attach);
    if (result != 0)
        return result;
    return dotnet_target_attach(&attach->target, attach->socket_path + strlen(attach->target.root),
                                attach->options->clr_categories);
}

static int start(struct attach *attach)
{
    int result = open_kernel(attach);

    if (result == 0 && !attach->options->no_clr)
        result = attach_profiler(attach);
    if (result != 0)
        return result;
    uv_timer_start(&attach->watch, on_watch, WATCH_MS, WATCH_MS);
    if (attach->options->duration_ns)
        uv_timer_start(&attach->duration, on_duration, attach->options->duration_ns / 1000000, 0);
    return 0;
}

/* Before anything is opened or written: can it be done at all? */
static int check_target(struct attach *attach)
{
    if (!attach->options->no_clr)
        return dotnet_target_find(&attach->target, attach->options->pid);
    if (!target_is_dead(attach->options->pid))
        return 0;
    log_error("there is no process %d", attach->options->pid);
    return EXIT_NOTHING;
}

int command_attach(const struct options *options)
{
    struct attach attach = { .options = options };
    int result = check_target(&attach);

    if (result != 0)
        return result;
    uv_loop_init(&attach.loop);
    uv_timer_init(&attach.loop, &attach.watch);
    uv_timer_init(&attach.loop, &attach.duration);
    attach.watch.data = &attach;
    attach.duration.data = &attach;
    result = pipeline_create(&attach.pipeline, &attach.loop, options, on_done, &attach);
    (void)interrupt_start(&attach.interrupt, &attach.loop, on_interrupt, &attach);
    if (result == 0)
        result = start(&attach);
    if (result != 0)
        stop_all(&attach);
    uv_run(&attach.loop, UV_RUN_DEFAULT);
    if (result == 0)
        result = attach.failed ? EXIT_NOTHING : pipeline_exit_code(attach.pipeline);
    pipeline_destroy(attach.pipeline);
    uv_loop_close(&attach.loop);
    if (attach.directory[0])
        runtime_dir_remove(attach.directory);
    return result;
}
