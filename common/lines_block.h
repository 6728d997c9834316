/*
 * The records of one slice on their way to lines: gathered first, since the number of a line
 * depends on how many lines earlier slices have, then formatted. One thread at a time.
 */
#ifndef TRD_COMMON_LINES_BLOCK_H
#define TRD_COMMON_LINES_BLOCK_H

#include <stdbool.h>

#include "tracerd/json.h"
#include "tracerd/lines.h"

/* Small, since a slice has thousands. */
struct lines_item {
    uint64_t ts_ns;
    const struct trd_schema *schema;
    union {
        const uint8_t *data; /* of an event; lies in the file */
        size_t loss;         /* index */
    };
    const char *stream;
    uint32_t size;
    int32_t cpu, tid;
    uint16_t flags;
    bool is_loss;
};

struct lines_block {
    struct lines_item *items; /* owned */
    size_t count, capacity;
    struct trd_record *losses; /* owned; whole records */
    size_t loss_count, loss_capacity;
    struct trd_lines_batch batch;
};

/* Memory that lines are written to; it stays with the thread that writes. */
struct lines_text {
    char *bytes; /* owned */
    size_t capacity;
    struct lines_text *next;
};

void lines_block_finish(struct lines_block *block);
void lines_block_clear(struct lines_block *block);
/* -ENOMEM: nothing was added. */
int lines_block_add(struct lines_block *block, const struct trd_record *record);
/* Fills the batch; the first line gets number `seq`. */
void lines_block_format(struct lines_block *block, struct trd_json *json, struct lines_text *text,
                        uint64_t seq, const struct trd_lines_rules *rules, void *state);

#endif
