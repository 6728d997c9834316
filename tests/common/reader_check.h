/* Reads a whole trace.dat and keeps what came out, for tests of the reader. */
#ifndef TRD_TESTS_READER_CHECK_H
#define TRD_TESTS_READER_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dat_maker.h"

struct seen {
    uint64_t ts_ns;
    uint64_t number; /* of a tick */
    uint64_t lost;   /* LOST */
    uint64_t from_ns;
    int32_t cpu;
    int32_t tid;
    uint16_t flags;
    bool is_loss;
    char stream[32];
};

struct reading {
    int opened; /* what open returned */
    char error[256];
    struct seen *records; /* owned */
    size_t count;         /* of both kinds */
    size_t events;
    size_t losses;
    char damage[4096]; /* every sentence, one a line */
    size_t damage_count;
};

/* Copies the bytes into memory of exactly their size first, so that ASAN sees one too many read. */
void reading_init(struct reading *reading, const uint8_t *bytes, size_t size);
void reading_finish(struct reading *reading);
/* Fails the test unless the file opened and nothing was wrong with it. */
void reading_expect_whole(const struct reading *reading);

/* `count` ticks numbered from 0, one every 10 ns from `ts`, going round over the buffer's CPUs; tid
 * is 100 + cpu. */
void fill_ticks(struct dat_maker *maker, struct dat_maker_buffer *buffer, uint64_t ts,
                uint32_t count);
/* Fails the test unless these are exactly those ticks, in order, in whatever streams. */
void expect_ticks(const struct reading *reading, uint64_t ts, uint32_t count, uint32_t cpu_count);

#endif
