/*
 * A profiler that asks for the same callbacks as ours and does nothing in them: what the runtime
 * itself costs, which measurements of the real one subtract. Same exports, same class; the
 * categories are all. With TRACERD_NOOP_OPENS in the environment it opens each module's metadata
 * and closes it again: what that costs from then on.
 */
#include <stdlib.h>
#include <string.h>

#include "attach.h"
#include "corprof.h"

#define EXPORT __attribute__((visibility("default")))

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

static struct corprof_info *opens; /* NULL: nothing is opened */

static HRESULT on_module_load(void *self, ModuleID module, HRESULT status)
{
    static const GUID iid = IID_IMETADATAIMPORT2;
    void *found = NULL;
    struct metadata_import *import;

    (void)self;
    (void)status;
    if (!opens || opens->vtbl->GetModuleMetaData(opens, module, 0, &iid, &found) != S_OK || !found)
        return S_OK;
    import = found;
    (void)import->vtbl->Release(import);
    return S_OK;
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
    struct corprof_info *info = unknown;

    (void)self;
    if (info->vtbl->QueryInterface(info, &info8, (void **)&info) != S_OK)
        return E_FAIL;
    opens = getenv("TRACERD_NOOP_OPENS") ? info : NULL;
    return info->vtbl->SetEventMask2(
        info,
        COR_PRF_MONITOR_THREADS | COR_PRF_MONITOR_MODULE_LOADS | COR_PRF_MONITOR_ASSEMBLY_LOADS |
            COR_PRF_MONITOR_JIT_COMPILATION | COR_PRF_MONITOR_EXCEPTIONS | COR_PRF_MONITOR_SUSPENDS,
        COR_PRF_HIGH_BASIC_GC);
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
    .ModuleLoadFinished = on_module_load,
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
EXPORT HRESULT DllCanUnloadNow(void);

HRESULT DllGetClassObject(const GUID *clsid, const GUID *iid, void **out)
{
    static const uint8_t main_class[] = TRD_CLSID_MAIN_BYTES;
    static const struct corprof_class_factory_vtbl vtbl = { query_interface, count, count,
                                                            create_instance, lock_server };
    static const struct corprof_class_factory_vtbl *factory = &vtbl;

    (void)iid;
    if (memcmp(clsid, main_class, sizeof(main_class)) != 0)
        return CLASS_E_CLASSNOTAVAILABLE;
    *out = &factory;
    return S_OK;
}

HRESULT DllCanUnloadNow(void)
{
    return S_FALSE;
}
