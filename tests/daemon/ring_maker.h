/* Records and arenas of a traced process, made by hand: what the profiler would have written. */
#ifndef TRACERD_TESTS_DAEMON_RING_MAKER_H
#define TRACERD_TESTS_DAEMON_RING_MAKER_H

#include <stddef.h>
#include <stdint.h>

#include "ring.h"

/* A clr:gc_end with this number; bytes written. */
size_t make_gc_end(uint8_t *out, uint64_t ts_ns, uint32_t number);
/* An in-band clr:lost. */
size_t make_lost(uint8_t *out, uint64_t ts_ns, uint64_t from_ns, uint64_t to_ns, uint64_t count);
/* A padding record that fills `size` bytes. */
size_t make_padding(uint8_t *out, uint32_t size);

/* A sealed memfd with an arena in it, mapped. */
struct trd_arena *make_arena(uint32_t ring_size, uint32_t ring_count, int *out_fd);
void free_arena(struct trd_arena *arena, int fd);
/* Makes ring `index` owned by `tid` and appends a clr:gc_end to it, wrapping as a writer does. */
void write_gc_end(struct trd_arena *arena, uint32_t index, uint32_t tid, uint64_t ts_ns,
                  uint32_t number);
/* What is written from now on lies in the next larger window. */
void grow_ring(struct trd_arena *arena, uint32_t index);

#endif
