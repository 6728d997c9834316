/*
 * Writes trace.dat files of either version, byte order, word size, page size and codec, with
 * several buffers, and with the faults that real files have; for tests of the reader. The kernel it
 * pretends to come from knows two events: `test:tick` {u64 number} and `ftrace:print`.
 *
 * Source of the layout: trace-cmd.dat(5), trace-cmd.dat.v7(5), and what trace-cmd 3.1 writes.
 */
#ifndef TRD_TESTS_DAT_MAKER_H
#define TRD_TESTS_DAT_MAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "page_maker.h"

#define DAT_MAKER_BUFFERS 4
#define DAT_MAKER_CPUS 8
#define DAT_MAKER_OPTIONS 16
#define DAT_MAKER_BOUNDARIES 256
#define DAT_MAKER_TICK_ID 400

/* What is wrong with the file, or rare; may be combined. */
#define DAT_MAKER_NO_BUFFER_OPTION 0x1 /* v7: as if the recorder had died */
#define DAT_MAKER_SHORT_SECTIONS                                                                   \
    0x2 /* v7: compressed sections' sizes 4 too small (before 2023-06) */
#define DAT_MAKER_CYCLIC_OPTIONS 0x4   /* v7: the last options section points at the first */
#define DAT_MAKER_PACKED_OPTIONS 0x8   /* v7: options sections compressed as well */
#define DAT_MAKER_UNKNOWN_SECTION 0x10 /* v7: a section with id 200 among the others */
#define DAT_MAKER_CPUCOUNT_OPTION                                                                  \
    0x20                             /* v6: the count stands in option 8, item 8 is a placeholder */
#define DAT_MAKER_CLOCK_TEXT 0x40    /* v6: trace_clock behind the table of CPUs */
#define DAT_MAKER_LATENCY 0x80       /* v6: text of a latency tracer instead of data */
#define DAT_MAKER_OPEN_SECTION 0x100 /* v7: the data section's size was never filled in */
#define DAT_MAKER_SHORT_RUNS 0x200   /* v7: BUFFER sizes leave out the chunk counts (3.1) */

struct dat_maker_bytes {
    uint8_t *bytes; /* owned */
    size_t size;
    size_t capacity;
};

struct dat_maker_cpu {
    struct dat_maker_bytes pages;
    struct page_maker page;
    uint8_t *open; /* owned; the page being filled, NULL without */
    uint64_t lost; /* before the next page */
};

struct dat_maker_buffer {
    char name[32];
    char clock[16];
    uint32_t page_size;
    uint32_t cpu_count;
    struct dat_maker_cpu cpus[DAT_MAKER_CPUS];
};

struct dat_maker {
    int version;
    bool big_endian;
    uint8_t long_size;
    uint32_t page_size;
    const char *codec; /* "none", "zlib", "zstd", or one that does not exist */
    uint32_t faults;   /* DAT_MAKER_… */
    struct {
        uint16_t id;
        struct dat_maker_bytes data;
    } options[DAT_MAKER_OPTIONS];
    size_t option_count;
    struct dat_maker_buffer buffers[DAT_MAKER_BUFFERS];
    size_t buffer_count;
    /* Filled by write: where a structure of the file begins, as far as there is room. */
    size_t boundaries[DAT_MAKER_BOUNDARIES];
    size_t boundary_count;
    size_t data_begin; /* first page of the first CPU that has any */
    struct dat_maker_bytes file;
};

void dat_maker_init(struct dat_maker *maker, int version, const char *codec);
void dat_maker_finish(struct dat_maker *maker);

void dat_maker_option(struct dat_maker *maker, uint16_t id, const void *data, size_t size);
/* The first buffer is the top one, with an empty name. */
struct dat_maker_buffer *dat_maker_buffer(struct dat_maker *maker, const char *name,
                                          const char *clock, uint32_t page_size,
                                          uint32_t cpu_count);
/* An event of `pid`; a new page is begun when it does not fit the last. */
void dat_maker_tick(struct dat_maker *maker, struct dat_maker_buffer *buffer, uint32_t cpu,
                    uint64_t ts, int32_t pid, uint64_t number);
/* Any bytes as an event's payload. */
void dat_maker_event(struct dat_maker *maker, struct dat_maker_buffer *buffer, uint32_t cpu,
                     uint64_t ts, const void *payload, uint32_t size);
/* Ends the page; the next one says that `lost` events are missing before it. */
void dat_maker_lose(struct dat_maker *maker, struct dat_maker_buffer *buffer, uint32_t cpu,
                    uint64_t lost);

/* The file's bytes, in maker->file until finish. */
const struct dat_maker_bytes *dat_maker_write(struct dat_maker *maker);

#endif
