/* Gathers evidence from records, with or without a schema. */
#include "align_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "field.h"
#include "hash.h"
#include "json_args.h"

#define SWITCHES_MAX (1u << 20)
#define MARKS_MAX 4096
#define MARK "trace_event_clock_sync: parent_ts="

static const char *const key_names[4] = { "prev_pid", "prev_prio", "next_pid", "next_prio" };

int trd_evidence_create(struct trd_evidence **out)
{
    *out = calloc(1, sizeof(**out));
    return *out ? 0 : -ENOMEM;
}

void trd_evidence_destroy(struct trd_evidence *evidence)
{
    if (!evidence)
        return;
    free(evidence->switches);
    free(evidence->marks);
    free(evidence);
}

static bool has_room(void **items, size_t count, size_t *capacity, size_t size, size_t max)
{
    size_t larger = *capacity ? *capacity * 2 : 1024;
    void *moved;

    if (count < *capacity)
        return true;
    if (count >= max || !(moved = realloc(*items, larger * size)))
        return false;
    *items = moved;
    *capacity = larger;
    return true;
}

static void look_at(struct trd_evidence *evidence, const struct trd_schema *schema)
{
    evidence->seen.schema = schema;
    evidence->seen.text = NULL;
    memset(evidence->seen.fields, 0, sizeof(evidence->seen.fields));
    if (strcmp(schema->full_name, "ftrace:print") == 0)
        evidence->seen.text = trd_schema_field(schema, "buf");
    else if (strcmp(schema->full_name, "sched:sched_switch") == 0)
        for (size_t i = 0; i < 4; i++)
            evidence->seen.fields[i] = trd_schema_field(schema, key_names[i]);
}

static bool get_number(const struct trd_evidence *evidence, const struct trd_record *record,
                       size_t index, uint64_t *out)
{
    const struct json_args_name name = { .text = key_names[index],
                                         .size = strlen(key_names[index]) };
    const struct trd_field *field = evidence->seen.fields[index];
    struct field_bytes bytes;

    if (!record->schema)
        return json_args_number(record, &name, out);
    if (!field || field->storage != TRD_STORAGE_INT ||
        !field_find(record->schema, field, record->data, record->size, &bytes))
        return false;
    *out = load_int(bytes.at, field->size, field->is_signed, record->schema->big_endian);
    return true;
}

static void add_switch(struct trd_evidence *evidence, const struct trd_record *record)
{
    uint64_t hash = HASH_START, number;

    for (size_t i = 0; i < 4; i++) {
        if (!get_number(evidence, record, i, &number))
            return;
        hash = hash_bytes(hash, &number, sizeof(number));
    }
    if (has_room((void **)&evidence->switches, evidence->switch_count, &evidence->switch_capacity,
                 sizeof(*evidence->switches), SWITCHES_MAX))
        evidence->switches[evidence->switch_count++] =
            (struct align_switch){ record->ts_ns, (uint32_t)record->cpu,
                                   (uint32_t)(hash ^ hash >> 32) };
}

/* SECONDS with up to nine digits behind the point. */
static bool parse_mark(const char *text, uint64_t *out_ns)
{
    const char *at = strstr(text, MARK);
    unsigned long long seconds;
    uint64_t unit = 100000000;
    int used = 0;

    if (!at || sscanf(at + sizeof(MARK) - 1, "%11llu%n", &seconds, &used) != 1)
        return false;
    at += sizeof(MARK) - 1 + used;
    *out_ns = seconds * 1000000000u;
    if (*at++ != '.')
        return false;
    for (; *at >= '0' && *at <= '9' && unit > 0; at++, unit /= 10)
        *out_ns += unit * (uint64_t)(*at - '0');
    return true;
}

static void add_mark(struct trd_evidence *evidence, const struct trd_record *record)
{
    const struct json_args_name name = { .text = "buf", .size = 3 };
    char text[JSON_ARGS_TEXT_MAX + 1] = "";
    struct field_bytes bytes;
    size_t size = 0;
    uint64_t mono_ns;

    if (!record->schema) {
        if (!json_args_text(record, &name, text, JSON_ARGS_TEXT_MAX, &size))
            return;
    } else if (field_find(record->schema, evidence->seen.text, record->data, record->size,
                          &bytes)) {
        size = bytes.size < JSON_ARGS_TEXT_MAX ? bytes.size : JSON_ARGS_TEXT_MAX;
        memcpy(text, bytes.at, size);
    }
    text[size] = '\0';
    if (parse_mark(text, &mono_ns) &&
        has_room((void **)&evidence->marks, evidence->mark_count, &evidence->mark_capacity,
                 sizeof(*evidence->marks), MARKS_MAX))
        evidence->marks[evidence->mark_count++] = (struct align_mark){ record->ts_ns, mono_ns };
}

void trd_evidence_add(struct trd_evidence *evidence, const struct trd_record *record)
{
    bool is_switch, is_print;

    if (record->kind == TRD_KIND_EVENT || record->kind == TRD_KIND_LOST) {
        if (!evidence->has_times || record->ts_ns < evidence->first_ts)
            evidence->first_ts = record->ts_ns;
        if (!evidence->has_times || record->ts_ns > evidence->last_ts)
            evidence->last_ts = record->ts_ns;
        evidence->has_times = true;
    }
    if (record->kind != TRD_KIND_EVENT || record->source != TRD_SOURCE_FTRACE ||
        record->flags & (TRD_RECORD_F_LATE | TRD_RECORD_F_UNALIGNED))
        return;
    if (record->schema) {
        if (record->schema != evidence->seen.schema)
            look_at(evidence, record->schema);
        is_switch = evidence->seen.fields[0] != NULL;
        is_print = evidence->seen.text != NULL;
    } else {
        is_switch = record->name && strcmp(record->name, "sched:sched_switch") == 0;
        is_print = record->name && strcmp(record->name, "ftrace:print") == 0;
    }
    if (is_switch && record->cpu >= 0 && record->cpu < ALIGN_CPUS_MAX)
        add_switch(evidence, record);
    else if (is_print)
        add_mark(evidence, record);
}
