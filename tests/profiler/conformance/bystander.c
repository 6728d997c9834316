/*
 * Another profiler in the same process, for the rows about living side by side. It counts
 * collections and exceptions and writes "WHY COLLECTIONS EXCEPTIONS" to a file beside itself, named
 * after it with .log behind, when it is asked to go: WHY is shutdown, detached or refused.
 *
 * What it does is in the first number of the class id it is loaded by, so that one library, copied
 * under as many names as are needed, plays every part:
 *   1  leaves the main slot to somebody else
 *   2  fails when it is attached
 *   4  requests its detach when as many threads have ended as the second byte says
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "corprof.h"

#define EXPORT __attribute__((visibility("default")))

enum {
    PART_NOTIFICATION = 1,
    PART_REFUSES = 2,
    PART_DETACHES = 4,
};

static uint32_t part;
static struct corprof_info *info;
static _Atomic unsigned collections, exceptions, ends;
static atomic_flag leaving = ATOMIC_FLAG_INIT;

static HRESULT ignore(void *self)
{
    (void)self;
    return S_OK;
}

static ULONG count(void *self)
{
    (void)self;
    return 1;
}

static HRESULT query_interface(void *self, const GUID *iid, void **out)
{
    (void)iid;
    *out = self;
    return S_OK;
}

/* In one piece: a reader finds the whole line or no file. */
static void tell(const char *why)
{
    char path[4096], draft[4096], line[64];
    Dl_info self;
    int file, size;

    if (!dladdr((void *)(uintptr_t)tell, &self))
        return;
    (void)snprintf(path, sizeof(path), "%s.log", self.dli_fname);
    (void)snprintf(draft, sizeof(draft), "%s.draft", self.dli_fname);
    size = snprintf(line, sizeof(line), "%s %u %u\n", why, collections, exceptions);
    file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0)
        return;
    if (write(file, line, (size_t)size) == size)
        (void)rename(draft, path);
    close(file);
}

static HRESULT initialize(void *self, void *unknown)
{
    static const GUID info8 = {
        0xc5ac80a6, 0x782e, 0x4716, { 0x80, 0x44, 0x39, 0x59, 0x8c, 0x60, 0xcf, 0xbf }
    };
    struct corprof_info *asked = unknown;

    (void)self;
    if (asked->vtbl->QueryInterface(asked, &info8, (void **)&info) != S_OK)
        return E_FAIL;
    return info->vtbl->SetEventMask2(info, COR_PRF_MONITOR_THREADS | COR_PRF_MONITOR_EXCEPTIONS,
                                     COR_PRF_HIGH_BASIC_GC);
}

static HRESULT initialize_for_attach(void *self, void *unknown, void *data, UINT size)
{
    (void)data;
    (void)size;
    if (part & PART_REFUSES) {
        tell("refused");
        return E_FAIL;
    }
    return initialize(self, unknown);
}

static HRESULT load_as_notification_only(void *self, BOOL *out)
{
    (void)self;
    *out = (part & PART_NOTIFICATION) != 0;
    return S_OK;
}

static HRESULT garbage_collection_started(void *self, int generations, BOOL collected[],
                                          COR_PRF_GC_REASON reason)
{
    (void)self;
    (void)generations;
    (void)collected;
    (void)reason;
    collections++;
    return S_OK;
}

static HRESULT exception_thrown(void *self, ObjectID object)
{
    (void)self;
    (void)object;
    exceptions++;
    return S_OK;
}

static HRESULT thread_destroyed(void *self, ThreadID thread)
{
    (void)self;
    (void)thread;
    if ((part & PART_DETACHES) && ++ends >= (part >> 8 & 0xff) &&
        !atomic_flag_test_and_set(&leaving))
        return info->vtbl->RequestProfilerDetach(info, 10);
    return S_OK;
}

static HRESULT detached(void *self)
{
    (void)self;
    tell("detached");
    return S_OK;
}

static HRESULT shut_down(void *self)
{
    (void)self;
    tell("shutdown");
    return S_OK;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-function-type"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Winitializer-overrides"
#else
#pragma GCC diagnostic ignored "-Woverride-init"
#endif
static const struct corprof_callback_vtbl callbacks = {
#define CORPROF_SLOT(slot, method, ...) .method = (HRESULT(*)(void *, ##__VA_ARGS__))(void *)ignore,
#include "callback_slots.def"
#undef CORPROF_SLOT
    .QueryInterface = query_interface,
    .AddRef = count,
    .Release = count,
    .Initialize = initialize,
    .InitializeForAttach = initialize_for_attach,
    .LoadAsNotificationOnly = load_as_notification_only,
    .GarbageCollectionStarted = garbage_collection_started,
    .ExceptionThrown = exception_thrown,
    .ThreadDestroyed = thread_destroyed,
    .ProfilerDetachSucceeded = detached,
    .Shutdown = shut_down,
};
#pragma GCC diagnostic pop

static HRESULT create_instance(void *self, void *outer, const GUID *iid, void **out)
{
    static const struct corprof_callback_vtbl *object = &callbacks;

    (void)self;
    (void)outer;
    (void)iid;
    *out = &object;
    return S_OK;
}

static HRESULT lock_server(void *self, BOOL lock)
{
    (void)self;
    (void)lock;
    return S_OK;
}

EXPORT HRESULT DllGetClassObject(const GUID *clsid, const GUID *iid, void **out);

HRESULT DllGetClassObject(const GUID *clsid, const GUID *iid, void **out)
{
    static const struct corprof_class_factory_vtbl vtbl = { query_interface, count, count,
                                                            create_instance, lock_server };
    static const struct corprof_class_factory_vtbl *factory = &vtbl;

    (void)iid;
    memcpy(&part, clsid, sizeof(part));
    *out = &factory;
    return S_OK;
}
