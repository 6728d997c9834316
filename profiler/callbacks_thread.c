#include "callbacks.h"

#include "gate.h"
#include "names.h"
#include "text.h"
#include "thread_names.h"
#include "writer.h"

void emit_thread_created(ThreadID thread, uint16_t flags)
{
    struct writer writer;
    struct trd_ev_thread_created *event = WRITER_BEGIN(&writer, thread_created, THREAD, 0);

    if (!event)
        return;
    event->thread = thread;
    writer_flag(&writer, flags);
    writer_commit(&writer);
}

void emit_thread_assigned(ThreadID thread, uint32_t os_tid, uint16_t flags)
{
    struct writer writer;
    struct trd_ev_thread_assigned *event = WRITER_BEGIN(&writer, thread_assigned, THREAD, 0);

    if (!event)
        return;
    event->thread = thread;
    event->os_tid = os_tid;
    writer_flag(&writer, flags);
    writer_commit(&writer);
}

void emit_thread_name(ThreadID thread, const char *name, size_t size, uint16_t flags)
{
    struct trd_ev_thread_name *event;
    struct writer writer;

    event = WRITER_BEGIN(&writer, thread_name, THREAD, (uint32_t)size + 1);
    if (!event)
        return;
    event->thread = thread;
    writer_text(&writer, &event->name, name, size);
    writer_flag(&writer, flags);
    writer_commit(&writer);
}

HRESULT on_thread_created(void *self, ThreadID thread)
{
    (void)self;
    if (gate_wants(TRD_CATEGORY_THREAD))
        emit_thread_created(thread, 0);
    return S_OK;
}

HRESULT on_thread_destroyed(void *self, ThreadID thread)
{
    struct trd_ev_thread_destroyed *event;
    struct writer writer;

    (void)self;
    if (!gate_is_open())
        return S_OK;
    thread_names_remove(thread);
    if (gate_wants(TRD_CATEGORY_THREAD) &&
        (event = WRITER_BEGIN(&writer, thread_destroyed, THREAD, 0))) {
        event->thread = thread;
        writer_commit(&writer);
    }
    return S_OK;
}

HRESULT on_thread_assigned(void *self, ThreadID thread, DWORD os_tid)
{
    (void)self;
    if (gate_wants(TRD_CATEGORY_THREAD))
        emit_thread_assigned(thread, os_tid, 0);
    return S_OK;
}

HRESULT on_thread_name(void *self, ThreadID thread, ULONG length, WCHAR *name)
{
    char text[NAMES_TEXT_MAX];
    size_t size;

    (void)self;
    if (!gate_is_open())
        return S_OK;
    size = name ? text_from_utf16(name, length, text, sizeof(text)) : 0;
    thread_names_set(thread, text, size);
    if (gate_wants(TRD_CATEGORY_THREAD))
        emit_thread_name(thread, text, size, 0);
    return S_OK;
}
