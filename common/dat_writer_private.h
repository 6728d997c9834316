/*
 * The inside of a writer of trace.dat: records (dat_writer.c), the layout of the file
 * (dat_layout.c), and how it is brought to its end (dat_writer_end.c).
 */
#ifndef TRD_COMMON_DAT_WRITER_PRIVATE_H
#define TRD_COMMON_DAT_WRITER_PRIVATE_H

#include "dat_bytes.h"
#include "dat_clr.h"
#include "dat_sections.h"
#include "dat_stream.h"
#include "idmap.h"
#include "tracerd/dat_writer.h"

struct trd_dat_writer {
    struct trd_dat_target target;
    struct trd_dat_options options; /* its texts are owned */
    const struct trd_catalog *catalog;
    struct trd_page_layout layout;
    uint32_t clr_base;
    struct dat_stream *streams; /* owned; a CPU each, then the CLR's */
    struct dat_stream *clr;     /* the last of them */
    uint64_t options_at;        /* of the options section */
    uint64_t header_size;       /* which ends with the place of the options */
    uint32_t cpu_count;         /* that the file is to tell of */
    uint64_t sections[DAT_OPTION_LAST + 1];
    uint64_t kernel_section, clr_section; /* of the heads of the data */
    struct idmap comms;
    struct idmap owners; /* pid by tid, as a number */
    int32_t last_owned[2];
    const struct trd_schema *sched_switch;
    const struct trd_field *switch_fields[4]; /* prev_pid, prev_comm, next_pid, next_comm */
    int32_t last_tid;
    uint64_t left_out;
    bool started;
    bool packed; /* data are, as of now */
    uint8_t record[DAT_CLR_RECORD_MAX];
};

/* Writes header, metadata and an empty directory; gives each CPU its region. Once, before anything
 * else is written. */
int dat_layout_start(struct trd_dat_writer *writer);
/* Writes, and frees, `bytes`. */
int dat_layout_write(struct trd_dat_writer *writer, uint64_t offset, struct dat_bytes *bytes);
/* The directory, with what each CPU has; the same size each time. */
int dat_layout_write_options(struct trd_dat_writer *writer, const uint64_t *sizes);
int dat_layout_write_options_now(struct trd_dat_writer *writer);
/* What each CPU has on disk, that of the CLR last; allocated, NULL without memory. */
uint64_t *dat_layout_sizes(const struct trd_dat_writer *writer);
/* The head of a data section from `at` to `end`. */
int dat_layout_write_head(struct trd_dat_writer *writer, uint64_t at, uint64_t end);
/* Whoever opens the file is led to the options there from now on. */
int dat_layout_write_options_at(struct trd_dat_writer *writer, uint64_t at);
uint64_t dat_layout_round_up(uint64_t value, uint64_t unit);
uint64_t dat_layout_options_room(const struct trd_dat_writer *writer);
uint64_t dat_layout_second_options(const struct trd_dat_writer *writer);
void dat_layout_put_option(struct dat_bytes *out, uint16_t id, const void *data, uint32_t size);
void dat_layout_put_options(const struct trd_dat_writer *writer, struct dat_bytes *out,
                            uint32_t cpus, const uint64_t *sizes);
void dat_layout_put_end(struct dat_bytes *out, size_t section);

#endif
