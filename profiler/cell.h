/*
 * A few bytes behind a mark that any thread may replace while others read. Nobody ever waits: who
 * finds it being written goes without, who loses a race to write gives up.
 */
#ifndef TRD_PROFILER_CELL_H
#define TRD_PROFILER_CELL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define CELL_BYTES_MAX 240

struct cell {
    /* private; zero is an empty one */
    _Atomic uint32_t version; /* odd while it is being written */
    _Atomic uint32_t size;
    _Atomic uintptr_t mark; /* 0 = none */
    _Atomic uint64_t words[CELL_BYTES_MAX / sizeof(uint64_t)];
};

/* How many bytes were put in for this mark, which lie in `out` (of CELL_BYTES_MAX); 0: none. */
size_t cell_read(struct cell *cell, uintptr_t mark, void *out);
/* Left out if it is nothing, or too much. */
void cell_write(struct cell *cell, uintptr_t mark, const void *bytes, size_t size);
void cell_clear(struct cell *cell);

#endif
