#include "lines_block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS_INITIAL 2048
#define LOSSES_INITIAL 16

void lines_block_finish(struct lines_block *block)
{
    free(block->items);
    free(block->losses);
}

void lines_block_clear(struct lines_block *block)
{
    block->count = 0;
    block->loss_count = 0;
    block->batch = (struct trd_lines_batch){ 0 };
}

static int grow(void **array, size_t *capacity, size_t initial, size_t size)
{
    size_t wanted = *capacity ? *capacity * 2 : initial;
    void *bigger = realloc(*array, wanted * size);

    if (!bigger)
        return -ENOMEM;
    *array = bigger;
    *capacity = wanted;
    return 0;
}

static __attribute__((cold, noinline)) int add_loss(struct lines_block *block,
                                                    const struct trd_record *record)
{
    struct lines_item *item = &block->items[block->count];

    if (block->loss_count == block->loss_capacity &&
        grow((void **)&block->losses, &block->loss_capacity, LOSSES_INITIAL,
             sizeof(*block->losses)) != 0)
        return -ENOMEM;
    *item =
        (struct lines_item){ .ts_ns = record->ts_ns, .loss = block->loss_count, .is_loss = true };
    block->losses[block->loss_count++] = *record;
    block->count++;
    return 0;
}

int lines_block_add(struct lines_block *block, const struct trd_record *record)
{
    if (__builtin_expect(block->count == block->capacity, 0) &&
        grow((void **)&block->items, &block->capacity, ITEMS_INITIAL, sizeof(*block->items)) != 0)
        return -ENOMEM;
    if (__builtin_expect(record->kind != TRD_KIND_EVENT, 0))
        return add_loss(block, record);
    block->items[block->count++] = (struct lines_item){ .ts_ns = record->ts_ns,
                                                        .schema = record->schema,
                                                        .data = record->data,
                                                        .stream = record->stream,
                                                        .size = record->size,
                                                        .cpu = record->cpu,
                                                        .tid = record->tid,
                                                        .flags = record->flags };
    return 0;
}

/* `event` keeps what events of a file have in common from call to call. */
static const struct trd_record *record_of(const struct lines_block *block,
                                          const struct lines_item *item, struct trd_record *event)
{
    if (__builtin_expect(item->is_loss, 0))
        return &block->losses[item->loss];
    event->ts_ns = item->ts_ns;
    event->schema = item->schema;
    event->data = item->data;
    event->stream = item->stream;
    event->size = item->size;
    event->cpu = item->cpu;
    event->tid = item->tid;
    event->flags = item->flags;
    return event;
}

/* Room for any line. */
static bool make_room(struct lines_text *text, size_t used)
{
    size_t capacity = text->capacity ? text->capacity : TRD_JSON_LINE_MAX;
    char *bytes;

    while (capacity - used < TRD_JSON_LINE_MAX)
        capacity *= 2;
    if (capacity == text->capacity)
        return true;
    bytes = realloc(text->bytes, capacity);
    if (!bytes)
        return false;
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

static int64_t put_loss(struct trd_json *json, const struct trd_record *record, uint64_t seq,
                        char *out, size_t room)
{
    struct trd_record lost;

    trd_record_init(&lost);
    lost.kind = TRD_KIND_LOST;
    lost.source = record->source;
    lost.pid = record->pid;
    lost.tid = record->tid;
    lost.ts_ns = lost.lost_from_ns = record->ts_ns;
    lost.lost = 1;
    return trd_json_line(json, &lost, seq, out, room);
}

static int64_t put_record(struct trd_lines_batch *batch, struct trd_json *json,
                          struct lines_text *text, const struct trd_record *record, uint64_t seq)
{
    int64_t size;

    if (!make_room(text, batch->size)) {
        batch->unwritten++;
        return 0;
    }
    size =
        trd_json_line(json, record, seq, text->bytes + batch->size, text->capacity - batch->size);
    if (__builtin_expect(size > 0, 1))
        return size;
    batch->unwritten += record->kind == TRD_KIND_EVENT;
    return put_loss(json, record, seq, text->bytes + batch->size, text->capacity - batch->size);
}

void lines_block_format(struct lines_block *block, struct trd_json *json, struct lines_text *text,
                        uint64_t seq, const struct trd_lines_rules *rules, void *state)
{
    struct trd_lines_batch *batch = &block->batch;
    struct trd_record event;

    trd_record_init(&event);
    batch->last_seq = seq + block->count - 1;
    for (size_t i = 0; i < block->count; i++) {
        const struct trd_record *record = record_of(block, &block->items[i], &event);
        int64_t size = put_record(batch, json, text, record, seq + i);

        if (rules->note)
            rules->note(state, record);
        if (size <= 0) /* not even a loss has room */
            continue;
        if (batch->count++ == 0)
            batch->first_ns = record->ts_ns;
        batch->last_ns = record->ts_ns;
        batch->size += (size_t)size;
    }
    batch->bytes = text->bytes;
}
