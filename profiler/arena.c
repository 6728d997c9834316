#include "arena.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "frame.h"

static struct {
    struct trd_arena *head;
    uint32_t ring_size;
    uint32_t ring_count;
    int fd;
    bool writers_fence;
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
    arena.head = memory;
    return 0;
}

int arena_create(uint32_t ring_size, uint32_t ring_count)
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
    arena.head->magic = TRD_ARENA_MAGIC;
    arena.head->version = TRD_PROTOCOL_VERSION;
    arena.head->ring_size = ring_size;
    arena.head->ring_count = ring_count;
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

    return (uint32_t)((offset - TRD_ARENA_HEAD_SIZE) / (TRD_RING_HEAD_SIZE + arena.ring_size));
}

void arena_recycle(struct trd_ring *ring)
{
    uint32_t expected = TRD_RING_LEFT;

    if (atomic_load_explicit(&ring->head, memory_order_relaxed) ==
            atomic_load_explicit(&ring->tail, memory_order_relaxed) &&
        atomic_load_explicit(&ring->untold, memory_order_relaxed) == 0)
        (void)atomic_compare_exchange_strong(&ring->state, &expected, TRD_RING_FREE);
}

void arena_barrier(void)
{
    if (arena.writers_fence)
        atomic_thread_fence(memory_order_seq_cst);
    else
        (void)membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}
