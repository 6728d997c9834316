#include "names_known.h"

#include <stdatomic.h>
#include <stdint.h>

#include "cell.h"

#define KNOWN_MAX (1u << 15) /* of each kind */
#define KEPT_MAX (1u << 9)
#define PROBES_MAX 16
#define HOLE 1         /* no id: one was forgotten here, others lie behind */
#define EPOCH_SHIFT 48 /* ids are addresses of a process, which have no bit there */

/*
 * Ids are marked with the epoch in which they were learnt, so that forgetting all of them is a
 * step to the next one. Places of an earlier epoch are free.
 */
static _Atomic uintptr_t epoch; /* in the place of those bits */
static _Atomic uintptr_t known[NAMES_KIND_COUNT][KNOWN_MAX];

static struct cell kept[NAMES_KEPT_COUNT][KEPT_MAX];

static size_t hash(uintptr_t id)
{
    return (size_t)((id >> 3) * 0x9e3779b97f4a7c15u >> 32);
}

static uintptr_t mark_of(UINT_PTR id)
{
    return id ^ atomic_load_explicit(&epoch, memory_order_relaxed);
}

static bool is_of_now(uintptr_t mark)
{
    return mark >> EPOCH_SHIFT == atomic_load_explicit(&epoch, memory_order_relaxed) >> EPOCH_SHIFT;
}

bool names_is_known(enum names_kind kind, UINT_PTR id)
{
    uintptr_t mark = mark_of(id);

    for (size_t i = 0; i < PROBES_MAX; i++) {
        uintptr_t seen = atomic_load_explicit(&known[kind][(hash(id) + i) & (KNOWN_MAX - 1)],
                                              memory_order_relaxed);

        if (seen == mark)
            return seen != 0;
        if (seen == 0 || !is_of_now(seen))
            return false;
    }
    return false;
}

void names_set_known(enum names_kind kind, UINT_PTR id)
{
    uintptr_t mark = mark_of(id);

    for (size_t i = 0; i < PROBES_MAX; i++) {
        _Atomic uintptr_t *place = &known[kind][(hash(id) + i) & (KNOWN_MAX - 1)];
        uintptr_t seen = atomic_load_explicit(place, memory_order_relaxed);

        if (seen == mark)
            return;
        if ((seen == 0 || seen == mark_of(HOLE) || !is_of_now(seen)) &&
            atomic_compare_exchange_strong_explicit(place, &seen, mark, memory_order_relaxed,
                                                    memory_order_relaxed))
            return;
    }
}

void names_forget_one(enum names_kind kind, UINT_PTR id)
{
    for (size_t i = 0; i < PROBES_MAX; i++) {
        uintptr_t seen = mark_of(id);

        (void)atomic_compare_exchange_strong_explicit(
            &known[kind][(hash(id) + i) & (KNOWN_MAX - 1)], &seen, mark_of(HOLE),
            memory_order_relaxed, memory_order_relaxed);
    }
}

/* After 65,535 times an old mark could be taken for a new one: then the places are cleared. */
void names_forget(void)
{
    uintptr_t one = (uintptr_t)1 << EPOCH_SHIFT;

    if (atomic_fetch_add_explicit(&epoch, one, memory_order_relaxed) + one != 0)
        return;
    for (size_t kind = 0; kind < NAMES_KIND_COUNT; kind++)
        for (size_t i = 0; i < KNOWN_MAX; i++)
            atomic_store_explicit(&known[kind][i], 0, memory_order_relaxed);
    for (size_t kind = 0; kind < NAMES_KEPT_COUNT; kind++)
        for (size_t i = 0; i < KEPT_MAX; i++)
            cell_clear(&kept[kind][i]);
}

size_t names_kept(enum names_kept kind, UINT_PTR id, void *out)
{
    return cell_read(&kept[kind][hash(id) & (KEPT_MAX - 1)], mark_of(id), out);
}

void names_keep(enum names_kept kind, UINT_PTR id, const void *bytes, size_t size)
{
    cell_write(&kept[kind][hash(id) & (KEPT_MAX - 1)], mark_of(id), bytes, size);
}
