/*
 * The daemon's end of the wire, as small as it can be: for tests of the profiler, and an example of
 * a second reader made from proto/PROTOCOL.md alone. Blocking, one connection at a time. Every wait
 * has a limit, so that a test fails and does not hang.
 */
#ifndef TRD_TESTS_READER_H
#define TRD_TESTS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "frame.h"

struct reader {
    int fd; /* -1 = none */
    int arena_fd;
    pid_t peer; /* by SO_PEERCRED */
    struct trd_hello hello;
    struct trd_arena *arena; /* mapped read-only */
    size_t arena_size;
    uint64_t *positions;             /* owned: where each ring's next batch must start */
    bool *seen;                      /* owned: whether the ring had a batch yet */
    struct trd_ring_lost *last_lost; /* owned: of each ring, by LOST */
    /* private */
    uint8_t *input; /* owned */
    size_t input_size;
    size_t taken; /* bytes of input that the last frame used */
};

/* A frame, borrowed until the next call. */
struct reader_frame {
    struct trd_frame_head head;
    const uint8_t *payload;
};

/* A record of a checked batch. `info` is NULL for padding and unknown ids. */
struct reader_event {
    struct trd_event_head head;
    const struct trd_event_info *info;
    const uint8_t *fixed;
};

int reader_listen(const char *path);

/* Waits for a connection and its HELLO, and maps the arena; does not answer. 0, or negative. */
int reader_accept(struct reader *reader, int listener, int timeout_ms);
/* The same on an end that is connected already. */
int reader_greet(struct reader *reader, int fd, int timeout_ms);
int reader_send(struct reader *reader, enum trd_frame_type type, const void *payload, size_t size);
int reader_welcome(struct reader *reader, uint32_t categories, uint32_t mark_interval_ms);
/* The same as a server that looks into the arena itself: the client waits for SWEEP. */
int reader_welcome_looking(struct reader *reader, uint32_t categories);

/* 1 = a frame, 0 = the peer closed, negative = error or -ETIMEDOUT. Batches come in position order
 * or this fails. */
int reader_next(struct reader *reader, struct reader_frame *out, int timeout_ms);

/* Walks records: 1 = an event or padding, 0 = the end, negative = broken. */
int reader_event_next(const uint8_t **at, size_t *left, struct reader_event *out);

/* What the rings still hold, for a peer that is dead. Calls `each` per event of ring `index`. */
int reader_drain(struct reader *reader,
                 void (*each)(void *context, uint32_t tid, const struct reader_event *event),
                 void *context);

/* Drops in the rings of a dead peer that it has not told. */
uint64_t reader_untold(struct reader *reader);

void reader_finish(struct reader *reader);

#endif
