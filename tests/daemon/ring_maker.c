#include "ring_maker.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "frame.h"

static size_t make(uint8_t *out, uint16_t id, uint64_t ts_ns, const void *fixed, size_t size)
{
    struct trd_event_head head = { .id = id, .ts_ns = ts_ns };

    head.size =
        (uint32_t)((sizeof(head) + size + TRD_EVENT_ALIGN - 1) / TRD_EVENT_ALIGN * TRD_EVENT_ALIGN);
    memset(out, 0, head.size);
    memcpy(out, &head, sizeof(head));
    if (size > 0)
        memcpy(out + sizeof(head), fixed, size);
    return head.size;
}

size_t make_gc_end(uint8_t *out, uint64_t ts_ns, uint32_t number)
{
    struct trd_ev_gc_end event = { .number = number };

    return make(out, TRD_EV_gc_end, ts_ns, &event, sizeof(event));
}

size_t make_lost(uint8_t *out, uint64_t ts_ns, uint64_t from_ns, uint64_t to_ns, uint64_t count)
{
    struct trd_ev_lost event = { .from = from_ns, .to = to_ns, .count = count };

    return make(out, TRD_EV_lost, ts_ns, &event, sizeof(event));
}

size_t make_padding(uint8_t *out, uint32_t size)
{
    struct trd_event_head head = { .size = size, .id = TRD_EVENT_PADDING };

    memset(out, 0, size);
    memcpy(out, &head, sizeof(head));
    return size;
}

struct trd_arena *make_arena(uint32_t ring_size, uint32_t ring_count, int *out_fd)
{
    size_t size = trd_arena_size(ring_size, ring_count);
    int fd = memfd_create("tracerd-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    struct trd_arena *arena;

    if (fd < 0 || ftruncate(fd, (off_t)size) != 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
        abort();
    arena = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (arena == MAP_FAILED)
        abort();
    arena->magic = TRD_ARENA_MAGIC;
    arena->version = TRD_PROTOCOL_VERSION;
    arena->ring_size = ring_size;
    arena->ring_count = ring_count;
    *out_fd = fd;
    return arena;
}

void free_arena(struct trd_arena *arena, int fd)
{
    munmap(arena, trd_arena_size(arena->ring_size, arena->ring_count));
    close(fd);
}

void grow_ring(struct trd_arena *arena, uint32_t index)
{
    struct trd_ring *ring = trd_arena_ring(arena, arena->ring_size, index);

    ring->window_from[ring->window + 1] = ring->head;
    ring->window++;
}

void write_gc_end(struct trd_arena *arena, uint32_t index, uint32_t tid, uint64_t ts_ns,
                  uint32_t number)
{
    struct trd_ring *ring = trd_arena_ring(arena, arena->ring_size, index);
    uint8_t record[64];
    size_t size = make_gc_end(record, ts_ns, number);
    uint64_t head = ring->head;
    uint8_t *bytes = trd_ring_window(ring, ring->window);
    uint32_t window_size = trd_ring_window_size(ring->window);
    uint32_t room = window_size - (uint32_t)(head % window_size);

    ring->state = TRD_RING_OWNED;
    ring->tid = tid;
    if (room < size)
        head += make_padding(bytes + head % window_size, room);
    memcpy(bytes + head % window_size, record, size);
    ring->produced++;
    ring->head = head + size;
    if (arena->ring_used <= index)
        arena->ring_used = index + 1;
}
