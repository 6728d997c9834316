#include "names_known.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

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

/* One name that is kept; `version` is odd while it is being written. */
#define KEPT_WORDS (NAMES_KEPT_MAX / sizeof(uint64_t))
struct kept {
    _Atomic uint32_t version;
    _Atomic uint32_t size;
    _Atomic uintptr_t mark; /* 0 = none */
    _Atomic uint64_t words[KEPT_WORDS];
};
static struct kept kept[KEPT_MAX];

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
    for (size_t i = 0; i < KEPT_MAX; i++)
        atomic_store_explicit(&kept[i].mark, 0, memory_order_relaxed);
}

size_t names_kept(ClassID class_id, char *text)
{
    struct kept *entry = &kept[hash(class_id) & (KEPT_MAX - 1)];
    uint32_t version = atomic_load_explicit(&entry->version, memory_order_acquire);
    uint32_t size = atomic_load_explicit(&entry->size, memory_order_relaxed);

    if (version & 1 || size == 0 || size > NAMES_KEPT_MAX ||
        atomic_load_explicit(&entry->mark, memory_order_relaxed) != mark_of(class_id))
        return 0;
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t word =
            atomic_load_explicit(&entry->words[at / sizeof(word)], memory_order_relaxed);

        memcpy(text + at, &word, sizeof(word));
    }
    /* What was read above is whole if nobody began to write meanwhile. */
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&entry->version, memory_order_relaxed) == version ? size : 0;
}

void names_keep(ClassID class_id, const char *text, size_t size)
{
    struct kept *entry = &kept[hash(class_id) & (KEPT_MAX - 1)];
    uint32_t version = atomic_load_explicit(&entry->version, memory_order_relaxed);

    /* Whoever else writes there goes first; this one is asked for again. */
    if (size == 0 || size > NAMES_KEPT_MAX || version & 1 ||
        !atomic_compare_exchange_strong_explicit(&entry->version, &version, version + 1,
                                                 memory_order_acquire, memory_order_relaxed))
        return;
    /* The odd version is seen before any word of the new name. */
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&entry->mark, mark_of(class_id), memory_order_relaxed);
    atomic_store_explicit(&entry->size, (uint32_t)size, memory_order_relaxed);
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t word = 0;

        memcpy(&word, text + at, size - at < sizeof(word) ? size - at : sizeof(word));
        atomic_store_explicit(&entry->words[at / sizeof(word)], word, memory_order_relaxed);
    }
    /* Publishes the name, whole, to every thread that meets its type again. */
    atomic_store_explicit(&entry->version, version + 2, memory_order_release);
}
