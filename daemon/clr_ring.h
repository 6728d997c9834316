/*
 * One ring of a traced process as a merge input: batches go in, checked records come out. Losses
 * that the profiler tells in-band become loss records at their place. Nothing a process writes is
 * trusted: bytes are our own copy before they are looked at.
 */
#ifndef TRACERD_DAEMON_CLR_RING_H
#define TRACERD_DAEMON_CLR_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clr_arena.h"
#include "clr_clock.h"
#include "clr_tids.h"
#include "tracerd/merge.h"

/* More than that no clock could have seen happen: whoever tells it is not believed. */
#define CLR_LOST_MAX (UINT64_C(1) << 53)

struct clr_chunk;

/* Shared by all rings of one process. */
struct clr_totals {
    pid_t pid;
    struct clr_tids *tids;         /* borrowed */
    const struct clr_clock *clock; /* of the stamps; borrowed */
    uint32_t events_revision;      /* of the records */
    uint64_t delivered;
    uint64_t lost;
    uint64_t bad_records;           /* a batch was given up in the middle */
    uint64_t last_ns;               /* of all that was handed out */
    size_t queued_bytes;            /* over all rings: the connection's back-pressure */
    unsigned open_inputs;           /* not ended yet */
    void (*drained)(void *context); /* an input ran dry or ended */
    void *context;
};

struct clr_ring {
    struct trd_merge_input input;
    struct clr_totals *totals;
    uint32_t inner_tid;             /* its owner, as the process sees it; 0 = none yet */
    int32_t host_tid;               /* as we see it; -1 = unknown */
    bool is_placed;                 /* `position` is known */
    uint64_t position;              /* of the next byte expected from this ring */
    struct clr_chunk *first, *last; /* owned queue */
    uint8_t
        *widened; /* owned: the record at hand, if an older profiler wrote it; NULL = none yet */
    /* From here on stamps are as they came: they wait for clr_ring_stamp. NULL = none are. */
    struct clr_chunk *unstamped;
    uint64_t stamped_ns;    /* the last stamp that was converted */
    struct clr_loss untold; /* waits for its place among the records */
    struct {                /* the last LOST frame */
        uint64_t count, told;
    } last_lost;
    /* what is left of it in a dead process's arena; NULL = nothing */
    const struct clr_arena *arena;
    uint32_t index;
    uint64_t drain_end;
    uint64_t drain_mark_ns; /* that was promised before the process died */
    bool closing;           /* nothing more will be put in: end when empty */
};

void clr_ring_init(struct clr_ring *ring, struct clr_totals *totals);
void clr_ring_finish(struct clr_ring *ring);

/*
 * Copies records of the owner that lie at `position` of the ring's life. What was put in before is
 * left out. 0, -ENOMEM, or -EBADMSG for a position that leaves a gap.
 */
int clr_ring_put(struct clr_ring *ring, uint64_t position, const uint8_t *records, size_t size);
/*
 * A loss of the owner that is told outside the ring's bytes. It may overtake records that are older
 * than its end: it is handed out in front of the first later one, or once the mark has passed it.
 * -EBADMSG for a count nobody can believe.
 */
int clr_ring_put_lost(struct clr_ring *ring, const struct clr_loss *loss);
/*
 * What a dead process left in its ring, [from, to), comes behind what was put in. Bytes are fetched
 * piece by piece as the merge asks, so that a large arena costs no memory at once.
 */
void clr_ring_drain(struct clr_ring *ring, const struct clr_arena *arena, uint32_t index,
                    uint64_t from, uint64_t to);

/*
 * Converts the stamps of what was put in since the last time, which the merge is then given: at a
 * mark, when both ends of the time between two marks are known. Nothing to do if stamps are
 * nanoseconds as they are.
 */
void clr_ring_stamp(struct clr_ring *ring);

#endif
