#include "in_flight.h"

#include <errno.h>

#include "arena.h"

#define SLOTS 1024 /* as many as there are rings; memory is touched as threads come */

static struct in_flight slots[SLOTS] = { { .shared = true } };
static _Atomic uint32_t used = 1;
static bool key_made;
pthread_key_t in_flight_key;

/* The thread ended; a callback that comes after this one takes a slot again. */
static void give_back(void *value)
{
    struct in_flight *slot = value;

    atomic_store_explicit(&slot->taken, false, memory_order_release);
}

int in_flight_init(void)
{
    if (!key_made && pthread_key_create(&in_flight_key, give_back) != 0)
        return -EAGAIN;
    key_made = true;
    return 0;
}

static bool take(struct in_flight *slot)
{
    bool expected = false;

    return atomic_compare_exchange_strong(&slot->taken, &expected, true);
}

static struct in_flight *take_slot(void)
{
    uint32_t last = atomic_load(&used);

    for (uint32_t i = 1; i < last; i++)
        if (take(&slots[i]))
            return &slots[i];
    while (last < SLOTS) {
        if (!atomic_compare_exchange_weak(&used, &last, last + 1))
            continue;
        if (take(&slots[last]))
            return &slots[last];
        last++;
    }
    return &slots[0];
}

struct in_flight *in_flight_enter_slow(struct in_flight *slot)
{
    if (!slot) {
        slot = take_slot();
        if (pthread_setspecific(in_flight_key, slot) != 0) {
            if (!slot->shared)
                give_back(slot);
            slot = &slots[0];
        }
    }
    atomic_fetch_add(&slot->inside, 1);
    return slot;
}

void in_flight_leave_slow(struct in_flight *slot)
{
    atomic_fetch_sub(&slot->inside, 1);
}

bool in_flight_none(void)
{
    uint32_t last;

    /* Every thread either has its count in place for us, or sees the gate closed. */
    arena_barrier();
    last = atomic_load(&used);
    for (uint32_t i = 0; i < last; i++)
        if (atomic_load_explicit(&slots[i].inside, memory_order_acquire) != 0)
            return false;
    return true;
}
