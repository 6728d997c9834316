/*
 * Spans of threads that do not run: from the switch that took the CPU away to the one that gave it
 * back, with the state they left in and who woke them. Asked for only, since there is one for each
 * switch.
 */
#include "enrich_state.h"

#include <stdlib.h>
#include <string.h>

/* Kernel: TRACE_FLAG_HARDIRQ and _SOFTIRQ, include/linux/trace_events.h. */
#define FLAGS_INTERRUPT 0x18u

struct absence {
    uint64_t ts_ns;
    uint64_t woken_ns; /* 0 = not yet */
    const char *state; /* of the schema */
    int32_t cpu;
    int32_t waker; /* 0 = unknown */
    bool by_interrupt;
    bool seen; /* it ended without a switch */
};

void trd_enrich_derive_offcpu(struct trd_enrich *enrich, uint64_t min_ns, bool all)
{
    enrich->offcpu = true;
    enrich->offcpu_all = all;
    enrich->offcpu_min_ns = min_ns;
}

void enrich_finish_offcpu(struct trd_enrich *enrich)
{
    idmap_finish(&enrich->absences, free);
}

/* Of threads that were not asked for, the kernel's filter lets through a part of the switches only:
 * what lies between two of these is no absence. */
static bool is_followed(const struct trd_enrich *enrich, int32_t tid)
{
    const struct thread *thread = enrich_find_thread(enrich, tid);

    return tid > 0 &&
           (enrich->offcpu_all || enrich->threads.count == 0 || (thread && thread->pid > 0));
}

/* "R" without a bit: it could have gone on. NULL for one that has ended. */
static const char *state_name(const struct trd_names *names, uint64_t state)
{
    for (uint32_t i = 0; names && i < names->count; i++)
        if (names->entries[i].value & state & names->mask)
            return names->entries[i].name[0] == 'X' || names->entries[i].name[0] == 'Z'
                       ? NULL
                       : names->entries[i].name;
    return "R";
}

static void put(struct trd_enrich *enrich, int32_t tid, const struct absence *absence,
                uint64_t end_ns, int32_t cpu, uint16_t flags)
{
    const struct thread *thread = enrich_find_thread(enrich, tid);
    const struct thread *waker = enrich_find_thread(enrich, absence->waker);
    struct derived *derived = &enrich->derived;

    if (end_ns < absence->ts_ns || end_ns - absence->ts_ns < enrich->offcpu_min_ns)
        return;
    derived_begin(derived, TRD_KIND_SPAN, "sched:offcpu", absence->ts_ns, thread ? thread->pid : -1,
                  tid);
    derived_from_kernel(derived);
    derived_put_text(derived, "state", absence->state, strlen(absence->state));
    derived_put_u64(derived, "from_cpu", (uint32_t)absence->cpu);
    if (cpu >= 0)
        derived_put_u64(derived, "to_cpu", (uint32_t)cpu);
    if (absence->woken_ns && absence->woken_ns <= end_ns)
        derived_put_u64(derived, "runnable_ns", end_ns - absence->woken_ns);
    if (absence->by_interrupt)
        derived_put_true(derived, "by_interrupt");
    else if (absence->waker > 0)
        derived_put_u64(derived, "waker", (uint32_t)absence->waker);
    if (!absence->by_interrupt && waker && waker->name)
        derived_put_text(derived, "waker_thread", waker->name->bytes, waker->name->size);
    if (absence->seen)
        derived_put_true(derived, "seen");
    derived_end(derived, end_ns, flags);
}

static void leave(struct trd_enrich *enrich, const struct trd_record *record, int32_t tid,
                  const char *state)
{
    struct absence *absence = idmap_take(&enrich->absences, (uint32_t)tid, 0);
    void *old;

    if (!state || (!absence && !(absence = malloc(sizeof(*absence))))) {
        free(absence);
        return;
    }
    *absence = (struct absence){ .ts_ns = record->ts_ns, .state = state, .cpu = record->cpu };
    /* Whoever goes while it could have gone on is runnable from the first moment. */
    if (state[0] == 'R')
        absence->woken_ns = record->ts_ns;
    if (idmap_set(&enrich->absences, (uint32_t)tid, 0, absence, &old) != 0)
        free(absence);
}

void enrich_switch(struct trd_enrich *enrich, const struct trd_record *record, int32_t prev,
                   const struct trd_names *names, uint64_t state, int32_t next)
{
    struct absence *absence = idmap_take(&enrich->absences, (uint32_t)next, 0);

    if (absence)
        put(enrich, next, absence, record->ts_ns, record->cpu, 0);
    free(absence);
    if (is_followed(enrich, prev))
        leave(enrich, record, prev, state_name(names, state));
}

void enrich_waking(struct trd_enrich *enrich, const struct trd_record *record, int32_t tid,
                   uint64_t common_flags)
{
    struct absence *absence = idmap_get(&enrich->absences, (uint32_t)tid, 0);

    if (!absence || absence->woken_ns)
        return;
    absence->woken_ns = record->ts_ns;
    absence->waker = record->tid;
    absence->by_interrupt = (common_flags & FLAGS_INTERRUPT) != 0;
}

/* On its way out a thread may have a few events behind its switch, as of its address space. */
#define WAY_OUT_NS UINT64_C(1000000)

/* Linux 6.18 often leaves out the switch from the idle task, and what woke the thread then. One
 * that has an event of its own after that runs, all the same; a runnable one was not idled for. */
void enrich_seen(struct trd_enrich *enrich, const struct trd_record *record)
{
    struct absence *absence = idmap_get(&enrich->absences, (uint32_t)record->tid, 0);

    if (!absence || absence->state[0] == 'R' ||
        record->ts_ns <= (absence->woken_ns ? absence->woken_ns : absence->ts_ns + WAY_OUT_NS))
        return;
    (void)idmap_take(&enrich->absences, (uint32_t)record->tid, 0);
    absence->seen = true;
    put(enrich, record->tid, absence, record->ts_ns, record->cpu, 0);
    free(absence);
}

void enrich_close_absences(struct trd_enrich *enrich, uint64_t ts_ns)
{
    for (size_t i = 0; i < enrich->absences.capacity; i++)
        if (enrich->absences.entries[i].value)
            put(enrich, (int32_t)enrich->absences.entries[i].a, enrich->absences.entries[i].value,
                ts_ns, -1, TRD_RECORD_F_INCOMPLETE);
    idmap_finish(&enrich->absences, free);
    idmap_init(&enrich->absences, ENRICH_THREADS_MAX);
}
