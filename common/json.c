/* Lines and the plans behind them: the envelope is written here, the args by json_run.c. */
#include "tracerd/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json_plan.h"
#include "json_writer.h"

#define PLANS_INITIAL 256
/* Everything of a line but texts and args: keys, numbers, punctuation. */
#define LINE_HEAD_MAX 512
#define LINE_TAIL_MAX 64 /* what stands around the args */

/* What stands before the last digits of a number: neighbours in the stream share it. */
struct leading {
    uint64_t high;
    uint32_t size;
    char digits[24];
};

/*
 * Who and where, ready to be copied: few threads account for most neighbours. Blocks of JSON_BLOCK
 * hold `,"src":"tracerd","cpu":2147483647,"pid":2147483647,"tid":2147483647`.
 */
#define PLACES 64
#define PLACE_TEXT_MAX (5 * JSON_BLOCK)
struct place {
    int32_t cpu, pid, tid;
    uint8_t source;
    uint8_t size; /* 0 = free */
    char text[PLACE_TEXT_MAX];
};

struct trd_json {
    struct trd_json_names names;
    const struct trd_catalog **catalogs; /* owned array of borrowed ones */
    size_t catalog_count;
    struct json_plan **plans; /* open addressing by schema; owned */
    size_t plan_count;
    size_t plan_capacity; /* a power of two */
    uint64_t offset_ns;   /* of the lines' clock */
    struct leading ts_digits, seq_digits;
    struct place places[PLACES];
    struct json_number numbers[JSON_NUMBERS];
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
    json->ts_digits.high = UINT64_MAX;
    json->seq_digits.high = UINT64_MAX;
    if (names)
        json->names = *names;
    *out = json;
    return 0;
}

void trd_json_destroy(struct trd_json *json)
{
    if (!json)
        return;
    for (size_t i = 0; i < json->plan_capacity; i++)
        json_plan_destroy(json->plans[i]);
    free(json->plans);
    free(json->catalogs);
    free(json);
}

/* Without memory for it, symbols stay addresses. */
void trd_json_set_offset(struct trd_json *json, int64_t offset_ns)
{
    json->offset_ns = (uint64_t)offset_ns;
}

void trd_json_add_catalog(struct trd_json *json, const struct trd_catalog *catalog)
{
    const struct trd_catalog **catalogs =
        realloc(json->catalogs, (json->catalog_count + 1) * sizeof(*catalogs));

    if (!catalogs)
        return;
    json->catalogs = catalogs;
    json->catalogs[json->catalog_count++] = catalog;
}

static const struct trd_catalog *catalog_of(const struct trd_json *json,
                                            const struct trd_schema *schema)
{
    for (size_t i = 0; i < json->catalog_count && !schema->is_clr; i++)
        if (trd_catalog_find(json->catalogs[i], schema->id) == schema)
            return json->catalogs[i];
    return NULL;
}

static size_t plan_slot(struct json_plan *const *plans, size_t capacity,
                        const struct trd_schema *schema)
{
    size_t slot = ((uintptr_t)schema >> 4) * 0x9e3779b97f4a7c15u >> 20;

    while (plans[slot & (capacity - 1)] && plans[slot & (capacity - 1)]->schema != schema)
        slot++;
    return slot & (capacity - 1);
}

static int plans_grow(struct trd_json *json)
{
    size_t capacity = json->plan_capacity * 2;
    struct json_plan **plans = calloc(capacity, sizeof(*plans));

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

static __attribute__((cold, noinline)) struct json_plan *plan_add(struct trd_json *json,
                                                                  const struct trd_schema *schema)
{
    struct json_plan *plan;

    if (json->plan_count * 2 >= json->plan_capacity && plans_grow(json) != 0)
        return NULL;
    plan = json_plan_create(schema, catalog_of(json, schema));
    if (!plan)
        return NULL;
    json->plans[plan_slot(json->plans, json->plan_capacity, schema)] = plan;
    json->plan_count++;
    return plan;
}

static inline struct json_plan *plan_get(struct trd_json *json, const struct trd_schema *schema)
{
    struct json_plan *plan = json->plans[plan_slot(json->plans, json->plan_capacity, schema)];

    return __builtin_expect(plan != NULL, 1) ? plan : plan_add(json, schema);
}

static __attribute__((cold, noinline)) void change_leading(struct leading *leading, uint64_t high)
{
    leading->high = high;
    leading->size = (uint32_t)(json_put_u64(leading->digits, high) - leading->digits);
}

static inline char *put_leading(struct leading *leading, char *out, uint64_t high)
{
    if (__builtin_expect(high != leading->high, 0))
        change_leading(leading, high);
    memcpy(out, leading->digits, sizeof(leading->digits));
    return out + leading->size;
}

#define TS_LOW 1000000u

static inline char *put_ts(struct trd_json *json, char *out, uint64_t ts_ns)
{
    uint64_t shown = ts_ns + json->offset_ns;
    uint64_t high = shown / TS_LOW;
    uint32_t low = (uint32_t)(shown % TS_LOW);

    *out++ = '"';
    if (__builtin_expect(high == 0, 0)) {
        out = json_put_u32(out, low);
    } else {
        out = put_leading(&json->ts_digits, out, high);
        out = json_put_4_digits(json_put_pair(out, low / 10000), low % 10000);
    }
    *out = '"';
    return out + 1;
}

#define SEQ_LOW 10000u

static inline char *put_seq(struct trd_json *json, char *out, uint64_t seq)
{
    if (__builtin_expect(seq < SEQ_LOW, 0))
        return json_put_u64(out, seq);
    return json_put_4_digits(put_leading(&json->seq_digits, out, seq / SEQ_LOW),
                             (uint32_t)(seq % SEQ_LOW));
}

static inline char *put_source(char *out, const struct trd_record *record)
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

/* Absent, not null. */
static char *put_id(char *out, const char *key, size_t key_size, int32_t id)
{
    if (id < 0)
        return out;
    return json_put_u32(json_put(out, key, key_size), (uint32_t)id);
}
#define PUT_ID(out, key, id) put_id(out, key, sizeof(key) - 1, id)

static __attribute__((noinline)) void make_place(struct place *place,
                                                 const struct trd_record *record)
{
    char *out = put_source(place->text, record);

    out = PUT_ID(out, ",\"cpu\":", record->cpu);
    out = PUT_ID(out, ",\"pid\":", record->pid);
    out = PUT_ID(out, ",\"tid\":", record->tid);
    place->cpu = record->cpu;
    place->pid = record->pid;
    place->tid = record->tid;
    place->source = record->source;
    place->size = (uint8_t)(out - place->text);
}

static inline char *put_place(struct trd_json *json, char *out, const struct trd_record *record,
                              uint16_t flags)
{
    struct place *place =
        &json->places[((uint32_t)record->tid ^ (uint32_t)record->cpu << 4) % PLACES];

    if (place->tid != record->tid || place->cpu != record->cpu || place->pid != record->pid ||
        place->source != record->source || place->size == 0)
        make_place(place, record);
    out = json_put_blocks(out, place->text, place->size);
    if (record->thread_size > 0)
        out = PUT_MEMBER_TEXT(out, ",\"thread\":", record->thread, record->thread_size);
    if (record->stream)
        out = PUT_MEMBER_TEXT(out, ",\"stream\":", record->stream, strlen(record->stream));
    if (__builtin_expect(flags != 0, 0))
        out = put_flags(out, flags);
    return out;
}

/*
 * The end of a line whose args come from a schema; a span has a name of its own. NULL if it does
 * not fit; *out_cut if a field had to stay out.
 */
static char *put_event(struct trd_json *json, const struct trd_record *record, char *out, char *end,
                       bool *out_cut)
{
    struct json_run run = { .plan = plan_get(json, record->schema),
                            .numbers = json->numbers,
                            .names = &json->names,
                            .record = record };

    if (!run.plan || end - out < (ptrdiff_t)run.plan->name_size + LINE_TAIL_MAX)
        return NULL;
    if (__builtin_expect(record->name != NULL, 0)) {
        out = PUT_MEMBER_TEXT(out, ",\"name\":", record->name, strlen(record->name));
        out = JSON_PUT(out, ",\"args\":");
    } else {
        out = json_put_blocks(out, run.plan->name, run.plan->name_size);
    }
    out = json_run_args(&run, out, end - 4);
    *out_cut = run.cut;
    return out ? JSON_PUT(out, "}\n") : NULL;
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

static char *put_anchor(char *out, const struct trd_record *record)
{
    out = JSON_PUT(out, ",\"anchor\":");
    out = json_put(out, record->args_json, record->args_json_size);
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
    char text[2 * JSON_BLOCK];
    uint32_t size;
} kind_heads[] = {
#define HEAD(name) "{\"v\":1,\"k\":\"" name "\",\"seq\":"
#define KIND(kind, name) [kind] = { HEAD(name), sizeof(HEAD(name)) - 1 }
    KIND(TRD_KIND_EVENT, "ev"),       KIND(TRD_KIND_SPAN, "span"),   KIND(TRD_KIND_LOST, "lost"),
    KIND(TRD_KIND_DEFINITION, "def"), KIND(TRD_KIND_COUNTER, "ctr"), KIND(TRD_KIND_HEARTBEAT, "hb"),
    KIND(TRD_KIND_ANCHOR, "anchor"),
#undef HEAD
#undef KIND
};

static size_t texts_size(const struct trd_record *record)
{
    size_t size = JSON_STRING_MAX(record->thread_size) + record->args_json_size;

    if (record->stream)
        size += JSON_STRING_MAX(strlen(record->stream));
    if (record->name)
        size += JSON_STRING_MAX(strlen(record->name));
    return size;
}

static char *put_head(struct trd_json *json, const struct trd_record *record, uint16_t flags,
                      uint64_t seq, char *out)
{
    out = json_put_blocks(out, kind_heads[record->kind].text, kind_heads[record->kind].size);
    out = put_seq(json, out, seq);
    if (record->kind != TRD_KIND_LOST) {
        out = JSON_PUT(out, ",\"ts\":");
        out = put_ts(json, out, record->ts_ns);
    }
    if (record->kind == TRD_KIND_HEARTBEAT || record->kind == TRD_KIND_ANCHOR)
        return out;
    if (record->kind == TRD_KIND_SPAN) {
        out = JSON_PUT(out, ",\"dur\":");
        out = json_put_u64(out, record->dur_ns);
    }
    return put_place(json, out, record, flags);
}

static char *put_line(struct trd_json *json, const struct trd_record *record, uint16_t flags,
                      uint64_t seq, char *out, char *end, bool *out_cut)
{
    out = put_head(json, record, flags, seq, out);
    if (record->kind == TRD_KIND_LOST)
        return put_lost(json, out, record);
    if (record->kind == TRD_KIND_HEARTBEAT)
        return JSON_PUT(out, "}\n");
    if (record->kind == TRD_KIND_ANCHOR)
        return put_anchor(out, record);
    if (record->args_json || !record->schema)
        return put_ready_args(out, record);
    return put_event(json, record, out, end, out_cut);
}

int64_t trd_json_line(struct trd_json *json, const struct trd_record *record, uint64_t seq,
                      char *out, size_t capacity)
{
    bool cut = false;
    char *end;

    if (capacity < LINE_HEAD_MAX + texts_size(record))
        return -ENOSPC;
    end = put_line(json, record, record->flags, seq, out, out + capacity, &cut);
    if (__builtin_expect(cut, 0)) {
        if (capacity < TRD_JSON_LINE_MAX)
            return -ENOSPC;
        /* The mark stands before the args, so the line is written again. */
        end = put_line(json, record, record->flags | TRD_RECORD_F_CUT, seq, out, out + capacity,
                       &cut);
    }
    return end ? end - out : -ENOSPC;
}
