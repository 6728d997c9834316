#include "callbacks.h"

#include "gate.h"
#include "info.h"
#include "names.h"
#include "profiler.h"
#include "writer.h"

void emit_method(FunctionID function, enum trd_category category)
{
    struct method_name name;
    struct trd_ev_method *event;
    struct writer writer;

    if (names_method_is_known(function))
        return;
    names_method(profiler_get()->info, function, &name);
    event = writer_begin(&writer, TRD_EV_method, category, sizeof(*event), (uint32_t)name.size + 1);
    if (!event)
        return;
    event->method = function;
    event->module = name.module;
    event->token = name.token;
    writer_text(&writer, &event->name, name.text, name.size);
    writer_commit(&writer);
    /* Only now: a definition that found no room is given with the next event. */
    names_method_set_known(function);
}

static void jit_start(FunctionID function)
{
    struct trd_ev_jit_start *event;
    struct writer writer;

    emit_method(function, TRD_CATEGORY_JIT);
    event = WRITER_BEGIN(&writer, jit_start, JIT, 0);
    if (!event)
        return;
    event->method = function;
    writer_commit(&writer);
}

static void jit_end(FunctionID function, HRESULT status)
{
    COR_PRF_CODE_INFO code = { 0 };
    struct trd_ev_jit_end *event;
    struct writer writer;

    (void)info_code(profiler_get()->info, function, &code);
    event = WRITER_BEGIN(&writer, jit_end, JIT, 0);
    if (!event)
        return;
    event->method = function;
    event->status = status;
    event->size = (uint32_t)code.size;
    event->address = code.startAddress;
    writer_commit(&writer);
}

HRESULT on_jit_start(void *self, FunctionID function, BOOL safe_to_block)
{
    (void)self;
    (void)safe_to_block;
    if (gate_wants(TRD_CATEGORY_JIT))
        jit_start(function);
    return S_OK;
}

HRESULT on_jit_end(void *self, FunctionID function, HRESULT status, BOOL safe_to_block)
{
    (void)self;
    (void)safe_to_block;
    if (!gate_wants(TRD_CATEGORY_JIT))
        return S_OK;
    jit_end(function, status);
    if (SUCCEEDED(status))
        (void)emit_code(function, 0, 0);
    return S_OK;
}

HRESULT on_dynamic_jit_start(void *self, FunctionID function, BOOL safe_to_block,
                             const BYTE *header, ULONG size)
{
    (void)header;
    (void)size;
    return on_jit_start(self, function, safe_to_block);
}
