#include "tally.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"

#define ROWS_INITIAL 256

static const char nameless[2];

void tally_init(struct tally *tally, const struct options *options)
{
    *tally = (struct tally){ .options = options,
                             .overflow = { .name = "(no memory to tell)", .selected = true } };
}

void tally_finish(struct tally *tally)
{
    free(tally->rows);
}

/* What a reader of latency needs at little cost; raw_syscalls would multiply the stream. */
static const char *const default_events[] = {
    "sched:sched_switch",
    "sched:sched_waking",
    "sched:sched_wakeup_new",
    "sched:sched_migrate_task",
    "sched:sched_process_fork",
    "sched:sched_process_exec",
    "sched:sched_process_exit",
    "signal:*",
    "irq:*",
    "exceptions:page_fault_*",
    "block:*",
};

bool tally_matches_events(const struct options *options, const char *full_name)
{
    const char *const *globs =
        options->event_count ? (const char *const *)options->events : default_events;
    size_t count = options->event_count ? options->event_count
                                        : sizeof(default_events) / sizeof(default_events[0]);

    for (size_t i = 0; i < count; i++)
        if (fnmatch(globs[i], full_name, 0) == 0)
            return true;
    return false;
}

/* Spans and definitions go with the events they are made of. */
static int derived_category(const char *name)
{
    static const struct {
        const char *name;
        enum trd_category category;
    } derived[] = {
        { "clr:gc", TRD_CATEGORY_GC },         { "clr:gc_pause", TRD_CATEGORY_GC },
        { "clr:suspension", TRD_CATEGORY_GC }, { "clr:jit", TRD_CATEGORY_JIT },
        { "clr:call", TRD_CATEGORY_METHOD },   { "clr:contention", TRD_CATEGORY_CONTENTION },
        { "method", TRD_CATEGORY_JIT },        { "thread", TRD_CATEGORY_THREAD },
        { "module", TRD_CATEGORY_LOADER },     { "assembly", TRD_CATEGORY_LOADER },
    };

    for (size_t i = 0; i < sizeof(derived) / sizeof(derived[0]); i++)
        if (strcmp(derived[i].name, name) == 0)
            return derived[i].category;
    return -1;
}

/* What nobody can place is kept. */
static int category_of(const struct trd_record *record, const char *name)
{
    const struct trd_event_info *info;

    if (!name)
        return -1;
    info =
        record->schema ? trd_event_find((uint16_t)record->schema->id) : trd_event_find_name(name);
    return info ? info->category : derived_category(name);
}

/* Whoever writes to the trace_marker of a live instance of ours wants it in the stream; stacks come
 * with the events that were chosen. */
static bool is_meant_for_us(const struct options *options, const char *name)
{
    if (options->command == COMMAND_REPLAY)
        return false;
    return strcmp(name, "ftrace:print") == 0 ||
           (options->user_stacks && strcmp(name, "ftrace:user_stack") == 0);
}

/* A file is replayed whole unless somebody asked for less. */
static bool decide(const struct options *options, const struct trd_record *record, const char *name)
{
    int category;

    if (record->source == TRD_SOURCE_TRACERD)
        return true;
    if (record->source == TRD_SOURCE_CLR) {
        category = category_of(record, name);
        return !options->no_clr && (category < 0 || (options->clr_categories >> category & 1));
    }
    if (options->no_kernel)
        return false;
    return record->kind != TRD_KIND_EVENT || options->event_count == 0 ||
           is_meant_for_us(options, name) || tally_matches_events(options, name);
}

static size_t slot_of(const struct tally *tally, const void *key)
{
    size_t slot = tally_home(tally, key);

    while (tally->rows[slot].key && tally->rows[slot].key != key)
        slot = (slot + 1) & (tally->capacity - 1);
    return slot;
}

static bool grow(struct tally *tally)
{
    struct tally bigger = { .capacity = tally->capacity ? tally->capacity * 2 : ROWS_INITIAL };

    bigger.rows = calloc(bigger.capacity, sizeof(*bigger.rows));
    if (!bigger.rows)
        return false;
    for (size_t i = 0; i < tally->capacity; i++)
        if (tally->rows[i].key)
            bigger.rows[slot_of(&bigger, tally->rows[i].key)] = tally->rows[i];
    free(tally->rows);
    tally->rows = bigger.rows;
    tally->capacity = bigger.capacity;
    return true;
}

static __attribute__((cold, noinline)) struct tally_row *
add(struct tally *tally, const struct trd_record *record, const void *key)
{
    const char *name = record->schema ? record->schema->full_name : record->name;
    struct tally_row *row;

    if ((tally->count + 1) * 2 > tally->capacity && !grow(tally))
        return &tally->overflow;
    row = &tally->rows[slot_of(tally, key)];
    *row = (struct tally_row){ .key = key,
                               .name = name,
                               .selected = decide(tally->options, record, name) };
    tally->count++;
    return row;
}

void tally_add(struct tally *tally, const struct tally *other)
{
    for (size_t i = 0; i < other->capacity; i++) {
        const struct tally_row *row = &other->rows[i];

        if (!row->key)
            continue;
        if ((tally->count + 1) * 2 > tally->capacity && !grow(tally)) {
            tally->overflow.count += row->count;
            continue;
        }
        if (!tally->rows[slot_of(tally, row->key)].key) {
            struct tally_row *fresh = &tally->rows[slot_of(tally, row->key)];

            *fresh = *row;
            fresh->count = 0;
            tally->count++;
        }
        tally->rows[slot_of(tally, row->key)].count += row->count;
    }
    tally->overflow.count += other->overflow.count;
}

struct tally_row *tally_find_slow(struct tally *tally, const struct trd_record *record)
{
    const void *key = record->schema ? (const void *)record->schema : record->name;

    if (!key) /* a loss has neither: one row for each side's */
        key = &nameless[record->source == TRD_SOURCE_CLR];

    if (tally->capacity > 0) {
        struct tally_row *row = &tally->rows[slot_of(tally, key)];

        if (row->key)
            return row;
    }
    return add(tally, record, key);
}
