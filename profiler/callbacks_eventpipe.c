/*
 * What EventPipe delivers, on the thread that raised it: no time and no thread come with it, so
 * both are taken here. May be called in any mode, during a suspension and on threads the runtime
 * does not know: nothing is asked but the name of a provider, when it is met first.
 */
#include "callbacks.h"

#include <string.h>

#include "eventpipe_event.h"
#include "eventpipe_provider.h"
#include "gate.h"
#include "names.h"
#include "profiler.h"
#include "text.h"
#include "writer.h"

/* The payload may lie at any alignment. */
static size_t take_text(const struct cursor_string *string, char *text)
{
    WCHAR units[NAMES_TEXT_MAX];
    size_t count = string->units < NAMES_TEXT_MAX ? string->units : NAMES_TEXT_MAX;

    memcpy(units, string->bytes, count * sizeof(units[0]));
    return text_from_utf16(units, count, text, NAMES_TEXT_MAX);
}

static void emit(const struct eventpipe_event *event)
{
    char text[NAMES_TEXT_MAX];
    struct writer writer;
    size_t size = 0;
    void *fixed;

    if (!gate_wants(event->category))
        return;
    if (event->text.bytes)
        size = take_text(&event->text, text) + 1;
    fixed = writer_begin(&writer, event->id, event->category, event->fixed_size, (uint32_t)size);
    if (!fixed)
        return;
    memcpy(fixed, &event->fixed, event->fixed_size);
    if (size > 0)
        writer_text(&writer, (struct trd_text *)((char *)fixed + event->text_offset), text,
                    size - 1);
    writer_commit(&writer);
}

HRESULT on_eventpipe_event(void *self, EVENTPIPE_PROVIDER provider, DWORD event_id,
                           DWORD event_version, ULONG metadata_size, const BYTE *metadata,
                           ULONG data_size, const BYTE *data, const GUID *activity,
                           const GUID *related_activity, ThreadID thread, ULONG frame_count,
                           UINT_PTR *frames)
{
    struct eventpipe_event event;

    (void)self;
    (void)event_version;
    (void)metadata_size;
    (void)metadata;
    (void)activity;
    (void)related_activity;
    (void)thread;
    (void)frame_count;
    (void)frames;
    if (!gate_is_open())
        return S_OK;
    switch (eventpipe_provider_kind(profiler_get()->info, provider)) {
    case EVENTPIPE_PROVIDER_RUNTIME:
        if (eventpipe_event_of_runtime(event_id, data, data_size, &event))
            emit(&event);
        break;
    case EVENTPIPE_PROVIDER_FRAMEWORK:
        if (eventpipe_event_of_framework(event_id, data, data_size, &event))
            emit(&event);
        break;
    case EVENTPIPE_PROVIDER_OTHER:
        break;
    }
    return S_OK;
}

/* A provider may take the address of one that is gone. */
HRESULT on_eventpipe_provider(void *self, EVENTPIPE_PROVIDER provider)
{
    (void)self;
    eventpipe_provider_forget(provider);
    return S_OK;
}
