/*
 * load LIBRARY: loads the profiler as a runtime does, gives it the fake runtime, raises one event
 * and shuts it down. Built with musl's compiler as well, since the one library serves processes of
 * either libc.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "attach.h"
#include "fake_info.h"

struct object {
    const struct corprof_callback_vtbl *vtbl;
};

static struct object *make_object(void *library)
{
    static const uint8_t main_class[] = TRD_CLSID_MAIN_BYTES;
    static const GUID unknown = IID_IUNKNOWN, factory_id = IID_ICLASSFACTORY;
    struct {
        const struct corprof_class_factory_vtbl *vtbl;
    } *factory = NULL;
    struct object *object = NULL;
    HRESULT(*get_class)
    (const void *clsid, const GUID *iid, void **out) =
        (HRESULT(*)(const void *, const GUID *, void **))dlsym(library, "DllGetClassObject");

    if (!get_class || get_class(main_class, &factory_id, (void **)&factory) != S_OK ||
        factory->vtbl->CreateInstance(factory, NULL, &unknown, (void **)&object) != S_OK)
        return NULL;
    return object;
}

int main(int argc, char **argv)
{
    void *library = argc > 1 ? dlopen(argv[1], RTLD_LAZY) : NULL;
    struct object *object;

    if (!library) {
        fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "usage: load LIBRARY");
        return 1;
    }
    object = make_object(library);
    if (!object || object->vtbl->Initialize(object, fake_reset()) != S_OK || fake.masks_set != 1) {
        fprintf(stderr, "the profiler of %s does not start\n", argv[1]);
        return 1;
    }
    object->vtbl->ThreadCreated(object, 1);
    object->vtbl->Shutdown(object);
    return dlclose(library);
}
