/*
 * The road through a page, inline for whoever walks many (the trace.dat reader); everyone else
 * calls trd_page_next, which is this.
 *
 * Hot path: ring page -> record. Budget: no allocation, no call, one branch per record that is not
 * always taken the same way; tests/bench/bench_reader.c measures records per second.
 */
#ifndef TRD_COMMON_PAGE_NEXT_H
#define TRD_COMMON_PAGE_NEXT_H

#include "bytes.h"
#include "tracerd/page.h"

/* kernel/trace/ring_buffer.c, enum ring_buffer_type; 1 to 28 is a payload of that many words */
#define PAGE_TYPE_DATA_LONG 0
#define PAGE_TYPE_DATA_MAX 28
#define PAGE_TYPE_PADDING 29
#define PAGE_TYPE_TIME_EXTEND 30
#define PAGE_TYPE_TIME_STAMP 31
#define PAGE_DELTA_BITS 27

/* Everything but a short data record, up to the next data record. */
__attribute__((cold)) int page_next_slow(struct trd_page *page, struct trd_page_event *out);

static inline int page_next(struct trd_page *page, struct trd_page_event *out)
{
    uint32_t left = page->end - page->next;
    uint32_t head, type, delta, size;
    const uint8_t *at;

    if (__builtin_expect(left < 4, 0))
        return page_next_slow(page, out);
    at = page->data + page->next;
    head = load_u32(at, page->big_endian);
    type = page->big_endian ? head >> PAGE_DELTA_BITS : head & 31;
    delta = page->big_endian ? head & ((1u << PAGE_DELTA_BITS) - 1) : head >> 5;
    size = type * 4;
    /* One comparison for both bounds: type 0 wraps around. */
    if (__builtin_expect(type - 1 >= PAGE_TYPE_DATA_MAX || size > left - 4, 0))
        return page_next_slow(page, out);
    page->ts += delta;
    page->next += 4 + size;
    out->ts = page->ts;
    out->data = at + 4;
    out->size = size;
    return 1;
}

#endif
