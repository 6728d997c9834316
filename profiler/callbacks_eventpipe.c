/*
 * What EventPipe delivers, on the thread that raised it: no time and no thread come with it, so
 * both are taken here. May be called in any mode, during a suspension and on threads the runtime
 * does not know: nothing is asked but the name of a provider, when it is met first.
 */
#include "callbacks.h"

#include <string.h>

#include "eventpipe.h"
#include "eventpipe_event.h"
#include "eventpipe_provider.h"
#include "eventpipe_source.h"
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

/*
 * What becomes an event of ours; anything else was asked for by the provider's name, but for the
 * unasked neighbours of the runtime's own events.
 */
static void take(const struct eventpipe_delivery *delivery)
{
    struct corprof_info *info = profiler_get()->info;
    enum eventpipe_provider_kind kind = eventpipe_provider_kind(info, delivery->provider);
    struct eventpipe_event event;

    bool ours =
        (kind == EVENTPIPE_PROVIDER_RUNTIME &&
         eventpipe_event_of_runtime(delivery->id, delivery->data, delivery->data_size, &event)) ||
        (kind == EVENTPIPE_PROVIDER_FRAMEWORK &&
         eventpipe_event_of_framework(delivery->id, delivery->data, delivery->data_size, &event));

    if (ours && gate_wants(event.category))
        emit(&event);
    else if (gate_wants(TRD_CATEGORY_PROVIDER) &&
             (kind != EVENTPIPE_PROVIDER_RUNTIME || eventpipe_names_runtime()))
        eventpipe_source_emit(info, delivery);
}

HRESULT on_eventpipe_event(void *self, EVENTPIPE_PROVIDER provider, DWORD event_id,
                           DWORD event_version, ULONG metadata_size, const BYTE *metadata,
                           ULONG data_size, const BYTE *data, const GUID *activity,
                           const GUID *related_activity, ThreadID thread, ULONG frame_count,
                           UINT_PTR *frames)
{
    const struct eventpipe_delivery delivery = { .provider = provider,
                                                 .id = event_id,
                                                 .version = event_version,
                                                 .metadata = metadata,
                                                 .metadata_size = metadata ? metadata_size : 0,
                                                 .data = data,
                                                 .data_size = data ? data_size : 0,
                                                 .activity = activity };

    (void)self;
    (void)related_activity;
    (void)thread;
    (void)frame_count;
    (void)frames;
    if (gate_is_open())
        take(&delivery);
    return S_OK;
}

/* A provider may take the address of one that is gone. */
HRESULT on_eventpipe_provider(void *self, EVENTPIPE_PROVIDER provider)
{
    (void)self;
    eventpipe_provider_forget(provider);
    eventpipe_source_forget_provider(provider);
    return S_OK;
}
