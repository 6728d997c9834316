/*
 * Kernel events as Perfetto knows them: the few it draws from (scheduling, interrupts, system
 * calls) in messages of their own, all others as generic ones with their fields.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "field.h"
#include "json_args.h"
#include "perfetto_private.h"

/* protos/perfetto/trace/ftrace: FtraceEventBundle, FtraceEvent, GenericFtraceEvent */
#define BUNDLE_EVENT 2
#define EVENT_TIMESTAMP 1
#define EVENT_PID 2
#define EVENT_GENERIC 327
#define GENERIC_NAME 1
#define GENERIC_FIELD 2
#define FIELD_NAME 1
#define FIELD_STRING 3
#define FIELD_INT 4
#define FIELD_UINT 5

#define ARGS_MAX 8
#define LIST_TEXT_MAX 512

/* Field numbers of the messages; an argument's name is the kernel's. */
static const struct known {
    const char *name;
    uint32_t message;
    struct {
        const char *name;
        uint32_t number;
        bool is_text;
    } args[ARGS_MAX];
} known_events[] = {
    { "sched:sched_switch",
      4,
      { { "prev_comm", 1, true },
        { "prev_pid", 2, false },
        { "prev_prio", 3, false },
        { "prev_state", 4, false },
        { "next_comm", 5, true },
        { "next_pid", 6, false },
        { "next_prio", 7, false } } },
#define WAKING(event, message)                                                                     \
    {                                                                                              \
        event, message,                                                                            \
        {                                                                                          \
            { "comm", 1, true }, { "pid", 2, false }, { "prio", 3, false },                        \
                { "success", 4, false },                                                           \
            {                                                                                      \
                "target_cpu", 5, false                                                             \
            }                                                                                      \
        }                                                                                          \
    }
    WAKING("sched:sched_wakeup", 17),
    WAKING("sched:sched_waking", 20),
    WAKING("sched:sched_wakeup_new", 114),
#undef WAKING
    { "irq:softirq_entry", 24, { { "vec", 1, false } } },
    { "irq:softirq_exit", 25, { { "vec", 1, false } } },
    { "irq:softirq_raise", 26, { { "vec", 1, false } } },
    { "irq:irq_handler_entry", 36, { { "irq", 1, false }, { "name", 2, true } } },
    { "irq:irq_handler_exit", 37, { { "irq", 1, false }, { "ret", 2, false } } },
    { "ftrace:print", 3, { { "ip", 1, false }, { "buf", 2, true } } },
    { "raw_syscalls:sys_enter", 329, { { "id", 1, false } } },
    { "raw_syscalls:sys_exit", 330, { { "id", 1, false }, { "ret", 2, false } } },
};

/* What is known of a kind of event: found once, by name. */
struct perfetto_plan {
    const struct known *known; /* NULL: a generic one */
    const struct trd_field *fields[ARGS_MAX];
};

static const struct known *find_known(const char *name)
{
    for (size_t i = 0; i < sizeof(known_events) / sizeof(known_events[0]); i++)
        if (strcmp(known_events[i].name, name) == 0)
            return &known_events[i];
    return NULL;
}

void perfetto_destroy_plan(void *plan)
{
    free(plan);
}

static struct perfetto_plan *plan_of(struct trd_perfetto *perfetto, const struct trd_schema *schema)
{
    struct perfetto_plan *plan = idmap_get(&perfetto->plans, (uintptr_t)schema, 0);
    void *old;

    if (plan)
        return plan;
    plan = calloc(1, sizeof(*plan));
    if (!plan)
        return NULL;
    plan->known = find_known(schema->full_name);
    for (size_t i = 0; plan->known && i < ARGS_MAX && plan->known->args[i].name; i++)
        plan->fields[i] = trd_schema_field(schema, plan->known->args[i].name);
    if (idmap_set(&perfetto->plans, (uintptr_t)schema, 0, plan, &old) != 0) {
        free(plan);
        return NULL;
    }
    return plan;
}

static void put_known_field(struct proto_out *out, const struct trd_record *record,
                            const struct trd_field *field, uint32_t number)
{
    struct field_bytes bytes;

    if (!field || !field_find(record->schema, field, record->data, record->size, &bytes))
        return;
    if (field->storage == TRD_STORAGE_INT)
        proto_uint(out, number,
                   load_int(bytes.at, field->size, field->is_signed, record->schema->big_endian));
    else
        proto_bytes(out, number, bytes.at, strnlen((const char *)bytes.at, bytes.size));
}

/* Of a recording: values by name from the JSON. */
static void put_known_json(struct proto_out *out, const struct trd_record *record, const char *name,
                           uint32_t number, bool is_text)
{
    struct json_args_name wanted = { .text = name, .size = strlen(name) };
    char text[JSON_ARGS_TEXT_MAX];
    uint64_t value;
    size_t size;

    if (is_text && json_args_text(record, &wanted, text, sizeof(text), &size))
        proto_bytes(out, number, text, size);
    else if (!is_text && json_args_number(record, &wanted, &value))
        proto_uint(out, number, value);
}

static void put_known(struct proto_out *out, const struct trd_record *record,
                      const struct known *known, const struct perfetto_plan *plan)
{
    size_t begin = proto_begin(out, known->message);

    for (size_t i = 0; i < ARGS_MAX && known->args[i].name; i++)
        if (plan)
            put_known_field(out, record, plan->fields[i], known->args[i].number);
        else
            put_known_json(out, record, known->args[i].name, known->args[i].number,
                           known->args[i].is_text);
    proto_end(out, begin);
}

/* Lists have no form of their own: "1,2,3", cut where it is long. */
static void put_list(struct proto_out *out, const struct trd_record *record,
                     const struct trd_field *field, const struct field_bytes *bytes)
{
    char text[LIST_TEXT_MAX];
    size_t used = 0;

    for (size_t at = 0; at + field->elem_size <= bytes->size && used + 24 < sizeof(text);
         at += field->elem_size) {
        uint64_t value = load_int(bytes->at + at, field->elem_size, field->is_signed,
                                  record->schema->big_endian);

        used += (size_t)snprintf(text + used, sizeof(text) - used,
                                 field->is_signed ? "%s%lld" : "%s%llu", at ? "," : "",
                                 (unsigned long long)value);
    }
    proto_bytes(out, FIELD_STRING, text, used);
}

static void put_generic_value(struct proto_out *out, const struct trd_record *record,
                              const struct trd_field *field, const struct field_bytes *bytes)
{
    switch (field->storage) {
    case TRD_STORAGE_INT:
        proto_uint(out, field->is_signed ? FIELD_INT : FIELD_UINT,
                   load_int(bytes->at, field->size, field->is_signed, record->schema->big_endian));
        break;
    case TRD_STORAGE_CHARS:
    case TRD_STORAGE_DYN_CHARS:
    case TRD_STORAGE_TAIL_CHARS:
        proto_bytes(out, FIELD_STRING, bytes->at, strnlen((const char *)bytes->at, bytes->size));
        break;
    case TRD_STORAGE_INTS:
    case TRD_STORAGE_DYN_INTS:
    case TRD_STORAGE_TAIL_INTS:
        put_list(out, record, field, bytes);
        break;
    default:
        proto_uint(out, FIELD_UINT, bytes->size);
        break;
    }
}

static void put_generic_fields(struct proto_out *out, const struct trd_record *record)
{
    const struct trd_schema *schema = record->schema;

    for (uint32_t i = schema->common_count; i < schema->field_count; i++) {
        const struct trd_field *field = &schema->fields[i];
        struct field_bytes bytes;
        size_t begin;

        if (!field_find(schema, field, record->data, record->size, &bytes))
            continue;
        begin = proto_begin(out, GENERIC_FIELD);
        proto_text(out, FIELD_NAME, field->name);
        put_generic_value(out, record, field, &bytes);
        proto_end(out, begin);
    }
}

static void put_generic(struct proto_out *out, const struct trd_record *record)
{
    const char *name = record->schema ? record->schema->full_name : record->name;
    size_t begin = proto_begin(out, EVENT_GENERIC), field;

    proto_text(out, GENERIC_NAME, name ? name : "?");
    if (record->schema && record->data) {
        put_generic_fields(out, record);
    } else if (record->args_json_size > 2) {
        field = proto_begin(out, GENERIC_FIELD);
        proto_text(out, FIELD_NAME, "args");
        proto_bytes(out, FIELD_STRING, record->args_json, record->args_json_size);
        proto_end(out, field);
    }
    proto_end(out, begin);
}

void perfetto_kernel_event(struct trd_perfetto *perfetto, const struct trd_record *record)
{
    int32_t cpu = record->cpu >= 0 && record->cpu < PERFETTO_CPUS_MAX ? record->cpu : 0;
    struct proto_out *out = &perfetto->cpus[cpu].events;
    bool has_schema = record->schema && record->data;
    const struct perfetto_plan *plan = has_schema ? plan_of(perfetto, record->schema) : NULL;
    const struct known *known = plan ? plan->known : NULL;
    size_t begin = proto_begin(out, BUNDLE_EVENT);

    if (!has_schema && record->name)
        known = find_known(record->name);
    proto_uint(out, EVENT_TIMESTAMP, record->ts_ns);
    proto_uint(out, EVENT_PID, record->tid > 0 ? (uint64_t)record->tid : 0);
    if (known)
        put_known(out, record, known, plan);
    else
        put_generic(out, record);
    proto_end(out, begin);
}
