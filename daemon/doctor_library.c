/* What every traced process is to load, and where its socket may lie. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include "doctor.h"
#include "profiler_library.h"
#include "runtime_dir.h"

#define GROUP "Profiler and program"

static void look_build(struct doctor *doctor, struct doctor_finding *out)
{
    (void)doctor;
    doctor_ok(out, "tracerd %s, built with %s; libuv %s", TRACERD_VERSION, BUILT_WITH,
              uv_version_string());
}

static void look_library(struct doctor *doctor, struct doctor_finding *out)
{
    static const char advice[] = "Put " PROFILER_LIBRARY_NAME " beside the program or into the "
                                 "library directory, or name it in TRACERD_PROFILER.";

    if (profiler_library_locate(doctor->library, sizeof(doctor->library)) != 0) {
        doctor->library[0] = '\0';
        doctor_no(out, advice, "no " PROFILER_LIBRARY_NAME);
    } else if (access(doctor->library, R_OK) != 0) {
        doctor_no(out, advice, "%s: %s", doctor->library, strerror(errno));
        doctor->library[0] = '\0';
    } else {
        doctor_ok(out, "%s", doctor->library);
    }
}

static void look_format(struct doctor *doctor, struct doctor_finding *out)
{
    const struct elf_facts *facts = &doctor->profiler.facts;
    struct elf_image own;
    char name[32];
    int result;

    if (!doctor->library[0]) {
        doctor_none(out, "needs the library");
        return;
    }
    result = elf_open(&doctor->profiler, doctor->library);
    if (result != 0) {
        doctor_no(out, "Install the library again: the file is damaged.", "%s: %s", doctor->library,
                  result == -EBADMSG ? "not an ELF file" : strerror(-result));
        return;
    }
    result = elf_open(&own, "/proc/self/exe");
    if (result == 0 && (own.facts.bits != facts->bits || own.facts.machine != facts->machine))
        doctor_no(out, "Install the library that was built for this machine.",
                  "ELF %u-bit %s, which is not this program's", facts->bits,
                  elf_machine_name(facts->machine, name, sizeof(name)));
    else
        doctor_ok(out, "ELF %u-bit %s", facts->bits,
                  elf_machine_name(facts->machine, name, sizeof(name)));
    if (result == 0)
        elf_close(&own);
}

static void look_needs(struct doctor *doctor, struct doctor_finding *out)
{
    const struct elf_facts *facts = &doctor->profiler.facts;
    char list[ELF_NEEDED_MAX * ELF_NAME_MAX] = "";
    char reason[256];
    size_t used = 0;

    if (!doctor->profiler.bytes) {
        doctor_none(out, "needs the library");
        return;
    }
    for (size_t i = 0; i < facts->needed_count; i++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", used ? ", " : "",
                                 facts->needed[i]);
    if (profiler_library_try(doctor->library, reason, sizeof(reason)) != 0)
        doctor_no(out, "Install what the loader misses, or the library built for this system.",
                  "%s", reason);
    else
        doctor_ok(out, "loads here; needs %s, glibc %u.%u or musl", list, facts->glibc_major,
                  facts->glibc_minor);
}

static void look_socket_place(struct doctor *doctor, struct doctor_finding *out)
{
    char directory[RUNTIME_DIR_MAX];
    int result = runtime_dir_create(directory, "", getenv("TMPDIR"));

    (void)doctor;
    if (result == 0)
        doctor_ok(out, "%s can be made", directory);
    else
        doctor_no(out, "Make /tmp writable, or set TMPDIR to a short path that is.",
                  "none of TMPDIR, /tmp, /run, /dev/shm takes a directory: %s", strerror(-result));
    runtime_dir_remove(directory);
}

/* 0, or a negative errno of connecting to it. */
static int connect_to(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int result;

    if (fd < 0)
        return -errno;
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    result = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 ? 0 : -errno;
    close(fd);
    return result;
}

static void look_service(struct doctor *doctor, struct doctor_finding *out)
{
    static const char path[] = RUNTIME_DIR_DEFAULT "/profiler.sock";
    int result;

    (void)doctor;
    if (access(RUNTIME_DIR_DEFAULT, F_OK) != 0) {
        doctor_none(out, "no " RUNTIME_DIR_DEFAULT
                         ": the service does not run, run and --pid need none");
        return;
    }
    result = connect_to(path);
    if (result == 0 || result == -EAGAIN)
        doctor_ok(out, "listens on %s", path);
    else
        doctor_no(out, "Start it: systemctl start tracerd, or tracerd without arguments.",
                  "nobody listens on %s: %s", path, strerror(-result));
}

const struct doctor_step doctor_library_steps[] = {
    { GROUP, "build", true, look_build },
    { GROUP, "library", true, look_library },
    { GROUP, "library format", true, look_format },
    { GROUP, "library needs", true, look_needs },
    { GROUP, "place for sockets", true, look_socket_place },
    { GROUP, "service", false, look_service },
    { 0 },
};
