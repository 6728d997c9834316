#include "eventpipe_source.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "eventpipe_metadata.h"
#include "info_eventpipe.h"
#include "names.h"
#include "text.h"
#include "writer.h"

/*
 * Kinds of event met so far: open addressing, only grows; the place is the number. Programs have
 * some hundreds; what finds no place travels without a description.
 */
#define SCHEMAS_KNOWN 4096u
#define PROBES_MAX 16u

enum slot_state {
    SLOT_FREE,
    SLOT_TAKEN, /* being filled */
    SLOT_READY,
    SLOT_DEAD, /* its provider is gone; the number is not given again */
};

struct slot {
    _Atomic uint32_t state;
    _Atomic uint32_t told; /* the listener that was given the description; 0 = none */
    EVENTPIPE_PROVIDER provider;
    uint32_t id;
    uint32_t version;
};

static struct slot slots[SCHEMAS_KNOWN];
static _Atomic uint32_t listener = 1;

static bool is_of(const struct slot *slot, const struct eventpipe_delivery *delivery)
{
    return slot->provider == delivery->provider && slot->id == delivery->id &&
           slot->version == delivery->version;
}

/* The slot of this kind of event, a new one if need be; NULL if there is no place. Two threads that
 * meet a kind at once may both take one: it is described twice then. */
static struct slot *find(const struct eventpipe_delivery *delivery)
{
    uint64_t hash = ((uint64_t)delivery->provider >> 4 ^ (uint64_t)delivery->id << 40 ^
                     (uint64_t)delivery->version << 56) *
                    0x9e3779b97f4a7c15u;

    for (size_t i = 0; i < PROBES_MAX; i++) {
        struct slot *slot = &slots[((hash >> 32) + i) & (SCHEMAS_KNOWN - 1)];
        uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);

        if (state == SLOT_READY && is_of(slot, delivery))
            return slot;
        if (state != SLOT_FREE ||
            !atomic_compare_exchange_strong_explicit(&slot->state, &state, SLOT_TAKEN,
                                                     memory_order_acquire, memory_order_relaxed))
            continue;
        slot->provider = delivery->provider;
        slot->id = delivery->id;
        slot->version = delivery->version;
        /* Publishes what it is for to every thread that will meet this kind again. */
        atomic_store_explicit(&slot->state, SLOT_READY, memory_order_release);
        return slot;
    }
    return NULL;
}

struct description {
    uint32_t number;
    uint16_t index; /* of the next field */
    bool failed;    /* a record found no room */
};

static void emit_field(void *context, const struct eventpipe_field *field)
{
    struct description *description = context;
    struct trd_ev_event_field *event;
    struct writer writer;

    event = description->failed
                ? NULL
                : WRITER_BEGIN(&writer, event_field, PROVIDER, (uint32_t)field->name_size + 1);
    if (!event) {
        description->failed = true;
        return;
    }
    event->schema = description->number;
    event->index = description->index++;
    event->type = (uint8_t)field->type;
    event->array = field->is_array;
    writer_text(&writer, &event->name, field->name, field->name_size);
    writer_commit(&writer);
}

static size_t name_of_event(const struct eventpipe_metadata *metadata, char *text)
{
    WCHAR units[NAMES_TEXT_MAX];
    size_t count = metadata->name.units < NAMES_TEXT_MAX ? metadata->name.units : NAMES_TEXT_MAX;

    memcpy(units, metadata->name.bytes, count * sizeof(units[0]));
    return text_from_utf16(units, count, text, NAMES_TEXT_MAX);
}

static size_t name_of_provider(struct corprof_info *info, EVENTPIPE_PROVIDER provider, char *text)
{
    struct info_name name;

    return info_provider(info, provider, &name)
               ? text_from_utf16(name.units, name.length, text, NAMES_TEXT_MAX)
               : 0;
}

/* The head of a description; false if it found no room. */
static bool emit_head(struct corprof_info *info, uint32_t number,
                      const struct eventpipe_delivery *delivery,
                      const struct eventpipe_metadata *metadata)
{
    char provider[NAMES_TEXT_MAX], name[NAMES_TEXT_MAX];
    size_t provider_size = name_of_provider(info, delivery->provider, provider);
    size_t name_size = metadata->name.units ? name_of_event(metadata, name) : 0;
    size_t field_count = eventpipe_metadata_fields(metadata, NULL, NULL);
    struct trd_ev_event_schema *event;
    struct writer writer;

    event =
        WRITER_BEGIN(&writer, event_schema, PROVIDER, (uint32_t)(provider_size + name_size + 2));
    if (!event)
        return false;
    event->keywords = metadata->keywords;
    event->schema = number;
    event->event_id = delivery->id;
    event->version = delivery->version;
    event->level = (uint8_t)metadata->level;
    event->opcode = metadata->opcode;
    event->fields = (uint16_t)field_count;
    writer_text(&writer, &event->provider, provider, provider_size);
    event->event = (struct trd_text){ 0, 0 };
    if (name_size > 0)
        writer_text(&writer, &event->event, name, name_size);
    writer_commit(&writer);
    return true;
}

/* All of it, or again with the next event. */
static __attribute__((cold, noinline)) bool describe(struct corprof_info *info, uint32_t number,
                                                     const struct eventpipe_delivery *delivery)
{
    struct description description = { .number = number };
    struct eventpipe_metadata metadata;

    if (!eventpipe_metadata_parse(delivery->metadata, delivery->metadata_size, &metadata))
        memset(&metadata, 0, sizeof(metadata));
    if (!emit_head(info, number, delivery, &metadata))
        return false;
    eventpipe_metadata_fields(&metadata, emit_field, &description);
    return !description.failed;
}

static void emit_event(uint32_t number, const struct eventpipe_delivery *delivery)
{
    size_t size =
        delivery->data_size < TRD_EVENT_PAYLOAD_MAX ? delivery->data_size : TRD_EVENT_PAYLOAD_MAX;
    struct trd_ev_event *event;
    struct writer writer;

    event = WRITER_BEGIN(&writer, event, PROVIDER, (uint32_t)size);
    if (!event)
        return;
    event->activity_low = 0;
    event->activity_high = 0;
    if (delivery->activity) {
        memcpy(&event->activity_low, delivery->activity, sizeof(event->activity_low));
        memcpy(&event->activity_high, (const uint8_t *)delivery->activity + 8,
               sizeof(event->activity_high));
    }
    event->schema = number;
    event->payload_size = (uint32_t)delivery->data_size;
    writer_bytes(&writer, delivery->data, (uint32_t)size);
    if (size < delivery->data_size)
        writer_flag(&writer, TRD_EVENT_F_CUT);
    writer_commit(&writer);
}

void eventpipe_source_emit(struct corprof_info *info, const struct eventpipe_delivery *delivery)
{
    struct slot *slot = find(delivery);
    uint32_t now = atomic_load_explicit(&listener, memory_order_relaxed);
    uint32_t number = slot ? (uint32_t)(slot - slots) + 1 : 0;

    /* Told only once it is in a ring, so that it stands before every event that needs it. */
    if (slot && atomic_load_explicit(&slot->told, memory_order_acquire) != now &&
        describe(info, number, delivery))
        atomic_store_explicit(&slot->told, now, memory_order_release);
    emit_event(number, delivery);
}

void eventpipe_source_forget(void)
{
    atomic_fetch_add_explicit(&listener, 1, memory_order_relaxed);
}

void eventpipe_source_forget_provider(EVENTPIPE_PROVIDER provider)
{
    for (size_t i = 0; provider && i < SCHEMAS_KNOWN; i++)
        if (atomic_load_explicit(&slots[i].state, memory_order_acquire) == SLOT_READY &&
            slots[i].provider == provider)
            atomic_store_explicit(&slots[i].state, SLOT_DEAD, memory_order_relaxed);
}
