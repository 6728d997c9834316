/* A .NET process: what runs in it, whether it answers, and whether the profiler can join it. */
#include "doctor_dotnet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach.h"
#include "doctor.h"
#include "dotnet_ipc.h"
#include "hresult.h"
#include "profiler_library.h"
#include "target_linux.h"

#define GROUP ".NET"
#define ANSWER_TIMEOUT_MS 3000
#define SLOTS_MAJOR 6 /* notification-only profilers beside the main one */

bool doctor_version_in(const char *path, char *out, size_t size)
{
    bool found = false;

    for (const char *part = path; part; part = strchr(part, '/')) {
        unsigned major, minor, patch;
        size_t length;

        part += *part == '/';
        length = strcspn(part, "/");
        if (length >= size || sscanf(part, "%3u.%3u.%5u", &major, &minor, &patch) != 3)
            continue;
        memcpy(out, part, length);
        out[length] = '\0';
        found = true;
    }
    return found;
}

enum doctor_libc doctor_libc_of(const char *path)
{
    const char *name = strrchr(path, '/');

    name = name ? name + 1 : path;
    if (strncmp(name, "ld-musl-", 8) == 0 || strncmp(name, "libc.musl-", 10) == 0)
        return DOCTOR_MUSL;
    if (strcmp(name, "libc.so.6") == 0 || (strncmp(name, "libc-2.", 7) == 0 && strstr(name, ".so")))
        return DOCTOR_GLIBC;
    return DOCTOR_LIBC_NONE;
}

static bool is_dotnet(const struct doctor *doctor, struct doctor_finding *out)
{
    if (doctor->runtime[0] || doctor->has_socket)
        return true;
    doctor_none(out, "needs a .NET process");
    return false;
}

/* The first file of its code that `wanted` accepts, as the target sees it. */
static bool find_code(const struct doctor *doctor,
                      bool (*wanted)(const struct doctor *, const char *), char *out, size_t size)
{
    char *maps = target_read_maps(doctor->target.pid);
    const char *at = maps;
    bool found = false;

    while (at && !found && target_next_code(&at, out, size))
        found = wanted(doctor, out);
    free(maps);
    return found;
}

static bool is_coreclr(const struct doctor *doctor, const char *path)
{
    (void)doctor;
    return strcmp(strrchr(path, '/'), "/libcoreclr.so") == 0;
}

static void look_runtime(struct doctor *doctor, struct doctor_finding *out)
{
    char version[64] = "of unknown version";

    if (!doctor->is_visible) {
        doctor_none(out, "needs its /proc entries");
        return;
    }
    doctor->has_socket = dotnet_target_find_socket(&doctor->target);
    if (find_code(doctor, is_coreclr, doctor->runtime, sizeof(doctor->runtime))) {
        *strrchr(doctor->runtime, '/') = '\0';
        if (doctor_version_in(doctor->runtime, version, sizeof(version)))
            doctor->runtime_major = (unsigned)strtoul(version, NULL, 10);
        doctor_ok(out, "CoreCLR %s in %s", version, doctor->runtime);
        return;
    }
    doctor->runtime[0] = '\0';
    if (doctor->has_socket)
        doctor_ok(out, "no libcoreclr.so, but a diagnostics socket: published as a single file");
    else
        doctor_no(out,
                  "Name the .NET process itself, not its shell or launcher, or trace kernel "
                  "events only (--no-clr).",
                  "no libcoreclr.so in it, and no diagnostics socket");
}

static void look_switch(struct doctor *doctor, struct doctor_finding *out)
{
    const char *name;

    if (!is_dotnet(doctor, out))
        return;
    name = dotnet_target_switched_off(doctor->target.pid);
    if (name)
        doctor_no(out, "Start it without that variable: a running process cannot be asked to.",
                  "%s=0 in its environment", name);
    else
        doctor_ok(out, "on: no DOTNET_EnableDiagnostics=0 in its environment");
}

static void look_socket(struct doctor *doctor, struct doctor_finding *out)
{
    char *temporary;

    if (!is_dotnet(doctor, out))
        return;
    temporary = target_environment(doctor->target.pid, "TMPDIR");
    if (doctor->has_socket)
        doctor_ok(out, "%s (TMPDIR %s)", doctor->target.diagnostics,
                  temporary ? temporary : "not set");
    else if (dotnet_target_switched_off(doctor->target.pid))
        doctor_none(out, "needs its diagnostics switched on");
    else
        doctor_no(out,
                  "Restart the process: somebody removed its socket, or it changed TMPDIR or its "
                  "pid namespace itself.",
                  "%s is not there (TMPDIR %s)", doctor->target.diagnostics,
                  temporary ? temporary : "not set");
    free(temporary);
}

static void tell_answer(struct doctor *doctor, struct doctor_finding *out, const uint8_t *answer,
                        size_t size)
{
    struct dotnet_process_info info;
    int32_t hresult;

    if (dotnet_ipc_parse_process_info(answer, size, &info) == 0) {
        doctor->runtime_major = (unsigned)strtoul(info.version, NULL, 10);
        doctor_ok(out, "ProcessInfo2: .NET %s, %s, pid %llu to itself", info.version,
                  info.architecture, (unsigned long long)info.pid);
    } else if (dotnet_ipc_parse_answer(answer, size, &hresult) == 0) {
        /* Older than .NET 6: it does not know the question, but it is there. */
        doctor_ok(out, "answers, but does not know ProcessInfo2 (0x%08x): older than .NET 6",
                  (unsigned)hresult);
    } else {
        doctor_no(out, "See who else listens there: this is no .NET runtime.",
                  "%zu bytes that are no answer", size);
    }
}

static void look_answer(struct doctor *doctor, struct doctor_finding *out)
{
    uint8_t request[DOTNET_IPC_HEADER_SIZE];
    uint8_t *answer;
    int result;

    if (!doctor->has_socket || !doctor->is_running) {
        doctor_none(out, doctor->has_socket ? "needs it to run" : "needs its diagnostics socket");
        return;
    }
    answer = malloc(DOTNET_IPC_MESSAGE_MAX);
    result = dotnet_ipc_build_process_info(request);
    result = answer ? dotnet_ipc_exchange(doctor->target.diagnostics, request, (size_t)result,
                                          ANSWER_TIMEOUT_MS, answer, DOTNET_IPC_MESSAGE_MAX)
                    : -ENOMEM;
    if (result >= 0)
        tell_answer(doctor, out, answer, (size_t)result);
    else if (result == -ETIMEDOUT)
        doctor_no(out,
                  "See what keeps it: a debugger, a full disk under a dump, another tool's "
                  "request.",
                  "no answer within %d s", ANSWER_TIMEOUT_MS / 1000);
    else
        doctor_no(out,
                  "Run tracerd as its user or as root, in a mount namespace that has its "
                  "TMPDIR.",
                  "%s", strerror(-result));
    free(answer);
}

static void look_machine(struct doctor *doctor, struct doctor_finding *out)
{
    const struct elf_facts *ours = &doctor->profiler.facts;
    struct elf_image program;
    char path[64], name[32], own[32];
    int result;

    if (!is_dotnet(doctor, out))
        return;
    (void)snprintf(path, sizeof(path), "/proc/%d/exe", doctor->target.pid);
    result = elf_open(&program, path);
    if (result != 0 || !doctor->profiler.bytes) {
        doctor_none(out, result ? "its program cannot be read" : "needs our library");
    } else if (program.facts.bits == ours->bits && program.facts.machine == ours->machine) {
        doctor_ok(out, "ELF %u-bit %s, as the library", ours->bits,
                  elf_machine_name(ours->machine, name, sizeof(name)));
    } else {
        doctor_no(out, "Use the profiler library that was built for its machine.",
                  "ELF %u-bit %s, but the library is %u-bit %s", program.facts.bits,
                  elf_machine_name(program.facts.machine, name, sizeof(name)), ours->bits,
                  elf_machine_name(ours->machine, own, sizeof(own)));
    }
    if (result == 0)
        elf_close(&program);
}

static bool is_libc(const struct doctor *doctor, const char *path)
{
    (void)doctor;
    return doctor_libc_of(path) != DOCTOR_LIBC_NONE;
}

static void compare_glibc(const struct doctor *doctor, struct doctor_finding *out,
                          const char *library)
{
    const struct elf_facts *ours = &doctor->profiler.facts;
    struct elf_image libc;
    char path[600];

    (void)snprintf(path, sizeof(path), "/proc/%d/root%s", doctor->target.pid, library);
    if (elf_open(&libc, path) != 0) {
        doctor_none(out, "glibc, but %s cannot be read", path);
        return;
    }
    if (libc.facts.glibc_major > ours->glibc_major ||
        (libc.facts.glibc_major == ours->glibc_major &&
         libc.facts.glibc_minor >= ours->glibc_minor))
        doctor_ok(out, "glibc %u.%u, and the library needs %u.%u", libc.facts.glibc_major,
                  libc.facts.glibc_minor, ours->glibc_major, ours->glibc_minor);
    else
        doctor_no(out,
                  "Build the profiler library on a system as old as its image, and name it in "
                  "TRACERD_PROFILER.",
                  "glibc %u.%u, but the library needs %u.%u", libc.facts.glibc_major,
                  libc.facts.glibc_minor, ours->glibc_major, ours->glibc_minor);
    elf_close(&libc);
}

static void look_libc(struct doctor *doctor, struct doctor_finding *out)
{
    char path[512];

    if (!is_dotnet(doctor, out))
        return;
    if (!doctor->profiler.bytes)
        doctor_none(out, "needs our library");
    else if (!find_code(doctor, is_libc, path, sizeof(path)))
        doctor_none(out, "none of its files is a known C library");
    else if (doctor_libc_of(path) == DOCTOR_MUSL)
        doctor_ok(out, "musl (%s), which the library works with too", path);
    else
        compare_glibc(doctor, out, path);
}

static void look_visible(struct doctor *doctor, struct doctor_finding *out)
{
    char directory[RUNTIME_DIR_MAX];
    char *temporary;
    int result;

    if (!is_dotnet(doctor, out))
        return;
    if (!doctor->library[0]) {
        doctor_none(out, "needs our library");
        return;
    }
    temporary = target_environment(doctor->target.pid, "TMPDIR");
    result = runtime_dir_create(directory, doctor->target.root, temporary);
    free(temporary);
    if (result != 0)
        doctor_no(out, "Give it a writable TMPDIR, /tmp, /run or /dev/shm.",
                  "no place in its file system for the socket%s: %s",
                  doctor->target.root[0] ? " and the library" : "", strerror(-result));
    else if (!doctor->target.root[0] && dotnet_target_can_read(&doctor->target, doctor->library))
        doctor_ok(out, "it can read %s; socket in %s", doctor->library, directory);
    else
        doctor_ok(out, "it cannot see %s and gets a copy, as %s", doctor->library, directory);
    runtime_dir_remove(directory);
}

/* Exports a profiler's entry point, is none of the runtime's own libraries, and not ours. */
static bool is_other_profiler(const struct doctor *doctor, const char *path)
{
    size_t length = strlen(doctor->runtime);
    struct elf_image library;
    char full[600];
    bool is_one;

    if ((length > 0 && strncmp(path, doctor->runtime, length) == 0 && path[length] == '/') ||
        profiler_library_is_ours(path) || !strstr(path, ".so"))
        return false;
    (void)snprintf(full, sizeof(full), "/proc/%d/root%s", doctor->target.pid, path);
    if (elf_open(&library, full) != 0)
        return false;
    is_one = elf_has_name(&library.facts, "DllGetClassObject");
    elf_close(&library);
    return is_one;
}

static bool is_ours(const struct doctor *doctor, const char *path)
{
    (void)doctor;
    return profiler_library_is_ours(path);
}

/* Our library stays mapped after a detach; its thread does not stay. */
static void look_slot(struct doctor *doctor, struct doctor_finding *out)
{
    char other[512], ours[512];
    bool has_other;
    char *holder;

    if (!is_dotnet(doctor, out))
        return;
    has_other = find_code(doctor, is_other_profiler, other, sizeof(other));
    holder = dotnet_target_holder(doctor->target.pid);
    if (find_code(doctor, is_ours, ours, sizeof(ours)) &&
        target_thread_named(doctor->target.pid, TRD_SENDER_NAME) > 0)
        doctor_no(out, "Read it from the service or run that traces it, or end that first.",
                  "%s is at work in it: it is traced already", ours);
    else if (!has_other)
        doctor_ok(out, holder ? "free: %s is named in its environment but not at work" : "free",
                  holder);
    else if (doctor->runtime_major == 0 || doctor->runtime_major >= SLOTS_MAJOR)
        doctor_ok(out, "%s is in it: tracerd joins as notification-only", other);
    else
        doctor_no(out,
                  "Start it without the other (CORECLR_ENABLE_PROFILING=0), or on .NET 6 or "
                  "later, which have room for more.",
                  "%s is in it, and this runtime has room for one", other);
    free(holder);
}

const struct doctor_step doctor_dotnet_steps[] = {
    { GROUP, "runtime", true, look_runtime },
    { GROUP, "diagnostics", true, look_switch },
    { GROUP, "diagnostics socket", true, look_socket },
    { GROUP, "answer", true, look_answer },
    { GROUP, "architecture", true, look_machine },
    { GROUP, "C library", true, look_libc },
    { GROUP, "file system", true, look_visible },
    { GROUP, "profiler slot", true, look_slot },
    { 0 },
};
