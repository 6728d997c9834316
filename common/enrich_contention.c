/* Spans of threads that wait for a lock: from when they found it taken until they have it. */
#include "enrich_state.h"

/* The innermost is last: a thread that waits for a managed lock may meet one of the runtime's own
 * on the way. */

static void put(struct trd_enrich *enrich, const struct thread *thread,
                const struct contention *contention, uint64_t ts_ns, uint16_t flags)
{
    struct derived *derived = &enrich->derived;
    const struct thread *owner = enrich_find_thread(enrich, contention->owner);

    derived_begin(derived, TRD_KIND_SPAN, "clr:contention", contention->open.ts_ns, thread->pid,
                  thread->tid);
    if (contention->open.id)
        derived_put_hex(derived, "lock", contention->open.id);
    if (contention->owner > 0)
        derived_put_u64(derived, "owner", (uint32_t)contention->owner);
    if (contention->owner > 0 && owner && owner->name)
        derived_put_text(derived, "owner_thread", owner->name->bytes, owner->name->size);
    if (contention->native)
        derived_put_true(derived, "native");
    derived_end(derived, ts_ns, flags);
}

static void drop_last(struct trd_enrich *enrich, struct thread *thread, uint64_t ts_ns)
{
    put(enrich, thread, &thread->contention[--thread->contention_count], ts_ns,
        TRD_RECORD_F_INCOMPLETE);
}

void enrich_begin_contention(struct trd_enrich *enrich, const struct trd_record *record,
                             uint64_t lock, int32_t owner, bool native)
{
    struct thread *thread = enrich_get_thread(enrich, record->tid);

    if (!thread)
        return;
    thread->pid = record->pid;
    /* Their ends are missing: nobody waits for so many locks. */
    while (thread->contention_count == CONTENTION_OPEN_MAX)
        drop_last(enrich, thread, record->ts_ns);
    thread->contention[thread->contention_count++] = (struct contention){
        .open = { .ts_ns = record->ts_ns, .id = lock, .tid = record->tid },
        .owner = owner,
        .native = native,
    };
}

void enrich_end_contention(struct trd_enrich *enrich, const struct trd_record *record, bool native)
{
    struct thread *thread = enrich_find_thread(enrich, record->tid);

    for (uint32_t i = thread ? thread->contention_count : 0; i-- > 0;) {
        if (thread->contention[i].native != native)
            continue;
        while (thread->contention_count > i + 1)
            drop_last(enrich, thread, record->ts_ns);
        put(enrich, thread, &thread->contention[--thread->contention_count], record->ts_ns, 0);
        return;
    }
}

void enrich_close_contention(struct trd_enrich *enrich, struct thread *thread, uint64_t ts_ns)
{
    while (thread->contention_count > 0)
        drop_last(enrich, thread, ts_ns);
}

void enrich_lose_contention(struct trd_enrich *enrich, const struct trd_record *record,
                            struct thread *thread)
{
    while (thread->contention_count > 0)
        drop_last(enrich, thread,
                  enrich_lost_at(record, &thread->contention[thread->contention_count - 1].open));
}
