/*
 * Hot path: record -> JSON line. Budget: no allocation, no look-up by name, no printf; measured by
 * tests/bench/bench_json.c in lines per second, beside jansson building the same lines. A schema
 * is compiled at first sight into a plan: one step per field with its key ready to copy.
 */
#include "tracerd/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json_value.h"
#include "json_writer.h"

#define PLANS_INITIAL 256
/* Everything of a line but texts and args: keys, numbers, punctuation. */
#define LINE_HEAD_MAX 512
#define KEY_OVERHEAD 4 /* ,"": */

struct step {
    const struct trd_field *field;
    const char *key; /* `"name":`, in the plan's memory */
    uint32_t key_size;
};

struct plan {
    const struct trd_schema *schema;
    char *name; /* `,"name":"sched:sched_switch","args":{` ready to copy; owned, keys lie behind */
    uint32_t name_size;
    uint32_t step_count;
    struct step steps[];
};

struct trd_json {
    struct trd_json_names names;
    const struct trd_catalog *catalog; /* borrowed; the kernel whose symbols are known */
    struct plan **plans;               /* open addressing by schema; owned */
    size_t plan_count;
    size_t plan_capacity; /* a power of two */
    /* The leading digits of the last timestamp: neighbours share all but the last nine. */
    uint64_t ts_high;
    char ts_digits[24];
    uint32_t ts_digits_size;
};

int trd_json_create(struct trd_json **out, const struct trd_json_names *names)
{
    struct trd_json *json = calloc(1, sizeof(*json));

    if (!json)
        return -ENOMEM;
    json->plans = calloc(PLANS_INITIAL, sizeof(*json->plans));
    if (!json->plans) {
        free(json);
        return -ENOMEM;
    }
    json->plan_capacity = PLANS_INITIAL;
    json->ts_high = UINT64_MAX;
    if (names)
        json->names = *names;
    *out = json;
    return 0;
}

static void plan_destroy(struct plan *plan)
{
    if (!plan)
        return;
    free(plan->name);
    free(plan);
}

void trd_json_destroy(struct trd_json *json)
{
    if (!json)
        return;
    for (size_t i = 0; i < json->plan_capacity; i++)
        plan_destroy(json->plans[i]);
    free(json->plans);
    free(json);
}

void trd_json_add_catalog(struct trd_json *json, const struct trd_catalog *catalog)
{
    json->catalog = catalog;
}

/* Names come from format files: they are escaped like any text, once, here. */
static struct plan *plan_compile(const struct trd_schema *schema)
{
    uint32_t count = schema->field_count - schema->common_count;
    struct plan *plan = calloc(1, sizeof(*plan) + count * sizeof(plan->steps[0]));
    size_t size = 6 * strlen(schema->full_name) + 32;
    char *at;

    for (uint32_t i = 0; i < count; i++)
        size += 6 * strlen(schema->fields[schema->common_count + i].name) + KEY_OVERHEAD;
    if (!plan || !(plan->name = malloc(size))) {
        free(plan);
        return NULL;
    }
    plan->schema = schema;
    plan->step_count = count;
    at = JSON_PUT(plan->name, ",\"name\":");
    at = json_put_string(at, schema->full_name, strlen(schema->full_name));
    at = JSON_PUT(at, ",\"args\":{");
    plan->name_size = (uint32_t)(at - plan->name);
    for (uint32_t i = 0; i < count; i++) {
        struct step *step = &plan->steps[i];
        char *start = at;

        step->field = &schema->fields[schema->common_count + i];
        step->key = start;
        at = json_put_string(at, step->field->name, strlen(step->field->name));
        *at++ = ':';
        step->key_size = (uint32_t)(at - start);
    }
    return plan;
}

static size_t plan_slot(struct plan *const *plans, size_t capacity, const struct trd_schema *schema)
{
    size_t slot = ((uintptr_t)schema >> 4) * 0x9e3779b97f4a7c15u >> 20;

    while (plans[slot & (capacity - 1)] && plans[slot & (capacity - 1)]->schema != schema)
        slot++;
    return slot & (capacity - 1);
}

static int plans_grow(struct trd_json *json)
{
    size_t capacity = json->plan_capacity * 2;
    struct plan **plans = calloc(capacity, sizeof(*plans));

    if (!plans)
        return -ENOMEM;
    for (size_t i = 0; i < json->plan_capacity; i++)
        if (json->plans[i])
            plans[plan_slot(plans, capacity, json->plans[i]->schema)] = json->plans[i];
    free(json->plans);
    json->plans = plans;
    json->plan_capacity = capacity;
    return 0;
}

static __attribute__((cold, noinline)) struct plan *plan_add(struct trd_json *json,
                                                             const struct trd_schema *schema)
{
    struct plan *plan;

    if (json->plan_count * 2 >= json->plan_capacity && plans_grow(json) != 0)
        return NULL;
    plan = plan_compile(schema);
    if (!plan)
        return NULL;
    json->plans[plan_slot(json->plans, json->plan_capacity, schema)] = plan;
    json->plan_count++;
    return plan;
}

static inline struct plan *plan_get(struct trd_json *json, const struct trd_schema *schema)
{
    struct plan *plan = json->plans[plan_slot(json->plans, json->plan_capacity, schema)];

    return __builtin_expect(plan != NULL, 1) ? plan : plan_add(json, schema);
}

#define TS_LOW 1000000000u

/* The digits above a second are kept from line to line. */
static inline char *put_ts(struct trd_json *json, char *out, uint64_t ts_ns)
{
    uint64_t high = ts_ns / TS_LOW;
    uint32_t low = (uint32_t)(ts_ns % TS_LOW);

    *out++ = '"';
    if (high == 0) {
        out = json_put_u32(out, low);
        *out++ = '"';
        return out;
    }
    if (high != json->ts_high) {
        json->ts_high = high;
        json->ts_digits_size = (uint32_t)(json_put_u64(json->ts_digits, high) - json->ts_digits);
    }
    memcpy(out, json->ts_digits, sizeof(json->ts_digits));
    out += json->ts_digits_size;
    *out++ = (char)('0' + low / 100000000u);
    low %= 100000000u;
    memcpy(out, json_digit_pairs + 2 * (low / 1000000u), 2);
    memcpy(out + 2, json_digit_pairs + 2 * (low / 10000u % 100u), 2);
    memcpy(out + 4, json_digit_pairs + 2 * (low / 100u % 100u), 2);
    memcpy(out + 6, json_digit_pairs + 2 * (low % 100u), 2);
    out[8] = '"';
    return out + 9;
}

static char *put_source(char *out, const struct trd_record *record)
{
    switch (record->source) {
    case TRD_SOURCE_FTRACE:
        return JSON_PUT(out, ",\"src\":\"ftrace\"");
    case TRD_SOURCE_CLR:
        return JSON_PUT(out, ",\"src\":\"clr\"");
    default:
        return JSON_PUT(out, ",\"src\":\"tracerd\"");
    }
}

static char *put_member_text(char *out, const char *key, size_t key_size, const char *text,
                             size_t size)
{
    out = json_put(out, key, key_size);
    return json_put_string(out, text, size);
}
#define PUT_MEMBER_TEXT(out, key, text, size) put_member_text(out, key, sizeof(key) - 1, text, size)

static __attribute__((cold, noinline)) char *put_flags(char *out, uint16_t flags)
{
    if (flags & TRD_RECORD_F_LATE)
        out = JSON_PUT(out, ",\"late\":true");
    if (flags & TRD_RECORD_F_UNALIGNED)
        out = JSON_PUT(out, ",\"unaligned\":true");
    if (flags & TRD_RECORD_F_CATCH_UP)
        out = JSON_PUT(out, ",\"catch_up\":true");
    if (flags & TRD_RECORD_F_CUT)
        out = JSON_PUT(out, ",\"cut\":true");
    if (flags & TRD_RECORD_F_INCOMPLETE)
        out = JSON_PUT(out, ",\"incomplete\":true");
    return out;
}

/* Who and where: absent, not null. */
static char *put_place(char *out, const struct trd_record *record)
{
    if (record->cpu >= 0) {
        out = JSON_PUT(out, ",\"cpu\":");
        out = json_put_u32(out, (uint32_t)record->cpu);
    }
    if (record->pid >= 0) {
        out = JSON_PUT(out, ",\"pid\":");
        out = json_put_u32(out, (uint32_t)record->pid);
    }
    if (record->tid >= 0) {
        out = JSON_PUT(out, ",\"tid\":");
        out = json_put_u32(out, (uint32_t)record->tid);
    }
    if (record->thread_size > 0)
        out = PUT_MEMBER_TEXT(out, ",\"thread\":", record->thread, record->thread_size);
    if (record->stream)
        out = PUT_MEMBER_TEXT(out, ",\"stream\":", record->stream, strlen(record->stream));
    if (__builtin_expect(record->flags != 0, 0))
        out = put_flags(out, record->flags);
    return out;
}

static int64_t write_event(struct trd_json *json, const struct trd_record *record, char *start,
                           char *out, char *end)
{
    struct plan *plan = plan_get(json, record->schema);
    struct json_context context = { json->catalog, &json->names, record };
    bool first = true;

    if (!plan)
        return -ENOMEM;
    if ((size_t)(end - out) < plan->name_size + 4)
        return -ENOSPC;
    out = json_put(out, plan->name, plan->name_size);
    for (uint32_t i = 0; i < plan->step_count; i++) {
        const struct step *step = &plan->steps[i];
        char *value;

        if ((size_t)(end - out) < step->key_size + 1)
            return -ENOSPC;
        value = out + !first;
        value = json_put(value, step->key, step->key_size);
        value = json_put_field(&context, step->field, value, end - 4);
        if (value == JSON_NO_ROOM)
            return -ENOSPC;
        if (value == JSON_ABSENT) /* the record is too short for it */
            continue;
        if (!first)
            *out = ',';
        first = false;
        out = value;
    }
    out = JSON_PUT(out, "}}\n");
    return out - start;
}

static char *put_ready_args(char *out, const struct trd_record *record)
{
    out = PUT_MEMBER_TEXT(out, ",\"name\":", record->name, strlen(record->name));
    if (record->args_json_size > 0) {
        out = JSON_PUT(out, ",\"args\":");
        out = json_put(out, record->args_json, record->args_json_size);
    }
    return JSON_PUT(out, "}\n");
}

static char *put_lost(struct trd_json *json, char *out, const struct trd_record *record)
{
    out = JSON_PUT(out, ",\"from\":");
    out = put_ts(json, out, record->lost_from_ns);
    out = JSON_PUT(out, ",\"to\":");
    out = put_ts(json, out, record->ts_ns);
    if (record->lost == TRD_LOST_UNKNOWN) {
        out = JSON_PUT(out, ",\"n\":null");
    } else {
        out = JSON_PUT(out, ",\"n\":");
        out = json_put_u64(out, record->lost);
    }
    return JSON_PUT(out, "}\n");
}

static const struct {
    const char *text;
    size_t size;
} kind_heads[] = {
#define HEAD(name) "{\"v\":1,\"k\":\"" name "\",\"seq\":"
#define KIND(kind, name) [kind] = { HEAD(name), sizeof(HEAD(name)) - 1 }
    KIND(TRD_KIND_EVENT, "ev"),       KIND(TRD_KIND_SPAN, "span"),   KIND(TRD_KIND_LOST, "lost"),
    KIND(TRD_KIND_DEFINITION, "def"), KIND(TRD_KIND_COUNTER, "ctr"), KIND(TRD_KIND_HEARTBEAT, "hb"),
#undef HEAD
#undef KIND
};

static size_t texts_size(const struct trd_record *record)
{
    size_t size = 6 * (size_t)record->thread_size + record->args_json_size;

    if (record->stream)
        size += 6 * strlen(record->stream);
    if (record->name)
        size += 6 * strlen(record->name);
    return size;
}

int64_t trd_json_line(struct trd_json *json, const struct trd_record *record, uint64_t seq,
                      char *out, size_t capacity)
{
    char *start = out;

    if (capacity < LINE_HEAD_MAX + texts_size(record))
        return -ENOSPC;
    out = json_put(out, kind_heads[record->kind].text, kind_heads[record->kind].size);
    out = json_put_u64(out, seq);
    if (record->kind != TRD_KIND_LOST) {
        out = JSON_PUT(out, ",\"ts\":");
        out = put_ts(json, out, record->ts_ns);
    }
    if (record->kind == TRD_KIND_SPAN) {
        out = JSON_PUT(out, ",\"dur\":");
        out = json_put_u64(out, record->dur_ns);
    }
    if (record->kind != TRD_KIND_HEARTBEAT)
        out = put_source(out, record);
    out = put_place(out, record);
    switch (record->kind) {
    case TRD_KIND_EVENT:
        if (!record->args_json)
            return write_event(json, record, start, out, start + capacity);
        out = put_ready_args(out, record);
        break;
    case TRD_KIND_LOST:
        out = put_lost(json, out, record);
        break;
    case TRD_KIND_HEARTBEAT:
        out = JSON_PUT(out, "}\n");
        break;
    default:
        out = put_ready_args(out, record);
        break;
    }
    return out - start;
}

size_t trd_json_string(const char *bytes, size_t size, char *out, size_t capacity)
{
    if (6 * size + 2 > capacity)
        return 6 * size + 2;
    return (size_t)(json_put_string(out, bytes, size) - out);
}
