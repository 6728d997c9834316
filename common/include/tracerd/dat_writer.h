/*
 * Writes one trace.dat of version 7 that trace-cmd and KernelShark open as it is: the kernel's
 * records, or its raw sub-buffers, in the top buffer; CLR events in a second buffer named "clr",
 * with formats of their own. The opposite of tracerd/reader.h. Does no I/O: bytes go to `target`.
 *
 *   header · metadata · options · data section "" · data section "clr" · at the end: cmdlines,
 * options
 *
 * The data of a CPU must lie in one piece, and all CPUs grow at once: while the recording goes on,
 * each has a region of its own in a file that is mostly holes, and the directory says how much of
 * it is filled; the end moves the regions together, and compresses them if that is asked for. So a
 * file whose writer was killed opens, with all that the last sync knew of, at the end as well: the
 * place of the directory in the header changes with one small write.
 *
 * Written are events, and losses of a CPU or of a ring of the CLR. What is derived (spans,
 * definitions) is derived again by whoever reads the file. Format: trace-cmd.dat.v7(5),
 * Documentation/trace/ring-buffer-design.rst.
 */
#ifndef TRACERD_DAT_WRITER_H
#define TRACERD_DAT_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracerd/catalog.h"
#include "tracerd/export.h"
#include "tracerd/record.h"

struct trd_dat_writer;

/* Where bytes go; each returns 0 or a negative errno, which the writer hands on. */
struct trd_dat_target {
    int (*write)(void *context, uint64_t offset, const void *bytes, size_t size);
    /* Bytes that were written before; all of them, or it is an error. Only where `zstd` is asked
     * for. */
    int (*read)(void *context, uint64_t offset, void *bytes, size_t size);
    /* Bytes of the file to a place before them, which they may overlap. */
    int (*move)(void *context, uint64_t from, uint64_t to, uint64_t size);
    /* The file ends here. */
    int (*resize)(void *context, uint64_t size);
    void *context;
};

struct trd_dat_options {
    uint32_t cpu_count; /* that the file tells of at least, whatever they record */
    uint32_t cpu_max;   /* records of CPUs from here on are left out */
    uint32_t page_size; /* of sub-buffers; a power of two from 4096 to 65536 */
    const char *clock;  /* "mono"; copied */
    const char *uname;  /* "" if it is not known; copied */
    /* Formats and symbols are compressed; data at the end, until then they are as the kernel has
     * them. */
    bool zstd;
};

TRD_EXPORT int trd_dat_writer_create(struct trd_dat_writer **out,
                                     const struct trd_dat_target *target,
                                     const struct trd_dat_options *options);
TRD_EXPORT void trd_dat_writer_destroy(struct trd_dat_writer *writer);

/*
 * The kernel whose records come; before the first of them; must live until the end. A file holds
 * one kernel: -EEXIST for another one, whose records are then left out. -ENOTSUP: its byte order is
 * not this machine's.
 */
TRD_EXPORT int trd_dat_writer_set_catalog(struct trd_dat_writer *writer,
                                          const struct trd_catalog *catalog);
/* In stream order; kinds that a file does not hold are passed over. */
TRD_EXPORT int trd_dat_writer_record(struct trd_dat_writer *writer,
                                     const struct trd_record *record);
/* A sub-buffer of a CPU as the kernel gave it, at most page_size; not beside kernel records. */
TRD_EXPORT int trd_dat_writer_page(struct trd_dat_writer *writer, uint32_t cpu,
                                   const uint8_t *bytes, size_t size);
/* What was lost on a CPU in all, by the kernel's count, where pages do not tell it. */
TRD_EXPORT void trd_dat_writer_set_lost(struct trd_dat_writer *writer, uint32_t cpu, uint64_t lost);
/* The name of a thread, for those that no record names. Copied. */
TRD_EXPORT void trd_dat_writer_set_comm(struct trd_dat_writer *writer, int32_t tid,
                                        const char *comm, size_t size);
/* Lets the file tell of all that was written so far. */
TRD_EXPORT int trd_dat_writer_sync(struct trd_dat_writer *writer);
/* After an error: lets the file tell of whole sub-buffers that were written, if that can be done.
 */
TRD_EXPORT void trd_dat_writer_abandon(struct trd_dat_writer *writer);
/* Completes the file; uncompressed, and an error, if there is no room for compressing it. */
TRD_EXPORT int trd_dat_writer_end(struct trd_dat_writer *writer);
/* Events that could not be written: of another kernel, too long for a page, of an unknown CPU. */
TRD_EXPORT uint64_t trd_dat_writer_left_out(const struct trd_dat_writer *writer);

#endif
