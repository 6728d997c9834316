/*
 * Two sets of inputs: those that have shown their next record, in a heap by (time, order), and the
 * empty ones, of which only the lowest watermark matters. A record goes out when it is not above
 * that watermark. The heap carries its keys with it, so that ordering does not touch the inputs.
 */
#include "tracerd/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct slot {
    uint64_t ts_ns;
    uint32_t order;
    struct trd_merge_input *input; /* borrowed from the caller until it ends or is removed */
};

struct trd_merge {
    struct slot *heap;              /* owned */
    struct trd_merge_input **empty; /* owned array */
    size_t heap_size;
    size_t empty_size;
    size_t capacity; /* of both */
    bool handed_out; /* the caller has the record of heap[0] now */
    uint64_t max_delay_ns;
    uint64_t watermark_ns;
    /* What the empty inputs promised when last asked. Promises only grow, so it stays true until
     * another input runs empty; asking again waits until it is in the way. */
    uint64_t limit_ns;
    uint64_t late;
    uint32_t next_order;
};

int trd_merge_create(struct trd_merge **out, uint64_t max_delay_ns)
{
    struct trd_merge *merge = calloc(1, sizeof(*merge));

    if (!merge)
        return -ENOMEM;
    merge->max_delay_ns = max_delay_ns;
    *out = merge;
    return 0;
}

void trd_merge_destroy(struct trd_merge *merge)
{
    if (!merge)
        return;
    free(merge->heap);
    free(merge->empty);
    free(merge);
}

static inline bool before(const struct slot *a, const struct slot *b)
{
    return a->ts_ns != b->ts_ns ? a->ts_ns < b->ts_ns : a->order < b->order;
}

static void heap_rise(struct trd_merge *merge, size_t place, struct slot slot)
{
    for (; place > 0 && before(&slot, &merge->heap[(place - 1) / 2]); place = (place - 1) / 2)
        merge->heap[place] = merge->heap[(place - 1) / 2];
    merge->heap[place] = slot;
}

static void heap_sink(struct trd_merge *merge, size_t place, struct slot slot)
{
    struct slot *heap = merge->heap;
    size_t child;

    for (; (child = 2 * place + 1) < merge->heap_size; place = child) {
        if (child + 1 < merge->heap_size && before(&heap[child + 1], &heap[child]))
            child++;
        if (!before(&heap[child], &slot))
            break;
        heap[place] = heap[child];
    }
    heap[place] = slot;
}

static void heap_remove(struct trd_merge *merge, size_t place)
{
    struct slot last = merge->heap[--merge->heap_size];

    if (place == merge->heap_size)
        return;
    if (place > 0 && before(&last, &merge->heap[(place - 1) / 2]))
        heap_rise(merge, place, last);
    else
        heap_sink(merge, place, last);
}

static struct slot slot_of(struct trd_merge_input *input)
{
    return (struct slot){ input->head.ts_ns, input->order, input };
}

static int grow(struct trd_merge *merge)
{
    size_t capacity = merge->capacity ? merge->capacity * 2 : 16;
    struct slot *heap = realloc(merge->heap, capacity * sizeof(*heap));
    struct trd_merge_input **empty;

    if (!heap)
        return -ENOMEM;
    merge->heap = heap;
    empty = realloc(merge->empty, capacity * sizeof(*empty));
    if (!empty)
        return -ENOMEM;
    merge->empty = empty;
    merge->capacity = capacity;
    return 0;
}

int trd_merge_add(struct trd_merge *merge, struct trd_merge_input *input)
{
    if (merge->heap_size + merge->empty_size == merge->capacity && grow(merge) != 0)
        return -ENOMEM;
    input->order = merge->next_order++;
    merge->empty[merge->empty_size++] = input;
    merge->limit_ns = 0;
    return 0;
}

void trd_merge_remove(struct trd_merge *merge, struct trd_merge_input *input)
{
    for (size_t i = 0; i < merge->empty_size; i++)
        if (merge->empty[i] == input) {
            merge->empty[i] = merge->empty[--merge->empty_size];
            return;
        }
    for (size_t i = 0; i < merge->heap_size; i++)
        if (merge->heap[i].input == input) {
            merge->handed_out &= i != 0;
            heap_remove(merge, i);
            return;
        }
}

/* The first of the heap has shown its next record, or has none. */
static void settle(struct trd_merge *merge, int result)
{
    struct trd_merge_input *input = merge->heap[0].input;

    merge->handed_out = false;
    if (result == 1) {
        heap_sink(merge, 0, slot_of(input));
        return;
    }
    heap_remove(merge, 0);
    if (result != -EAGAIN)
        return;
    merge->empty[merge->empty_size++] = input;
    if (input->watermark_ns < merge->limit_ns)
        merge->limit_ns = input->watermark_ns;
}

/* The record that was handed out has been used: its input shows the next one. */
static void advance(struct trd_merge *merge)
{
    struct trd_merge_input *input = merge->heap[0].input;

    settle(merge, input->next(input, &input->head));
}

/* Asks the empty inputs again; afterwards each is in the heap, still empty, or gone. */
static void fill(struct trd_merge *merge)
{
    for (size_t i = 0; i < merge->empty_size;) {
        struct trd_merge_input *input = merge->empty[i];
        int result = input->next(input, &input->head);

        if (result == -EAGAIN) {
            i++;
            continue;
        }
        merge->empty[i] = merge->empty[--merge->empty_size];
        if (result == 1)
            heap_rise(merge, merge->heap_size++, slot_of(input));
    }
}

/* Inputs that have promised less are not waited for. */
static uint64_t patience_of(const struct trd_merge *merge, uint64_t now_ns)
{
    return merge->max_delay_ns && now_ns > merge->max_delay_ns ? now_ns - merge->max_delay_ns : 0;
}

/* Up to where the empty inputs let us go. */
static uint64_t permitted(const struct trd_merge *merge, uint64_t now_ns)
{
    uint64_t patience = patience_of(merge, now_ns);
    uint64_t limit = UINT64_MAX;

    for (size_t i = 0; i < merge->empty_size; i++)
        if (merge->empty[i]->watermark_ns < limit)
            limit = merge->empty[i]->watermark_ns;
    return limit > patience ? limit : patience;
}

static int hand_out(struct trd_merge *merge, struct trd_record *out)
{
    const struct slot *first = &merge->heap[0];

    merge->handed_out = true;
    *out = first->input->head;
    if (first->ts_ns >= merge->watermark_ns) {
        merge->watermark_ns = first->ts_ns;
    } else {
        out->flags |= TRD_RECORD_F_LATE;
        merge->late++;
    }
    return 1;
}

/*
 * Nobody to compare with: a file alone passes straight through. False if its next record is to go
 * the general way, since it ended, ran empty, or brought another input.
 */
static bool pass_through(struct trd_merge *merge, struct trd_record *out, int *out_result)
{
    struct trd_merge_input *input = merge->heap[0].input;

    *out_result = input->next(input, out);
    if (*out_result == 1 && merge->empty_size == 0 && out->ts_ns >= merge->watermark_ns) {
        merge->watermark_ns = out->ts_ns;
        return true;
    }
    if (*out_result == 1)
        input->head = *out;
    return false;
}

int trd_merge_next(struct trd_merge *merge, uint64_t now_ns, struct trd_record *out)
{
    if (merge->handed_out && merge->heap_size == 1 && merge->empty_size == 0) {
        int result;

        if (pass_through(merge, out, &result))
            return 1;
        settle(merge, result);
    } else if (merge->handed_out) {
        advance(merge);
    }
    if (merge->heap_size == 0 || merge->heap[0].ts_ns > merge->limit_ns) {
        fill(merge);
        merge->limit_ns = permitted(merge, now_ns);
    }
    if (merge->heap_size > 0 && merge->heap[0].ts_ns <= merge->limit_ns)
        return hand_out(merge, out);
    if (merge->heap_size == 0 && merge->empty_size == 0)
        return 0;
    if (merge->limit_ns != UINT64_MAX && merge->limit_ns > merge->watermark_ns)
        merge->watermark_ns = merge->limit_ns;
    return -EAGAIN;
}

bool trd_merge_is_holding(const struct trd_merge *merge)
{
    return merge->heap_size > 0;
}

void trd_merge_stalled(const struct trd_merge *merge, uint64_t now_ns,
                       void (*found)(void *context, const struct trd_merge_input *input),
                       void *context)
{
    uint64_t patience = patience_of(merge, now_ns);

    for (size_t i = 0; i < merge->empty_size; i++)
        if (merge->empty[i]->owner && merge->empty[i]->watermark_ns < patience)
            found(context, merge->empty[i]);
}

uint64_t trd_merge_watermark(const struct trd_merge *merge)
{
    return merge->watermark_ns;
}

uint64_t trd_merge_late(const struct trd_merge *merge)
{
    return merge->late;
}
