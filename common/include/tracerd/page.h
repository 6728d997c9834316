/*
 * Walks one sub-buffer ("page") of the kernel's ring buffer: page bytes in, records out. Used for
 * trace.dat and for live pages. Bounds-checked against the page: foreign bytes never reach an
 * assert. Source of the format: kernel/trace/ring_buffer.c, events/header_page, header_event.
 *
 *   | u64 timestamp | long commit + flags | records … | [long missed, if flag bit 30] |
 *   record: | u32 type_len:5 delta:27 (bit order by endianness) | payload |
 */
#ifndef TRACERD_PAGE_H
#define TRACERD_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracerd/catalog.h"
#include "tracerd/export.h"
#include "tracerd/record.h"

struct trd_page_event {
    uint64_t ts; /* in the clock of the buffer, before any conversion */
    const uint8_t *data;
    uint32_t size;
};

struct trd_page {
    uint64_t ts;      /* running time; the page's own after init */
    bool lost_events; /* something was overwritten before this page */
    uint64_t lost;    /* how many, UINT64_MAX if the page does not say; 0 without lost_events */
    uint32_t damaged; /* bytes that had to be given up because the page contradicts itself */
    /* private */
    const uint8_t *data;
    uint32_t next;
    uint32_t end;
    bool big_endian;
};

/*
 * `size` bytes of page are readable. 0; -EBADMSG if the header does not fit (nothing can be
 * walked) or commit points beyond the page (what is there can be walked): `damaged` says what is
 * missing.
 */
TRD_EXPORT int trd_page_init(struct trd_page *page, const uint8_t *bytes, size_t size,
                             const struct trd_page_layout *layout);

/*
 * 1 and the next event; 0 at the end of the page; -EBADMSG where the page contradicts itself: its
 * rest is given up, the next call returns 0.
 */
TRD_EXPORT int trd_page_next(struct trd_page *page, struct trd_page_event *out);

/*
 * What the event's own bytes say about a record: schema, data, size and tid (common_pid); the rest
 * of *out stays as it is. False if its id has no format in the catalog.
 */
TRD_EXPORT bool trd_page_event_record(const struct trd_catalog *catalog,
                                      const struct trd_page_event *event, struct trd_record *out);

#endif
