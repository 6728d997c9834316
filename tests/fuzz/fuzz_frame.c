/* What a profiler may send: frames, their payloads, and the records of batches. */
#include <stdlib.h>
#include <string.h>

#include "attach.h"
#include "frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Everything that a check has passed must be readable, ends of texts included. */
static void read_event(const uint8_t *fixed, const struct trd_event_info *info)
{
    for (size_t i = 0; i < info->field_count; i++) {
        const struct trd_event_field *field = &info->fields[i];
        struct trd_text text;
        const char *bytes;
        size_t size;

        if (field->type != TRD_EVENT_TYPE_text)
            continue;
        memcpy(&text, fixed + field->offset, sizeof(text));
        bytes = trd_event_text(fixed, text, &size);
        if (size >= TRD_TEXT_MAX || bytes[size] != '\0')
            abort();
    }
}

/* As an older client would have written it. */
static void read_widened(const uint8_t *at, size_t left)
{
    static _Alignas(TRD_EVENT_ALIGN) uint8_t wide[TRD_EVENT_SIZE_MAX];
    struct trd_event_head head;

    if (trd_event_widen(at, left, 0, wide) == 1 && trd_event_check(wide, sizeof(wide), &head) == 1)
        read_event(wide + sizeof(head), trd_event_find(head.id));
}

static void read_records(const uint8_t *at, size_t left)
{
    struct trd_event_head head;
    int result;

    while ((result = trd_event_check(at, left, &head)) >= 0) {
        if (head.size == 0 || head.size > left)
            abort();
        read_widened(at, left);
        if (result == 1)
            read_event(at + sizeof(head), trd_event_find(head.id));
        at += head.size;
        left -= head.size;
    }
}

static void read_payload(uint8_t type, const uint8_t *payload, size_t size)
{
    union {
        struct trd_hello hello;
        struct trd_welcome welcome;
        struct trd_mark mark;
        struct trd_ring_lost lost;
        struct trd_goodbye goodbye;
        struct trd_categories categories;
        struct trd_ping ping;
        struct trd_resolve resolve;
        struct trd_batch batch;
    } out;
    uint64_t addresses[TRD_RESOLVE_MAX];
    const uint8_t *records;
    size_t records_size;

    switch (type) {
    case TRD_FRAME_HELLO:
        (void)trd_frame_hello(payload, size, &out.hello);
        break;
    case TRD_FRAME_WELCOME:
        (void)trd_frame_welcome(payload, size, &out.welcome);
        break;
    case TRD_FRAME_MARK:
        (void)trd_frame_mark(payload, size, &out.mark);
        break;
    case TRD_FRAME_LOST:
        (void)trd_frame_ring_lost(payload, size, &out.lost);
        break;
    case TRD_FRAME_BYE:
        (void)trd_frame_goodbye(payload, size, &out.goodbye);
        break;
    case TRD_FRAME_RESOLVE:
        (void)trd_frame_resolve(payload, size, &out.resolve, addresses);
        break;
    case TRD_FRAME_CATEGORIES:
        (void)trd_frame_categories(payload, size, &out.categories);
        break;
    case TRD_FRAME_PING:
    case TRD_FRAME_PONG:
        (void)trd_frame_ping(payload, size, &out.ping);
        break;
    case TRD_FRAME_BATCH:
        if (trd_frame_batch(payload, size, &out.batch, &records, &records_size) == 0)
            read_records(records, records_size);
        break;
    default:
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char path[TRD_SOCKET_PATH_MAX];
    struct trd_frame_head head;
    const uint8_t *payload, *at = bytes;
    struct trd_attach attach;

    if (trd_attach_decode(bytes, size, &attach, path) == 0 &&
        (strlen(path) >= sizeof(path) || !trd_buffer_is_sound(&attach.buffer)))
        abort();
    read_records(bytes, size);
    while (trd_frame_next(at, size - (size_t)(at - bytes), &head, &payload) == 1) {
        read_payload(head.type, payload, head.size);
        at = payload + head.size;
    }
    return 0;
}
