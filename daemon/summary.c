#include "summary.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "summary_notes.h"

int summary_create(struct summary **out)
{
    struct summary *summary = calloc(1, sizeof(*summary));

    if (summary)
        summary->cpus = calloc(CPUS_MAX, sizeof(*summary->cpus));
    if (!summary || !summary->cpus) {
        free(summary);
        return -ENOMEM;
    }
    *out = summary;
    return 0;
}

void summary_destroy(struct summary *summary)
{
    if (!summary)
        return;
    free(summary->collections.values_ns);
    free(summary->gc_pauses.values_ns);
    free(summary->suspensions.values_ns);
    free(summary->jits.values_ns);
    for (size_t i = 0; i < summary->exception_count; i++)
        free(summary->exceptions[i].type);
    free(summary->cpus);
    free(summary);
}

static void add_duration(struct durations *durations, uint64_t value_ns)
{
    durations->total_ns += value_ns;
    if (durations->count == durations->capacity) {
        size_t capacity = durations->capacity ? durations->capacity * 2 : 64;
        uint64_t *values = realloc(durations->values_ns, capacity * sizeof(*values));

        if (!values)
            return;
        durations->values_ns = values;
        durations->capacity = capacity;
    }
    durations->values_ns[durations->count++] = value_ns;
}

static void count_exception(struct summary *summary, const char *type, size_t size)
{
    struct exception_row *row = summary->exceptions;
    struct exception_row *end = row + summary->exception_count;

    while (row < end && (strncmp(row->type, type, size) != 0 || row->type[size] != '\0'))
        row++;
    if (row < end) {
        row->count++;
        return;
    }
    if (summary->exception_count < EXCEPTIONS_MAX)
        row->type = strndup(type, size);
    if (summary->exception_count == EXCEPTIONS_MAX || !row->type) {
        summary->exceptions_other++;
        return;
    }
    row->count = 1;
    summary->exception_count++;
}

static void note_exception(struct summary *summary, const struct trd_record *record)
{
    json_t *args;
    const char *type;
    size_t size;

    if (record->data) {
        const struct trd_ev_exception_thrown *event = (const void *)record->data;

        type = trd_event_text(event, event->type, &size);
        count_exception(summary, type, size);
        return;
    }
    /* From a recording. */
    args = json_loadb(record->args_json, record->args_json_size, 0, NULL);
    type = json_string_value(json_object_get(args, "type"));
    if (type)
        count_exception(summary, type, strlen(type));
    json_decref(args);
}

static void note_clr(struct summary *summary, const struct trd_record *record)
{
    const struct trd_event_info *info = record->schema ? NULL : trd_event_find_name(record->name);

    switch (record->schema ? record->schema->id : info ? info->id : 0) {
    case TRD_EV_exception_thrown:
        note_exception(summary, record);
        break;
    case TRD_EV_thread_created:
        summary->threads_created++;
        break;
    case TRD_EV_thread_destroyed:
        summary->threads_destroyed++;
        break;
    default:
        break;
    }
}

static void note_place(struct summary *summary, const struct trd_record *record)
{
    if (summary->first_ns == 0 || record->ts_ns < summary->first_ns)
        summary->first_ns = record->ts_ns;
    if (record->ts_ns > summary->last_ns)
        summary->last_ns = record->ts_ns;
    if (record->cpu >= 0 && record->cpu < CPUS_MAX) {
        struct cpu_span *cpu = &summary->cpus[record->cpu];

        if (cpu->count++ == 0)
            cpu->first_ns = record->ts_ns;
        cpu->last_ns = record->ts_ns;
    }
}

static void note_span(struct summary *summary, const struct trd_record *record)
{
    const struct {
        const char *name;
        struct durations *durations;
    } spans[] = { { "clr:gc", &summary->collections },
                  { "clr:gc_pause", &summary->gc_pauses },
                  { "clr:suspension", &summary->suspensions },
                  { "clr:jit", &summary->jits } };

    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
        if (strcmp(record->name, spans[i].name) == 0)
            add_duration(spans[i].durations, record->dur_ns);
}

void summary_note(struct summary *summary, const struct trd_record *record)
{
    switch (record->kind) {
    case TRD_KIND_EVENT:
        if (!(record->flags & TRD_RECORD_F_CATCH_UP))
            note_place(summary, record);
        if (record->source == TRD_SOURCE_CLR)
            note_clr(summary, record);
        break;
    case TRD_KIND_SPAN:
        note_span(summary, record);
        break;
    case TRD_KIND_LOST:
        summary->loss_records++;
        break;
    default:
        break;
    }
}

static void add_cpu(struct cpu_span *cpu, const struct cpu_span *other)
{
    if (other->count == 0)
        return;
    if (cpu->count == 0 || other->first_ns < cpu->first_ns)
        cpu->first_ns = other->first_ns;
    if (other->last_ns > cpu->last_ns)
        cpu->last_ns = other->last_ns;
    cpu->count += other->count;
}

void summary_add(struct summary *summary, const struct summary *other)
{
    if (other->first_ns != 0 && (summary->first_ns == 0 || other->first_ns < summary->first_ns))
        summary->first_ns = other->first_ns;
    if (other->last_ns > summary->last_ns)
        summary->last_ns = other->last_ns;
    for (size_t i = 0; i < CPUS_MAX; i++)
        add_cpu(&summary->cpus[i], &other->cpus[i]);
    summary->loss_records += other->loss_records;
}
