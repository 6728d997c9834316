/*
 * A block of records on its way to lines: filled by the caller of lines.h, formatted by one thread,
 * handed out. Owns copies of all it needs but the schemas.
 */
#ifndef TRD_COMMON_LINES_BLOCK_H
#define TRD_COMMON_LINES_BLOCK_H

#include <stdbool.h>

#include "tracerd/lines.h"

/* As much as a core's own cache holds together with the lines it becomes. */
#define LINES_BLOCK_RECORDS 512
#define LINES_BLOCK_BYTES (64 * 1024)
#define LINES_PREFETCH 16 /* items */

enum lines_form {
    LINES_PLAIN,   /* an event of which the item and its data say all */
    LINES_STAYING, /* likewise; the data is not here */
    LINES_FULL,    /* the bytes are a struct trd_record, then what it points at */
    LINES_READY,   /* the bytes are the line itself */
};

/* Small, since every item travels from one core's cache to another's. */
struct lines_item {
    uint64_t ts_ns;
    uint8_t form; /* enum lines_form */
    uint8_t source;
    uint16_t flags;
    int32_t cpu, pid, tid;
    const struct trd_schema *schema;
    union {
        const uint8_t *data; /* STAYING */
        size_t at;           /* of its bytes */
    };
    uint32_t size;
};

/* Room for the lines of a block; stays with one thread, so that its own cache holds it. */
struct lines_text {
    char *bytes; /* owned */
    size_t capacity;
};

struct lines_block {
    struct lines_item *items; /* owned; LINES_BLOCK_RECORDS */
    size_t count;
    uint64_t first_seq; /* those of the items follow each other */
    uint8_t *bytes;     /* owned */
    size_t bytes_used, bytes_capacity;
    struct lines_text text; /* lent by who formats, until the lines are handed out */
    struct trd_lines_batch batch;
};

int lines_block_init(struct lines_block *block);
void lines_block_finish(struct lines_block *block);
static inline bool lines_block_is_full(const struct lines_block *block)
{
    return block->count == LINES_BLOCK_RECORDS || block->bytes_used >= LINES_BLOCK_BYTES;
}

int lines_block_add_copy(struct lines_block *block, const struct trd_record *record, uint64_t seq);

static inline struct lines_item *lines_block_next(struct lines_block *block, uint64_t ts_ns,
                                                  uint64_t seq)
{
    struct lines_item *item = &block->items[block->count];

    /* The last user of this memory was another core: fetched early, so that no store waits. */
    __builtin_prefetch(item + LINES_PREFETCH, 1);
    if (block->count++ == 0)
        block->first_seq = seq;
    item->ts_ns = ts_ns;
    return item;
}

static inline bool lines_is_plain(const struct trd_record *record)
{
    return record->kind == TRD_KIND_EVENT && record->schema && record->data && !record->name &&
           !record->args_json && !record->stream && record->thread_size == 0;
}

static inline void lines_item_fill(struct lines_item *item, const struct trd_record *record)
{
    item->source = record->source;
    item->flags = record->flags;
    item->cpu = record->cpu;
    item->pid = record->pid;
    item->tid = record->tid;
    item->schema = record->schema;
    item->size = record->size;
}

/* To a block that is not full. -ENOMEM: nothing was added. */
static inline int lines_block_add(struct lines_block *block, const struct trd_record *record,
                                  uint64_t seq)
{
    struct lines_item *item;

    if (!record->data_stays || !lines_is_plain(record))
        return lines_block_add_copy(block, record, seq);
    item = lines_block_next(block, record->ts_ns, seq);
    lines_item_fill(item, record);
    item->data = record->data;
    item->form = LINES_STAYING;
    return 0;
}

int lines_block_add_line(struct lines_block *block, uint64_t ts_ns, uint64_t seq, const char *line,
                         size_t size);
/* Makes the batch in block->text, which may move, and room for new records. */
void lines_block_format(struct lines_block *block, struct trd_json *json);

#endif
