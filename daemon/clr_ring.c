#include "clr_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target_linux.h"
#include "tracerd/catalog.h"

struct clr_chunk {
    struct clr_chunk *next;
    int32_t tid;
    size_t size;
    size_t at;
    _Alignas(8) uint8_t bytes[];
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
    ring->totals->queued_bytes -= chunk->size;
    free(chunk);
}

static int32_t host_tid(const struct clr_ring *ring, uint32_t inner)
{
    /* Same namespace in nearly every case; the look-up answers with the number itself then. */
    return target_inner_pid(ring->pid) == ring->pid ? (int32_t)inner
                                                    : target_host_tid(ring->pid, (pid_t)inner);
}

static void fill(struct clr_ring *ring, const struct clr_chunk *chunk,
                 const struct trd_event_head *head, struct trd_record *out)
{
    trd_record_init(out);
    out->source = TRD_SOURCE_CLR;
    out->pid = ring->pid;
    out->tid = chunk->tid;
    out->ts_ns = head->ts_ns;
    if (head->flags & TRD_EVENT_F_CATCH_UP)
        out->flags |= TRD_RECORD_F_CATCH_UP;
    if (head->flags & TRD_EVENT_F_CUT)
        out->flags |= TRD_RECORD_F_CUT;
}

static void fill_lost(struct clr_ring *ring, const uint8_t *fixed, struct trd_record *out)
{
    const struct trd_ev_lost *event = (const void *)fixed;

    out->kind = TRD_KIND_LOST;
    out->lost = event->count;
    out->lost_from_ns = event->from;
    ring->totals->lost += event->count;
}

/* The chunk's bytes are our own copy: the tid in it is put into the host's numbers there. */
static void translate(struct clr_ring *ring, uint16_t id, uint8_t *fixed)
{
    struct trd_ev_thread_assigned *event = (void *)fixed;

    if (id == TRD_EV_thread_assigned)
        event->os_tid = (uint32_t)host_tid(ring, event->os_tid);
}

static int next(struct trd_merge_input *input, struct trd_record *out)
{
    struct clr_ring *ring = ring_of(input);

    while (ring->first) {
        struct clr_chunk *chunk = ring->first;
        uint8_t *bytes = chunk->bytes + chunk->at;
        struct trd_event_head head;
        int result;

        if (chunk->at == chunk->size) {
            drop_first(ring);
            continue;
        }
        result = trd_event_check(bytes, chunk->size - chunk->at, &head);
        if (result < 0) {
            ring->totals->bad_records++;
            chunk->at = chunk->size;
            continue;
        }
        chunk->at += head.size;
        if (result == 0)
            continue;
        fill(ring, chunk, &head, out);
        if (head.id == TRD_EV_lost) {
            fill_lost(ring, bytes + sizeof(head), out);
            return 1;
        }
        translate(ring, head.id, bytes + sizeof(head));
        out->schema = trd_clr_schema(head.id);
        out->data = bytes + sizeof(head);
        out->size = head.size - (uint32_t)sizeof(head);
        ring->totals->delivered++;
        return 1;
    }
    if (ring->closing)
        ring->totals->open_inputs--;
    ring->totals->drained(ring->totals->context);
    return ring->closing ? 0 : -EAGAIN;
}

void clr_ring_init(struct clr_ring *ring, struct clr_totals *totals, int32_t pid)
{
    *ring = (struct clr_ring){ .input = { .next = next }, .totals = totals, .pid = pid, .tid = -1 };
    totals->open_inputs++;
}

void clr_ring_finish(struct clr_ring *ring)
{
    while (ring->first)
        drop_first(ring);
}

static int append(struct clr_ring *ring, int32_t tid, const uint8_t *bytes, size_t size)
{
    struct clr_chunk *chunk = malloc(sizeof(*chunk) + size);

    if (!chunk)
        return -ENOMEM;
    *chunk = (struct clr_chunk){ .tid = tid, .size = size };
    memcpy(chunk->bytes, bytes, size);
    if (ring->last)
        ring->last->next = chunk;
    else
        ring->first = chunk;
    ring->last = chunk;
    ring->totals->queued_bytes += size;
    return 0;
}

int clr_ring_put(struct clr_ring *ring, uint64_t position, int32_t tid, const uint8_t *records,
                 size_t size)
{
    uint64_t known = ring->position > position ? ring->position - position : 0;
    int result;

    if (position > ring->position)
        return -EBADMSG;
    if (known >= size)
        return 0;
    result = append(ring, tid, records + known, size - known);
    if (result == 0)
        ring->position = position + size;
    return result;
}

int clr_ring_put_lost(struct clr_ring *ring, int32_t tid, uint64_t from_ns, uint64_t to_ns,
                      uint64_t count)
{
    struct {
        struct trd_event_head head;
        struct trd_ev_lost event;
    } record = { { sizeof(record), TRD_EV_lost, 0, to_ns }, { from_ns, to_ns, count } };

    return append(ring, tid, (const uint8_t *)&record, sizeof(record));
}
