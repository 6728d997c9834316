#include "dotnet_target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dotnet_ipc.h"
#include "hresult.h"
#include "log.h"
#include "options.h"
#include "target_linux.h"
#include "tracefs_linux.h"

#define ATTACH_TIMEOUT_MS 15000
#define GC_WAIT_MS 5000 /* the runtime's wait for a background collection */

static bool same_root(pid_t pid)
{
    char path[64];
    struct stat ours, theirs;

    (void)snprintf(path, sizeof(path), "/proc/%d/root/", pid);
    return stat("/", &ours) == 0 && stat(path, &theirs) == 0 && ours.st_dev == theirs.st_dev &&
           ours.st_ino == theirs.st_ino;
}

static int check_permission(struct dotnet_target *target)
{
    if (target_user(target->pid, &target->user) != 0 || target_is_dead(target->pid)) {
        log_error("there is no process %d", target->pid);
        return EXIT_NOTHING;
    }
    if (geteuid() != 0 && geteuid() != target->user) {
        log_error(
            "process %d belongs to another user (uid %u): run tracerd as that user or as root",
            target->pid, target->user);
        return EXIT_NOTHING;
    }
    return 0;
}

/* `{TMPDIR or /tmp}/dotnet-diagnostic-{pid}-{start time}-socket`, as the target names both. */
static bool find_socket(struct dotnet_target *target)
{
    char *temporary = target_environment(target->pid, "TMPDIR");
    const char *places[2] = { temporary && *temporary ? temporary : "/tmp", "/tmp" };
    bool found = false;

    for (int i = 0; i < 2 && !found; i++) {
        int length =
            snprintf(target->diagnostics, sizeof(target->diagnostics),
                     "%s%s/dotnet-diagnostic-%d-%llu-socket", target->root, places[i],
                     target->inner_pid, (unsigned long long)process_start_time(target->pid));

        found = length < (int)sizeof(target->diagnostics) && access(target->diagnostics, F_OK) == 0;
    }
    free(temporary);
    return found;
}

static bool diagnostics_off(pid_t pid)
{
    static const char *const names[] = { "DOTNET_EnableDiagnostics", "COMPlus_EnableDiagnostics",
                                         "DOTNET_EnableDiagnostics_IPC" };
    bool off = false;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !off; i++) {
        char *value = target_environment(pid, names[i]);

        off = value && strcmp(value, "0") == 0;
        free(value);
    }
    return off;
}

static int tell_no_socket(const struct dotnet_target *target)
{
    int runtime = target_maps(target->pid, "/libcoreclr.so");

    if (runtime < 0)
        log_error("process %d cannot be looked into (%s): run tracerd as root", target->pid,
                  strerror(-runtime));
    else if (diagnostics_off(target->pid))
        log_error("process %d runs with its diagnostics switched off (DOTNET_EnableDiagnostics=0): "
                  "start it with them on, or with tracerd run",
                  target->pid);
    else if (runtime)
        log_error("process %d runs .NET but its diagnostics socket %s is missing: was TMPDIR "
                  "changed or cleaned?",
                  target->pid, target->diagnostics);
    else
        log_error("process %d does not run .NET (no libcoreclr.so in it, no diagnostics socket)",
                  target->pid);
    return EXIT_NOTHING;
}

int dotnet_target_find(struct dotnet_target *target, pid_t pid)
{
    int result;

    *target = (struct dotnet_target){ .pid = pid };
    result = check_permission(target);
    if (result != 0)
        return result;
    target->inner_pid = target_inner_pid(pid);
    if (!same_root(pid))
        (void)snprintf(target->root, sizeof(target->root), "/proc/%d/root", pid);
    return find_socket(target) ? 0 : tell_no_socket(target);
}

/* FNV-1a: names the content, guards against nothing. */
static uint64_t content_hash(const char *bytes, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (uint8_t)bytes[i]) * 0x100000001b3u;
    return hash;
}

static int write_file(const char *path, const char *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
    int result = 0;

    if (fd < 0)
        return -errno;
    while (size > 0 && result == 0) {
        ssize_t written = write(fd, bytes, size);

        if (written < 0) {
            result = -errno;
        } else {
            bytes += written;
            size -= (size_t)written;
        }
    }
    if (close(fd) != 0 && result == 0)
        result = -errno;
    if (result != 0)
        (void)unlink(path);
    return result;
}

static int copy_library(struct dotnet_target *target, const char *library)
{
    char temporary[640];
    size_t size;
    char *bytes = read_whole_file(library, &size);
    int result;

    if (!bytes)
        return -errno;
    (void)snprintf(target->library, sizeof(target->library), "/tmp/libtracerd_profiler-%016llx.so",
                   (unsigned long long)content_hash(bytes, size));
    (void)snprintf(target->copied, sizeof(target->copied), "%s%s", target->root, target->library);
    (void)snprintf(temporary, sizeof(temporary), "%s.%d", target->copied, getpid());
    result = access(target->copied, R_OK) == 0 ? 0 : write_file(temporary, bytes, size);
    if (result == 0 && access(target->copied, R_OK) != 0 && rename(temporary, target->copied) != 0)
        result = -errno;
    free(bytes);
    return result;
}

int dotnet_target_place_library(struct dotnet_target *target, const char *library)
{
    int result;

    if (!target->root[0]) {
        (void)snprintf(target->library, sizeof(target->library), "%s", library);
        return 0;
    }
    result = copy_library(target, library);
    if (result == 0)
        return 0;
    log_error("the profiler library cannot be put into the file system of process %d: path=%s, "
              "error=\"%s\"",
              target->pid, target->copied, strerror(-result));
    return EXIT_NOTHING;
}

static int send_attach(const struct dotnet_target *target, const uint8_t class_id[16],
                       const uint8_t *data, size_t data_size, int32_t *out_hresult)
{
    uint8_t *message = malloc(DOTNET_IPC_MESSAGE_MAX);
    int size = message ? dotnet_ipc_build_attach(class_id, target->library, data, data_size,
                                                 GC_WAIT_MS, message)
                       : -ENOMEM;
    int result = size < 0 ? size
                          : dotnet_ipc_request(target->diagnostics, message, (size_t)size,
                                               ATTACH_TIMEOUT_MS, out_hresult);

    free(message);
    return result;
}

int dotnet_target_attach(const struct dotnet_target *target, const char *socket_path,
                         uint32_t categories)
{
    static const uint8_t main_class[16] = TRD_CLSID_MAIN_BYTES;
    static const uint8_t notification_class[16] = TRD_CLSID_NOTIFICATION_BYTES;
    uint8_t data[TRD_ATTACH_SIZE_MAX];
    int32_t hresult = 0;
    int size = trd_attach_encode(socket_path, categories, data);
    int result = size < 0 ? size : send_attach(target, main_class, data, (size_t)size, &hresult);

    if (result == 0 && hresult == HRESULT_PROFILER_ALREADY_ACTIVE) {
        log_notice("another profiler is active in process %d: joining as notification-only",
                   target->pid);
        result = send_attach(target, notification_class, data, (size_t)size, &hresult);
    }
    if (result == 0 && hresult == 0)
        return 0;
    if (result == 0)
        log_error("cannot attach to process %d: %s (0x%08x)", target->pid, hresult_text(hresult),
                  (unsigned)hresult);
    else if (result == -ETIMEDOUT)
        log_error("process %d does not answer on its diagnostics socket: is it stopped, or another "
                  "tool connected?",
                  target->pid);
    else
        log_error("cannot attach to process %d: socket=%s, error=\"%s\"", target->pid,
                  target->diagnostics, strerror(-result));
    return EXIT_NOTHING;
}
