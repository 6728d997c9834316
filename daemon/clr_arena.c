#include "clr_arena.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int clr_arena_map(struct clr_arena *arena, int fd, const struct trd_hello *hello)
{
    uint64_t size = trd_arena_size(hello->ring_size, hello->ring_count);
    struct stat status;
    void *memory;
    int seals;

    /* A file that may shrink could end us with SIGBUS at any later look: it must be sealed. */
    seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &status) != 0 ||
        (uint64_t)status.st_size < size)
        return -EBADMSG;
    memory = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return -errno;
    *arena = (struct clr_arena){ memory, size, hello->ring_size, hello->ring_count };
    if (arena->head->magic == TRD_ARENA_MAGIC)
        return 0;
    clr_arena_unmap(arena);
    return -EBADMSG;
}

void clr_arena_unmap(struct clr_arena *arena)
{
    if (arena->head)
        munmap(arena->head, arena->size);
    arena->head = NULL;
}

uint32_t clr_arena_used(const struct clr_arena *arena)
{
    uint32_t used = arena->head ? atomic_load(&arena->head->ring_used) : 0;

    return used < arena->ring_count ? used : arena->ring_count;
}

uint32_t clr_arena_total_bytes(const struct clr_arena *arena)
{
    return arena->head ? arena->head->total_bytes : 0;
}

int clr_arena_ring(const struct clr_arena *arena, uint32_t index, struct clr_arena_ring *out)
{
    struct trd_ring *ring = trd_arena_ring(arena->head, arena->ring_size, index);

    out->tail = atomic_load(&ring->tail);
    out->head = atomic_load_explicit(&ring->head, memory_order_acquire);
    out->tid = atomic_load(&ring->tid);
    out->produced = atomic_load(&ring->produced);
    out->untold.count = atomic_load(&ring->untold);
    out->is_telling = out->untold.count & TRD_RING_TELLING;
    out->untold.count &= ~TRD_RING_TELLING;
    out->told = atomic_load(&ring->told);
    out->untold.from_ns = atomic_load(&ring->untold_from_ns);
    out->untold.to_ns = atomic_load(&ring->untold_to_ns);
    return out->head < out->tail || out->head - out->tail > clr_arena_ring_max(arena) ||
                   out->head % TRD_EVENT_ALIGN != 0 || out->tail % TRD_EVENT_ALIGN != 0
               ? -EBADMSG
               : 0;
}

static bool is_quiet(struct trd_ring *ring)
{
    /* Whoever is seen not writing has published what it began before the barrier. */
    if (atomic_load_explicit(&ring->writing, memory_order_acquire) != 0 ||
        atomic_load_explicit(&ring->untold, memory_order_acquire) != 0)
        return false;
    /* The tail moves once the socket has it all. */
    return atomic_load_explicit(&ring->head, memory_order_acquire) ==
           atomic_load_explicit(&ring->tail, memory_order_acquire);
}

bool clr_arena_is_quiet(const struct clr_arena *arena)
{
    if (!atomic_load(&arena->head->has_barrier) ||
        syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) != 0)
        return false;
    for (uint32_t i = 0; i < clr_arena_used(arena); i++)
        if (!is_quiet(trd_arena_ring(arena->head, arena->ring_size, i)))
            return false;
    return true;
}

void clr_arena_copy(const struct clr_arena *arena, uint32_t index, uint64_t from, uint64_t to,
                    uint8_t *out)
{
    struct trd_ring *ring = trd_arena_ring(arena->head, arena->ring_size, index);

    while (from < to) {
        uint64_t size = to - from;
        const uint8_t *bytes = trd_ring_run(ring, arena->ring_size, from, &size);

        memcpy(out, bytes, size);
        out += size;
        from += size;
    }
}

void clr_arena_dropped(const struct clr_arena *arena, uint64_t out[TRD_CATEGORY_COUNT])
{
    memset(out, 0, TRD_CATEGORY_COUNT * sizeof(*out));
    for (uint32_t i = 0; i < clr_arena_used(arena); i++) {
        struct trd_ring *ring = trd_arena_ring(arena->head, arena->ring_size, i);

        for (size_t category = 0; category < TRD_CATEGORY_COUNT; category++)
            out[category] += atomic_load(&ring->dropped_by_category[category]);
    }
}

uint64_t clr_arena_orphans(const struct clr_arena *arena)
{
    return arena->head ? atomic_load(&arena->head->orphan_dropped) : 0;
}

uint64_t clr_arena_produced(const struct clr_arena *arena)
{
    uint64_t produced = clr_arena_orphans(arena);
    uint32_t used = clr_arena_used(arena);

    for (uint32_t i = 0; i < used; i++)
        produced += atomic_load(&trd_arena_ring(arena->head, arena->ring_size, i)->produced);
    return produced;
}
