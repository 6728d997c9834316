/* The summary as text on standard error: one table for each question, numbers under their heads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "summary.h"
#include "summary_notes.h"

#define EVENTS_SHOWN 20
#define EXCEPTIONS_SHOWN 10
#define NAME_WIDTH 44
#define TIME_SIZE 32

static const char *human_time(uint64_t ns, char text[TIME_SIZE])
{
    if (ns >= 1000000000)
        (void)snprintf(text, TIME_SIZE, "%.2f s", (double)ns / 1e9);
    else if (ns >= 1000000)
        (void)snprintf(text, TIME_SIZE, "%.2f ms", (double)ns / 1e6);
    else
        (void)snprintf(text, TIME_SIZE, "%.1f us", (double)ns / 1e3);
    return text;
}

static void print_count(const char *name, uint64_t count)
{
    fprintf(stderr, "  %-*s %12llu\n", NAME_WIDTH, name, (unsigned long long)count);
}

/* Events */

struct event_count {
    const char *name;
    uint64_t count;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct event_count *)a)->name, ((const struct event_count *)b)->name);
}

static int compare_counts(const void *a, const void *b)
{
    const struct event_count *x = a, *y = b;

    return x->count < y->count ? 1 : x->count > y->count ? -1 : compare_names(a, b);
}

/* Every file has schemas of its own: the same name may stand in several rows. */
static size_t count_events(const struct tally *tally, struct event_count *out)
{
    size_t rows = 0, names = 0;

    for (size_t i = 0; i < tally->capacity; i++)
        if (tally->rows[i].key && tally->rows[i].count > 0)
            out[rows++] = (struct event_count){ tally->rows[i].name, tally->rows[i].count };
    qsort(out, rows, sizeof(*out), compare_names);
    for (size_t i = 0; i < rows; i++) {
        if (names > 0 && compare_names(&out[names - 1], &out[i]) == 0)
            out[names - 1].count += out[i].count;
        else
            out[names++] = out[i];
    }
    qsort(out, names, sizeof(*out), compare_counts);
    return names;
}

static void print_events(const struct tally *tally)
{
    struct event_count *events = calloc(tally->capacity + 1, sizeof(*events));
    size_t count = events ? count_events(tally, events) : 0;
    uint64_t rest = 0;

    fprintf(stderr, "\n%-*s %12s\n", NAME_WIDTH + 2, "Events", "count");
    for (size_t i = 0; i < count; i++) {
        if (i < EVENTS_SHOWN)
            print_count(events[i].name, events[i].count);
        else
            rest += events[i].count;
    }
    if (count > EVENTS_SHOWN)
        print_count("others", rest);
    free(events);
}

/* Runtime */

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
    char total[TIME_SIZE], median[TIME_SIZE], high[TIME_SIZE], longest[TIME_SIZE];

    if (durations->count == 0)
        return;
    qsort(durations->values_ns, durations->count, sizeof(*durations->values_ns), compare_u64);
    fprintf(stderr, "  %-18s %8zu %11s %11s %11s %11s\n", title, durations->count,
            human_time(durations->total_ns, total), human_time(percentile(durations, 50), median),
            human_time(percentile(durations, 99), high),
            human_time(percentile(durations, 100), longest));
}

static void print_runtime(struct summary *summary)
{
    if (summary->collections.count + summary->suspensions.count + summary->jits.count > 0)
        fprintf(stderr, "\n%-20s %8s %11s %11s %11s %11s\n", "Runtime", "count", "total", "median",
                "p99", "longest");
    print_durations("collections", &summary->collections);
    print_durations("GC pauses", &summary->gc_pauses);
    print_durations("suspensions, all", &summary->suspensions);
    print_durations("JIT compilations", &summary->jits);
    if (summary->threads_created > 0)
        fprintf(stderr, "  %-18s %8llu, of which %llu ended\n", "managed threads",
                (unsigned long long)summary->threads_created,
                (unsigned long long)summary->threads_destroyed);
}

static int compare_exceptions(const void *a, const void *b)
{
    const struct exception_row *x = a, *y = b;

    return x->count < y->count ? 1 : x->count > y->count ? -1 : strcmp(x->type, y->type);
}

static void print_exceptions(struct summary *summary)
{
    uint64_t rest = summary->exceptions_other;

    if (summary->exception_count == 0)
        return;
    qsort(summary->exceptions, summary->exception_count, sizeof(summary->exceptions[0]),
          compare_exceptions);
    fprintf(stderr, "\n%-*s %12s\n", NAME_WIDTH + 2, "Exceptions thrown", "count");
    for (size_t i = 0; i < summary->exception_count; i++) {
        if (i < EXCEPTIONS_SHOWN)
            print_count(summary->exceptions[i].type, summary->exceptions[i].count);
        else
            rest += summary->exceptions[i].count;
    }
    if (rest)
        print_count("others", rest);
}

/* What was seen, and what is missing */

/* Rings of CPUs begin and end at different times: what lies outside is not known, not idle. */
static void print_cpus(const struct summary *summary)
{
    char first[TIME_SIZE], last[TIME_SIZE];
    bool head = false;

    for (size_t i = 0; i < CPUS_MAX; i++) {
        const struct cpu_span *cpu = &summary->cpus[i];

        if (cpu->count == 0)
            continue;
        if (!head)
            fprintf(stderr, "\n%-8s %12s %14s %14s\n", "CPU", "events", "known from", "known to");
        head = true;
        fprintf(stderr, "  %-6zu %12llu %14s %14s\n", i, (unsigned long long)cpu->count,
                human_time(cpu->first_ns - summary->first_ns, first),
                human_time(cpu->last_ns - summary->first_ns, last));
    }
}

static void print_note(uint64_t count, const char *text)
{
    if (count > 0)
        fprintf(stderr, "  %llu %s\n", (unsigned long long)count, text);
}

static void print_dropped(const struct ledger *ledger)
{
    const char *between = "    dropped by full rings: ";

    for (size_t i = 0; i < TRD_CATEGORY_COUNT; i++) {
        if (ledger->dropped[i] == 0)
            continue;
        fprintf(stderr, "%s%s %llu", between, trd_category_name((enum trd_category)i),
                (unsigned long long)ledger->dropped[i]);
        between = ", ";
    }
    if (between[0] == ',')
        fprintf(stderr, "\n");
}

static void print_outputs(const struct sink *outputs)
{
    fprintf(stderr, "\n%-34s %12s   %12s   %12s\n", "Output", "to write", "written", "lost");
    for (const struct sink *sink = outputs; sink; sink = sink->next) {
        struct ledger ledger = sink_account(sink);

        if (sink->name)
            fprintf(stderr, "  %-32s %12llu = %12llu + %12llu  %s\n", sink->name,
                    (unsigned long long)ledger.produced, (unsigned long long)ledger.delivered,
                    (unsigned long long)ledger.lost, sink_unit(sink));
    }
}

static void print_ledger(const struct summary *summary, const struct bye *bye)
{
    fprintf(stderr, "\n%-34s %12s   %12s   %12s\n", "Source", "produced", "delivered", "lost");
    for (size_t i = 0; i < bye->book->count; i++) {
        const struct ledger_row *row = &bye->book->rows[i];

        fprintf(stderr, "  %-32s %12llu = %12llu + %12llu%s\n", row->name,
                (unsigned long long)row->ledger.produced, (unsigned long long)row->ledger.delivered,
                (unsigned long long)row->ledger.lost,
                row->ledger.unknown ? ", and losses nobody counted" : "");
        print_dropped(&row->ledger);
    }
    print_outputs(bye->outputs);
    print_note(bye->filtered, "delivered events were not selected");
    print_note(bye->unwritten, "delivered events could not be written");
    print_note(bye->late, "events came late and are marked so");
    print_note(summary->loss_records, "places in the stream are marked as lost");
}

void summary_print(struct summary *summary, const struct tally *tally, const struct bye *bye)
{
    char length[TIME_SIZE];

    fprintf(stderr, "\nTimeline of %s, %llu lines\n",
            human_time(summary->last_ns - summary->first_ns, length),
            (unsigned long long)bye->lines + 1);
    print_events(tally);
    print_runtime(summary);
    print_exceptions(summary);
    print_cpus(summary);
    print_ledger(summary, bye);
}
