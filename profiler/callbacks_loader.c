#include "callbacks.h"

#include "exception_message.h"
#include "elt.h"
#include "gate.h"
#include "info.h"
#include "names.h"
#include "names_known.h"
#include "profiler.h"
#include "unloads.h"
#include "text.h"
#include "writer.h"

void emit_module_load(struct corprof_info *info, ModuleID module, HRESULT status, uint16_t flags)
{
    struct trd_ev_module_load *event;
    struct writer writer;
    struct info_name path;
    char text[NAMES_TEXT_MAX];
    AssemblyID assembly = 0;
    uintptr_t base = 0;
    size_t size = 0;
    DWORD kind = 0;

    if (SUCCEEDED(status) && info_module(info, module, &base, &assembly, &path)) {
        size = text_from_utf16(path.units, path.length, text, sizeof(text));
        kind = info_module_flags(info, module);
    }
    event = WRITER_BEGIN(&writer, module_load, LOADER, (uint32_t)size + 1);
    if (!event)
        return;
    event->module = module;
    event->assembly = assembly;
    event->base = base;
    event->status = status;
    event->flags = kind;
    writer_text(&writer, &event->path, text, size);
    writer_flag(&writer, flags);
    writer_commit(&writer);
}

void emit_assembly_load(struct corprof_info *info, AssemblyID assembly, HRESULT status,
                        uint16_t flags)
{
    struct trd_ev_assembly_load *event;
    struct writer writer;
    struct info_name name;
    char text[NAMES_TEXT_MAX];
    size_t size = 0;

    if (SUCCEEDED(status) && info_assembly(info, assembly, &name))
        size = text_from_utf16(name.units, name.length, text, sizeof(text));
    event = WRITER_BEGIN(&writer, assembly_load, LOADER, (uint32_t)size + 1);
    if (!event)
        return;
    event->assembly = assembly;
    event->status = status;
    writer_text(&writer, &event->name, text, size);
    writer_flag(&writer, flags);
    writer_commit(&writer);
}

HRESULT on_assembly_load(void *self, AssemblyID assembly, HRESULT status)
{
    (void)self;
    if (gate_wants(TRD_CATEGORY_LOADER))
        emit_assembly_load(profiler_get()->info, assembly, status, 0);
    return S_OK;
}

HRESULT on_assembly_unload(void *self, AssemblyID assembly, HRESULT status)
{
    struct trd_ev_assembly_unload *event;
    struct writer writer;

    (void)self;
    (void)status;
    if (gate_wants(TRD_CATEGORY_LOADER) &&
        (event = WRITER_BEGIN(&writer, assembly_unload, LOADER, 0))) {
        event->assembly = assembly;
        writer_commit(&writer);
    }
    return S_OK;
}

HRESULT on_module_load(void *self, ModuleID module, HRESULT status)
{
    (void)self;
    if (gate_wants(TRD_CATEGORY_LOADER))
        emit_module_load(profiler_get()->info, module, status, 0);
    return S_OK;
}

HRESULT on_module_unload(void *self, ModuleID module, HRESULT status)
{
    struct trd_ev_module_unload *event;
    struct writer writer;

    (void)self;
    (void)status;
    if (!gate_is_open())
        return S_OK;
    unloads_note_finished();
    names_forget();
    exception_message_forget();
    elt_forget(module);
    if ((gate_wants(TRD_CATEGORY_LOADER) || gate_wants(TRD_CATEGORY_JIT)) &&
        (event = WRITER_BEGIN(&writer, module_unload, LOADER, 0))) {
        event->module = module;
        writer_commit(&writer);
    }
    return S_OK;
}

void emit_appdomain_created(struct corprof_info *info, AppDomainID domain, HRESULT status,
                            uint16_t flags)
{
    struct trd_ev_appdomain_created *event;
    struct writer writer;
    struct info_name name;
    char text[NAMES_TEXT_MAX];
    size_t size = 0;

    if (SUCCEEDED(status) && info_appdomain(info, domain, &name))
        size = text_from_utf16(name.units, name.length, text, sizeof(text));
    event = WRITER_BEGIN(&writer, appdomain_created, LOADER, (uint32_t)size + 1);
    if (!event)
        return;
    event->domain = domain;
    event->status = status;
    writer_text(&writer, &event->name, text, size);
    writer_flag(&writer, flags);
    writer_commit(&writer);
}

HRESULT on_appdomain_created(void *self, AppDomainID domain, HRESULT status)
{
    (void)self;
    if (gate_wants(TRD_CATEGORY_LOADER))
        emit_appdomain_created(profiler_get()->info, domain, status, 0);
    return S_OK;
}

HRESULT on_appdomain_shutdown(void *self, AppDomainID domain, HRESULT status)
{
    struct trd_ev_appdomain_shutdown *event;
    struct writer writer;

    (void)self;
    (void)status;
    if (gate_wants(TRD_CATEGORY_LOADER) &&
        (event = WRITER_BEGIN(&writer, appdomain_shutdown, LOADER, 0))) {
        event->domain = domain;
        writer_commit(&writer);
    }
    return S_OK;
}
