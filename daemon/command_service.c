/* The service: profilers of any user on one socket, consumers on another, the whole machine's
 * kernel. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "attach.h"
#include "commands.h"
#include "config.h"
#include "interrupt.h"
#include "log.h"
#include "runtime_dir.h"
#include "sinks.h"
#include "sources.h"

struct service {
    struct options options;
    uv_loop_t loop;
    struct pipeline *pipeline;
    struct profiler_listener *profilers;
    struct interrupt interrupt;
    unsigned processes;
};

static void tell_status(const struct service *service)
{
    (void)sd_notifyf(0, "STATUS=%u .NET processes connected", service->processes);
}

static void on_hello(pid_t pid, void *context)
{
    struct service *service = context;

    service->processes++;
    log_notice("a .NET process connected: pid=%d", pid);
    tell_status(service);
}

static void on_end(pid_t pid, void *context)
{
    struct service *service = context;

    service->processes -= service->processes > 0;
    log_notice("a .NET process left: pid=%d", pid);
    tell_status(service);
}

static void stop_all(struct service *service)
{
    (void)sd_notify(0, "STOPPING=1");
    source_profilers_close(service->profilers);
    service->profilers = NULL;
    pipeline_stop(service->pipeline);
}

static void on_interrupt(void *context, int signal)
{
    (void)signal;
    stop_all(context);
}

static void on_done(struct pipeline *pipeline, void *context)
{
    struct service *service = context;

    (void)pipeline;
    interrupt_stop(&service->interrupt);
}

static int make_runtime_dir(const char *path)
{
    if (mkdir(path, 0755) == 0 || errno == EEXIST)
        return 0;
    log_error("cannot make the runtime directory: path=%s, error=\"%s\"", path, strerror(errno));
    return EXIT_NOTHING;
}

static int start(struct service *service)
{
    const char *directory =
        service->options.runtime_dir ? service->options.runtime_dir : RUNTIME_DIR_DEFAULT;
    const struct profiler_watch watch = { .on_hello = on_hello,
                                          .on_end = on_end,
                                          .context = service };
    char path[TRD_SOCKET_PATH_MAX];
    int result = make_runtime_dir(directory);

    (void)snprintf(path, sizeof(path), "%s/stream.sock", directory);
    if (result == 0)
        result = sink_clients_listen(service->pipeline, path, service->options.clients_max);
    if (result == 0 && !service->options.no_kernel)
        result = source_ftrace_open(service->pipeline, &service->options, NULL, 0);
    /* Any user's process may connect; SO_PEERCRED says whose it is. */
    (void)snprintf(path, sizeof(path), "%s/profiler.sock", directory);
    if (result == 0 && !service->options.no_clr)
        result = source_profilers_listen(service->pipeline, &service->options, path, 0666, &watch,
                                         &service->profilers);
    if (result != 0)
        return result;
    log_notice("listening in %s", directory);
    (void)sd_notify(0, "READY=1");
    tell_status(service);
    return 0;
}

int command_service(const struct options *options)
{
    struct service service = { .options = *options };
    struct config *config;
    int result = config_load(&config, &service.options);

    if (result != 0) {
        config_destroy(config);
        return result;
    }
    uv_loop_init(&service.loop);
    result = pipeline_create(&service.pipeline, &service.loop, &service.options, on_done, &service);
    if (result == 0) {
        (void)interrupt_start(&service.interrupt, &service.loop, on_interrupt, &service);
        result = start(&service);
        if (result != 0)
            stop_all(&service);
        uv_run(&service.loop, UV_RUN_DEFAULT);
    }
    pipeline_destroy(service.pipeline);
    uv_loop_close(&service.loop);
    config_destroy(config);
    return result;
}
