#include "cell.h"

#include <string.h>

size_t cell_read(struct cell *cell, uintptr_t mark, void *out)
{
    uint32_t version = atomic_load_explicit(&cell->version, memory_order_acquire);
    uint32_t size = atomic_load_explicit(&cell->size, memory_order_relaxed);

    if (version & 1 || size == 0 || size > CELL_BYTES_MAX ||
        atomic_load_explicit(&cell->mark, memory_order_relaxed) != mark)
        return 0;
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t word = atomic_load_explicit(&cell->words[at / sizeof(word)], memory_order_relaxed);

        memcpy((uint8_t *)out + at, &word, sizeof(word));
    }
    /* What was read above is whole if nobody began to write meanwhile. */
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&cell->version, memory_order_relaxed) == version ? size : 0;
}

void cell_write(struct cell *cell, uintptr_t mark, const void *bytes, size_t size)
{
    uint32_t version = atomic_load_explicit(&cell->version, memory_order_relaxed);

    if (size == 0 || size > CELL_BYTES_MAX || version & 1 ||
        !atomic_compare_exchange_strong_explicit(&cell->version, &version, version + 1,
                                                 memory_order_acquire, memory_order_relaxed))
        return;
    /* The odd version is seen before any word of the new content. */
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&cell->mark, mark, memory_order_relaxed);
    atomic_store_explicit(&cell->size, (uint32_t)size, memory_order_relaxed);
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t word = 0;

        memcpy(&word, (const uint8_t *)bytes + at,
               size - at < sizeof(word) ? size - at : sizeof(word));
        atomic_store_explicit(&cell->words[at / sizeof(word)], word, memory_order_relaxed);
    }
    /* Publishes the content, whole, to every thread that looks for the mark. */
    atomic_store_explicit(&cell->version, version + 2, memory_order_release);
}

void cell_clear(struct cell *cell)
{
    atomic_store_explicit(&cell->mark, 0, memory_order_relaxed);
}
