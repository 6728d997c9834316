#include "lines_block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PREFETCH_ITEMS 16
#define TEXT_INITIAL (LINES_BLOCK_RECORDS * 512 + TRD_JSON_LINE_MAX)

int lines_block_init(struct lines_block *block)
{
    *block =
        (struct lines_block){ .bytes_capacity = LINES_BLOCK_BYTES, .text_capacity = TEXT_INITIAL };
    block->items = calloc(LINES_BLOCK_RECORDS + PREFETCH_ITEMS, sizeof(*block->items));
    block->bytes = malloc(block->bytes_capacity);
    block->text = malloc(block->text_capacity);
    return block->items && block->bytes && block->text ? 0 : -ENOMEM;
}

void lines_block_finish(struct lines_block *block)
{
    free(block->items);
    free(block->bytes);
    free(block->text);
}

static int reserve(struct lines_block *block, size_t size)
{
    size_t capacity = block->bytes_capacity;
    uint8_t *bytes;

    if (size <= capacity - block->bytes_used)
        return 0;
    while (capacity - block->bytes_used < size)
        capacity *= 2;
    bytes = realloc(block->bytes, capacity);
    if (!bytes)
        return -ENOMEM;
    block->bytes = bytes;
    block->bytes_capacity = capacity;
    return 0;
}

static bool is_plain(const struct trd_record *record)
{
    return record->kind == TRD_KIND_EVENT && record->schema && record->data && !record->name &&
           !record->args_json && !record->stream && record->thread_size == 0;
}

static void add_plain(struct lines_block *block, struct lines_item *item,
                      const struct trd_record *record)
{
    item->schema = record->schema;
    item->cpu = record->cpu;
    item->pid = record->pid;
    item->tid = record->tid;
    item->flags = record->flags;
    item->source = record->source;
    item->size = record->size;
    if (record->data_stays) {
        item->form = LINES_STAYING;
        item->data = record->data;
        return;
    }
    item->form = LINES_PLAIN;
    memcpy(block->bytes + block->bytes_used, record->data, record->size);
    block->bytes_used += record->size;
}

/* Appends a copy; the offset of its first byte, which becomes a pointer when all have their place.
 */
static void *append(struct lines_block *block, const void *bytes, size_t size)
{
    size_t at = block->bytes_used;

    if (!bytes)
        return NULL;
    memcpy(block->bytes + at, bytes, size);
    block->bytes_used += size;
    return (void *)(at + 1);
}

static void add_full(struct lines_block *block, struct lines_item *item,
                     const struct trd_record *record, size_t stream, size_t name)
{
    struct trd_record copy = *record;

    block->bytes_used += sizeof(copy);
    copy.data = append(block, record->data, record->size);
    copy.thread = append(block, record->thread, record->thread_size);
    copy.args_json = append(block, record->args_json, record->args_json_size);
    copy.stream = append(block, record->stream, stream);
    copy.name = append(block, record->name, name);
    memcpy(block->bytes + item->at, &copy, sizeof(copy));
    item->form = LINES_FULL;
    item->size = sizeof(copy);
}

static struct lines_item *next_item(struct lines_block *block, uint64_t ts_ns, uint64_t seq)
{
    struct lines_item *item = &block->items[block->count++];

    /* The last user of this memory was another core: fetched early, so that no store waits. */
    __builtin_prefetch(item + PREFETCH_ITEMS, 1);
    if (block->count == 1)
        block->first_seq = seq;
    item->ts_ns = ts_ns;
    item->at = block->bytes_used;
    return item;
}

int lines_block_add(struct lines_block *block, const struct trd_record *record, uint64_t seq)
{
    bool plain = is_plain(record);
    size_t stream = record->stream ? strlen(record->stream) + 1 : 0;
    size_t name = record->name ? strlen(record->name) + 1 : 0;
    size_t size = record->size;

    if (!plain)
        size += sizeof(*record) + record->thread_size + record->args_json_size + stream + name;
    if (reserve(block, size) != 0)
        return -ENOMEM;
    if (plain)
        add_plain(block, next_item(block, record->ts_ns, seq), record);
    else
        add_full(block, next_item(block, record->ts_ns, seq), record, stream, name);
    return 0;
}

int lines_block_add_line(struct lines_block *block, uint64_t ts_ns, uint64_t seq, const char *line,
                         size_t size)
{
    struct lines_item *item;

    if (reserve(block, size) != 0)
        return -ENOMEM;
    item = next_item(block, ts_ns, seq);
    item->form = LINES_READY;
    item->size = (uint32_t)size;
    (void)append(block, line, size);
    return 0;
}

static const void *pointer_of(const struct lines_block *block, const void *offset)
{
    return offset ? block->bytes + (uintptr_t)offset - 1 : NULL;
}

/* What the item stands for; `out` keeps what plain events have in common from call to call. */
static void get_plain(const struct lines_block *block, const struct lines_item *item,
                      struct trd_record *out)
{
    out->ts_ns = item->ts_ns;
    out->schema = item->schema;
    out->cpu = item->cpu;
    out->pid = item->pid;
    out->tid = item->tid;
    out->flags = item->flags;
    out->source = item->source;
    out->data = item->form == LINES_STAYING ? item->data : block->bytes + item->at;
    out->size = item->size;
}

static void get_full(const struct lines_block *block, const struct lines_item *item,
                     struct trd_record *out)
{
    memcpy(out, block->bytes + item->at, sizeof(*out));
    out->data = pointer_of(block, out->data);
    out->thread = pointer_of(block, out->thread);
    out->args_json = pointer_of(block, out->args_json);
    out->stream = pointer_of(block, out->stream);
    out->name = pointer_of(block, out->name);
}

/* Room for any line; larger ones are ready args, which their own size tells. */
static bool make_room(struct lines_block *block, size_t size)
{
    size_t capacity = block->text_capacity;
    char *text;

    if (capacity - block->batch.size >= size)
        return true;
    while (capacity - block->batch.size < size)
        capacity *= 2;
    text = realloc(block->text, capacity);
    if (!text)
        return false;
    block->text = text;
    block->text_capacity = capacity;
    return true;
}

static int64_t put_loss(struct lines_block *block, struct trd_json *json,
                        const struct trd_record *record, uint64_t seq)
{
    struct trd_record lost;

    trd_record_init(&lost);
    lost.kind = TRD_KIND_LOST;
    lost.source = record->source;
    lost.pid = record->pid;
    lost.tid = record->tid;
    lost.ts_ns = lost.lost_from_ns = record->ts_ns;
    lost.lost = 1;
    block->batch.unwritten += record->kind == TRD_KIND_EVENT;
    return trd_json_line(json, &lost, seq, block->text + block->batch.size,
                         block->text_capacity - block->batch.size);
}

static int64_t put_record(struct lines_block *block, struct trd_json *json,
                          const struct trd_record *record, uint64_t seq)
{
    int64_t size;

    if (!make_room(block, TRD_JSON_LINE_MAX + (size_t)record->args_json_size))
        return -ENOMEM;
    size = trd_json_line(json, record, seq, block->text + block->batch.size,
                         block->text_capacity - block->batch.size);
    return size > 0 ? size : put_loss(block, json, record, seq);
}

static int64_t put_ready(struct lines_block *block, const struct lines_item *item)
{
    if (!make_room(block, item->size))
        return -ENOMEM;
    memcpy(block->text + block->batch.size, block->bytes + item->at, item->size);
    return item->size;
}

static int64_t put_item(struct lines_block *block, struct trd_json *json,
                        const struct lines_item *item, uint64_t seq, struct trd_record *plain)
{
    struct trd_record full;

    switch (item->form) {
    case LINES_PLAIN:
    case LINES_STAYING:
        get_plain(block, item, plain);
        return put_record(block, json, plain, seq);
    case LINES_FULL:
        get_full(block, item, &full);
        return put_record(block, json, &full, seq);
    default:
        return put_ready(block, item);
    }
}

void lines_block_format(struct lines_block *block, struct trd_json *json)
{
    struct trd_lines_batch *batch = &block->batch;
    struct trd_record plain;

    trd_record_init(&plain);
    *batch = (struct trd_lines_batch){ .first_ns = block->items[0].ts_ns };
    for (size_t i = 0; i < block->count; i++) {
        const struct lines_item *item = &block->items[i];
        uint64_t seq = block->first_seq + i;

        __builtin_prefetch(item + PREFETCH_ITEMS);
        int64_t size = put_item(block, json, item, seq, &plain);

        if (size <= 0) { /* not even a loss has room */
            batch->unwritten++;
            continue;
        }
        batch->size += (size_t)size;
        batch->count++;
        batch->last_seq = seq;
        batch->last_ns = item->ts_ns;
    }
    batch->bytes = block->text;
    block->count = 0;
    block->bytes_used = 0;
}
