/*
 * One ring of a traced process as a merge input: batches go in, checked records come out. Losses
 * that the profiler tells in-band become loss records at their place.
 */
#ifndef TRACERD_DAEMON_CLR_RING_H
#define TRACERD_DAEMON_CLR_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "frame.h"
#include "pipeline.h"

struct clr_chunk;

/* Shared by all rings of one process. */
struct clr_totals {
    uint64_t delivered;
    uint64_t lost;
    uint64_t bad_records;           /* a batch was given up in the middle */
    size_t queued_bytes;            /* over all rings: the connection's back-pressure */
    unsigned open_inputs;           /* not ended yet */
    void (*drained)(void *context); /* an input ran dry or ended */
    void *context;
};

struct clr_ring {
    struct trd_merge_input input;
    struct clr_totals *totals;
    int32_t pid;
    int32_t tid;
    uint64_t position;              /* of the next byte expected from this ring */
    struct clr_chunk *first, *last; /* owned queue */
    bool closing;                   /* nothing more will be put in: end when empty */
};

void clr_ring_init(struct clr_ring *ring, struct clr_totals *totals, int32_t pid);
void clr_ring_finish(struct clr_ring *ring);

/*
 * Copies records that lie at `position` of the ring's life, of the thread that is `tid` on the
 * host. What was put in before (an overlap after a crash) is left out. 0, -ENOMEM, or -EBADMSG for
 * a position that leaves a gap.
 */
int clr_ring_put(struct clr_ring *ring, uint64_t position, int32_t tid, const uint8_t *records,
                 size_t size);
/* A loss told outside the ring's bytes. */
int clr_ring_put_lost(struct clr_ring *ring, int32_t tid, uint64_t from_ns, uint64_t to_ns,
                      uint64_t count);

#endif
