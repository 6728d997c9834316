/*
 * Values by a key of two numbers: open addressing, linear probing, no tombstones. Grows up to a
 * limit that its owner names, since peers decide how many keys there are.
 */
#ifndef TRD_COMMON_IDMAP_H
#define TRD_COMMON_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct idmap_entry {
    uint64_t a, b;
    void *value; /* NULL = free place */
};

struct idmap {
    struct idmap_entry *entries; /* owned */
    size_t count;
    size_t capacity;
    size_t limit;
};

void idmap_init(struct idmap *map, size_t limit);
/* Calls `destroy` (may be NULL) for every value. */
void idmap_finish(struct idmap *map, void (*destroy)(void *value));
void *idmap_get(const struct idmap *map, uint64_t a, uint64_t b);
/* Replaces; 0, -ENOMEM, or -ENOSPC at the limit. *out_old: what was there, or NULL. */
int idmap_set(struct idmap *map, uint64_t a, uint64_t b, void *value, void **out_old);
/* What was there, or NULL. */
void *idmap_take(struct idmap *map, uint64_t a, uint64_t b);
/*
 * Takes out every entry that `keep` refuses, in one walk; keep frees what it refuses. Without
 * memory for the smaller table everything stays.
 */
void idmap_filter(struct idmap *map, bool (*keep)(const struct idmap_entry *entry, void *context),
                  void *context);
/* For a walk over all: entries[0 … capacity-1] with a value. The walk must not change the map. */

#endif
