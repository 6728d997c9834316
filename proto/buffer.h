/*
 * What the rings of a traced process may take of its memory, as people say it (TRACERD_CLR_BUFFER,
 * --clr-buffer) and as it travels (client data of an attach):
 *
 *   TOTAL[/THREAD]
 *
 * in bytes, or with K, M or G behind the number. TOTAL is for all threads together; THREAD, a power
 * of two, is what the ring of one may grow to, and without it an eighth of TOTAL at most.
 */
#ifndef TRD_PROTO_BUFFER_H
#define TRD_PROTO_BUFFER_H

#include <stdbool.h>
#include <stdint.h>

#include "ring.h"

/* A ring that grows holds its old windows until they are drained: it takes twice its size then. */
#define TRD_BUFFER_TOTAL_RINGS 4 /* TOTAL is at least as many times THREAD */
#define TRD_BUFFER_TOTAL_DEFAULT (8u << 20)
#define TRD_BUFFER_TOTAL_MAX (1u << 30)

struct trd_buffer {
    uint32_t total_bytes; /* both 0: not said */
    uint32_t ring_bytes;
};

/* For messages. */
#define TRD_BUFFER_HINT                                                                            \
    "TOTAL[/THREAD] like 8M/1M: THREAD a power of two from 16K to 16M, TOTAL at least four times " \
    "as much and at most 1G"

/* 0, or -EINVAL: *out is untouched then. */
int trd_buffer_parse(const char *text, struct trd_buffer *out);
/* Within the limits; so is one that says nothing. */
bool trd_buffer_is_sound(const struct trd_buffer *buffer);

#endif
