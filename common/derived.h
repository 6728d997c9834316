/*
 * Records that enrich makes: a queue of spans and definitions with their args as JSON text, all in
 * two growing buffers that are used again once everything was fetched.
 */
#ifndef TRD_COMMON_DERIVED_H
#define TRD_COMMON_DERIVED_H

#include <stdbool.h>

#include "tracerd/record.h"

/* The most that one call can derive is one span for everything open at the end of a trace; more
 * than this means that nobody fetches. */
#define DERIVED_MAX (1u << 20)

struct derived_record {
    struct trd_record record;
    size_t args_at; /* in the queue's text, which may move while it grows */
};

struct derived {
    struct derived_record *records; /* owned */
    size_t count;
    size_t next;
    size_t records_capacity;
    char *text; /* owned */
    size_t used;
    size_t capacity;
    bool first; /* member of the object being written */
    bool failed;
};

void derived_init(struct derived *derived);
void derived_finish(struct derived *derived);
/* Makes room again; only once all was fetched. */
void derived_reuse(struct derived *derived);

/*
 * One record: begin, its args, end. `name` is static text. If memory runs out in between, the whole
 * record is left out.
 */
void derived_begin(struct derived *derived, enum trd_kind kind, const char *name, uint64_t ts_ns,
                   int32_t pid, int32_t tid);
/* It is made of the kernel's events, not of the CLR's. */
void derived_from_kernel(struct derived *derived);
void derived_put_u64(struct derived *derived, const char *key, uint64_t value);
void derived_put_hex(struct derived *derived, const char *key, uint64_t value);
void derived_put_text(struct derived *derived, const char *key, const char *bytes, size_t size);
void derived_put_true(struct derived *derived, const char *key);
void derived_open(struct derived *derived, const char *key);
void derived_close(struct derived *derived);
void derived_end(struct derived *derived, uint64_t end_ns, uint16_t flags);

/* 1 and the oldest that was not fetched yet, borrowed until the next derived_begin; 0 = none. */
int derived_next(struct derived *derived, struct trd_record *out);

#endif
