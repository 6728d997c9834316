#include "tracerd/page.h"

#include <errno.h>

#include "page_next.h"

/* The commit word; kernel/trace/ring_buffer.c, RB_MISSED_… */
#define COMMIT_MASK ((1u << 27) - 1)
#define COMMIT_MISSED_STORED (1u << 30)
#define COMMIT_MISSED (1u << 31)
/* An absolute stamp carries the low 59 bits; the rest is that of the time before. */
#define STAMP_BITS 59
#define STAMP_MASK ((UINT64_C(1) << STAMP_BITS) - 1)

static uint64_t stored_loss(const struct trd_page *page, size_t room, uint8_t long_size)
{
    if (room - page->end < long_size)
        return UINT64_MAX;
    return load_int(page->data + page->end, long_size, false, page->big_endian);
}

int trd_page_init(struct trd_page *page, const uint8_t *bytes, size_t size,
                  const struct trd_page_layout *layout)
{
    uint32_t commit;
    size_t room;

    *page = (struct trd_page){ .data = bytes, .big_endian = layout->big_endian };
    if (size < 8 || size < layout->data_offset ||
        size < (size_t)layout->commit_offset + layout->commit_size) {
        page->damaged = (uint32_t)size;
        return -EBADMSG;
    }
    /* Bits above 31 mean nothing: some kernels sign-extend the flag of bit 31 into them. */
    commit = (uint32_t)load_int(bytes + layout->commit_offset, layout->commit_size, false,
                                layout->big_endian);
    room = size - layout->data_offset;
    page->ts = load_u64(bytes, layout->big_endian);
    page->data = bytes + layout->data_offset;
    page->end = commit & COMMIT_MASK;
    page->lost_events = (commit & COMMIT_MISSED) != 0;
    page->lost = page->lost_events ? UINT64_MAX : 0;
    if (page->end > room) {
        page->damaged = (uint32_t)(page->end - room);
        page->end = (uint32_t)room;
        return -EBADMSG;
    }
    if (page->lost_events && (commit & COMMIT_MISSED_STORED))
        page->lost = stored_loss(page, room, layout->long_size);
    return 0;
}

/* The rest of the page cannot be trusted. */
static int give_up(struct trd_page *page)
{
    page->damaged += page->end - page->next;
    page->next = page->end;
    return -EBADMSG;
}

/* As rb_fix_abs_ts of the kernel: only a clock that uses the upper bits can have wrapped. */
static uint64_t absolute_time(uint64_t stamp, uint64_t before)
{
    uint64_t ts = stamp | (before & ~STAMP_MASK);

    return ts < before && before > STAMP_MASK ? ts + (UINT64_C(1) << STAMP_BITS) : ts;
}

/*
 * A record of two header words. 1 = a data record, 0 = consumed, go on.
 *
 * A discarded event's delta counts: the kernel's writer has moved its own stamp by it, and the next
 * delta starts there. (The kernel's text reader forgets it, kbuffer and Perfetto do not.)
 */
static int take_long(struct trd_page *page, uint32_t type, uint32_t delta,
                     struct trd_page_event *out)
{
    const uint8_t *at = page->data + page->next;
    uint32_t left = page->end - page->next;
    uint32_t word, size;

    if (left < 8)
        return give_up(page);
    word = load_u32(at + 4, page->big_endian);
    switch (type) {
    case PAGE_TYPE_DATA_LONG:
    case PAGE_TYPE_PADDING: /* the word is the length of itself and the payload */
        if (word < 4 || word > left - 4)
            return give_up(page);
        size = (word + 3) & ~3u;
        page->ts += delta;
        page->next += 4 + (size > left - 4 ? left - 4 : size);
        if (type == PAGE_TYPE_PADDING)
            return 0;
        *out = (struct trd_page_event){ page->ts, at + 8, word - 4 };
        return 1;
    case PAGE_TYPE_TIME_EXTEND:
        page->ts += ((uint64_t)word << PAGE_DELTA_BITS) + delta;
        break;
    case PAGE_TYPE_TIME_STAMP:
        page->ts = absolute_time(((uint64_t)word << PAGE_DELTA_BITS) + delta, page->ts);
        break;
    default: /* a short data record that reaches beyond the page */
        return give_up(page);
    }
    page->next += 8;
    return 0;
}

int page_next_slow(struct trd_page *page, struct trd_page_event *out)
{
    while (page->end - page->next >= 4) {
        uint32_t head = load_u32(page->data + page->next, page->big_endian);
        uint32_t type = page->big_endian ? head >> PAGE_DELTA_BITS : head & 31;
        uint32_t delta = page->big_endian ? head & ((1u << PAGE_DELTA_BITS) - 1) : head >> 5;
        uint32_t size = type * 4;
        int result;

        if (type == PAGE_TYPE_PADDING && delta == 0) { /* the rest is unused */
            page->next = page->end;
            return 0;
        }
        if (type - 1 < PAGE_TYPE_DATA_MAX && size <= page->end - page->next - 4) {
            page->ts += delta;
            *out = (struct trd_page_event){ page->ts, page->data + page->next + 4, size };
            page->next += 4 + size;
            return 1;
        }
        result = take_long(page, type, delta, out);
        if (result != 0)
            return result;
    }
    return page->next == page->end ? 0 : give_up(page);
}

int trd_page_next(struct trd_page *page, struct trd_page_event *out)
{
    return page_next(page, out);
}
