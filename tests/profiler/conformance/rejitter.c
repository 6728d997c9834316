/*
 * Another profiler, in the main slot, that gives a method of the program a new body when the
 * program asks for it: rejitter_ask(token) requests ReJIT of that method of app.dll, with its own
 * IL again.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "corprof.h"

#define EXPORT __attribute__((visibility("default")))
#define COR_PRF_ENABLE_REJIT 0x00040000u
#define REQUEST_REJIT_SLOT 73 /* ICorProfilerInfo4 */
#define NAME_MAX_UNITS 512

static struct corprof_info *info;
static _Atomic ModuleID program;

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

static HRESULT initialize(void *self, void *unknown)
{
    static const GUID info8 = {
        0xc5ac80a6, 0x782e, 0x4716, { 0x80, 0x44, 0x39, 0x59, 0x8c, 0x60, 0xcf, 0xbf }
    };
    struct corprof_info *asked = unknown;

    (void)self;
    if (asked->vtbl->QueryInterface(asked, &info8, (void **)&info) != S_OK)
        return E_FAIL;
    return info->vtbl->SetEventMask2(info, COR_PRF_MONITOR_MODULE_LOADS | COR_PRF_ENABLE_REJIT, 0);
}

static HRESULT load_as_notification_only(void *self, BOOL *out)
{
    (void)self;
    *out = 0;
    return S_OK;
}

static bool is_program(const WCHAR *name, ULONG length)
{
    static const char end[] = "/app.dll";

    if (length < sizeof(end))
        return false;
    for (size_t i = 0; i < sizeof(end); i++) /* with the NUL */
        if (name[length - sizeof(end) + i] != (WCHAR)end[i])
            return false;
    return true;
}

static HRESULT module_loaded(void *self, ModuleID module, HRESULT status)
{
    WCHAR name[NAME_MAX_UNITS];
    AssemblyID assembly = 0;
    const BYTE *base = NULL;
    ULONG length = 0;
    DWORD flags = 0;

    (void)self;
    (void)status;
    if (info->vtbl->GetModuleInfo2(info, module, &base, NAME_MAX_UNITS, &length, name, &assembly,
                                   &flags) == S_OK &&
        length <= NAME_MAX_UNITS && is_program(name, length))
        program = module;
    return S_OK;
}

struct request {
    mdMethodDef method;
    HRESULT hr;
};

/* Only a thread that the runtime does not know may ask. */
static void *ask(void *argument)
{
    struct request *request = argument;
    ModuleID module = program;
    HRESULT (*request_rejit)(void *self, ULONG functions, ModuleID *modules, mdMethodDef *methods);

    memcpy(&request_rejit, (void *const *)(const void *)info->vtbl + REQUEST_REJIT_SLOT,
           sizeof(request_rejit));
    request->hr = request_rejit(info, 1, &module, &request->method);
    return NULL;
}

EXPORT HRESULT rejitter_ask(mdMethodDef method);

HRESULT rejitter_ask(mdMethodDef method)
{
    struct request request = { method, E_FAIL };
    pthread_t thread;

    if (pthread_create(&thread, NULL, ask, &request) == 0)
        pthread_join(thread, NULL);
    return request.hr;
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
    .LoadAsNotificationOnly = load_as_notification_only,
    .ModuleLoadFinished = module_loaded,
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

    (void)clsid;
    (void)iid;
    *out = &factory;
    return S_OK;
}
