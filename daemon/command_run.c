/*
 * `tracerd run`: the command is started behind a barrier, so that the kernel's filter knows it
 * before its first instruction, and with the profiler in its environment. Its input and output stay
 * its own: without -o the stream goes to a file named after the process. tracerd ends when the
 * command does, with the command's exit status.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach.h"
#include "child.h"
#include "commands.h"
#include "interrupt.h"
#include "log.h"
#include "profiler_environment.h"
#include "profiler_library.h"
#include "runtime_dir.h"
#include "sources.h"

/* As shells say it. */
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND 127

struct run {
    struct options options; /* ours: a name for the output may be added */
    uv_loop_t loop;
    struct pipeline *pipeline;
    struct profiler_listener *listener;
    struct interrupt interrupt;
    uv_signal_t child_signal;
    uv_timer_t duration;
    struct child child;
    char directory[RUNTIME_DIR_MAX];
    char socket_path[TRD_SOCKET_PATH_MAX];
    char library[4096];
    char output[64]; /* "" if -o names another */
    bool saw_profiler;
    bool has_kernel;
};

/* Loop */

static void stop_all(struct run *run)
{
    source_profilers_close(run->listener);
    run->listener = NULL;
    uv_timer_stop(&run->duration);
    pipeline_stop(run->pipeline);
}

static void on_child(uv_signal_t *handle, int signal)
{
    struct run *run = handle->data;

    (void)signal;
    if (child_poll(&run->child))
        stop_all(run);
}

/* A terminal gives its signals to the whole foreground group, the command included. */
static bool terminal_tells_child(void)
{
    int fd = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
    bool tells = fd >= 0 && tcgetpgrp(fd) == getpgrp();

    if (fd >= 0)
        close(fd);
    return tells;
}

/* The command decides what the signal means; its end is ours. */
static void on_interrupt(void *context, int signal)
{
    struct run *run = context;

    if (!run->child.has_ended && (signal != SIGINT || !terminal_tells_child()))
        (void)kill(run->child.pid, signal);
    run->interrupt.count = 0;
}

static void on_duration(uv_timer_t *timer)
{
    stop_all(timer->data);
}

static void on_hello(pid_t pid, void *context)
{
    struct run *run = context;

    (void)pid;
    run->saw_profiler = true;
}

static void close_handles(struct run *run)
{
    source_profilers_close(run->listener);
    run->listener = NULL;
    uv_close((uv_handle_t *)&run->child_signal, NULL);
    uv_close((uv_handle_t *)&run->duration, NULL);
}

static void on_done(struct pipeline *pipeline, void *context)
{
    struct run *run = context;

    (void)pipeline;
    interrupt_stop(&run->interrupt);
    close_handles(run);
}

/* Set-up */

/* The profiler looks for itself; here somebody can be told. */
static int check_stamp(const struct run *run)
{
    char source[32] = "";
    FILE *file;

    if (!run->options.stamp || strcmp(run->options.stamp, "tsc") != 0)
        return 0;
    file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    if (file && fgets(source, sizeof(source), file))
        source[strcspn(source, "\n")] = '\0';
    if (file)
        fclose(file);
    if (strcmp(source, "tsc") == 0)
        return 0;
    log_error("--stamp tsc: the kernel does not go by the time stamp counter here but by \"%s\"",
              source);
    return EXIT_USAGE;
}

/* Before the fork: the child puts these into its environment. */
static int prepare_profiler(struct run *run)
{
    int result;

    if (run->options.no_clr)
        return 0;
    if (run->options.clr_categories & TRD_CATEGORY_BIT(METHOD) && profiler_environment_is_taken()) {
        log_error("methods need the main profiler slot, which CORECLR_PROFILER gives to another "
                  "profiler");
        return EXIT_USAGE;
    }
    result = check_stamp(run);
    if (result != 0)
        return result;
    if (profiler_library_find(run->library, sizeof(run->library)) != 0 ||
        profiler_library_check(run->library) != 0)
        return EXIT_NOTHING;
    result = runtime_dir_create(run->directory, "", getenv("TMPDIR"));
    if (result != 0) {
        log_error("cannot make a directory for the socket in /tmp: %s", strerror(-result));
        return EXIT_NOTHING;
    }
    (void)snprintf(run->socket_path, sizeof(run->socket_path), "%s/profiler.sock", run->directory);
    return 0;
}

static void set_environment(void *context)
{
    const struct run *run = context;

    if (run->options.no_clr)
        return;
    if (profiler_environment_set_methods(run->options.methods, run->options.method_count,
                                         run->options.call_values) != 0 ||
        profiler_environment_set_stamp(run->options.stamp) != 0 ||
        profiler_environment_set_buffer(&run->options.clr_buffer) != 0 ||
        profiler_environment_set_providers(run->options.providers, run->options.provider_count) !=
            0 ||
        profiler_environment_set(run->library, run->socket_path, run->options.clr_categories,
                                 run->options.follow) != 0)
        log_error("the profiler could not be put into the command's environment: path=%s",
                  run->library);
}

static int open_profilers(struct run *run)
{
    const struct profiler_watch watch = { .on_hello = on_hello, .context = run };

    if (run->options.no_clr)
        return 0;
    return source_profilers_listen(run->pipeline, &run->options, run->socket_path, 0600, &watch,
                                   &run->listener);
}

/* Without kernel events the CLR's half is still worth having; a wrong -e is not. */
static int open_kernel(struct run *run)
{
    int result;

    if (run->options.no_kernel)
        return 0;
    result =
        source_ftrace_open(run->pipeline, &run->options, &run->child.pid, run->options.all ? 0 : 1);
    run->has_kernel = result == 0;
    if (result != EXIT_NOTHING || run->options.no_clr)
        return result;
    log_notice("going on without kernel events");
    return 0;
}

static int execute(struct run *run)
{
    int result = child_release(&run->child);

    if (result == 0)
        return 0;
    log_error("cannot execute %s: %s", run->options.arguments[0], strerror(-result));
    if (run->output[0])
        (void)unlink(run->output);
    return result == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

static int start(struct run *run)
{
    int result = open_profilers(run);

    if (result == 0)
        result = open_kernel(run);
    if (result == 0)
        result = pipeline_check_filter(run->pipeline);
    if (result != 0)
        return result;
    uv_signal_start(&run->child_signal, on_child, SIGCHLD);
    if (run->options.duration_ns)
        uv_timer_start(&run->duration, on_duration, run->options.duration_ns / 1000000, 0);
    if (run->listener)
        source_profilers_await(run->listener);
    return execute(run);
}

static void name_output(struct run *run)
{
    if (run->options.output_count > 0)
        return;
    (void)snprintf(run->output, sizeof(run->output), "tracerd-%d.ndjson", run->child.pid);
    run->options.outputs[run->options.output_count++] = run->output;
}

/* End */

static void tell_coverage(const struct run *run)
{
    if (run->options.no_clr || run->saw_profiler)
        return;
    log_notice("no .NET runtime introduced itself: %s",
               run->has_kernel ? "the trace holds kernel events only" : "the trace is empty");
}

/* With --duration the command outlives us; whoever started tracerd is told so. */
static int take_status(struct run *run)
{
    if (!run->options.duration_ns)
        child_wait(&run->child);
    if (child_poll(&run->child))
        return run->child.status;
    log_notice("the command goes on untraced: pid=%d", run->child.pid);
    return pipeline_exit_code(run->pipeline);
}

static int trace(struct run *run)
{
    int result;

    (void)interrupt_start(&run->interrupt, &run->loop, on_interrupt, run);
    result = start(run);
    if (result != 0)
        stop_all(run);
    uv_run(&run->loop, UV_RUN_DEFAULT);
    if (result != 0) {
        child_wait(&run->child);
        return result;
    }
    tell_coverage(run);
    if (run->output[0])
        log_notice("the trace is in %s", run->output);
    return take_status(run);
}

static void init_loop(struct run *run)
{
    uv_loop_init(&run->loop);
    uv_signal_init(&run->loop, &run->child_signal);
    uv_timer_init(&run->loop, &run->duration);
    run->child_signal.data = run;
    run->duration.data = run;
    uv_unref((uv_handle_t *)&run->child_signal);
}

static int run_pipeline(struct run *run)
{
    int result;

    name_output(run);
    run->options.pid = run->child.pid;
    init_loop(run);
    result = pipeline_create(&run->pipeline, &run->loop, &run->options, on_done, run);
    if (result == 0) {
        result = trace(run);
    } else {
        child_wait(&run->child);
        close_handles(run);
        uv_run(&run->loop, UV_RUN_DEFAULT);
    }
    pipeline_destroy(run->pipeline);
    uv_loop_close(&run->loop);
    return result;
}

int command_run(const struct options *options)
{
    struct run run = { .options = *options };
    int result = prepare_profiler(&run);

    if (result == 0) {
        result = child_fork(&run.child, run.options.arguments, set_environment, &run);
        if (result == 0) {
            result = run_pipeline(&run);
        } else {
            log_error("cannot start the command: %s", strerror(-result));
            result = EXIT_NOTHING;
        }
    }
    runtime_dir_remove(run.directory);
    return result;
}
