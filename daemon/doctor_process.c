/* Any process: is it there, may we look at it, can it answer, and what does it see. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor.h"
#include "target_linux.h"

#define GROUP "Process"

static bool is_there(const struct doctor *doctor, struct doctor_finding *out)
{
    if (!doctor->is_there)
        doctor_none(out, "needs the process and the right to look at it");
    return doctor->is_there;
}

static void look_process(struct doctor *doctor, struct doctor_finding *out)
{
    char name[64] = "?";

    doctor->target.pid = doctor->options->pid;
    if (dotnet_target_check_user(&doctor->target) == -ESRCH) {
        doctor_no(out,
                  "Look for its number in this pid namespace (pgrep -a dotnet); one from inside a "
                  "container means another process here.",
                  "there is no process %d", doctor->target.pid);
        return;
    }
    (void)target_status(doctor->target.pid, "Name", name, sizeof(name));
    doctor_ok(out, "%d (%s)", doctor->target.pid, name);
}

static void look_user(struct doctor *doctor, struct doctor_finding *out)
{
    int result = dotnet_target_check_user(&doctor->target);

    if (result == -ESRCH) {
        doctor_none(out, "needs the process");
        return;
    }
    doctor->is_there = result == 0;
    if (doctor->is_there)
        doctor_ok(out, "uid %u, %s", doctor->target.user,
                  geteuid() == doctor->target.user ? "as we" : "and we are root");
    else
        doctor_no(out, "Run tracerd as that user or as root.", "it is uid %u's, and we are uid %u",
                  doctor->target.user, geteuid());
}

/* A process that changed its user, or may not be dumped, is closed to its own user too. */
static void look_entries(struct doctor *doctor, struct doctor_finding *out)
{
    char *maps;

    if (!is_there(doctor, out))
        return;
    maps = target_read_maps(doctor->target.pid);
    doctor->is_visible = maps != NULL;
    if (maps)
        doctor_ok(out, "/proc/%d can be read", doctor->target.pid);
    else
        doctor_no(out, "Run tracerd as root: this process is closed even to its own user.",
                  "/proc/%d/maps: %s", doctor->target.pid, strerror(errno));
    free(maps);
}

static void look_state(struct doctor *doctor, struct doctor_finding *out)
{
    char state[64] = "?", advice[64];

    if (!is_there(doctor, out))
        return;
    (void)target_status(doctor->target.pid, "State", state, sizeof(state));
    if (*state == 'T') {
        (void)snprintf(advice, sizeof(advice), "Let it go on: kill -CONT %d.", doctor->target.pid);
        doctor_no(out, advice, "%s: it cannot answer", state);
    } else if (*state == 't') {
        doctor_no(out, "Let the debugger that holds it go on or leave.", "%s: it cannot answer",
                  state);
    } else if (target_is_frozen(doctor->target.pid)) {
        doctor_no(out, "Thaw its cgroup (docker unpause, or 0 into cgroup.freeze).",
                  "its cgroup is frozen: it cannot answer");
    } else {
        doctor->is_running = true;
        doctor_ok(out, "%s", state);
    }
}

static void look_pid_namespace(struct doctor *doctor, struct doctor_finding *out)
{
    char chain[128] = "";

    if (!is_there(doctor, out))
        return;
    dotnet_target_locate(&doctor->target);
    (void)target_status(doctor->target.pid, "NSpid", chain, sizeof(chain));
    for (char *at = chain; (at = strchr(at, '\t')); at++)
        *at = ' ';
    if (doctor->target.inner_pid == doctor->target.pid)
        doctor_ok(out, "ours");
    else
        doctor_ok(out, "its own: NSpid %s, it is %d to itself", chain, doctor->target.inner_pid);
}

static void look_mount_namespace(struct doctor *doctor, struct doctor_finding *out)
{
    int result;

    if (!is_there(doctor, out))
        return;
    result = target_has_own_root(doctor->target.pid);
    if (result == 0)
        doctor_ok(out, "it sees our files");
    else if (result == 1)
        doctor_ok(out, "it sees files of its own, at %s", doctor->target.root);
    else
        doctor_no(out, "Run tracerd as root.", "/proc/%d/root: %s", doctor->target.pid,
                  strerror(-result));
}

/* Nothing we could ask: a filter's program is not shown. */
static void look_seccomp(struct doctor *doctor, struct doctor_finding *out)
{
    char mode[16] = "";

    if (!is_there(doctor, out))
        return;
    if (target_status(doctor->target.pid, "Seccomp", mode, sizeof(mode)) != 0)
        doctor_none(out, "this kernel does not say");
    else if (*mode == '0')
        doctor_ok(out, "no filter");
    else
        doctor_ok(out, "a filter is on: the profiler needs socket, connect, memfd_create and mmap, "
                       "which containers' usual ones allow");
}

const struct doctor_step doctor_process_steps[] = {
    { GROUP, "process", true, look_process },
    { GROUP, "user", true, look_user },
    { GROUP, "/proc entries", true, look_entries },
    { GROUP, "state", true, look_state },
    { GROUP, "pid namespace", true, look_pid_namespace },
    { GROUP, "mount namespace", true, look_mount_namespace },
    { GROUP, "seccomp", false, look_seccomp },
    { 0 },
};
