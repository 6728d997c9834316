/* The request itself: its message, and what the runtime's answer means. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dotnet_ipc.h"
#include "dotnet_target.h"
#include "hresult.h"
#include "log.h"
#include "options.h"
#include "profiler_library.h"
#include "target_linux.h"

#define ATTACH_TIMEOUT_MS 15000
#define RELEASE_WAIT_MS 10000
#define RELEASE_POLL_MS 100
#define GC_WAIT_MS 5000 /* the runtime's wait for a background collection */

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

char *dotnet_target_holder(pid_t pid)
{
    static const char *const names[] = { "CORECLR_PROFILER_PATH_64", "CORECLR_PROFILER_PATH",
                                         "CORECLR_PROFILER" };
    char *holder = NULL;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !holder; i++)
        holder = target_environment(pid, names[i]);
    return holder;
}

/* In this version or another one. */
static bool is_ours_loaded(const struct dotnet_target *target)
{
    char *maps = target_read_maps(target->pid), path[PATH_MAX];
    const char *at = maps;
    bool found = false;

    while (at && !found && target_next_code(&at, path, sizeof(path)))
        found = strcmp(path, target->library) == 0 || profiler_library_is_ours(path);
    free(maps);
    return found;
}

/*
 * A runtime lets go of a profiler that was told to detach when it likes, up to seconds later (3.1):
 * as long as our library is in it, and no other was meant to be, the slot may become free.
 */
static int attach_main(const struct dotnet_target *target, const char *holder, const uint8_t *data,
                       size_t size, int32_t *out_hresult)
{
    static const uint8_t class_id[16] = TRD_CLSID_MAIN_BYTES;
    const struct timespec pause = { .tv_nsec = RELEASE_POLL_MS * 1000000 };
    int result;

    for (int waited_ms = 0;; waited_ms += RELEASE_POLL_MS) {
        result = send_attach(target, class_id, data, size, out_hresult);
        if (result != 0 || *out_hresult != HRESULT_PROFILER_ALREADY_ACTIVE || holder ||
            waited_ms >= RELEASE_WAIT_MS || !is_ours_loaded(target))
            return result;
        nanosleep(&pause, NULL);
    }
}

static int attach_beside(const struct dotnet_target *target, const char *holder,
                         const uint8_t *data, size_t size, int32_t *out_hresult)
{
    static const uint8_t class_id[16] = TRD_CLSID_NOTIFICATION_BYTES;

    log_notice("another profiler is active in process %d (%s): joining as notification-only",
               target->pid, holder ? holder : "attached later");
    return send_attach(target, class_id, data, size, out_hresult);
}

static int tell_hresult(const struct dotnet_target *target, int32_t hresult)
{
    if (hresult == HRESULT_PROFILER_ALREADY_ACTIVE && is_ours_loaded(target))
        log_error("process %d is traced by another tracerd already", target->pid);
    else if (hresult == HRESULT_PROFILER_ALREADY_ACTIVE)
        log_error("cannot attach to process %d: its runtime has room for one profiler only, and "
                  "another is active (.NET 6 and later have room for more)",
                  target->pid);
    else
        log_error("cannot attach to process %d: %s (0x%08x)", target->pid, hresult_text(hresult),
                  (unsigned)hresult);
    return EXIT_NOTHING;
}

static int tell_error(const struct dotnet_target *target, int error)
{
    if (error == -ETIMEDOUT)
        log_error("process %d does not answer on its diagnostics socket: is it stopped, or another "
                  "tool connected?",
                  target->pid);
    else if (error == -ECONNREFUSED || error == -ENOENT)
        log_error("process %d ended, or listens no more on its diagnostics socket %s", target->pid,
                  target->diagnostics);
    else
        log_error("cannot attach to process %d: socket=%s, error=\"%s\"", target->pid,
                  target->diagnostics, strerror(-error));
    return EXIT_NOTHING;
}

int dotnet_target_attach(const struct dotnet_target *target, const char *socket_path,
                         uint32_t categories, const struct trd_buffer *buffer)
{
    uint8_t data[TRD_ATTACH_SIZE_MAX];
    char *holder = dotnet_target_holder(target->pid);
    int32_t hresult = 0;
    int size = trd_attach_encode(socket_path, categories, buffer, data);
    int result = size < 0 ? size : attach_main(target, holder, data, (size_t)size, &hresult);

    if (result == 0 && hresult == HRESULT_PROFILER_ALREADY_ACTIVE)
        result = attach_beside(target, holder, data, (size_t)size, &hresult);
    free(holder);
    if (result != 0)
        return tell_error(target, result);
    return hresult == 0 ? 0 : tell_hresult(target, hresult);
}
