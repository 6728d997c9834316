#include "callbacks.h"

#include "gate.h"
#include "names.h"
#include "profiler.h"
#include "writer.h"

HRESULT on_exception_thrown(void *self, ObjectID object)
{
    struct trd_ev_exception_thrown *event;
    struct writer writer;
    char type[NAMES_TEXT_MAX];
    size_t size;

    (void)self;
    if (!gate_wants(TRD_CATEGORY_EXCEPTION))
        return S_OK;
    size = names_type_of_object(profiler_get()->info, object, type);
    event = WRITER_BEGIN(&writer, exception_thrown, EXCEPTION, (uint32_t)size + 1);
    if (!event)
        return S_OK;
    event->object = object;
    writer_text(&writer, &event->type, type, size);
    writer_commit(&writer);
    return S_OK;
}

HRESULT on_exception_caught(void *self, FunctionID function, ObjectID object)
{
    struct trd_ev_exception_caught *event;
    struct writer writer;
    char type[NAMES_TEXT_MAX];
    size_t size;

    (void)self;
    if (!gate_wants(TRD_CATEGORY_EXCEPTION))
        return S_OK;
    if (function)
        emit_method(function, TRD_CATEGORY_EXCEPTION);
    size = names_type_of_object(profiler_get()->info, object, type);
    event = WRITER_BEGIN(&writer, exception_caught, EXCEPTION, (uint32_t)size + 1);
    if (!event)
        return S_OK;
    event->object = object;
    event->method = function;
    writer_text(&writer, &event->type, type, size);
    writer_commit(&writer);
    return S_OK;
}
