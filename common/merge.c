/*
 * Two sets of inputs: those that have shown their next record, in a heap by (time, order), and the
 * empty ones, of which only the lowest watermark matters. A record goes out when it is not above
 * that watermark.
 */
#include "tracerd/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct trd_merge {
    struct trd_merge_input **heap; /* owned array; inputs are the caller's */
    struct trd_merge_input **empty;
    size_t heap_size;
    size_t empty_size;
    size_t capacity;                    /* of both */
    struct trd_merge_input *handed_out; /* whose record the caller has now */
    uint64_t max_delay_ns;
    uint64_t emitted_ns; /* time of the latest record handed out in order */
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

static bool before(const struct trd_merge_input *a, const struct trd_merge_input *b)
{
    if (a->head.ts_ns != b->head.ts_ns)
        return a->head.ts_ns < b->head.ts_ns;
    return a->order < b->order;
}

static void heap_put(struct trd_merge *merge, size_t place, struct trd_merge_input *input)
{
    merge->heap[place] = input;
    input->place = place;
}

static void heap_rise(struct trd_merge *merge, size_t place, struct trd_merge_input *input)
{
    while (place > 0 && before(input, merge->heap[(place - 1) / 2])) {
        heap_put(merge, place, merge->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    heap_put(merge, place, input);
}

static void heap_sink(struct trd_merge *merge, size_t place, struct trd_merge_input *input)
{
    for (;;) {
        size_t child = 2 * place + 1;

        if (child >= merge->heap_size)
            break;
        if (child + 1 < merge->heap_size && before(merge->heap[child + 1], merge->heap[child]))
            child++;
        if (!before(merge->heap[child], input))
            break;
        heap_put(merge, place, merge->heap[child]);
        place = child;
    }
    heap_put(merge, place, input);
}

static void heap_remove(struct trd_merge *merge, size_t place)
{
    struct trd_merge_input *last = merge->heap[--merge->heap_size];

    if (place == merge->heap_size)
        return;
    if (place > 0 && before(last, merge->heap[(place - 1) / 2]))
        heap_rise(merge, place, last);
    else
        heap_sink(merge, place, last);
}

static void empty_put(struct trd_merge *merge, struct trd_merge_input *input)
{
    input->place = merge->empty_size;
    merge->empty[merge->empty_size++] = input;
}

static void empty_remove(struct trd_merge *merge, size_t place)
{
    struct trd_merge_input *last = merge->empty[--merge->empty_size];

    merge->empty[place] = last;
    last->place = place;
}

static int grow(struct trd_merge *merge)
{
    size_t capacity = merge->capacity ? merge->capacity * 2 : 16;
    struct trd_merge_input **heap = realloc(merge->heap, capacity * sizeof(*heap));
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
    input->has_head = false;
    input->ended = false;
    input->stalled = false;
    input->order = merge->next_order++;
    empty_put(merge, input);
    merge->limit_ns = 0;
    return 0;
}

void trd_merge_remove(struct trd_merge *merge, struct trd_merge_input *input)
{
    if (merge->handed_out == input)
        merge->handed_out = NULL;
    if (input->has_head)
        heap_remove(merge, input->place);
    else if (!input->ended)
        empty_remove(merge, input->place);
    input->has_head = false;
    input->ended = true;
}

/* Asks an empty input; afterwards it is in the heap, still empty, or gone. */
static int fill(struct trd_merge *merge, struct trd_merge_input *input)
{
    int result = input->next(input, &input->head);

    if (result == -EAGAIN)
        return 0;
    empty_remove(merge, input->place);
    if (result <= 0) {
        input->ended = true;
        return 0;
    }
    input->has_head = true;
    input->stalled = false;
    heap_rise(merge, merge->heap_size++, input);
    return 1;
}

/* The record that was handed out has been used: its input shows the next one. */
static void advance(struct trd_merge *merge)
{
    struct trd_merge_input *input = merge->handed_out;
    int result;

    if (!input)
        return;
    merge->handed_out = NULL;
    result = input->next(input, &input->head);
    if (result == 1) {
        heap_sink(merge, input->place, input);
        return;
    }
    heap_remove(merge, input->place);
    input->has_head = false;
    if (result != -EAGAIN) {
        input->ended = true;
        return;
    }
    empty_put(merge, input);
    if (input->watermark_ns < merge->limit_ns)
        merge->limit_ns = input->watermark_ns;
}

/* Up to where the empty inputs let us go. */
static uint64_t permitted(struct trd_merge *merge, uint64_t now_ns)
{
    uint64_t limit = UINT64_MAX;
    uint64_t patience =
        merge->max_delay_ns && now_ns > merge->max_delay_ns ? now_ns - merge->max_delay_ns : 0;

    for (size_t i = 0; i < merge->empty_size;) {
        struct trd_merge_input *input = merge->empty[i];

        /* Filling or ending an input moves another one to this place. */
        if (fill(merge, input) || input->ended)
            continue;
        input->stalled = input->watermark_ns < patience;
        if (!input->stalled && input->watermark_ns < limit)
            limit = input->watermark_ns;
        else if (input->stalled && patience < limit)
            limit = patience;
        i++;
    }
    return limit;
}

static int hand_out(struct trd_merge *merge, struct trd_record *out)
{
    struct trd_merge_input *input = merge->heap[0];

    if (input->head.ts_ns < merge->emitted_ns) {
        input->head.flags |= TRD_RECORD_F_LATE;
        merge->late++;
    } else {
        merge->emitted_ns = input->head.ts_ns;
    }
    if (merge->emitted_ns > merge->watermark_ns)
        merge->watermark_ns = merge->emitted_ns;
    *out = input->head;
    merge->handed_out = input;
    return 1;
}

int trd_merge_next(struct trd_merge *merge, uint64_t now_ns, struct trd_record *out)
{
    advance(merge);
    if (merge->heap_size == 0 || merge->heap[0]->head.ts_ns > merge->limit_ns)
        merge->limit_ns = permitted(merge, now_ns);
    if (merge->heap_size > 0 && merge->heap[0]->head.ts_ns <= merge->limit_ns)
        return hand_out(merge, out);
    if (merge->heap_size == 0 && merge->empty_size == 0)
        return 0;
    if (merge->limit_ns != UINT64_MAX && merge->limit_ns > merge->watermark_ns)
        merge->watermark_ns = merge->limit_ns;
    return -EAGAIN;
}

uint64_t trd_merge_watermark(const struct trd_merge *merge)
{
    return merge->watermark_ns;
}

uint64_t trd_merge_late(const struct trd_merge *merge)
{
    return merge->late;
}
