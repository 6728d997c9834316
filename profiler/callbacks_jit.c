#include "callbacks.h"

#include "elt.h"
#include "gate.h"
#include "info.h"
#include "names.h"
#include "names_known.h"
#include "profiler.h"
#include "writer.h"

static void define_method(FunctionID function, enum trd_category category, uint16_t flags)
{
    struct method_name name;
    struct trd_ev_method *event;
    struct writer writer;

    names_method(profiler_get()->info, function, &name);
    event = writer_begin(&writer, TRD_EV_method, category, sizeof(*event),
                         (uint32_t)(name.size + name.raw_size) + 2);
    if (!event)
        return;
    event->method = function;
    event->module = name.module;
    event->token = name.token;
    event->form = (uint8_t)name.form;
    writer_text(&writer, &event->name, name.text, name.size);
    writer_text(&writer, &event->raw, name.raw, name.raw_size);
    writer_flag(&writer, flags);
    writer_commit(&writer);
    /* Only now: a definition that found no room is given with the next event. That a dynamic method
     * is gone is only told with the JIT's events; without them its id may name another one. */
    if (name.module != 0 || gate_wants(TRD_CATEGORY_JIT))
        names_set_known(NAMES_METHODS, function);
}

void emit_method_flagged(FunctionID function, enum trd_category category, uint16_t flags)
{
    if (!names_is_known(NAMES_METHODS, function))
        define_method(function, category, flags);
}

void emit_method(FunctionID function, enum trd_category category)
{
    emit_method_flagged(function, category, 0);
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

static void jit_end(const struct jitted *jitted, HRESULT status)
{
    COR_PRF_CODE_INFO code = { 0 };
    struct trd_ev_jit_end *event;
    struct writer writer;

    if (SUCCEEDED(status) && jitted->part_count > 0)
        code = jitted->parts[0];
    event = WRITER_BEGIN(&writer, jit_end, JIT, 0);
    if (!event)
        return;
    event->method = jitted->function;
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

static HRESULT finished(FunctionID function, HRESULT status, bool dynamic)
{
    struct jitted jitted;

    if (!gate_wants(TRD_CATEGORY_JIT))
        return S_OK;
    jitted_find(&jitted, function, dynamic);
    jit_end(&jitted, status);
    if (SUCCEEDED(status))
        emit_jitted(&jitted);
    return S_OK;
}

HRESULT on_jit_end(void *self, FunctionID function, HRESULT status, BOOL safe_to_block)
{
    (void)self;
    (void)safe_to_block;
    return finished(function, status, false);
}

HRESULT on_dynamic_jit_start(void *self, FunctionID function, BOOL safe_to_block,
                             const BYTE *header, ULONG size)
{
    (void)header;
    (void)size;
    /* The runtime gives the id of a dynamic method that went to the next one. */
    if (gate_wants(TRD_CATEGORY_JIT))
        define_method(function, TRD_CATEGORY_JIT, 0);
    return on_jit_start(self, function, safe_to_block);
}

HRESULT on_dynamic_jit_end(void *self, FunctionID function, HRESULT status, BOOL safe_to_block)
{
    (void)self;
    (void)safe_to_block;
    return finished(function, status, true);
}

static void inlining(FunctionID caller, FunctionID callee)
{
    struct trd_ev_inlining *event;
    struct writer writer;

    emit_method(caller, TRD_CATEGORY_INLINING);
    emit_method(callee, TRD_CATEGORY_INLINING);
    event = WRITER_BEGIN(&writer, inlining, INLINING, 0);
    if (!event)
        return;
    event->method = caller;
    event->callee = callee;
    writer_commit(&writer);
}

HRESULT on_inlining(void *self, FunctionID caller, FunctionID callee, BOOL *should_inline)
{
    (void)self;
    if (gate_wants(TRD_CATEGORY_INLINING))
        inlining(caller, callee);
    /* Or nobody would see it entered. */
    if (gate_is_open() && should_inline && elt_takes(callee))
        *should_inline = 0;
    return S_OK;
}

HRESULT on_cached_search(void *self, FunctionID function, COR_PRF_JIT_CACHE result)
{
    struct trd_ev_precompiled *event;
    struct writer writer;

    (void)self;
    if (!gate_wants(TRD_CATEGORY_INLINING))
        return S_OK;
    emit_method(function, TRD_CATEGORY_INLINING);
    event = WRITER_BEGIN(&writer, precompiled, INLINING, 0);
    if (!event)
        return S_OK;
    event->method = function;
    event->found = result == COR_PRF_CACHED_FUNCTION_FOUND;
    writer_commit(&writer);
    return S_OK;
}
