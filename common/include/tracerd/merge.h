/*
 * A k-way merge by watermark: many inputs, each in its own time order, out comes one stream in time
 * order. An input promises with its watermark that nothing earlier will come from it; the merge
 * hands out what lies at or below the lowest promise. An input that falls behind `max_delay_ns`
 * is no longer waited for: it is stalled, and what it brings too late is marked
 * TRD_RECORD_F_LATE, never reordered silently, never dropped.
 *
 * No clock and no loop in here: the caller says what time it is. One thread at a time.
 */
#ifndef TRACERD_MERGE_H
#define TRACERD_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracerd/export.h"
#include "tracerd/record.h"

/* An input; embed it first in the source's own struct. */
struct trd_merge_input {
    /*
     * The next record: 1; 0 = the input has ended; -EAGAIN = nothing now, and watermark_ns says
     * what has been promised. The record stays valid until the next call on this input. Called
     * only from trd_merge_next; may add inputs to the merge, must not remove any.
     */
    int (*next)(struct trd_merge_input *input, struct trd_record *out);
    /* Nothing earlier than this comes any more. Only grows. UINT64_MAX when the source ended. */
    uint64_t watermark_ns;
    /* Whose it is; for trd_merge_stalled. NULL = nobody asks. */
    void *owner;
    /* private */
    struct trd_record head;
    uint32_t order; /* of being added: decides between equal times */
};

struct trd_merge;

/* max_delay_ns: how far an input may lag behind `now` before it is not waited for; 0 = for ever. */
TRD_EXPORT int trd_merge_create(struct trd_merge **out, uint64_t max_delay_ns);
TRD_EXPORT void trd_merge_destroy(struct trd_merge *merge);

/* The input's memory stays the caller's; it must outlive its place in the merge. */
TRD_EXPORT int trd_merge_add(struct trd_merge *merge, struct trd_merge_input *input);
/* Takes it out, with whatever record of it was not handed out yet. An input that has ended is out
 * already; taking it out again does nothing. */
TRD_EXPORT void trd_merge_remove(struct trd_merge *merge, struct trd_merge_input *input);

/*
 * 1 and the next record (borrowed until the next call), -EAGAIN if inputs must bring more first, 0
 * when every input has ended. `now_ns` is the present in the inputs' clock; only used with a
 * max_delay.
 */
TRD_EXPORT int trd_merge_next(struct trd_merge *merge, uint64_t now_ns, struct trd_record *out);

/* After -EAGAIN: records wait for the promises of others. */
TRD_EXPORT bool trd_merge_is_holding(const struct trd_merge *merge);
/* Calls `found` for every input with an owner that is not waited for any more at `now_ns`: it has
 * nothing to show, and promised nothing within max_delay. */
TRD_EXPORT void trd_merge_stalled(const struct trd_merge *merge, uint64_t now_ns,
                                  void (*found)(void *context, const struct trd_merge_input *input),
                                  void *context);
/* What the merge itself promises: nothing earlier comes any more that is not marked late. */
TRD_EXPORT uint64_t trd_merge_watermark(const struct trd_merge *merge);
/* Records handed out with TRD_RECORD_F_LATE so far. */
TRD_EXPORT uint64_t trd_merge_late(const struct trd_merge *merge);

#endif
