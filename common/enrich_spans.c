/* Spans from begin and end events, and what becomes of those whose end does not come (C20). */
#include "enrich_state.h"

#include <string.h>

#include "event.h"

/* corprof.idl, COR_PRF_SUSPEND_REASON: both are what people call a GC pause. */
#define SUSPEND_FOR_GC 1
#define SUSPEND_FOR_GC_PREP 7

static uint64_t last_known(const struct open_span *open, uint64_t ts_ns)
{
    return open->doubt_ns ? open->doubt_ns : ts_ns;
}

static struct open_span open_at(const struct trd_record *record, uint64_t id)
{
    return (struct open_span){ .ts_ns = record->ts_ns, .id = id, .tid = record->tid };
}

static void remove_at(struct open_span *spans, uint32_t *count, uint32_t at)
{
    (*count)--;
    memmove(&spans[at], &spans[at + 1], (*count - at) * sizeof(*spans));
}

static void put_reason(struct derived *derived, uint64_t reason)
{
    const struct trd_event_field *field = trd_event_find(TRD_EV_suspend_begin)->fields;

    derived_open(derived, "reason");
    derived_put_u64(derived, "raw", reason);
    for (size_t i = 0; i < field->name_count; i++)
        if (field->names[i].value == reason)
            derived_put_text(derived, "name", field->names[i].name, strlen(field->names[i].name));
    derived_close(derived);
}

/* In a background collection's later pauses nothing begins: they belong to the one that is open. */
static uint64_t collection_of(const struct process *process)
{
    if (process->gc_number)
        return process->gc_number;
    return process->gc_count ? process->gc[process->gc_count - 1].id : 0;
}

static void put_pause(struct trd_enrich *enrich, int32_t pid, const struct process *process,
                      uint64_t ts_ns, uint16_t flags)
{
    const struct open_span *open = &process->suspension;
    uint64_t number = collection_of(process);

    derived_begin(&enrich->derived, TRD_KIND_SPAN, "clr:gc_pause", open->ts_ns, pid, open->tid);
    if (number)
        derived_put_u64(&enrich->derived, "number", number);
    derived_end(&enrich->derived, ts_ns, flags);
}

static void close_suspension(struct trd_enrich *enrich, int32_t pid, struct process *process,
                             uint64_t ts_ns, uint16_t flags, bool aborted)
{
    const struct open_span *open = &process->suspension;
    struct derived *derived = &enrich->derived;
    bool for_gc = open->id == SUSPEND_FOR_GC || open->id == SUSPEND_FOR_GC_PREP;

    if (!process->suspended)
        return;
    process->suspended = false;
    if (for_gc && !aborted)
        put_pause(enrich, pid, process, ts_ns, flags);
    derived_begin(derived, TRD_KIND_SPAN, "clr:suspension", open->ts_ns, pid, open->tid);
    put_reason(derived, open->id);
    if (process->stopped_ns >= open->ts_ns)
        derived_put_u64(derived, "stop_ns", process->stopped_ns - open->ts_ns);
    if (aborted)
        derived_put_true(derived, "aborted");
    derived_end(derived, ts_ns, flags);
}

void enrich_begin_suspension(struct trd_enrich *enrich, const struct trd_record *record,
                             uint32_t reason)
{
    struct process *process = enrich_get_process(enrich, record->pid);

    if (!process)
        return;
    /* One at a time: the end of the one before is missing. */
    close_suspension(enrich, record->pid, process, last_known(&process->suspension, record->ts_ns),
                     TRD_RECORD_F_INCOMPLETE, false);
    process->suspended = true;
    process->suspension = open_at(record, reason);
    process->stopped_ns = 0;
    process->gc_number = 0;
}

void enrich_threads_stopped(struct trd_enrich *enrich, const struct trd_record *record)
{
    struct process *process = enrich_find_process(enrich, record->pid);

    if (process && process->suspended)
        process->stopped_ns = record->ts_ns;
}

void enrich_end_suspension(struct trd_enrich *enrich, const struct trd_record *record, bool aborted)
{
    struct process *process = enrich_find_process(enrich, record->pid);

    if (process)
        close_suspension(enrich, record->pid, process, record->ts_ns, 0, aborted);
}

static void put_gc(struct trd_enrich *enrich, int32_t pid, const struct open_span *open,
                   uint64_t ts_ns, uint16_t flags)
{
    derived_begin(&enrich->derived, TRD_KIND_SPAN, "clr:gc", open->ts_ns, pid, open->tid);
    derived_put_u64(&enrich->derived, "number", open->id);
    derived_end(&enrich->derived, ts_ns, flags);
}

/* Closes what is open at this place as incomplete. */
static void drop_gc(struct trd_enrich *enrich, int32_t pid, struct process *process, uint32_t at,
                    uint64_t ts_ns)
{
    put_gc(enrich, pid, &process->gc[at], last_known(&process->gc[at], ts_ns),
           TRD_RECORD_F_INCOMPLETE);
    remove_at(process->gc, &process->gc_count, at);
}

void enrich_begin_gc(struct trd_enrich *enrich, const struct trd_record *record, uint32_t number)
{
    struct process *process = enrich_get_process(enrich, record->pid);

    if (!process)
        return;
    if (process->suspended)
        process->gc_number = number;
    if (process->gc_count == GC_OPEN_MAX)
        drop_gc(enrich, record->pid, process, 0, record->ts_ns);
    process->gc[process->gc_count++] = open_at(record, number);
}

void enrich_end_gc(struct trd_enrich *enrich, const struct trd_record *record, uint32_t number)
{
    struct process *process = enrich_find_process(enrich, record->pid);

    /* A foreground collection ends inside a background one: the number says which. */
    for (uint32_t i = process ? process->gc_count : 0; i-- > 0;)
        if (process->gc[i].id == number) {
            put_gc(enrich, record->pid, &process->gc[i], record->ts_ns, 0);
            remove_at(process->gc, &process->gc_count, i);
            return;
        }
}

static void put_jit(struct trd_enrich *enrich, int32_t pid, const struct open_span *open,
                    uint64_t ts_ns, uint16_t flags)
{
    struct derived *derived = &enrich->derived;
    size_t size;
    const char *name = enrich_resolve(enrich, pid, TRD_MEANING_METHOD, open->id, &size);

    derived_begin(derived, TRD_KIND_SPAN, "clr:jit", open->ts_ns, pid, open->tid);
    derived_open(derived, "method");
    derived_put_hex(derived, "id", open->id);
    if (name)
        derived_put_text(derived, "name", name, size);
    derived_close(derived);
    derived_end(derived, ts_ns, flags);
}

void enrich_begin_jit(struct trd_enrich *enrich, const struct trd_record *record, uint64_t method)
{
    struct thread *thread = enrich_get_thread(enrich, record->tid);

    if (!thread)
        return;
    thread->pid = record->pid;
    if (thread->jit_count == JIT_OPEN_MAX) {
        put_jit(enrich, record->pid, &thread->jit[0], record->ts_ns, TRD_RECORD_F_INCOMPLETE);
        remove_at(thread->jit, &thread->jit_count, 0);
    }
    thread->jit[thread->jit_count++] = open_at(record, method);
}

void enrich_end_jit(struct trd_enrich *enrich, const struct trd_record *record, uint64_t method)
{
    struct thread *thread = enrich_find_thread(enrich, record->tid);

    for (uint32_t i = thread ? thread->jit_count : 0; i-- > 0;) {
        if (thread->jit[i].id != method)
            continue;
        /* Whatever began after it and is still open has lost its end. */
        while (thread->jit_count > i + 1)
            put_jit(enrich, record->pid, &thread->jit[--thread->jit_count], record->ts_ns,
                    TRD_RECORD_F_INCOMPLETE);
        put_jit(enrich, record->pid, &thread->jit[--thread->jit_count], record->ts_ns, 0);
        thread->compiled_method = method;
        thread->compiled_from_ns = thread->jit[i].ts_ns;
        return;
    }
}

void enrich_close_thread(struct trd_enrich *enrich, struct thread *thread, uint64_t ts_ns)
{
    enrich_close_calls(enrich, thread, ts_ns);
    enrich_close_contention(enrich, thread, ts_ns);
    while (thread->jit_count > 0)
        put_jit(enrich, thread->pid, &thread->jit[--thread->jit_count], ts_ns,
                TRD_RECORD_F_INCOMPLETE);
}

void enrich_close_process(struct trd_enrich *enrich, int32_t pid, struct process *process,
                          uint64_t ts_ns)
{
    close_suspension(enrich, pid, process, last_known(&process->suspension, ts_ns),
                     TRD_RECORD_F_INCOMPLETE, false);
    while (process->gc_count > 0)
        drop_gc(enrich, pid, process, process->gc_count - 1, ts_ns);
}

static bool is_hit(const struct trd_record *record, const struct open_span *open)
{
    return record->tid < 0 || record->tid == open->tid;
}

static void doubt(const struct trd_record *record, struct open_span *open)
{
    if (!open->doubt_ns)
        open->doubt_ns = enrich_lost_at(record, open);
}

static void lose_thread(struct trd_enrich *enrich, const struct trd_record *record,
                        struct thread *thread)
{
    enrich_lose_calls(enrich, record, thread);
    enrich_lose_contention(enrich, record, thread);
    for (; thread->jit_count > 0; thread->jit_count--) {
        const struct open_span *open = &thread->jit[thread->jit_count - 1];

        put_jit(enrich, thread->pid, open, enrich_lost_at(record, open), TRD_RECORD_F_INCOMPLETE);
    }
}

static void lose_threads(struct trd_enrich *enrich, const struct trd_record *record)
{
    for (size_t i = 0; i < enrich->threads.capacity; i++) {
        struct thread *thread = enrich->threads.entries[i].value;

        if (thread && thread->pid == record->pid)
            lose_thread(enrich, record, thread);
    }
}

/*
 * What the losing thread began is closed at the loss. What another thread of the process began may
 * still see its end, since the loser need not be the one that ends it: that is only in doubt.
 */
void enrich_loss(struct trd_enrich *enrich, const struct trd_record *record)
{
    struct process *process = enrich_find_process(enrich, record->pid);
    struct thread *thread = enrich_find_thread(enrich, record->tid);
    struct open_span *open;

    if (thread)
        lose_thread(enrich, record, thread);
    else if (record->tid < 0)
        lose_threads(enrich, record);
    if (!process)
        return;
    open = &process->suspension;
    doubt(record, open);
    if (is_hit(record, open))
        close_suspension(enrich, record->pid, process, open->doubt_ns, TRD_RECORD_F_INCOMPLETE,
                         false);
    for (uint32_t i = process->gc_count; i-- > 0;) {
        open = &process->gc[i];
        doubt(record, open);
        if (is_hit(record, open))
            drop_gc(enrich, record->pid, process, i, record->ts_ns);
    }
}
