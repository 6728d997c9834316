#include "flight_known.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"

#define BUCKETS (1u << 15)

struct node {
    struct node *older, *newer; /* in the order of the stream */
    struct node *chain;         /* of the bucket */
    uint64_t id, part;
    struct flight_event event;
    uint8_t bytes[];
};

struct flight_known {
    struct node *oldest, *newest; /* owned */
    struct node *cursor;          /* of the walk */
    size_t bytes, bytes_max;
    uint64_t refused;
    struct node *buckets[BUCKETS];
};

/*
 * One row for each event that is remembered: it takes the place of an earlier one of the same
 * event, process, `id` and `part`. `until` ends it: an event whose first field is the same id.
 */
static const struct rule {
    uint16_t event;
    uint16_t until; /* 0 = nothing */
    uint8_t id_at, id_size;
    uint8_t part_at, part_size; /* size 0 = there is none */
} rules[] = {
#define FIELD(ident, field)                                                                        \
    offsetof(struct trd_ev_##ident, field), sizeof(((struct trd_ev_##ident *)0)->field)
    { TRD_EV_runtime_info, 0, 0, 0, 0, 0 },
    { TRD_EV_thread_created, TRD_EV_thread_destroyed, FIELD(thread_created, thread), 0, 0 },
    { TRD_EV_thread_assigned, TRD_EV_thread_destroyed, FIELD(thread_assigned, thread), 0, 0 },
    { TRD_EV_thread_name, TRD_EV_thread_destroyed, FIELD(thread_name, thread), 0, 0 },
    { TRD_EV_assembly_load, TRD_EV_assembly_unload, FIELD(assembly_load, assembly), 0, 0 },
    { TRD_EV_module_load, TRD_EV_module_unload, FIELD(module_load, module), 0, 0 },
    { TRD_EV_appdomain_created, TRD_EV_appdomain_shutdown, FIELD(appdomain_created, domain), 0, 0 },
    { TRD_EV_type, TRD_EV_class_unload, FIELD(type, type), 0, 0 },
    { TRD_EV_method, TRD_EV_method_unload, FIELD(method, method), 0, 0 },
    { TRD_EV_code, 0, FIELD(code, address), 0, 0 },
    { TRD_EV_event_schema, 0, FIELD(event_schema, schema), 0, 0 },
    { TRD_EV_event_field, 0, FIELD(event_field, schema), FIELD(event_field, index) },
#undef FIELD
};
#define RULE_COUNT (sizeof(rules) / sizeof(rules[0]))

int flight_known_create(struct flight_known **out, size_t bytes_max)
{
    struct flight_known *known = calloc(1, sizeof(*known));

    if (!known)
        return -ENOMEM;
    known->bytes_max = bytes_max;
    *out = known;
    return 0;
}

void flight_known_destroy(struct flight_known *known)
{
    if (!known)
        return;
    while (known->oldest) {
        struct node *node = known->oldest;

        known->oldest = node->newer;
        free(node);
    }
    free(known);
}

static uint64_t load(const uint8_t *bytes, uint8_t at, uint8_t size)
{
    uint64_t value = 0;

    memcpy(&value, bytes + at, size); /* we run where the process does: little-endian */
    return value;
}

static struct node **bucket_of(struct flight_known *known, uint16_t event, int32_t pid, uint64_t id,
                               uint64_t part)
{
    uint64_t hash = (id ^ part << 48 ^ (uint64_t)event << 40 ^ (uint64_t)(uint32_t)pid << 20) *
                    UINT64_C(0x9e3779b97f4a7c15);

    return &known->buckets[hash >> 49];
}

static struct node **find(struct flight_known *known, uint16_t event, int32_t pid, uint64_t id,
                          uint64_t part)
{
    struct node **link = bucket_of(known, event, pid, id, part);

    while (*link && ((*link)->event.id != event || (*link)->event.pid != pid || (*link)->id != id ||
                     (*link)->part != part))
        link = &(*link)->chain;
    return link;
}

static void forget(struct flight_known *known, struct node **link)
{
    struct node *node = *link;

    if (!node)
        return;
    *link = node->chain;
    if (known->cursor == node)
        known->cursor = node->newer;
    *(node->older ? &node->older->newer : &known->oldest) = node->newer;
    *(node->newer ? &node->newer->older : &known->newest) = node->older;
    known->bytes -= sizeof(*node) + node->event.size;
    free(node);
}

static void remember(struct flight_known *known, const struct rule *rule,
                     const struct flight_event *event, const uint8_t *bytes)
{
    uint64_t id = load(bytes, rule->id_at, rule->id_size);
    uint64_t part = load(bytes, rule->part_at, rule->part_size);
    size_t size = sizeof(struct node) + event->size;
    struct node *node, **bucket;

    forget(known, find(known, event->id, event->pid, id, part));
    node = known->bytes + size <= known->bytes_max ? malloc(size) : NULL;
    if (!node) {
        known->refused++;
        return;
    }
    bucket = bucket_of(known, event->id, event->pid, id, part);
    *node = (struct node){
        .older = known->newest, .chain = *bucket, .id = id, .part = part, .event = *event
    };
    memcpy(node->bytes, bytes, event->size);
    *bucket = node;
    *(known->newest ? &known->newest->newer : &known->oldest) = node;
    known->newest = node;
    known->bytes += size;
}

void flight_known_note(struct flight_known *known, const struct flight_event *event,
                       const uint8_t *bytes)
{
    uint64_t first = event->size >= sizeof(first) ? load(bytes, 0, sizeof(first)) : 0;

    for (size_t i = 0; i < RULE_COUNT; i++)
        if (event->id == rules[i].event)
            remember(known, &rules[i], event, bytes);
        else if (event->id != 0 && event->id == rules[i].until)
            forget(known, find(known, rules[i].event, event->pid, first, 0));
}

uint64_t flight_known_refused(const struct flight_known *known)
{
    return known->refused;
}

void flight_known_rewind(struct flight_known *known)
{
    known->cursor = known->oldest;
}

bool flight_known_next(struct flight_known *known, const struct flight_event **out,
                       const uint8_t **out_bytes)
{
    if (!known->cursor)
        return false;
    *out = &known->cursor->event;
    *out_bytes = known->cursor->bytes;
    known->cursor = known->cursor->newer;
    return true;
}
