/* The kernel's half: what source_ftrace.c will ask of tracefs, asked of an instance of our own. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"

#define GROUP "Kernel events"
#define PERMISSION_ADVICE                                                                          \
    "Run as root, or give CAP_SYS_ADMIN and CAP_DAC_OVERRIDE, or go without kernel events "        \
    "(--no-kernel)."

static const char *advice_for(int error)
{
    if (error == -EACCES || error == -EPERM)
        return PERMISSION_ADVICE;
    if (error == -ENOENT || error == -ENODEV)
        return "Mount it (mount -t tracefs nodev /sys/kernel/tracing) on a kernel built with "
               "CONFIG_FTRACE; in a container hand /sys/kernel/tracing in; or use --no-kernel.";
    return "Look into the kernel's log (dmesg), or go without kernel events (--no-kernel).";
}

static bool has_instance(struct doctor *doctor, struct doctor_finding *out)
{
    if (doctor->instance.path[0])
        return true;
    doctor_none(out, "needs an instance");
    return false;
}

static void look_tracefs(struct doctor *doctor, struct doctor_finding *out)
{
    int result = tracefs_find(doctor->instance.root);

    if (result == 0)
        doctor_ok(out, "%s", doctor->instance.root);
    else
        doctor_no(out, advice_for(result), "not to be found or mounted: %s", strerror(-result));
}

/* Kernels in lockdown refuse tracefs even to root. */
static bool is_locked_down(void)
{
    char *text = read_whole_file("/sys/kernel/security/lockdown", NULL);
    bool locked = text && strstr(text, "[confidentiality]");

    free(text);
    return locked;
}

static void look_instance(struct doctor *doctor, struct doctor_finding *out)
{
    int result;

    if (!doctor->instance.root[0]) {
        doctor_none(out, "needs tracefs");
        return;
    }
    result = tracefs_create(&doctor->instance);
    if (result == 0)
        doctor_ok(out, "%s", doctor->instance.path);
    else if (is_locked_down())
        doctor_no(out, "Start the kernel without lockdown=confidentiality, or use --no-kernel.",
                  "the kernel is locked down: %s", strerror(-result));
    else
        doctor_no(out, advice_for(result), "cannot be made in %s/instances: %s",
                  doctor->instance.root, strerror(-result));
}

static void look_clock(struct doctor *doctor, struct doctor_finding *out)
{
    int result;

    if (!has_instance(doctor, out))
        return;
    result = tracefs_write(&doctor->instance, "trace_clock", "mono");
    if (result == 0)
        doctor_ok(out, "mono, as the profiler's");
    else
        doctor_no(out, "Use a kernel of 4.0 or later: both halves need CLOCK_MONOTONIC.",
                  "the clock mono cannot be chosen: %s", strerror(-result));
}

static void look_pid_filter(struct doctor *doctor, struct doctor_finding *out)
{
    int result;

    if (!has_instance(doctor, out))
        return;
    result = tracefs_append(&doctor->instance, "set_event_pid", "1");
    if (result == 0)
        result = tracefs_write(&doctor->instance, "set_event_pid", " ");
    if (result == 0)
        result = tracefs_write(&doctor->instance, "options/event-fork", "1");
    if (result == 0)
        doctor_ok(out, "set_event_pid with event-fork");
    else
        doctor_no(out, "Use a kernel of 4.7 or later.", "set_event_pid or event-fork: %s",
                  strerror(-result));
}

static void look_events(struct doctor *doctor, struct doctor_finding *out)
{
    char *text;
    size_t count = 0;

    if (!has_instance(doctor, out))
        return;
    text = tracefs_read_root(&doctor->instance, "available_events", NULL);
    for (const char *at = text; at && (at = strchr(at, '\n')); at++)
        count++;
    if (text && strstr(text, "sched:sched_switch\n"))
        doctor_ok(out, "%zu kinds, sched:sched_switch among them", count);
    else
        doctor_no(out, "Use a kernel built with CONFIG_EVENT_TRACING and CONFIG_SCHED_TRACER.",
                  "%zu kinds, without sched:sched_switch", count);
    free(text);
}

static void look_ring(struct doctor *doctor, struct doctor_finding *out)
{
    int fd;

    if (!has_instance(doctor, out))
        return;
    fd = tracefs_open(&doctor->instance, "per_cpu/cpu0/trace_pipe_raw", O_RDONLY | O_NONBLOCK);
    if (fd < 0) {
        doctor_no(out, advice_for(fd), "trace_pipe_raw cannot be opened: %s", strerror(-fd));
        return;
    }
    doctor_ok(out, "trace_pipe_raw opens");
    close(fd);
}

static void look_file(struct doctor *doctor, struct doctor_finding *out, const char *name,
                      const char *advice)
{
    char *text = tracefs_read(&doctor->instance, name, NULL);

    if (text)
        doctor_ok(out, "%s %.*s", name, (int)strcspn(text, "\n"), text);
    else
        doctor_no(out, advice, "no %s", name);
    free(text);
}

static void look_sub_buffer(struct doctor *doctor, struct doctor_finding *out)
{
    if (has_instance(doctor, out))
        look_file(doctor, out, "buffer_subbuf_size_kb",
                  "A kernel of 6.8 or later reads several times faster with 64 KiB sub-buffers.");
}

static void look_buffer_percent(struct doctor *doctor, struct doctor_finding *out)
{
    if (has_instance(doctor, out))
        look_file(doctor, out, "buffer_percent",
                  "A kernel of 5.0 or later can wake its readers by how full the ring is.");
}

/* The first of them stand at zero by right on some machines. */
static bool shows_addresses(const char *symbols)
{
    for (const char *at = symbols; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strtoull(at, NULL, 16) != 0)
            return true;
    }
    return false;
}

/* kptr_restrict and perf_event_paranoid are the kernel's two reasons to show zeros. */
static void look_symbols(struct doctor *doctor, struct doctor_finding *out)
{
    char *kptr = read_whole_file("/proc/sys/kernel/kptr_restrict", NULL);
    char *paranoid = read_whole_file("/proc/sys/kernel/perf_event_paranoid", NULL);
    char *symbols = read_whole_file("/proc/kallsyms", NULL);
    const char *why = kptr && paranoid ? "" : " (unreadable)";
    int kptr_value = kptr ? atoi(kptr) : 0, paranoid_value = paranoid ? atoi(paranoid) : 0;

    (void)doctor;
    if (shows_addresses(symbols))
        doctor_ok(out, "/proc/kallsyms shows addresses; kptr_restrict %d, perf_event_paranoid %d%s",
                  kptr_value, paranoid_value, why);
    else
        doctor_no(out,
                  "Run as root with kernel.kptr_restrict at 0 or 1, or set "
                  "kernel.perf_event_paranoid to 1 and kernel.kptr_restrict to 0.",
                  "/proc/kallsyms %s; kptr_restrict %d, perf_event_paranoid %d%s",
                  symbols ? "shows zeros" : "cannot be read", kptr_value, paranoid_value, why);
    free(symbols);
    free(paranoid);
    free(kptr);
}

const struct doctor_step doctor_kernel_steps[] = {
    { GROUP, "tracefs", true, look_tracefs },
    { GROUP, "own instance", true, look_instance },
    { GROUP, "clock", true, look_clock },
    { GROUP, "pid filter", true, look_pid_filter },
    { GROUP, "events", true, look_events },
    { GROUP, "ring", true, look_ring },
    { GROUP, "sub-buffers", false, look_sub_buffer },
    { GROUP, "buffer percent", false, look_buffer_percent },
    { GROUP, "symbols", false, look_symbols },
    { 0 },
};
