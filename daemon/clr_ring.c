#include "clr_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tracerd/catalog.h"

/* Holds several of the largest records. */
#define DRAIN_PIECE (16u * 1024)

struct clr_chunk {
    struct clr_chunk *next;
    int32_t tid;
    bool from_arena; /* may end within a record */
    size_t size;
    size_t at;
    uint64_t mark_ns; /* that was promised before it came */
    _Alignas(TRD_EVENT_ALIGN) uint8_t bytes[];
};

static struct clr_ring *ring_of(struct trd_merge_input *input)
{
    return (struct clr_ring *)((char *)input - offsetof(struct clr_ring, input));
}

static void drop_first(struct clr_ring *ring)
{
    struct clr_chunk *chunk = ring->first;

    ring->first = chunk->next;
    if (!ring->first)
        ring->last = NULL;
    ring->totals->queued_bytes -= sizeof(*chunk) + chunk->size;
    free(chunk);
}

static struct clr_chunk *append(struct clr_ring *ring, size_t size, uint64_t mark_ns)
{
    struct clr_chunk *chunk = malloc(sizeof(*chunk) + size);

    if (!chunk)
        return NULL;
    *chunk = (struct clr_chunk){ .tid = ring->host_tid, .size = size, .mark_ns = mark_ns };
    if (ring->last)
        ring->last->next = chunk;
    else
        ring->first = chunk;
    ring->last = chunk;
    if (!ring->unstamped && ring->totals->clock->is_tsc)
        ring->unstamped = chunk;
    ring->totals->queued_bytes += sizeof(*chunk) + size;
    return chunk;
}

/* Two readings of the counter close to each other need not come out in their order; a ring is in
 * order. Bytes that are no record are left for take to complain about. */
static void stamp_chunk(struct clr_ring *ring, struct clr_chunk *chunk)
{
    struct trd_event_head head;
    size_t at = 0;

    while (at < chunk->size && trd_event_look(chunk->bytes + at, chunk->size - at, &head) == 0) {
        uint64_t ts_ns = clr_clock_ns(ring->totals->clock, head.ts_ns);

        if (head.id != TRD_EVENT_PADDING) {
            ring->stamped_ns = ts_ns > ring->stamped_ns ? ts_ns : ring->stamped_ns;
            ((struct trd_event_head *)(void *)(chunk->bytes + at))->ts_ns = ring->stamped_ns;
        }
        at += head.size;
    }
}

void clr_ring_stamp(struct clr_ring *ring)
{
    for (; ring->unstamped; ring->unstamped = ring->unstamped->next)
        stamp_chunk(ring, ring->unstamped);
}

/* Records */

static void fill(const struct clr_ring *ring, int32_t tid, struct trd_record *out)
{
    trd_record_init(out);
    out->source = TRD_SOURCE_CLR;
    out->pid = ring->totals->pid;
    out->tid = tid;
}

static int hand_out_loss(struct clr_ring *ring, const struct clr_loss *loss, struct trd_record *out)
{
    out->kind = TRD_KIND_LOST;
    out->ts_ns = loss->to_ns;
    out->lost = loss->count;
    out->lost_from_ns = loss->from_ns < loss->to_ns ? loss->from_ns : loss->to_ns;
    ring->totals->lost += loss->count;
    return 1;
}

static int hand_out_untold(struct clr_ring *ring, struct trd_record *out)
{
    struct clr_loss loss = ring->untold;

    ring->untold = (struct clr_loss){ 0 };
    fill(ring, ring->host_tid, out);
    return hand_out_loss(ring, &loss, out);
}

/* Told in-band, at its place; its own time is when there was room again. */
static int hand_out_lost_event(struct clr_ring *ring, const struct trd_ev_lost *event,
                               uint64_t ts_ns, struct trd_record *out)
{
    struct clr_loss loss = { clr_clock_ns(ring->totals->clock, event->from), ts_ns, event->count };

    if (event->count <= CLR_LOST_MAX)
        return hand_out_loss(ring, &loss, out);
    ring->totals->bad_records++;
    return 0;
}

/* The bytes are our own copy: the tid in them is put into our numbers there. */
static void translate(struct clr_ring *ring, uint16_t id, uint8_t *fixed)
{
    uint32_t *inner = NULL;
    int32_t tid;

    if (id == TRD_EV_thread_assigned)
        inner = &((struct trd_ev_thread_assigned *)(void *)fixed)->os_tid;
    else if (id == TRD_EV_contention_start)
        inner = &((struct trd_ev_contention_start *)(void *)fixed)->owner;
    if (!inner || *inner == 0)
        return;
    tid = clr_tids_host(ring->totals->tids, *inner);
    *inner = tid > 0 ? (uint32_t)tid : 0;
}

static int hand_out(struct clr_ring *ring, const struct trd_event_head *head, uint8_t *fixed,
                    struct trd_record *out)
{
    fill(ring, ring->first->tid, out);
    if (head->id == TRD_EV_lost)
        return hand_out_lost_event(ring, (const void *)fixed, head->ts_ns, out);
    translate(ring, head->id, fixed);
    out->ts_ns = head->ts_ns;
    /* What was promised meanwhile is not broken by a stamp that was taken over. */
    if (head->flags & TRD_EVENT_F_SAME_TIME && out->ts_ns < ring->first->mark_ns)
        out->ts_ns = ring->first->mark_ns;
    if (head->flags & TRD_EVENT_F_CATCH_UP)
        out->flags |= TRD_RECORD_F_CATCH_UP;
    if (head->flags & TRD_EVENT_F_CUT)
        out->flags |= TRD_RECORD_F_CUT;
    out->schema = trd_clr_schema(head->id);
    out->data = fixed;
    out->size = head->size - (uint32_t)sizeof(*head);
    ring->totals->delivered++;
    return 1;
}

static int refill(struct clr_ring *ring)
{
    uint64_t size = ring->drain_end - ring->position;
    struct clr_chunk *chunk;

    if (!ring->arena || size == 0)
        return 0;
    size = size < DRAIN_PIECE ? size : DRAIN_PIECE;
    chunk = append(ring, size, ring->drain_mark_ns);
    if (!chunk) {
        ring->arena = NULL;
        return 0;
    }
    chunk->from_arena = true;
    clr_arena_copy(ring->arena, ring->index, ring->position, ring->position + size, chunk->bytes);
    ring->position += size;
    clr_ring_stamp(ring);
    return 1;
}

/* What cannot be a record ends its chunk. A piece of the arena that ends within one is fetched
 * again from there. */
static void give_up(struct clr_ring *ring, struct clr_chunk *chunk, int error)
{
    bool cut_by_us = error == -EAGAIN && chunk->from_arena && chunk->at > 0;

    if (cut_by_us)
        ring->position -= chunk->size - chunk->at;
    else
        ring->totals->bad_records++;
    if (chunk->from_arena && !cut_by_us)
        ring->drain_end = ring->position;
    drop_first(ring);
}

/* The record of a profiler that is older than we are, as one of ours would be: *bytes moves to it.
 */
static __attribute__((cold, noinline)) int widen(struct clr_ring *ring, uint8_t **bytes,
                                                 size_t *size)
{
    int result;

    if (!ring->widened && !(ring->widened = malloc(TRD_EVENT_SIZE_MAX)))
        return -EBADMSG;
    result = trd_event_widen(*bytes, *size, ring->totals->events_revision, ring->widened);
    if (result != 1)
        return result;
    *bytes = ring->widened;
    *size = TRD_EVENT_SIZE_MAX;
    return 0;
}

static int take(struct clr_ring *ring, struct clr_chunk *chunk, struct trd_record *out)
{
    uint8_t *bytes = chunk->bytes + chunk->at;
    size_t size = chunk->size - chunk->at;
    struct trd_event_head head, own;
    int result = trd_event_look(bytes, size, &own);

    if (result == 0 && __builtin_expect(ring->totals->events_revision < TRD_EVENTS_REVISION, 0))
        result = widen(ring, &bytes, &size);
    if (result == 0)
        result = trd_event_check(bytes, size, &head);
    if (result < 0) {
        give_up(ring, chunk, result);
        return 0;
    }
    if (result == 1 && ring->untold.count > 0 && head.ts_ns > ring->untold.to_ns)
        return hand_out_untold(ring, out);
    chunk->at += own.size;
    return result == 1 ? hand_out(ring, &head, bytes + sizeof(head), out) : 0;
}

static int take_any(struct clr_ring *ring, struct trd_record *out)
{
    while ((ring->first && ring->first != ring->unstamped) || (!ring->first && refill(ring))) {
        if (ring->first->at == ring->first->size)
            drop_first(ring);
        else if (take(ring, ring->first, out))
            return 1;
    }
    if (ring->untold.count > 0 && (ring->closing || ring->input.watermark_ns >= ring->untold.to_ns))
        return hand_out_untold(ring, out);
    return 0;
}

static int next(struct trd_merge_input *input, struct trd_record *out)
{
    struct clr_ring *ring = ring_of(input);

    if (take_any(ring, out)) {
        if (out->ts_ns > ring->totals->last_ns)
            ring->totals->last_ns = out->ts_ns;
        return 1;
    }
    if (ring->closing)
        ring->totals->open_inputs--;
    ring->totals->drained(ring->totals->context);
    return ring->closing ? 0 : -EAGAIN;
}

/* Set-up */

void clr_ring_init(struct clr_ring *ring, struct clr_totals *totals)
{
    *ring = (struct clr_ring){ .input = { .next = next }, .totals = totals, .host_tid = -1 };
    totals->open_inputs++;
}

void clr_ring_finish(struct clr_ring *ring)
{
    while (ring->first)
        drop_first(ring);
    free(ring->widened);
}

int clr_ring_put(struct clr_ring *ring, uint64_t position, const uint8_t *records, size_t size)
{
    uint64_t known = ring->position > position ? ring->position - position : 0;
    struct clr_chunk *chunk;

    if (position > ring->position)
        return -EBADMSG;
    if (known >= size)
        return 0;
    chunk = append(ring, size - known, ring->input.watermark_ns);
    if (!chunk)
        return -ENOMEM;
    memcpy(chunk->bytes, records + known, size - known);
    ring->position = position + size;
    return 0;
}

int clr_ring_put_lost(struct clr_ring *ring, const struct clr_loss *loss)
{
    struct clr_loss *untold = &ring->untold;

    if (loss->count > CLR_LOST_MAX - untold->count)
        return -EBADMSG;
    if (untold->count == 0) {
        *untold = *loss;
        return 0;
    }
    untold->from_ns = loss->from_ns < untold->from_ns ? loss->from_ns : untold->from_ns;
    untold->to_ns = loss->to_ns > untold->to_ns ? loss->to_ns : untold->to_ns;
    untold->count += loss->count;
    return 0;
}

void clr_ring_drain(struct clr_ring *ring, const struct clr_arena *arena, uint32_t index,
                    uint64_t from, uint64_t to)
{
    ring->arena = arena;
    ring->index = index;
    ring->position = from;
    ring->drain_end = to;
    ring->drain_mark_ns = ring->input.watermark_ns;
}
