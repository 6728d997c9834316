#include "derived.h"

#include <stdlib.h>
#include <string.h>

#include "json_writer.h"

void derived_init(struct derived *derived)
{
    memset(derived, 0, sizeof(*derived));
}

void derived_finish(struct derived *derived)
{
    free(derived->records);
    free(derived->text);
}

void derived_reuse(struct derived *derived)
{
    if (derived->next < derived->count)
        return;
    derived->count = 0;
    derived->next = 0;
    derived->used = 0;
}

static char *room(struct derived *derived, size_t size)
{
    if (derived->capacity - derived->used < size) {
        size_t capacity = (derived->used + size) * 2;
        char *text = realloc(derived->text, capacity);

        if (!text) {
            derived->failed = true;
            return NULL;
        }
        derived->text = text;
        derived->capacity = capacity;
    }
    return derived->text + derived->used;
}

static struct derived_record *new_record(struct derived *derived)
{
    if (derived->count == derived->records_capacity) {
        size_t capacity = derived->records_capacity ? derived->records_capacity * 2 : 16;
        struct derived_record *records =
            capacity <= DERIVED_MAX ? realloc(derived->records, capacity * sizeof(*records)) : NULL;

        if (!records)
            return NULL;
        derived->records = records;
        derived->records_capacity = capacity;
    }
    return &derived->records[derived->count];
}

void derived_begin(struct derived *derived, enum trd_kind kind, const char *name, uint64_t ts_ns,
                   int32_t pid, int32_t tid)
{
    struct derived_record *new = new_record(derived);
    struct trd_record *record = &new->record;
    char *out = room(derived, 1);

    derived->failed = !new || !out;
    if (derived->failed)
        return;
    trd_record_init(record);
    record->kind = (uint8_t)kind;
    record->source = TRD_SOURCE_CLR;
    record->name = name;
    record->ts_ns = ts_ns;
    record->pid = pid;
    record->tid = tid;
    new->args_at = derived->used;
    *out = '{';
    derived->used++;
    derived->first = true;
}

void derived_from_kernel(struct derived *derived)
{
    if (!derived->failed)
        derived->records[derived->count].record.source = TRD_SOURCE_FTRACE;
}

/* `"key":`; NULL if the record cannot be made. */
static char *put_key(struct derived *derived, const char *key, size_t value_size)
{
    size_t size = strlen(key);
    char *out = derived->failed ? NULL : room(derived, size + value_size + 8);

    if (!out)
        return NULL;
    if (!derived->first)
        *out++ = ',';
    derived->first = false;
    *out++ = '"';
    out = json_put(out, key, size);
    return JSON_PUT(out, "\":");
}

static void advance(struct derived *derived, const char *out)
{
    derived->used = (size_t)(out - derived->text);
}

void derived_put_u64(struct derived *derived, const char *key, uint64_t value)
{
    char *out = put_key(derived, key, JSON_NUMBER_MAX);

    if (out)
        advance(derived, json_put_u64(out, value));
}

void derived_put_hex(struct derived *derived, const char *key, uint64_t value)
{
    char *out = put_key(derived, key, JSON_NUMBER_MAX);

    if (out)
        advance(derived, json_put_hex(out, value));
}

void derived_put_text(struct derived *derived, const char *key, const char *bytes, size_t size)
{
    char *out = put_key(derived, key, JSON_STRING_MAX(size));

    if (out)
        advance(derived, json_put_string(out, bytes, size));
}

void derived_open(struct derived *derived, const char *key)
{
    char *out = put_key(derived, key, 1);

    if (!out)
        return;
    *out++ = '{';
    advance(derived, out);
    derived->first = true;
}

void derived_close(struct derived *derived)
{
    char *out = derived->failed ? NULL : room(derived, 1);

    if (!out)
        return;
    *out = '}';
    derived->used++;
    derived->first = false;
}

void derived_put_true(struct derived *derived, const char *key)
{
    char *out = put_key(derived, key, 4);

    if (out)
        advance(derived, JSON_PUT(out, "true"));
}

void derived_end(struct derived *derived, uint64_t end_ns, uint16_t flags)
{
    struct derived_record *ended;
    struct trd_record *record;

    derived_close(derived);
    if (derived->failed)
        return;
    ended = &derived->records[derived->count++];
    record = &ended->record;
    record->flags = flags;
    record->dur_ns = end_ns > record->ts_ns ? end_ns - record->ts_ns : 0;
    record->args_json_size = (uint32_t)(derived->used - ended->args_at);
}

int derived_next(struct derived *derived, struct trd_record *out)
{
    const struct derived_record *next;

    if (derived->next == derived->count)
        return 0;
    next = &derived->records[derived->next];
    *out = next->record;
    out->args_json = derived->text + next->args_at;
    derived->next++;
    return 1;
}
