/* What the runtime looks up in the library: the class factory for the two classes of
 * proto/attach.h. Both make the same one object; the class says whether the main profiler slot is
 * wanted. */
#include <string.h>

#include "attach.h"
#include "profiler.h"

#define EXPORT __attribute__((visibility("default")))

struct class_factory {
    const struct corprof_class_factory_vtbl *vtbl;
    BOOL notification_only;
};

static ULONG count_forever(void *self)
{
    (void)self;
    return 1;
}

static HRESULT query_factory(void *self, const GUID *iid, void **out)
{
    static const GUID unknown = IID_IUNKNOWN, factory = IID_ICLASSFACTORY;

    if (!out)
        return E_POINTER;
    *out = NULL;
    if (memcmp(iid, &unknown, sizeof(*iid)) != 0 && memcmp(iid, &factory, sizeof(*iid)) != 0)
        return E_NOINTERFACE;
    *out = self;
    return S_OK;
}

static HRESULT create_instance(void *self, void *outer, const GUID *iid, void **out)
{
    struct class_factory *factory = self;
    struct profiler *profiler = profiler_get();

    if (outer)
        return CLASS_E_NOAGGREGATION;
    /* Asked again while one runs: that one's slot does not change. */
    if (!profiler->info)
        profiler->notification_only = factory->notification_only;
    return profiler->vtbl->QueryInterface(profiler, iid, out);
}

static HRESULT lock_server(void *self, BOOL lock)
{
    (void)self;
    (void)lock;
    return S_OK;
}

static const struct corprof_class_factory_vtbl factory_vtbl = {
    query_factory, count_forever, count_forever, create_instance, lock_server,
};

EXPORT HRESULT DllGetClassObject(const GUID *clsid, const GUID *iid, void **out);
EXPORT HRESULT DllCanUnloadNow(void);

HRESULT DllGetClassObject(const GUID *clsid, const GUID *iid, void **out)
{
    static const uint8_t main_class[] = TRD_CLSID_MAIN_BYTES;
    static const uint8_t notification_class[] = TRD_CLSID_NOTIFICATION_BYTES;
    static struct class_factory factories[] = { { &factory_vtbl, 0 }, { &factory_vtbl, 1 } };

    if (!out)
        return E_POINTER;
    *out = NULL;
    if (memcmp(clsid, main_class, sizeof(main_class)) == 0)
        return query_factory(&factories[0], iid, out);
    if (memcmp(clsid, notification_class, sizeof(notification_class)) == 0)
        return query_factory(&factories[1], iid, out);
    return CLASS_E_CLASSNOTAVAILABLE;
}

/* Threads may be on their way out of callbacks at any time. */
HRESULT DllCanUnloadNow(void)
{
    return S_FALSE;
}
