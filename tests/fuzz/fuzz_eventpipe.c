/*
 * What EventPipe delivers, and what travels of it: descriptions of events, payloads of the
 * runtime's own events, payloads of event sources. The first byte says which:
 *
 *   'm' a description · 'e' u16 id, payload · 'p' u8 flags (1 cut), u8 count, count × u8 type (128:
 *   array), payload
 */
#include <stdlib.h>
#include <string.h>

#include "event_payload.h"
#include "eventpipe_event.h"
#include "eventpipe_metadata.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_field(void *context, const struct eventpipe_field *field)
{
    size_t *count = context;
    bool known = field->type >= TRD_FIELD_BOOL && field->type <= TRD_FIELD_TEXT;

    if ((!known && field->type != TRD_FIELD_UNKNOWN) || ++*count > TRD_EVENT_FIELDS_MAX ||
        (field->name_size > 0 && !memchr(field->name, field->name[0], field->name_size)))
        abort();
}

static void describe(const uint8_t *bytes, size_t size)
{
    struct eventpipe_metadata metadata;
    size_t count = 0;

    if (!eventpipe_metadata_parse(bytes, size, &metadata))
        return;
    if (metadata.name.units > size)
        abort();
    if (eventpipe_metadata_fields(&metadata, NULL, NULL) !=
            eventpipe_metadata_fields(&metadata, check_field, &count) ||
        eventpipe_metadata_fields(&metadata, NULL, NULL) != count)
        abort();
}

static void parse_event(const uint8_t *bytes, size_t size)
{
    struct eventpipe_event event;
    uint16_t id;

    if (size < sizeof(id))
        return;
    memcpy(&id, bytes, sizeof(id));
    if (eventpipe_event_of_runtime(id, bytes + 2, size - 2, &event) &&
        (event.fixed_size > sizeof(event.fixed) || event.text.units > size))
        abort();
    (void)eventpipe_event_of_framework(id, bytes + 2, size - 2, &event);
}

/* Every text and array of the record lies behind its fixed part and inside it. */
static void check_word(const struct trd_field *field, const uint8_t *record, size_t fixed_size,
                       size_t size)
{
    struct trd_text word;

    memcpy(&word, record + field->offset, sizeof(word));
    if (word.offset < fixed_size || (size_t)word.offset + word.size > size)
        abort();
}

static void read_payload(const uint8_t *bytes, size_t size)
{
    struct event_payload_field fields[TRD_EVENT_FIELDS_MAX];
    uint8_t *record = malloc(EVENT_PAYLOAD_RECORD_MAX);
    struct event_payload payload;
    struct trd_field field;
    size_t fixed_size = 0, count = size > 1 ? bytes[1] : 0;

    if (!record)
        abort();
    if (size < 2 + count || size - 2 - count > TRD_EVENT_PAYLOAD_MAX) {
        free(record);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        fields[i] = (struct event_payload_field){ .type = bytes[2 + i] & 0x7f,
                                                  .is_array = bytes[2 + i] >> 7,
                                                  .offset = (uint16_t)fixed_size };
        event_payload_storage(&fields[i], &field);
        fixed_size += field.size;
    }
    event_payload_read(fields, (uint32_t)count, bytes + 2 + count, size - 2 - count, bytes[0] & 1,
                       fixed_size, record, &payload);
    if (payload.field_count > count || payload.rest > size - 2 - count ||
        payload.size > EVENT_PAYLOAD_RECORD_MAX || payload.size < fixed_size)
        abort();
    for (uint32_t i = 0; i < payload.field_count; i++) {
        event_payload_storage(&fields[i], &field);
        if (field.storage == TRD_STORAGE_DYN_CHARS || field.storage == TRD_STORAGE_DYN_INTS ||
            field.storage == TRD_STORAGE_DYN_BYTES)
            check_word(&field, record, fixed_size, payload.size);
    }
    free(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size > 0 && bytes[0] == 'm')
        describe(bytes + 1, size - 1);
    if (size > 0 && bytes[0] == 'e')
        parse_event(bytes + 1, size - 1);
    if (size > 0 && bytes[0] == 'p')
        read_payload(bytes + 1, size - 1);
    return 0;
}
