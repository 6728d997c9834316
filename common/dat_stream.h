/*
 * One CPU of one buffer of a file that is written: records go into a sub-buffer like the kernel's,
 * full ones to the CPU's region of the file.
 */
#ifndef TRD_COMMON_DAT_STREAM_H
#define TRD_COMMON_DAT_STREAM_H

#include "tracerd/dat_writer.h"
#include "tracerd/page.h"

struct dat_stream {
    uint64_t begin; /* of its region in the file */
    uint64_t size;  /* written so far, whole sub-buffers */
    uint64_t room;  /* of its region */
    uint64_t lost;  /* in all, for the statistics: kept by the writer */
    /* private */
    const struct trd_dat_target *target; /* borrowed from the writer */
    struct trd_page_layout layout;
    uint32_t page_size;
    uint8_t *page;   /* owned; NULL until something is written */
    uint32_t used;   /* bytes behind the page's head */
    uint64_t ts;     /* of the last record of the page */
    uint64_t untold; /* lost since; the next page tells it */
    bool has_untold;
};

/* One record; -E2BIG if no page holds it. Times may go back: a page begins anew then. */
int dat_stream_record(struct dat_stream *stream, uint64_t ts, const uint8_t *bytes, size_t size);
/* `count` records are missing here; TRD_LOST_UNKNOWN = who knows how many. */
int dat_stream_loss(struct dat_stream *stream, uint64_t count);
/* A whole sub-buffer, of at most page_size bytes. */
int dat_stream_page(struct dat_stream *stream, const uint8_t *bytes, size_t size);
/* Writes what the page holds; the next record begins another. */
int dat_stream_flush(struct dat_stream *stream);
/* The page as it is, to be written again when it has more: `size` includes it. */
int dat_stream_sync(struct dat_stream *stream, uint64_t *out_size);
void dat_stream_finish(struct dat_stream *stream);

#endif
