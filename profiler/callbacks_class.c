/* Classes that come and go, and the definitions that give types their names. */
#include "callbacks.h"

#include <string.h>

#include "gate.h"
#include "names.h"
#include "names_known.h"
#include "profiler.h"
#include "writer.h"

void emit_type(ClassID class_id, enum trd_category category)
{
    struct trd_ev_type *event;
    struct type_name name;
    struct writer writer;

    if (names_is_known(NAMES_TYPES, class_id))
        return;
    names_type(profiler_get()->info, class_id, &name);
    event = writer_begin(&writer, TRD_EV_type, category, sizeof(*event), (uint32_t)name.size + 1);
    if (!event)
        return;
    event->type = class_id;
    event->module = name.module;
    event->token = name.token;
    writer_text(&writer, &event->name, name.text, name.size);
    writer_commit(&writer);
    /* What it is made of may still be loading: then more can be told next time. */
    if (!memchr(name.text, '?', name.size))
        names_set_known(NAMES_TYPES, class_id);
}

HRESULT on_class_load(void *self, ClassID class_id, HRESULT status)
{
    struct trd_ev_class_load *event;
    struct writer writer;

    (void)self;
    if (!gate_wants(TRD_CATEGORY_CLASS))
        return S_OK;
    if (SUCCEEDED(status))
        emit_type(class_id, TRD_CATEGORY_CLASS);
    event = WRITER_BEGIN(&writer, class_load, CLASS, 0);
    if (!event)
        return S_OK;
    event->type = class_id;
    event->status = status;
    writer_commit(&writer);
    return S_OK;
}

HRESULT on_class_unload(void *self, ClassID class_id, HRESULT status)
{
    struct trd_ev_class_unload *event;
    struct writer writer;

    (void)self;
    (void)status;
    if (!gate_wants(TRD_CATEGORY_CLASS))
        return S_OK;
    event = WRITER_BEGIN(&writer, class_unload, CLASS, 0);
    if (event) {
        event->type = class_id;
        writer_commit(&writer);
    }
    names_forget_one(NAMES_TYPES, class_id);
    return S_OK;
}
