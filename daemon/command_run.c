/*
 * `tracerd run`: the command is started behind a barrier, so that the kernel's filter knows it
 * before its first instruction, and with the profiler in its environment. Its input and output stay
 * its own: without -o the stream goes to a file named after the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach.h"
#include "commands.h"
#include "event.h"
#include "interrupt.h"
#include "log.h"
#include "profiler_library.h"
#include "runtime_dir.h"
#include "sources.h"

#define EXIT_NOT_FOUND 127
#define EXIT_NOT_EXECUTABLE 126

struct run {
    struct options options;
    uv_loop_t loop;
    struct pipeline *pipeline;
    struct profiler_listener *listener;
    struct interrupt interrupt;
    uv_signal_t child_signal;
    uv_timer_t duration;
    char directory[RUNTIME_DIR_MAX];
    char socket_path[TRD_SOCKET_PATH_MAX];
    char library[4096];
    char output[64];
    pid_t child;
    int barrier[2]; /* the child waits for a byte */
    int failure[2]; /* errno of a failed exec */
    int status;     /* of the child, as wait gives it */
    bool child_ended;
    bool saw_profiler;
};

/* Child */

static void set_categories(uint32_t categories)
{
    char list[128] = "";

    for (int i = 0; i < TRD_CATEGORY_COUNT; i++)
        if (categories >> i & 1) {
            if (*list)
                strcat(list, ",");
            strcat(list, trd_category_name((enum trd_category)i));
        }
    setenv(TRD_ENV_CATEGORIES, list, 1);
}

/* Another profiler that the environment names keeps the main slot; ours joins as notification-only.
 */
static void set_profiler(const struct run *run)
{
    const char *enabled = getenv("CORECLR_ENABLE_PROFILING");
    char entry[4200];

    setenv(TRD_ENV_SOCKET, run->socket_path, 1);
    set_categories(run->options.clr_categories);
    if (enabled && strtoul(enabled, NULL, 16) != 0 && getenv("CORECLR_PROFILER")) {
        const char *others = getenv("CORECLR_NOTIFICATION_PROFILERS");

        /* .NET 9 and 10 ignore an entry without its last semicolon. */
        (void)snprintf(entry, sizeof(entry), "%s%s=%s;", others ? others : "", run->library,
                       TRD_CLSID_NOTIFICATION_TEXT);
        setenv("CORECLR_ENABLE_NOTIFICATION_PROFILERS", "1", 1);
        setenv("CORECLR_NOTIFICATION_PROFILERS", entry, 1);
        return;
    }
    setenv("CORECLR_ENABLE_PROFILING", "1", 1);
    setenv("CORECLR_PROFILER", TRD_CLSID_MAIN_TEXT, 1);
    setenv("CORECLR_PROFILER_PATH", run->library, 1);
    unsetenv("CORECLR_PROFILER_PATH_64");
    unsetenv("CORECLR_PROFILER_PATH_ARM64");
}

static void be_the_command(const struct run *run)
{
    char go;
    int error;
    sigset_t none;

    close(run->barrier[1]);
    close(run->failure[0]);
    if (read(run->barrier[0], &go, 1) != 1)
        _exit(EXIT_NOT_EXECUTABLE); /* tracerd could not start, and has said why */
    close(run->barrier[0]);
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (!run->options.no_clr)
        set_profiler(run);
    execvp(run->options.arguments[0], run->options.arguments);
    error = errno;
    (void)!write(run->failure[1], &error, sizeof(error));
    _exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

static int fork_child(struct run *run)
{
    if (pipe2(run->barrier, O_CLOEXEC) != 0 || pipe2(run->failure, O_CLOEXEC) != 0) {
        log_error("cannot start the command: %s", strerror(errno));
        return EXIT_NOTHING;
    }
    run->child = fork();
    if (run->child == 0)
        be_the_command(run);
    close(run->barrier[0]);
    close(run->failure[1]);
    if (run->child < 0) {
        log_error("cannot start the command: %s", strerror(errno));
        return EXIT_NOTHING;
    }
    return 0;
}

/* Lets the child go on to its exec; 0 or what kept it from that. */
static int release_child(struct run *run)
{
    int error = 0;

    (void)!write(run->barrier[1], "g", 1);
    close(run->barrier[1]);
    run->barrier[1] = -1;
    if (read(run->failure[0], &error, sizeof(error)) == (ssize_t)sizeof(error))
        log_error("cannot execute %s: %s", run->options.arguments[0], strerror(error));
    close(run->failure[0]);
    return error;
}

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
    if (run->child_ended || waitpid(run->child, &run->status, WNOHANG) != run->child)
        return;
    run->child_ended = true;
    stop_all(run);
}

/* The terminal gave the signal to the command too: its end decides. A signal that was sent to us
 * alone is passed on. */
static void on_interrupt(void *context, int signal)
{
    struct run *run = context;

    if (signal == SIGTERM)
        (void)kill(run->child, signal);
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

static void on_done(struct pipeline *pipeline, void *context)
{
    struct run *run = context;

    (void)pipeline;
    interrupt_stop(&run->interrupt);
    uv_close((uv_handle_t *)&run->child_signal, NULL);
    uv_close((uv_handle_t *)&run->duration, NULL);
}

/* Set-up */

/* Before the fork: the child takes these with it. */
static int prepare_profiler(struct run *run)
{
    int result;

    if (run->options.no_clr)
        return 0;
    if (profiler_library_find(run->library, sizeof(run->library)) != 0 ||
        profiler_library_check(run->library) != 0)
        return EXIT_NOTHING;
    result = runtime_dir_create(run->directory, "");
    if (result != 0) {
        log_error("cannot make a directory for the socket below /tmp: %s", strerror(-result));
        run->directory[0] = '\0';
        return EXIT_NOTHING;
    }
    (void)snprintf(run->socket_path, sizeof(run->socket_path), "%s/profiler.sock", run->directory);
    return 0;
}

static int open_profilers(struct run *run)
{
    const struct profiler_watch watch = { .on_hello = on_hello, .context = run };

    return run->options.no_clr
               ? 0
               : source_profilers_listen(run->pipeline, &run->options, run->socket_path, 0600,
                                         &watch, &run->listener);
}

/* Without kernel events the CLR's half is still worth having; a wrong -e is not. */
static int open_kernel(struct run *run)
{
    struct source *ftrace;
    int result;

    if (run->options.no_kernel)
        return 0;
    result = source_ftrace_open(run->pipeline, &run->options, &run->child, 1, &ftrace);
    if (result == EXIT_NOTHING && !run->options.no_clr) {
        log_notice("going on without kernel events");
        return 0;
    }
    return result;
}

static int start(struct run *run)
{
    int result = open_profilers(run);

    if (result == 0)
        result = open_kernel(run);
    if (result != 0)
        return result;
    uv_signal_start(&run->child_signal, on_child, SIGCHLD);
    if (run->options.duration_ns)
        uv_timer_start(&run->duration, on_duration, run->options.duration_ns / 1000000, 0);
    switch (release_child(run)) {
    case 0:
        return 0;
    case ENOENT:
        return EXIT_NOT_FOUND;
    default:
        return EXIT_NOT_EXECUTABLE;
    }
}

/* The command's own status wins; only if that is 0 may a partial trace show in ours. */
static int exit_status(const struct run *run)
{
    if (!run->child_ended)
        return pipeline_exit_code(run->pipeline);
    return WIFSIGNALED(run->status) ? 128 + WTERMSIG(run->status) : WEXITSTATUS(run->status);
}

static void finish_child(struct run *run)
{
    if (run->barrier[1] >= 0)
        close(run->barrier[1]); /* it waits no longer, and ends */
    if (!run->child_ended && run->child > 0 && !run->options.duration_ns)
        (void)waitpid(run->child, &run->status, 0);
    else if (!run->child_ended && run->child > 0)
        /* It goes on without us; whoever started tracerd gets its end reported by the system. */
        log_notice("the command goes on: pid=%d", run->child);
}

static void name_output(struct run *run)
{
    if (run->options.output_count > 0)
        return;
    (void)snprintf(run->output, sizeof(run->output), "tracerd-%d.ndjson", run->child);
    run->options.outputs[run->options.output_count++] = run->output;
    log_notice("writing to %s", run->output);
}

int command_run(const struct options *options)
{
    struct run run = { .options = *options, .barrier = { -1, -1 }, .failure = { -1, -1 } };
    int result = prepare_profiler(&run);

    if (result == 0)
        result = fork_child(&run);
    if (result != 0)
        return result;
    name_output(&run);
    uv_loop_init(&run.loop);
    uv_signal_init(&run.loop, &run.child_signal);
    uv_timer_init(&run.loop, &run.duration);
    run.child_signal.data = &run;
    run.duration.data = &run;
    uv_unref((uv_handle_t *)&run.child_signal);
    result = pipeline_create(&run.pipeline, &run.loop, &run.options, on_done, &run);
    (void)interrupt_start(&run.interrupt, &run.loop, on_interrupt, &run);
    if (result == 0)
        result = start(&run);
    if (result != 0)
        stop_all(&run);
    uv_run(&run.loop, UV_RUN_DEFAULT);
    finish_child(&run);
    if (result == 0)
        result = exit_status(&run);
    if (run.child_ended && !run.options.no_clr && !run.saw_profiler && result == 0)
        log_notice("no .NET runtime introduced itself: the trace holds kernel events only");
    pipeline_destroy(run.pipeline);
    uv_loop_close(&run.loop);
    if (run.directory[0])
        runtime_dir_remove(run.directory);
    return result;
}
