/*
 * What a trace.dat file says about itself, whatever its version: catalog, buffers with the place of
 * every CPU's pages, clock conversions, damage. Filled by dat_v6.c or dat_v7.c, completed by
 * dat_salvage.c where the file lost its end; read by reader.c. Source of the format:
 * trace-cmd.dat(5), trace-cmd.dat.v7(5).
 */
#ifndef TRD_COMMON_DAT_H
#define TRD_COMMON_DAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bytes.h"
#include "codec.h"
#include "tracerd/reader.h"

/* Named limits on what a file may ask for. */
#define DAT_BUFFERS_MAX 256 /* instances; more than anybody records */
#define DAT_CPUS_MAX 4096   /* NR_CPUS of large distribution kernels is 8192 with headroom */
#define DAT_PAGE_MAX (64 * 1024 * 4)
#define DAT_SECTION_MAX (256u << 20) /* uncompressed metadata, BTF and kallsyms included */
#define DAT_CHUNK_MAX (16u << 20)    /* uncompressed data chunk; trace-cmd writes 40 KiB */
#define DAT_OPTION_SECTIONS_MAX 64   /* chained by DONE; trace-cmd writes three */
#define DAT_DAMAGE_MAX 64            /* sentences; further damage is only summed up */

enum dat_option {
    DAT_OPTION_DONE = 0,
    DAT_OPTION_DATE = 1,
    DAT_OPTION_CPUSTAT = 2,
    DAT_OPTION_BUFFER = 3,
    DAT_OPTION_TRACECLOCK = 4,
    DAT_OPTION_UNAME = 5,
    DAT_OPTION_OFFSET = 7,
    DAT_OPTION_CPUCOUNT = 8,
    DAT_OPTION_TSC2NSEC = 14,
    DAT_OPTION_STRINGS = 15,
    DAT_OPTION_HEADER_INFO = 16,
    DAT_OPTION_FTRACE_EVENTS = 17,
    DAT_OPTION_EVENT_FORMATS = 18,
    DAT_OPTION_KALLSYMS = 19,
    DAT_OPTION_PRINTK = 20,
    DAT_OPTION_CMDLINES = 21,
    DAT_OPTION_BTF_FILE = 23,
};

struct dat_cpu_range {
    int32_t cpu;
    uint64_t offset; /* in the file */
    uint64_t size;   /* as the file says; may reach beyond its end */
};

struct dat_buffer {
    struct trd_reader_buffer public; /* name and clock are owned */
    bool compressed;
    struct dat_cpu_range *cpus; /* owned; public.cpu_count of them */
};

struct dat {
    const uint8_t *bytes; /* the whole file, mapped or the caller's */
    size_t size;
    bool mapped;
    int version;
    bool big_endian;
    uint8_t long_size;
    uint32_t page_size;
    enum codec codec;
    struct trd_catalog *catalog;
    struct dat_buffer *buffers; /* owned */
    size_t buffer_count;
    char *uname; /* owned */
    char *clock; /* owned; of the top instance where BUFFER does not say (v6) */
    uint32_t tsc_mult, tsc_shift;
    int64_t offset_ns;                        /* OFFSET and DATE */
    struct trd_damage damage[DAT_DAMAGE_MAX]; /* what: owned */
    size_t damage_count;
    bool truncated;
    char *error;
    size_t error_size;
};

/* One sentence into the caller's buffer; returns `result`. */
int dat_fail(struct dat *dat, int result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void dat_add_damage(struct dat *dat, uint64_t bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* `cursor` stands behind the common start (magic to page size). */
int dat_read_v6(struct dat *dat, struct cursor *cursor);
int dat_read_v7(struct dat *dat, struct cursor *cursor);
/* Looks for data sections that no option led to. */
void dat_salvage_v7(struct dat *dat, uint64_t first_section);

/* Shared by both versions; every cursor is bounded by its section. */
int dat_parse_headers(struct dat *dat, struct cursor *cursor);
int dat_parse_ftrace_formats(struct dat *dat, struct cursor *cursor);
int dat_parse_event_formats(struct dat *dat, struct cursor *cursor);
void dat_parse_option(struct dat *dat, uint16_t id, struct cursor *option);
/* `[local] global` or a plain word; owned by the caller, NULL without memory. */
char *dat_current_clock(const char *text, size_t size);
/* Takes the names; NULL if there is no room. */
struct dat_buffer *dat_add_buffer(struct dat *dat, const char *name, const char *clock,
                                  uint32_t page_size, uint32_t cpu_count);

#endif
