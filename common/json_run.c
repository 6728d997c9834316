/*
 * Hot path: record -> JSON args. Budget: no allocation, no look-up by name, no printf, one check of
 * the output's room per record and one of the record's size per field; measured by
 * tests/bench/bench_json.c in lines per second, beside jansson building the same lines.
 */
#include "json_plan.h"

#include "bytes.h"
#include "json_writer.h"

#define HOST_IS_BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

static inline uint16_t host_u16(const uint8_t *bytes)
{
    uint16_t value;

    memcpy(&value, bytes, sizeof(value));
    return value;
}

static inline uint32_t host_u32(const uint8_t *bytes)
{
    uint32_t value;

    memcpy(&value, bytes, sizeof(value));
    return value;
}

static inline uint64_t host_u64(const uint8_t *bytes)
{
    uint64_t value;

    memcpy(&value, bytes, sizeof(value));
    return value;
}

static inline char *put_s32(char *out, int32_t value)
{
    if (value >= 0)
        return json_put_u32(out, (uint32_t)value);
    *out = '-';
    return json_put_u32(out + 1, 0 - (uint32_t)value);
}

char *json_put_flags(const struct json_plan *plan, const struct json_step *step, uint64_t value,
                     char *out)
{
    const struct json_label *label = plan->labels + step->first;
    uint64_t left = value & step->label_mask;

    out = JSON_PUT(out, "{\"raw\":");
    out = json_put_int(out, value, step->elem_size, step->is_signed);
    out = JSON_PUT(out, ",\"names\":[");
    /* As the kernel does it: an entry takes its bits away from those that follow. */
    for (uint32_t i = 0; i < step->count && left; i++, label++)
        if ((left & label->value) == label->value) {
            out = json_put_blocks(out, label->text, label->size);
            left &= ~label->value;
        }
    out -= out[-1] == ',';
    return JSON_PUT(out, "]}");
}

char *json_put_enum(const struct json_plan *plan, const struct json_step *step, uint64_t value,
                    char *out)
{
    const struct json_label *label = plan->labels + step->first;

    out = JSON_PUT(out, "{\"raw\":");
    out = json_put_int(out, value, step->elem_size, step->is_signed);
    for (uint32_t i = 0; i < step->count; i++, label++)
        if (label->value == value)
            return json_put_blocks(out, label->text, label->size);
    *out = '}';
    return out + 1;
}

static inline uint64_t load(const struct json_run *run, const struct json_step *step,
                            const uint8_t *bytes)
{
    return load_int(bytes, step->elem_size, step->is_signed, run->plan->schema->big_endian);
}

/* Key and value; the key alone is taken back where there is no value. */
static __attribute__((noinline)) char *put_other(struct json_run *run, const struct json_step *step,
                                                 char *out)
{
    ptrdiff_t room = run->limit - out;
    char *value;

    if (room < (ptrdiff_t)step->key_size + JSON_BLOCK) {
        run->cut = true;
        return out;
    }
    value = json_put_blocks(out, step->key, step->key_size);
    value = json_put_value(run, step, value, run->limit);
    if (value == JSON_NO_ROOM)
        run->cut = true;
    return value == JSON_NO_ROOM || value == JSON_ABSENT ? out : value;
}

static __attribute__((noinline)) void make_number(struct json_number *number, uint64_t value)
{
    number->value = value;
    number->size = (uint8_t)(json_put_int(number->text, value, 8, false) - number->text);
}

/* Small ones are as fast to write as to find. */
static inline char *put_u64(const struct json_run *run, char *out, uint64_t value)
{
    struct json_number *number;

    if (value < 10000)
        return json_put_int(out, value, 8, false);
    number = &run->numbers[value * 0x9e3779b97f4a7c15u >> 57];
    if (__builtin_expect(number->value != value, 0))
        make_number(number, value);
    memcpy(out, number->text, sizeof(number->text));
    return out + number->size;
}

/* At least one, of 4 or 8 bytes. */
static __attribute__((noinline)) char *
put_ints(const struct json_run *run, const struct json_step *step, const uint8_t *bytes, char *out)
{
    const uint8_t *end = bytes + step->size;

    *out++ = '[';
    if (step->elem_size == 8 && !step->is_signed)
        for (; bytes < end; bytes += 8) {
            out = put_u64(run, out, host_u64(bytes));
            *out++ = ',';
        }
    else
        for (; bytes < end; bytes += step->elem_size) {
            out = json_put_int(out, load_int(bytes, step->elem_size, step->is_signed, HOST_IS_BIG),
                               step->elem_size, step->is_signed);
            *out++ = ',';
        }
    out[-1] = ']';
    return out;
}

static inline char *put_step(struct json_run *run, const struct json_step *step,
                             const uint8_t *bytes, char *out)
{
    char *value;

    if (step->code == JSON_CODE_OTHER)
        return put_other(run, step, out);
    value = json_put_blocks(out, step->key, step->key_size);
    switch (step->code) {
    case JSON_CODE_U8:
        return json_put_u32(value, *bytes);
    case JSON_CODE_U16:
        return json_put_u32(value, host_u16(bytes));
    case JSON_CODE_U32:
        return json_put_u32(value, host_u32(bytes));
    case JSON_CODE_S8:
        return put_s32(value, (int8_t)*bytes);
    case JSON_CODE_S16:
        return put_s32(value, (int16_t)host_u16(bytes));
    case JSON_CODE_S32:
        return put_s32(value, (int32_t)host_u32(bytes));
    case JSON_CODE_U64:
        return put_u64(run, value, host_u64(bytes));
    case JSON_CODE_S64:
        return json_put_int(value, host_u64(bytes), 8, true);
    case JSON_CODE_ADDRESS:
        return json_put_hex(value,
                            load_int(bytes, step->size, false, run->plan->schema->big_endian));
    case JSON_CODE_BOOL:
        return load(run, step, bytes) ? JSON_PUT(value, "true") : JSON_PUT(value, "false");
    case JSON_CODE_FLAGS:
        return json_put_flags(run->plan, step, load(run, step, bytes), value);
    case JSON_CODE_ENUM:
        return json_put_enum(run->plan, step, load(run, step, bytes), value);
    case JSON_CODE_INTS:
        return put_ints(run, step, bytes, value);
    default: /* JSON_CODE_CHARS */
        return json_put_text(value, (const char *)bytes, step->size);
    }
}

char *json_run_args(struct json_run *run, char *out, char *end)
{
    const struct json_plan *plan = run->plan;
    const struct trd_record *record = run->record;
    const struct json_step *step = plan->steps;
    char *open = out;

    if (end - out < (ptrdiff_t)plan->room + 2 * JSON_BLOCK)
        return NULL;
    run->limit = end - plan->room - 2 * JSON_BLOCK;
    for (uint32_t i = 0; i < plan->step_count; i++, step++)
        if (__builtin_expect((uint32_t)step->offset + step->size <= record->size, 1))
            out = put_step(run, step, record->data + step->offset, out);
    /* Every step began with a comma: the first one becomes the brace. */
    if (out == open)
        out++;
    *open = '{';
    *out = '}';
    return out + 1;
}
