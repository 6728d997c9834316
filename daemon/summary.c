#include "summary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"

#define EVENTS_SHOWN 20
#define EXCEPTIONS_MAX 256 /* types; more are summed as others */
#define EXCEPTIONS_SHOWN 10
#define CPUS_MAX 4096

struct durations {
    uint64_t *values_ns; /* owned */
    size_t count;
    size_t capacity;
    uint64_t total_ns;
};

struct exception_row {
    char *type; /* owned */
    uint64_t count;
};

struct cpu_span {
    uint64_t first_ns;
    uint64_t last_ns;
    uint64_t count;
};

struct summary {
    struct durations gc_pauses;
    struct durations suspensions;
    struct durations jits;
    struct exception_row exceptions[EXCEPTIONS_MAX];
    size_t exception_count;
    uint64_t exceptions_other;
    uint64_t first_ns, last_ns;
    struct cpu_span *cpus; /* owned, CPUS_MAX */
    uint64_t loss_records;
};

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

static void note_exception(struct summary *summary, const struct trd_record *record)
{
    const struct trd_ev_exception_thrown *event = (const void *)record->data;
    size_t size;
    const char *type = trd_event_text(event, event->type, &size);
    struct exception_row *row;

    for (size_t i = 0; i < summary->exception_count; i++)
        if (strcmp(summary->exceptions[i].type, type) == 0) {
            summary->exceptions[i].count++;
            return;
        }
    if (summary->exception_count == EXCEPTIONS_MAX) {
        summary->exceptions_other++;
        return;
    }
    row = &summary->exceptions[summary->exception_count];
    row->type = strndup(type, size);
    row->count = 1;
    summary->exception_count += row->type != NULL;
}

static void note_place(struct summary *summary, const struct trd_record *record)
{
    if (summary->first_ns == 0)
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
    if (strcmp(record->name, "clr:gc_pause") == 0)
        add_duration(&summary->gc_pauses, record->dur_ns);
    else if (strcmp(record->name, "clr:suspension") == 0)
        add_duration(&summary->suspensions, record->dur_ns);
    else if (strcmp(record->name, "clr:jit") == 0)
        add_duration(&summary->jits, record->dur_ns);
}

void summary_note(struct summary *summary, const struct trd_record *record)
{
    switch (record->kind) {
    case TRD_KIND_EVENT:
        if (!(record->flags & TRD_RECORD_F_CATCH_UP))
            note_place(summary, record);
        if (record->schema && record->schema->is_clr &&
            record->schema->id == TRD_EV_exception_thrown)
            note_exception(summary, record);
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

static const char *human_time(uint64_t ns, char *text, size_t size)
{
    if (ns >= 1000000000)
        (void)snprintf(text, size, "%.2f s", (double)ns / 1e9);
    else if (ns >= 1000000)
        (void)snprintf(text, size, "%.2f ms", (double)ns / 1e6);
    else
        (void)snprintf(text, size, "%.1f us", (double)ns / 1e3);
    return text;
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static uint64_t percentile(const struct durations *durations, unsigned percent)
{
    return durations->values_ns[(durations->count - 1) * percent / 100];
}

static void print_durations(const char *title, struct durations *durations)
{
    char total[32], median[32], high[32], longest[32];

    if (durations->count == 0)
        return;
    qsort(durations->values_ns, durations->count, sizeof(*durations->values_ns), compare_u64);
    fprintf(stderr, "  %-22s %8zu   total %-10s median %-10s p99 %-10s longest %s\n", title,
            durations->count, human_time(durations->total_ns, total, sizeof(total)),
            human_time(percentile(durations, 50), median, sizeof(median)),
            human_time(percentile(durations, 99), high, sizeof(high)),
            human_time(percentile(durations, 100), longest, sizeof(longest)));
}

static int compare_rows(const void *a, const void *b)
{
    const struct tally_row *x = *(const struct tally_row *const *)a;
    const struct tally_row *y = *(const struct tally_row *const *)b;

    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return strcmp(x->name, y->name);
}

static void print_events(const struct tally *tally)
{
    const struct tally_row **sorted =
        calloc(tally->capacity ? tally->capacity : 1, sizeof(*sorted));
    size_t count = 0;
    uint64_t rest = 0;

    if (!sorted)
        return;
    for (size_t i = 0; i < tally->capacity; i++)
        if (tally->rows[i].key && tally->rows[i].count > 0)
            sorted[count++] = &tally->rows[i];
    qsort(sorted, count, sizeof(*sorted), compare_rows);
    fprintf(stderr, "\nEvents\n");
    for (size_t i = 0; i < count; i++) {
        if (i < EVENTS_SHOWN)
            fprintf(stderr, "  %-32s %12llu\n", sorted[i]->name,
                    (unsigned long long)sorted[i]->count);
        else
            rest += sorted[i]->count;
    }
    if (count > EVENTS_SHOWN)
        fprintf(stderr, "  %-32s %12llu\n", "others", (unsigned long long)rest);
    free(sorted);
}

static int compare_exceptions(const void *a, const void *b)
{
    const struct exception_row *x = a, *y = b;

    return x->count < y->count ? 1 : x->count > y->count ? -1 : strcmp(x->type, y->type);
}

static void print_exceptions(struct summary *summary)
{
    if (summary->exception_count == 0)
        return;
    qsort(summary->exceptions, summary->exception_count, sizeof(summary->exceptions[0]),
          compare_exceptions);
    fprintf(stderr, "\nExceptions thrown\n");
    for (size_t i = 0; i < summary->exception_count; i++) {
        if (i < EXCEPTIONS_SHOWN)
            fprintf(stderr, "  %-50s %8llu\n", summary->exceptions[i].type,
                    (unsigned long long)summary->exceptions[i].count);
        else
            summary->exceptions_other += summary->exceptions[i].count;
    }
    if (summary->exceptions_other)
        fprintf(stderr, "  %-50s %8llu\n", "others", (unsigned long long)summary->exceptions_other);
}

/* Rings of CPUs begin and end at different times: what lies outside is not known, not idle (C12).
 */
static void print_cpus(const struct summary *summary)
{
    char first[32], length[32];

    fprintf(stderr, "\nCoverage by CPU (from the first event)\n");
    for (size_t i = 0; i < CPUS_MAX; i++) {
        const struct cpu_span *cpu = &summary->cpus[i];

        if (cpu->count > 0)
            fprintf(stderr, "  cpu %-4zu %12llu events   starts at +%-10s covers %s\n", i,
                    (unsigned long long)cpu->count,
                    human_time(cpu->first_ns - summary->first_ns, first, sizeof(first)),
                    human_time(cpu->last_ns - cpu->first_ns, length, sizeof(length)));
    }
}

static void print_ledger(const struct summary *summary, const struct bye *bye)
{
    fprintf(stderr, "\n%-20s %12s = %12s + %12s\n", "Source", "produced", "delivered", "lost");
    for (size_t i = 0; i < bye->book->count; i++) {
        const struct ledger_row *row = &bye->book->rows[i];
        const struct ledger *ledger = &row->ledger;

        fprintf(stderr, "  %-18s %12llu   %12llu   %12llu%s\n", row->name,
                (unsigned long long)ledger->produced, (unsigned long long)ledger->delivered,
                (unsigned long long)ledger->lost,
                ledger->unknown ? "  and losses that nobody counted" : "");
    }
    if (bye->filtered)
        fprintf(stderr, "  %llu delivered events were not selected\n",
                (unsigned long long)bye->filtered);
    if (bye->unwritten)
        fprintf(stderr, "  %llu delivered events could not be written\n",
                (unsigned long long)bye->unwritten);
    if (bye->late)
        fprintf(stderr, "  %llu events came late and are marked so\n",
                (unsigned long long)bye->late);
    if (summary->loss_records)
        fprintf(stderr, "  %llu places in the stream are marked as lost\n",
                (unsigned long long)summary->loss_records);
}

void summary_print(struct summary *summary, const struct tally *tally, const struct bye *bye)
{
    char length[32];

    fprintf(stderr, "\nTimeline of %s, %llu lines\n",
            human_time(summary->last_ns - summary->first_ns, length, sizeof(length)),
            (unsigned long long)bye->lines + 1);
    print_events(tally);
    if (summary->gc_pauses.count + summary->suspensions.count + summary->jits.count > 0)
        fprintf(stderr, "\nTime\n");
    print_durations("GC pauses", &summary->gc_pauses);
    print_durations("suspensions, all", &summary->suspensions);
    print_durations("JIT compilations", &summary->jits);
    print_exceptions(summary);
    print_cpus(summary);
    print_ledger(summary, bye);
}
