/*
 * Which callbacks are under way: detach closes the gate and then waits until nobody who passed it
 * is left, so that the last word to the daemon is really the last. callbacks_counted.c puts enter
 * and leave around every recorded callback; the sender asks. Cost: one thread-specific look-up and
 * two plain stores to a line of the thread's own; measured by tests/bench/bench_ring.c.
 */
#ifndef TRD_PROFILER_IN_FLIGHT_H
#define TRD_PROFILER_IN_FLIGHT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Per thread; those that find no room share the first one. */
struct in_flight {
    _Alignas(64) _Atomic uint32_t inside; /* callbacks may nest */
    _Atomic bool taken;
    bool shared;
};

extern pthread_key_t in_flight_key;

/* Once, before the first callback is recorded. 0 or a negative errno. */
int in_flight_init(void);
/* The first callback of a thread, or one of the threads that share. */
struct in_flight *in_flight_enter_slow(struct in_flight *slot);
void in_flight_leave_slow(struct in_flight *slot);

/*
 * Whether no callback that passed the gate before it was closed is under way. Once true it stays
 * true until the gate opens again. Any thread that is not in a callback itself.
 */
bool in_flight_none(void);

static inline struct in_flight *in_flight_enter(void)
{
    struct in_flight *slot = pthread_getspecific(in_flight_key);

    if (__builtin_expect(!slot || slot->shared, 0))
        return in_flight_enter_slow(slot);
    atomic_store_explicit(&slot->inside,
                          atomic_load_explicit(&slot->inside, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    /* Before the gate is looked at. The compiler keeps the order, the processor's part is
     * arena_barrier in in_flight_none. */
    atomic_signal_fence(memory_order_seq_cst);
    return slot;
}

static inline void in_flight_leave(struct in_flight *slot)
{
    if (__builtin_expect(slot->shared, 0)) {
        in_flight_leave_slow(slot);
        return;
    }
    /* Whoever sees this thread outside sees all it has written. */
    atomic_store_explicit(&slot->inside,
                          atomic_load_explicit(&slot->inside, memory_order_relaxed) - 1,
                          memory_order_release);
}

#endif
