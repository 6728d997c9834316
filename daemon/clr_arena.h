/*
 * Reads the arena of a traced process from outside (proto/ring.h): nothing in it is trusted, every
 * number is read once, checked, and bytes are copied before they are looked at.
 */
#ifndef TRACERD_DAEMON_CLR_ARENA_H
#define TRACERD_DAEMON_CLR_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame.h"

struct clr_arena {
    struct trd_arena *head; /* mapped, read-only; NULL = none */
    size_t size;
    uint32_t ring_size;
    uint32_t ring_count;
};

/* Maps what HELLO came with. -EBADMSG if the descriptor is no memfd of the promised size. */
int clr_arena_map(struct clr_arena *arena, int fd, const struct trd_hello *hello);
void clr_arena_unmap(struct clr_arena *arena);

uint32_t clr_arena_used(const struct clr_arena *arena);
/* What its rings may hold together, as the process says. */
uint32_t clr_arena_total_bytes(const struct clr_arena *arena);

/* Events that are not there, and between when. */
struct clr_loss {
    uint64_t from_ns, to_ns;
    uint64_t count; /* 0 = none */
};

struct clr_arena_ring {
    uint32_t tid;
    uint64_t head; /* byte positions; head - tail <= clr_arena_ring_max */
    uint64_t tail;
    uint64_t produced;
    struct clr_loss untold;
    bool is_telling; /* part of untold: a LOST of it may be under way, or arrived */
    uint64_t told;   /* by LOST frames, as far as the process noted it */
};
/* What one ring can hold at most, in all of its windows. */
static inline uint64_t clr_arena_ring_max(const struct clr_arena *arena)
{
    return UINT64_C(2) * arena->ring_size;
}
/* -EBADMSG for positions that cannot be. */
int clr_arena_ring(const struct clr_arena *arena, uint32_t index, struct clr_arena_ring *out);
/* Copies bytes [from, to) of the ring's life. */
void clr_arena_copy(const struct clr_arena *arena, uint32_t index, uint64_t from, uint64_t to,
                    uint8_t *out);
/*
 * Whether all that was begun before this call has been sent and told: nobody is writing, no ring
 * holds a record, no drop waits. What a thread writes after it is stamped later than a time taken
 * before it (proto/ring.h). False as well if the process admits no barrier of ours.
 */
bool clr_arena_is_quiet(const struct clr_arena *arena);
/* Events begun since the profiler was loaded, in every ring and in none. */
uint64_t clr_arena_produced(const struct clr_arena *arena);
/* Of those, dropped by full rings, added up by category. */
void clr_arena_dropped(const struct clr_arena *arena, uint64_t out[TRD_CATEGORY_COUNT]);
uint64_t clr_arena_orphans(const struct clr_arena *arena);

#endif
