/*
 * Records that enrich makes: a short queue of spans and definitions with their args as JSON text,
 * all in one growing buffer that is reused from record to record.
 */
#ifndef TRD_COMMON_DERIVED_H
#define TRD_COMMON_DERIVED_H

#include <stdbool.h>

#include "tracerd/record.h"

#define DERIVED_MAX 64 /* what one record can close: a few nested spans */

struct derived {
    struct trd_record records[DERIVED_MAX];
    size_t args_at[DERIVED_MAX]; /* in `text`, which may move while it grows */
    size_t count;
    size_t next;
    char *text; /* owned */
    size_t used;
    size_t capacity;
    bool first; /* member of the object being written */
    bool failed;
};

void derived_init(struct derived *derived);
void derived_finish(struct derived *derived);
void derived_clear(struct derived *derived);

/* `name` is static text. */
void derived_begin(struct derived *derived, enum trd_kind kind, const char *name, uint64_t ts_ns,
                   int32_t pid, int32_t tid);
void derived_put_u64(struct derived *derived, const char *key, uint64_t value);
void derived_put_hex(struct derived *derived, const char *key, uint64_t value);
void derived_put_text(struct derived *derived, const char *key, const char *bytes, size_t size);
void derived_open(struct derived *derived, const char *key);
void derived_close(struct derived *derived);
void derived_end(struct derived *derived, uint64_t end_ns, uint16_t flags);

int derived_next(struct derived *derived, struct trd_record *out);

#endif
