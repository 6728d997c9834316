/*
 * Calls of traced methods: a stack per thread from what its methods tell, a span for each call that
 * ends. A method tells its end by leaving, by a tail call or by the exception that takes its frame;
 * one of which an outer frame's end is told first has lost its own.
 */
#include <stdlib.h>

#include "enrich_state.h"
#include "event.h"

/* Calls inside this many others have no span; the default stack of a thread holds some ten
 * thousand frames. */
#define CALLS_MAX 4096
#define CALLS_FIRST 64

static void put_call(struct trd_enrich *enrich, const struct thread *thread, uint64_t ts_ns,
                     uint16_t flags, enum enrich_leave how)
{
    const struct open_call *call = &thread->calls[thread->call_count - 1];
    struct derived *derived = &enrich->derived;
    size_t size;
    const char *name = enrich_resolve(enrich, thread->pid, TRD_MEANING_METHOD, call->method, &size);

    derived_begin(derived, TRD_KIND_SPAN, "clr:call", call->ts_ns, thread->pid, thread->tid);
    derived_open(derived, "method");
    derived_put_hex(derived, "id", call->method);
    if (name)
        derived_put_text(derived, "name", name, size);
    derived_close(derived);
    derived_put_u64(derived, "depth", thread->call_count - 1);
    if (how == ENRICH_UNWOUND)
        derived_put_true(derived, "unwound");
    if (how == ENRICH_TAILCALL)
        derived_put_true(derived, "tailcall");
    derived_end(derived, ts_ns, flags);
}

static void pop(struct trd_enrich *enrich, struct thread *thread, uint64_t ts_ns, uint16_t flags,
                enum enrich_leave how)
{
    put_call(enrich, thread, ts_ns, flags, how);
    thread->call_count--;
}

static bool has_room(struct thread *thread)
{
    uint32_t capacity = thread->call_capacity ? thread->call_capacity * 2 : CALLS_FIRST;
    struct open_call *calls;

    if (thread->call_count < thread->call_capacity)
        return true;
    if (capacity > CALLS_MAX)
        return false;
    calls = realloc(thread->calls, capacity * sizeof(*calls));
    if (!calls)
        return false;
    thread->calls = calls;
    thread->call_capacity = capacity;
    return true;
}

void enrich_enter_method(struct trd_enrich *enrich, const struct trd_record *record,
                         uint64_t method)
{
    struct thread *thread = enrich_get_thread(enrich, record->tid);

    if (!thread)
        return;
    thread->pid = record->pid;
    if (thread->calls_beyond > 0 || !has_room(thread)) {
        thread->calls_beyond++;
        return;
    }
    thread->calls[thread->call_count++] =
        (struct open_call){ .ts_ns = record->ts_ns, .method = method };
}

/* The innermost call of the method, counted from 1; 0 = there is none. */
static uint32_t find(const struct thread *thread, uint64_t method)
{
    uint32_t at = thread->call_count;

    while (at > 0 && thread->calls[at - 1].method != method)
        at--;
    return at;
}

void enrich_leave_method(struct trd_enrich *enrich, const struct trd_record *record,
                         uint64_t method, enum enrich_leave how)
{
    struct thread *thread = enrich_find_thread(enrich, record->tid);
    uint32_t at;

    if (!thread)
        return;
    if (thread->calls_beyond > 0) {
        thread->calls_beyond--;
        return;
    }
    at = find(thread, method);
    if (at == 0) /* entered before anybody listened, or its beginning was lost */
        return;
    while (thread->call_count > at)
        pop(enrich, thread, record->ts_ns, TRD_RECORD_F_INCOMPLETE, ENRICH_RETURNED);
    pop(enrich, thread, record->ts_ns, 0, how);
}

void enrich_close_calls(struct trd_enrich *enrich, struct thread *thread, uint64_t ts_ns)
{
    while (thread->call_count > 0)
        pop(enrich, thread, ts_ns, TRD_RECORD_F_INCOMPLETE, ENRICH_RETURNED);
    thread->calls_beyond = 0;
}

/* Which ends are among what was lost nobody knows: each call ends where it was last known. */
void enrich_lose_calls(struct trd_enrich *enrich, const struct trd_record *record,
                       struct thread *thread)
{
    while (thread->call_count > 0) {
        uint64_t begin_ns = thread->calls[thread->call_count - 1].ts_ns;

        pop(enrich, thread, record->lost_from_ns >= begin_ns ? record->lost_from_ns : record->ts_ns,
            TRD_RECORD_F_INCOMPLETE, ENRICH_RETURNED);
    }
    thread->calls_beyond = 0;
}
