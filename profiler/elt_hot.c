/*
 * Hot path: hooked method -> ring, on both ends of every call. Budget: one clock reading and some
 * ten nanoseconds; no call but the clock's, no branch but those to the rare cases; measured by
 * tests/bench/bench_elt.py on managed code, as what a pair costs.
 *
 * Managed code is on its way here, in cooperative mode: nothing but the ring is touched.
 */
#include "elt_hooks.h"

#include "gate.h"
#include "writer_ring.h"

/* Both kinds of record have one size, so that the road has no decision to make. */
struct record {
    struct trd_event_head head;
    uint64_t method;
    uint64_t rest; /* trd_ev_method_leave.unwound and padding */
};
#define RECORD_SIZE(event)                                                                         \
    ((sizeof(struct trd_event_head) + sizeof(struct trd_ev_##event) + TRD_EVENT_ALIGN - 1) &       \
     ~(TRD_EVENT_ALIGN - 1u))
_Static_assert(RECORD_SIZE(method_enter) == sizeof(struct record), "");
_Static_assert(RECORD_SIZE(method_leave) == sizeof(struct record), "");
_Static_assert(RECORD_SIZE(method_tailcall) == sizeof(struct record), "");
_Static_assert(offsetof(struct trd_ev_method_leave, unwound) == 8, "the low byte of `rest`");

static inline void write_record(uint16_t id, FunctionID function, bool unwound)
{
    struct writer_ring *owner;
    struct record *record;
    uint64_t position;

    if (__builtin_expect(!gate_wants(TRD_CATEGORY_METHOD), 0))
        return;
    owner = writer_ring_find();
    if (__builtin_expect(!owner, 0) && !(owner = writer_ring_find_slow()))
        return;
    record = (struct record *)writer_ring_reserve(owner, id, TRD_CATEGORY_METHOD, sizeof(*record),
                                                  &position);
    if (__builtin_expect(!record, 0))
        return;
    record->method = function;
    record->rest = unwound;
    writer_ring_publish(owner, position + sizeof(*record));
}

void elt_on_enter(FunctionID function)
{
    write_record(TRD_EV_method_enter, function, false);
}

void elt_on_leave(FunctionID function)
{
    write_record(TRD_EV_method_leave, function, false);
}

void elt_on_tailcall(FunctionID function)
{
    write_record(TRD_EV_method_tailcall, function, false);
}

void elt_write_unwound(FunctionID function)
{
    write_record(TRD_EV_method_leave, function, true);
}
