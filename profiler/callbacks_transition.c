/* Transitions between managed and native code. Asked for from the start or not at all. */
#include "callbacks.h"

#include "gate.h"
#include "writer.h"

HRESULT on_to_native(void *self, FunctionID function, COR_PRF_TRANSITION_REASON reason)
{
    struct trd_ev_to_native *event;
    struct writer writer;

    (void)self;
    if (!gate_wants(TRD_CATEGORY_TRANSITION))
        return S_OK;
    if (function)
        emit_method(function, TRD_CATEGORY_TRANSITION);
    event = WRITER_BEGIN(&writer, to_native, TRANSITION, 0);
    if (!event)
        return S_OK;
    event->method = function;
    event->reason = (uint32_t)reason;
    writer_commit(&writer);
    return S_OK;
}

HRESULT on_to_managed(void *self, FunctionID function, COR_PRF_TRANSITION_REASON reason)
{
    struct trd_ev_to_managed *event;
    struct writer writer;

    (void)self;
    if (!gate_wants(TRD_CATEGORY_TRANSITION))
        return S_OK;
    if (function)
        emit_method(function, TRD_CATEGORY_TRANSITION);
    event = WRITER_BEGIN(&writer, to_managed, TRANSITION, 0);
    if (!event)
        return S_OK;
    event->method = function;
    event->reason = (uint32_t)reason;
    writer_commit(&writer);
    return S_OK;
}
