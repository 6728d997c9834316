/*
 * What a trace.dat file says about itself, whatever its version: catalog, buffers with the place of
 * every CPU's pages, clock conversions, losses that were counted, damage. Filled by dat_v6.c or
 * dat_v7.c (with dat_options.c for what both have), completed by dat_salvage.c where the file lost
 * its directory; read by dat_cpu.c. Source of the format: trace-cmd.dat(5), trace-cmd.dat.v7(5).
 */
#ifndef TRD_COMMON_DAT_H
#define TRD_COMMON_DAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bytes.h"
#include "codec.h"
#include "dat_clock.h"
#include "tracerd/reader.h"

/* Named limits on what a file may ask for. */
#define DAT_BUFFERS_MAX 256   /* instances; more than anybody records */
#define DAT_CPUS_MAX 4096     /* of one buffer; x86 kernels end at 8192, machines well below */
#define DAT_STREAMS_MAX 16384 /* CPUs of all buffers: each costs half a KiB even when empty */
#define DAT_PAGE_MIN 1024     /* no kernel has smaller sub-buffers */
#define DAT_PAGE_MAX (64 * 1024 * 4)
#define DAT_SECTION_MAX (128u << 20) /* uncompressed metadata; kallsyms and BTF reach 20 MiB */
#define DAT_SECTION_COMPRESSED 1     /* flag in a section's head */
#define DAT_CHUNK_MAX (4u << 20)     /* uncompressed data chunk; trace-cmd writes ten pages */
#define DAT_CHUNKS_MAX (512u << 20)  /* of all CPUs at a time: 4096 with 40 KiB are 160 MiB */
#define DAT_OPTION_SECTIONS_MAX 64   /* chained by DONE; trace-cmd writes three */
#define DAT_STATS_MAX 16384          /* CPUSTAT options */
#define DAT_DAMAGE_MAX 64            /* sentences; further damage is only summed up */
#define DAT_RELEASE_STEP (1u << 20)  /* mapped bytes kept behind a reading place at most */

/* Ids of options; those of sections are the same numbers. */
enum dat_option {
    DAT_OPTION_DONE = 0,
    DAT_OPTION_DATE = 1,
    DAT_OPTION_CPUSTAT = 2,
    DAT_OPTION_BUFFER = 3,
    DAT_OPTION_TRACECLOCK = 4,
    DAT_OPTION_UNAME = 5,
    DAT_OPTION_OFFSET = 7,
    DAT_OPTION_CPUCOUNT = 8,
    DAT_OPTION_TIME_SHIFT = 12,
    DAT_OPTION_TSC2NSEC = 14,
    DAT_OPTION_STRINGS = 15,
    DAT_OPTION_HEADER_INFO = 16,
    DAT_OPTION_FTRACE_EVENTS = 17,
    DAT_OPTION_EVENT_FORMATS = 18,
    DAT_OPTION_KALLSYMS = 19,
    DAT_OPTION_PRINTK = 20,
    DAT_OPTION_CMDLINES = 21,
    DAT_OPTION_BUFFER_TEXT = 22,
    DAT_OPTION_BTF_FILE = 23,
    DAT_OPTION_LAST = 25, /* that we know the name of */
};

struct dat_cpu_range {
    int32_t cpu;
    uint64_t offset; /* in the file */
    uint64_t size;   /* as the file says; may reach beyond its end */
    bool cut;        /* found by its pages, and there may have been more */
};

struct dat_buffer {
    struct trd_reader_buffer public; /* name and clock are owned */
    uint64_t section;                /* v7: offset of its data section */
    bool compressed;
    struct dat_cpu_range *cpus; /* owned; public.cpu_count of them */
};

/* What the kernel counted for one CPU when the recording ended (CPUSTAT). */
struct dat_stat {
    char *buffer; /* owned; instance, NULL for the top one */
    int32_t cpu;
    uint64_t lost; /* overrun, commit overrun and dropped events */
};

struct dat {
    const uint8_t *bytes; /* the whole file, mapped or the caller's */
    size_t size;
    bool mapped;
    int version;
    bool big_endian;
    uint8_t long_size;
    uint32_t page_size;
    struct codec codec;
    struct trd_catalog *catalog;
    struct dat_buffer *buffers; /* owned */
    size_t buffer_count;
    uint32_t stream_count; /* CPUs of all buffers */
    char *uname;           /* owned */
    char *clock;           /* owned; of buffers that do not name one (v6) */
    bool clock_follows;    /* v6: the clock's text stands behind the table of CPUs */
    uint32_t cpu_count;    /* CPUCOUNT, 0 without */
    struct dat_clock conversion;
    struct dat_stat *stats; /* owned */
    size_t stat_count;
    char *stat_buffer;                              /* owned; whose CPUSTAT options follow */
    uint64_t options_seen[DAT_OPTION_SECTIONS_MAX]; /* v7: offsets of options sections read */
    size_t options_count;
    bool lacks_buffer;                      /* v7: a BUFFER option does not say where its data is */
    uint64_t sections[DAT_OPTION_LAST + 1]; /* v7: where metadata lies; 0 = not told */
    struct trd_damage damage[DAT_DAMAGE_MAX]; /* what: owned */
    size_t damage_count;
    char *error; /* the caller's until open returns; then the sentence is of no use any more */
    size_t error_size;
};

/* One sentence into the caller's buffer; returns `result`. */
int dat_fail(struct dat *dat, int result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void dat_add_damage(struct dat *dat, uint64_t bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* magic to page size, then whatever the version says. 0 or negative with a sentence. */
int dat_read(struct dat *dat);
void dat_finish(struct dat *dat);

/* Gives mapped memory of bytes that were read back: a large file must not fill the memory. What is
 * read again is simply mapped again. */
void dat_release(const struct dat *dat, uint64_t from, uint64_t to);

/* `cursor` stands behind the common start. */
int dat_read_v6(struct dat *dat, struct cursor *cursor);
int dat_read_v7(struct dat *dat, struct cursor *cursor);
/* v7: one options section; -ELOOP if it was read before. *out_next is the next one's offset, 0 =
 * this was the last. */
int dat_read_options(struct dat *dat, uint64_t offset, uint64_t *out_next);
/* v7: options and metadata, then data, that no option led to, found by stepping through the file
 * from `first_section`. Data last: its pages are told by the layout that metadata holds. */
void dat_salvage_options(struct dat *dat, uint64_t first_section);
void dat_salvage_data(struct dat *dat, uint64_t first_section);

/* Shared by both versions; every cursor is bounded by its section. */
int dat_parse_headers(struct dat *dat, struct cursor *cursor);
int dat_parse_ftrace_formats(struct dat *dat, struct cursor *cursor);
int dat_parse_event_formats(struct dat *dat, struct cursor *cursor);
/* Every option but BUFFER and those that lead to sections; unknown ones are skipped. */
void dat_parse_option(struct dat *dat, uint16_t id, struct cursor *option);
/* `[local] global` or a plain word; owned by the caller, NULL without memory. */
char *dat_current_clock(const char *text, size_t size);

/* Copies the texts; NULL if there is no room or no memory. Pointers to buffers move. */
struct dat_buffer *dat_add_buffer(struct dat *dat, const char *name, const char *clock,
                                  uint32_t page_size, uint32_t cpu_count);
/* One more CPU of the buffer added last. */
int dat_add_cpu(struct dat *dat, struct dat_buffer *buffer, struct dat_cpu_range range);
/* What CPUSTAT says of this CPU; 0 if nothing. */
uint64_t dat_counted_losses(const struct dat *dat, const struct dat_buffer *buffer, int32_t cpu);

#endif
