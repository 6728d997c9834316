#include "arena.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "frame.h"

static struct {
    struct trd_arena *head;
    int64_t total_bytes;
    uint32_t ring_size;
    uint32_t ring_count;
    int fd;
    bool writers_fence;
    /* Memory that was taken: by what each thread has from the beginning, whatever that makes, and
     * by growth. */
    _Atomic int64_t first_bytes;
    _Atomic int64_t grown_bytes;
} arena = { .fd = -1 };

struct trd_arena *arena_get(void)
{
    return arena.head;
}

int arena_fd(void)
{
    return arena.fd;
}

bool arena_writers_fence(void)
{
    return arena.writers_fence;
}

static long membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0);
}

static int map_arena(int fd, size_t size)
{
    void *memory;

    if (ftruncate(fd, (off_t)size) != 0)
        return -errno;
    /* The daemon maps it too and must not be killed by a file that shrinks. */
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
        return -errno;
    memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (memory == MAP_FAILED)
        return -errno;
    /* Most of it is never touched: neither a core dump nor a huge page is to do that. */
    (void)madvise(memory, size, MADV_DONTDUMP);
    (void)madvise(memory, size, MADV_NOHUGEPAGE);
    arena.head = memory;
    return 0;
}

int arena_create(uint32_t total_bytes, uint32_t ring_size, uint32_t ring_count)
{
    int fd, result;

    if (arena.head)
        return 0;
    fd = (int)syscall(SYS_memfd_create, "tracerd-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -errno;
    result = map_arena(fd, trd_arena_size(ring_size, ring_count));
    if (result != 0) {
        close(fd);
        return result;
    }

    arena.fd = fd;
    arena.ring_size = ring_size;
    arena.ring_count = ring_count;
    atomic_store(&arena.first_bytes, TRD_ARENA_HEAD_SIZE);
    arena.total_bytes = total_bytes;
    arena.head->magic = TRD_ARENA_MAGIC;
    arena.head->version = TRD_PROTOCOL_VERSION;
    arena.head->ring_size = ring_size;
    arena.head->ring_count = ring_count;
    arena.head->total_bytes = total_bytes;
    arena.head->pid = (uint32_t)getpid();
    arena.writers_fence = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0;
    return 0;
}

static void *register_barrier(void *argument)
{
    if (membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0)
        atomic_store(&arena.head->has_barrier, 1);
    return argument;
}

void arena_admit_barrier(void)
{
    static bool is_done;
    pthread_attr_t attributes;
    pthread_t thread;

    if (is_done)
        return;
    is_done = true;
    /* Writers that fence for themselves need no other's. */
    if (arena.writers_fence) {
        atomic_store(&arena.head->has_barrier, 1);
        return;
    }
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)pthread_create(&thread, &attributes, register_barrier, NULL);
    pthread_attr_destroy(&attributes);
}

static bool claim(struct trd_ring *ring)
{
    uint32_t expected = TRD_RING_FREE;

    if (!atomic_compare_exchange_strong(&ring->state, &expected, TRD_RING_OWNED))
        return false;
    atomic_store_explicit(&ring->tid, (uint32_t)syscall(SYS_gettid), memory_order_relaxed);
    atomic_fetch_add_explicit(&arena.first_bytes, TRD_RING_SIZE_MIN, memory_order_relaxed);
    return true;
}

struct trd_ring *arena_take_ring(void)
{
    uint32_t used = atomic_load(&arena.head->ring_used);
    struct trd_ring *ring;

    for (uint32_t i = 0; i < used; i++) {
        ring = trd_arena_ring(arena.head, arena.ring_size, i);
        if (claim(ring))
            return ring;
    }
    /* A fresh one: the reader sees it from the moment ring_used covers it, still without an owner
     * and empty, which it skips. Another thread may be faster in claiming it. */
    while (used < arena.ring_count) {
        if (!atomic_compare_exchange_weak(&arena.head->ring_used, &used, used + 1))
            continue;
        atomic_fetch_add_explicit(&arena.first_bytes, TRD_RING_HEAD_SIZE, memory_order_relaxed);
        ring = trd_arena_ring(arena.head, arena.ring_size, used);
        if (claim(ring))
            return ring;
        used++;
    }
    return NULL;
}

uint32_t arena_ring_index(const struct trd_ring *ring)
{
    uint64_t offset = (uint64_t)((const uint8_t *)ring - (const uint8_t *)arena.head);

    return (uint32_t)((offset - TRD_ARENA_HEAD_SIZE) / 2 / arena.ring_size);
}

/* A quarter of the total is kept for threads to come. Of the rest one takes half of what is left at
 * most, so that the first busy threads do not take all from later ones. */
static bool take_to_grow(int64_t bytes)
{
    int64_t kept = atomic_load_explicit(&arena.first_bytes, memory_order_relaxed);
    int64_t grown = atomic_load_explicit(&arena.grown_bytes, memory_order_relaxed);

    if (kept < arena.total_bytes / 4)
        kept = arena.total_bytes / 4;
    do {
        if (bytes > (arena.total_bytes - kept - grown) / 2)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&arena.grown_bytes, &grown, grown + bytes,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}

bool arena_grow(struct trd_ring *ring, uint64_t position)
{
    uint32_t window = atomic_load_explicit(&ring->window, memory_order_relaxed);

    if (trd_ring_window_size(window) >= arena.ring_size ||
        !take_to_grow(trd_ring_window_size(window + 1)))
        return false;
    /* Nothing lies there yet. A reader meets a position in it only behind the head that is
     * published later, so it knows the window by then. */
    atomic_store_explicit(&ring->window_from[window + 1], position, memory_order_relaxed);
    atomic_store_explicit(&ring->window, window + 1, memory_order_release);
    return true;
}

/* Windows lie behind each other: those before `until` are one piece. Where the kernel does not take
 * it back it stays taken. */
static void release(struct trd_ring *ring, uint32_t until)
{
    uint32_t first = atomic_load_explicit(&ring->window_first, memory_order_relaxed);
    off_t offset = trd_ring_window(ring, first) - (uint8_t *)arena.head;
    off_t size = trd_ring_window(ring, until) - trd_ring_window(ring, first);

    if (size > 0 &&
        fallocate(arena.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, size) == 0) {
        int64_t of_first = first == 0 ? TRD_RING_SIZE_MIN : 0;

        atomic_fetch_sub_explicit(&arena.first_bytes, of_first, memory_order_relaxed);
        atomic_fetch_sub_explicit(&arena.grown_bytes, size - of_first, memory_order_relaxed);
    }
    atomic_store_explicit(&ring->window_first, until, memory_order_relaxed);
}

void arena_release_drained(struct trd_ring *ring)
{
    uint32_t window = atomic_load_explicit(&ring->window, memory_order_acquire);
    uint32_t until = atomic_load_explicit(&ring->window_first, memory_order_relaxed);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

    if (until == window)
        return;
    while (until < window &&
           atomic_load_explicit(&ring->window_from[until + 1], memory_order_relaxed) <= tail)
        until++;
    release(ring, until);
}

void arena_recycle(struct trd_ring *ring)
{
    if (atomic_load_explicit(&ring->state, memory_order_acquire) != TRD_RING_LEFT ||
        atomic_load_explicit(&ring->head, memory_order_relaxed) !=
            atomic_load_explicit(&ring->tail, memory_order_relaxed) ||
        atomic_load_explicit(&ring->untold, memory_order_relaxed) != 0)
        return;
    release(ring, atomic_load_explicit(&ring->window, memory_order_relaxed) + 1);
    atomic_store_explicit(&ring->window_first, 0, memory_order_relaxed);
    atomic_store_explicit(&ring->window, 0, memory_order_relaxed);
    /* Its next owner finds all of that. */
    atomic_store_explicit(&ring->state, TRD_RING_FREE, memory_order_release);
}

void arena_barrier(void)
{
    if (arena.writers_fence)
        atomic_thread_fence(memory_order_seq_cst);
    else
        (void)membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}
