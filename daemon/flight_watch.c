/*
 * The kernel's events that may fire a trigger, and those that spans it names are made of: of each
 * page only these are taken out. They wait on inputs of the live pipeline's merge, one for each
 * CPU, and so meet the trigger in the order of time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flight_private.h"
#include "stream_lines.h"
#include "tracerd/page.h"

#define IDS 65536 /* common_type has 16 bits; no event is longer than its page of 64 KiB */
#define QUEUE_INITIAL 65536u
#define QUEUE_MAX (4u << 20) /* of a CPU: a tenth of a second of switches at the utmost rate */

struct watched {
    uint64_t ts_ns;
    uint64_t lost; /* LOST: how many; of an event 0 */
    uint64_t size; /* of the bytes behind this; 0 = a LOST */
};

struct watch_cpu {
    struct trd_merge_input input;
    struct flight_watch *watch;
    uint32_t cpu;
    uint8_t *bytes; /* owned queue: [next, used) waits */
    size_t next, used, capacity;
    uint64_t last_ts_ns;
    uint8_t handed_out[IDS]; /* the merge keeps what it was given while the queue moves */
};

struct flight_watch {
    struct flight *flight;
    uint8_t wanted[IDS / 8];
    struct watch_cpu cpus[];
};

static void want(struct flight_watch *watch, uint32_t id)
{
    if (id < IDS)
        watch->wanted[id / 8] |= (uint8_t)(1u << id % 8);
}

/* Of which events the spans are made that a trigger may name. */
static bool makes_span(const struct flight *flight, const struct trd_schema *schema)
{
    return flight->needs_offcpu && (strcmp(schema->full_name, "sched:sched_switch") == 0 ||
                                    strcmp(schema->full_name, "sched:sched_waking") == 0);
}

static bool choose(struct flight_watch *watch)
{
    const struct flight *flight = watch->flight;
    const struct trd_schema *schema;
    bool any = false;

    for (size_t i = 0; (schema = trd_catalog_get(flight->catalog, i)); i++)
        if (trd_filter_may_match(flight->trigger, schema, NULL) || makes_span(flight, schema)) {
            want(watch, schema->id);
            any = true;
        }
    return any;
}

static int next(struct trd_merge_input *input, struct trd_record *out)
{
    struct watch_cpu *cpu = (struct watch_cpu *)input;
    struct trd_page_event event;
    struct watched head;

    if (cpu->next == cpu->used)
        return input->watermark_ns == UINT64_MAX ? 0 : -EAGAIN;
    memcpy(&head, cpu->bytes + cpu->next, sizeof(head));
    memcpy(cpu->handed_out, cpu->bytes + cpu->next + sizeof(head), head.size);
    cpu->next += sizeof(head) + head.size;
    trd_record_init(out);
    out->source = TRD_SOURCE_FTRACE;
    out->cpu = (int32_t)cpu->cpu;
    out->ts_ns = head.ts_ns;
    if (head.size == 0) {
        out->kind = TRD_KIND_LOST;
        out->lost = head.lost;
        out->lost_from_ns = cpu->last_ts_ns ? cpu->last_ts_ns : head.ts_ns;
        return 1;
    }
    cpu->last_ts_ns = head.ts_ns;
    event = (struct trd_page_event){ head.ts_ns, cpu->handed_out, (uint32_t)head.size };
    (void)trd_page_event_record(cpu->watch->flight->catalog, &event, out);
    return 1;
}

static bool make_room(struct watch_cpu *cpu, size_t size)
{
    size_t capacity = cpu->capacity ? cpu->capacity : QUEUE_INITIAL;
    uint8_t *bytes;

    if (cpu->next > cpu->used / 2) {
        memmove(cpu->bytes, cpu->bytes + cpu->next, cpu->used - cpu->next);
        cpu->used -= cpu->next;
        cpu->next = 0;
    }
    while (capacity - cpu->used < size)
        capacity *= 2;
    if (capacity == cpu->capacity)
        return true;
    bytes = capacity <= QUEUE_MAX ? realloc(cpu->bytes, capacity) : NULL;
    if (!bytes)
        return false;
    cpu->bytes = bytes;
    cpu->capacity = capacity;
    return true;
}

/* Without room a trigger may be missed; what is recorded does not depend on it. */
static void put(struct watch_cpu *cpu, const struct watched *head, const uint8_t *bytes)
{
    if (!make_room(cpu, sizeof(*head) + head->size))
        return;
    memcpy(cpu->bytes + cpu->used, head, sizeof(*head));
    if (head->size > 0)
        memcpy(cpu->bytes + cpu->used + sizeof(*head), bytes, head->size);
    cpu->used += sizeof(*head) + head->size;
}

static bool is_wanted(const struct flight_watch *watch, const struct trd_page_event *event)
{
    uint16_t id;

    if (event->size < sizeof(id) || event->size > IDS)
        return false;
    memcpy(&id, event->data, sizeof(id));
    return watch->wanted[id / 8] >> id % 8 & 1;
}

/* Not all CPUs that are possible are there: an input for those that show themselves. */
static bool is_there(struct flight_watch *watch, struct watch_cpu *cpu)
{
    if (cpu->watch)
        return true;
    cpu->input.next = next;
    cpu->input.watermark_ns = clock_now_ns();
    cpu->cpu = (uint32_t)(cpu - watch->cpus);
    if (pipeline_add_input(watch->flight->pipeline, NULL, &cpu->input) != 0)
        return false;
    cpu->watch = watch;
    return true;
}

void flight_watch_page(struct flight_watch *watch, uint32_t cpu, const uint8_t *bytes, size_t size)
{
    struct trd_page_event event;
    struct trd_page page;

    if (!is_there(watch, &watch->cpus[cpu]))
        return;
    (void)trd_page_init(&page, bytes, size, trd_catalog_get_layout(watch->flight->catalog));
    if (page.lost_events)
        put(&watch->cpus[cpu], &(struct watched){ .ts_ns = page.ts, .lost = page.lost }, NULL);
    while (trd_page_next(&page, &event) == 1)
        if (is_wanted(watch, &event))
            put(&watch->cpus[cpu], &(struct watched){ .ts_ns = event.ts, .size = event.size },
                event.data);
}

void flight_watch_reached(struct flight_watch *watch, uint32_t cpu, uint64_t ts_ns)
{
    if (is_there(watch, &watch->cpus[cpu]))
        watch->cpus[cpu].input.watermark_ns = ts_ns;
}

int flight_watch_create(struct flight_watch **out, struct flight *flight)
{
    struct flight_watch *watch =
        calloc(1, sizeof(*watch) + flight->cpu_count * sizeof(watch->cpus[0]));

    if (!watch)
        return -ENOMEM;
    watch->flight = flight;
    if (!choose(watch)) {
        free(watch);
        return 0;
    }
    *out = watch;
    return 0;
}

void flight_watch_destroy(struct flight_watch *watch)
{
    if (!watch)
        return;
    for (uint32_t i = 0; i < watch->flight->cpu_count; i++)
        free(watch->cpus[i].bytes);
    free(watch);
}
