#include "callbacks.h"

#include "exception_message.h"
#include "exception_steps.h"
#include "elt.h"
#include "gate.h"
#include "names.h"
#include "names_text.h"
#include "profiler.h"
#include "writer.h"

/* Between a throw and the first method that is searched, a thread keeps where it wrote the throw.
 */
static const struct writer_place dropped = { .position = UINT64_MAX };

/* The name of the object's type; always some text. */
static size_t type_name(ClassID class_id, char text[NAMES_TEXT_MAX])
{
    if (class_id)
        return names_append_class(text, 0, profiler_get()->info, class_id, 0);
    text[0] = '?';
    return 1;
}

HRESULT on_exception_thrown(void *self, ObjectID object)
{
    struct trd_ev_exception_thrown *event;
    struct writer writer;
    char type[NAMES_TEXT_MAX], message[EXCEPTION_MESSAGE_MAX];
    size_t type_size, message_size;
    ClassID class_id;
    bool is_cut;

    (void)self;
    if (!gate_wants(TRD_CATEGORY_EXCEPTION))
        return S_OK;
    class_id = exception_class(profiler_get()->info, object);
    type_size = type_name(class_id, type);
    message_size = exception_message(profiler_get()->info, class_id, object, message, &is_cut);
    event = WRITER_BEGIN(&writer, exception_thrown, EXCEPTION,
                         (uint32_t)(type_size + 1 + message_size + 1));
    if (!event) {
        writer_keep(dropped);
        return S_OK;
    }
    event->object = object;
    event->message = (struct trd_text){ 0, 0 };
    writer_text(&writer, &event->type, type, type_size);
    if (message_size > 0)
        writer_text(&writer, &event->message, message, message_size);
    if (is_cut)
        writer_flag(&writer, TRD_EVENT_F_CUT);
    writer_keep(writer_commit(&writer));
    return S_OK;
}

static void emit_from(FunctionID method, struct writer_place thrown)
{
    struct trd_ev_exception_from *event;
    struct writer writer;

    if (method)
        emit_method(method, TRD_CATEGORY_EXCEPTION);
    event = writer_begin_after(&writer, thrown, TRD_EV_exception_from, TRD_CATEGORY_EXCEPTION,
                               sizeof(*event));
    if (!event)
        return;
    event->method = method;
    writer_commit(&writer);
}

/* Steps tell a method and nothing else: they differ in their id only. */
static void emit_step(uint16_t id, FunctionID method)
{
    struct trd_ev_search_enter *event;
    struct writer writer;

    if (method)
        emit_method(method, TRD_CATEGORY_UNWIND);
    event = writer_begin(&writer, id, TRD_CATEGORY_UNWIND, sizeof(*event), 0);
    if (!event)
        return;
    event->method = method;
    writer_commit(&writer);
}

HRESULT on_exception_found(void *self, FunctionID function)
{
    (void)self;
    if (gate_wants(TRD_CATEGORY_UNWIND))
        emit_step(TRD_EV_exception_found, function);
    return S_OK;
}

HRESULT on_exception_caught(void *self, FunctionID function, ObjectID object)
{
    struct trd_ev_exception_caught *event;
    struct writer writer;
    char type[NAMES_TEXT_MAX];
    size_t size;

    (void)self;
    if (gate_wants(TRD_CATEGORY_UNWIND))
        exception_steps_begin(STEP_CATCH, function);
    elt_unwind_caught();
    if (!gate_wants(TRD_CATEGORY_EXCEPTION))
        return S_OK;
    if (function)
        emit_method(function, TRD_CATEGORY_EXCEPTION);
    size = type_name(exception_class(profiler_get()->info, object), type);
    event = WRITER_BEGIN(&writer, exception_caught, EXCEPTION, (uint32_t)size + 1);
    if (!event)
        return S_OK;
    event->object = object;
    event->method = function;
    writer_text(&writer, &event->type, type, size);
    writer_commit(&writer);
    return S_OK;
}

/* Each step */

static HRESULT begin_step(uint16_t id, enum exception_step step, FunctionID method)
{
    if (!gate_wants(TRD_CATEGORY_UNWIND))
        return S_OK;
    exception_steps_begin(step, method);
    emit_step(id, method);
    return S_OK;
}

static HRESULT end_step(uint16_t id, enum exception_step step)
{
    if (gate_wants(TRD_CATEGORY_UNWIND))
        emit_step(id, exception_steps_end(step));
    return S_OK;
}

/* The first method that is searched after a throw is the one that threw. */
HRESULT on_search_enter(void *self, FunctionID function)
{
    struct writer_place thrown = writer_kept();

    (void)self;
    if (thrown.position != 0) {
        writer_keep((struct writer_place){ 0 });
        if (gate_wants(TRD_CATEGORY_EXCEPTION))
            emit_from(function, thrown);
    }
    return begin_step(TRD_EV_search_enter, STEP_SEARCH, function);
}

HRESULT on_search_leave(void *self)
{
    (void)self;
    return end_step(TRD_EV_search_leave, STEP_SEARCH);
}

HRESULT on_filter_enter(void *self, FunctionID function)
{
    (void)self;
    return begin_step(TRD_EV_filter_enter, STEP_FILTER, function);
}

HRESULT on_filter_leave(void *self)
{
    (void)self;
    return end_step(TRD_EV_filter_leave, STEP_FILTER);
}

HRESULT on_unwind_enter(void *self, FunctionID function)
{
    (void)self;
    elt_unwind_enter(function);
    return begin_step(TRD_EV_unwind_enter, STEP_UNWIND, function);
}

HRESULT on_unwind_leave(void *self)
{
    (void)self;
    elt_unwind_leave();
    return end_step(TRD_EV_unwind_leave, STEP_UNWIND);
}

HRESULT on_finally_enter(void *self, FunctionID function)
{
    (void)self;
    return begin_step(TRD_EV_finally_enter, STEP_FINALLY, function);
}

HRESULT on_finally_leave(void *self)
{
    (void)self;
    return end_step(TRD_EV_finally_leave, STEP_FINALLY);
}

HRESULT on_catch_leave(void *self)
{
    (void)self;
    return end_step(TRD_EV_catch_leave, STEP_CATCH);
}
