/*
 * An ordered set of code ranges, by first byte: many, inserted in any order. Kept in chunks, so
 * that an insertion moves a few kilobytes however many there are. Two users (codemap.c): the
 * living, which do not overlap, and the dead, which may.
 */
#ifndef TRD_COMMON_CODERANGES_H
#define TRD_COMMON_CODERANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracerd/codemap.h"

#define CODERANGES_CHUNK 128

struct coderanges_chunk {
    size_t count;
    uint64_t end; /* no range in it ends later; may be too large after a removal */
    struct trd_code codes[CODERANGES_CHUNK];
};

struct coderanges {
    struct coderanges_chunk **chunks; /* owned, none empty */
    size_t chunk_count;
    size_t chunk_capacity;
    size_t count;
};

struct coderanges_place {
    size_t chunk, index;
};

void coderanges_finish(struct coderanges *ranges);
/* Behind those with the same first byte. 0 or -ENOMEM. */
int coderanges_insert(struct coderanges *ranges, const struct trd_code *code);
/* The last one that begins at or below the address. */
bool coderanges_below(const struct coderanges *ranges, uint64_t address,
                      struct coderanges_place *out);
struct trd_code *coderanges_at(const struct coderanges *ranges, struct coderanges_place place);
void coderanges_remove(struct coderanges *ranges, struct coderanges_place place);
/* Of all that hold the address at that time the one that began last. For few ranges: every chunk is
 * looked at. */
const struct trd_code *coderanges_at_time(const struct coderanges *ranges, uint64_t address,
                                          uint64_t ts_ns);
size_t coderanges_bytes(const struct coderanges *ranges);

#endif
