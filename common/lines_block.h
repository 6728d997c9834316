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

enum lines_form {
    LINES_PLAIN,   /* an event of which the item and its data say all */
    LINES_STAYING, /* likewise; the data is not here */
    LINES_FULL,    /* the bytes are a struct trd_record, then what it points at */
    LINES_READY,   /* the bytes are the line itself */
};

/* Small, since every item travels from one core's cache to another's. */
struct lines_item {
    uint64_t ts_ns;
    const struct trd_schema *schema;
    union {
        const uint8_t *data; /* STAYING */
        size_t at;           /* of its bytes */
    };
    uint32_t size;
    int32_t cpu, pid, tid;
    uint16_t flags;
    uint8_t source;
    uint8_t form; /* enum lines_form */
};

struct lines_block {
    struct lines_item *items; /* owned; LINES_BLOCK_RECORDS */
    size_t count;
    uint64_t first_seq; /* those of the items follow each other */
    uint8_t *bytes;     /* owned */
    size_t bytes_used, bytes_capacity;
    char *text; /* owned; the lines */
    size_t text_capacity;
    struct trd_lines_batch batch;
};

int lines_block_init(struct lines_block *block);
void lines_block_finish(struct lines_block *block);
static inline bool lines_block_is_full(const struct lines_block *block)
{
    return block->count == LINES_BLOCK_RECORDS || block->bytes_used >= LINES_BLOCK_BYTES;
}
/* Not full. -ENOMEM: nothing was added. */
int lines_block_add(struct lines_block *block, const struct trd_record *record, uint64_t seq);
int lines_block_add_line(struct lines_block *block, uint64_t ts_ns, uint64_t seq, const char *line,
                         size_t size);
/* Makes the batch, and room for new records. */
void lines_block_format(struct lines_block *block, struct trd_json *json);

#endif
