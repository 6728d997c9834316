/*
 * Hot path: ring page -> record. Budget: no allocation, no call, a handful of instructions per
 * record; measured by tests/bench/bench_reader.c in records per second.
 */
#include "tracerd/page.h"

#include <errno.h>

#include "bytes.h"

/* kernel/trace/ring_buffer.c */
#define COMMIT_MASK ((1u << 27) - 1)
#define COMMIT_MISSED_STORED (1u << 30)
#define COMMIT_MISSED (1u << 31)
#define TYPE_DATA_MAX 28
#define TYPE_PADDING 29
#define TYPE_TIME_EXTEND 30
#define TYPE_TIME_STAMP 31
#define DELTA_BITS 27
/* An absolute stamp carries the low 59 bits; the rest is that of the time before. */
#define STAMP_BITS 59
#define STAMP_MASK ((UINT64_C(1) << STAMP_BITS) - 1)

static uint64_t stored_loss(const struct trd_page *page, size_t size, uint8_t long_size)
{
    if (page->end + long_size > size)
        return UINT64_MAX;
    return load_int(page->data + page->end, long_size, false, page->big_endian);
}

int trd_page_init(struct trd_page *page, const uint8_t *bytes, size_t size,
                  const struct trd_page_layout *layout)
{
    uint32_t commit;
    size_t room;

    if (size < layout->data_offset || size < 8)
        return -EBADMSG;
    /* On a big-endian 64-bit kernel the flags and the length are in the word's second half. */
    commit = (uint32_t)load_int(bytes + layout->commit_offset, layout->commit_size, false,
                                layout->big_endian);
    room = size - layout->data_offset;
    *page = (struct trd_page){
        .ts = load_u64(bytes, layout->big_endian),
        .data = bytes + layout->data_offset,
        .end = commit & COMMIT_MASK,
        .big_endian = layout->big_endian,
        .lost_events = (commit & COMMIT_MISSED) != 0,
    };
    if (page->end > room) {
        page->damaged = (uint32_t)(page->end - room);
        page->end = (uint32_t)room;
        page->lost = page->lost_events ? UINT64_MAX : 0;
        return -EBADMSG;
    }
    if (page->lost_events)
        page->lost =
            commit & COMMIT_MISSED_STORED ? stored_loss(page, room, layout->long_size) : UINT64_MAX;
    return 0;
}

/* The rest of the page cannot be trusted. */
static int give_up(struct trd_page *page, uint32_t at)
{
    page->damaged += page->end - at;
    page->next = page->end;
    return -EBADMSG;
}

static inline uint64_t absolute_time(uint64_t stamp, uint64_t before)
{
    uint64_t ts = stamp | (before & ~STAMP_MASK);

    return ts < before ? ts + (UINT64_C(1) << STAMP_BITS) : ts;
}

int trd_page_next(struct trd_page *page, struct trd_page_event *out)
{
    const bool big_endian = page->big_endian;
    uint32_t at = page->next;

    while (page->end - at >= 4 && at < page->end) {
        uint32_t head = load_u32(page->data + at, big_endian);
        uint32_t type = big_endian ? head >> DELTA_BITS : head & 31;
        uint32_t delta = big_endian ? head & ((1u << DELTA_BITS) - 1) : head >> 5;
        uint32_t left = page->end - at - 4;
        uint32_t word, size;

        if (__builtin_expect(type >= 1 && type <= TYPE_DATA_MAX, 1)) {
            size = type * 4;
            if (size > left)
                return give_up(page, at);
            page->ts += delta;
            *out = (struct trd_page_event){ page->ts, page->data + at + 4, size };
            page->next = at + 4 + size;
            return 1;
        }
        if (type == TYPE_PADDING && delta == 0) /* the rest is unused */
            break;
        if (left < 4)
            return give_up(page, at);
        word = load_u32(page->data + at + 4, big_endian);
        switch (type) {
        case 0: /* long form: the word is its own length and the payload's */
            size = (word + 3) & ~3u;
            if (word < 4 || size > left)
                return give_up(page, at);
            page->ts += delta;
            *out = (struct trd_page_event){ page->ts, page->data + at + 8, word - 4 };
            page->next = at + 4 + size;
            return 1;
        case TYPE_PADDING: /* a discarded event; its delta is not time that passed for the next */
            size = (word + 3) & ~3u;
            if (word < 4 || size > left)
                return give_up(page, at);
            at += 4 + size;
            break;
        case TYPE_TIME_EXTEND:
            page->ts += ((uint64_t)word << DELTA_BITS) + delta;
            at += 8;
            break;
        case TYPE_TIME_STAMP:
            page->ts = absolute_time(((uint64_t)word << DELTA_BITS) + delta, page->ts);
            at += 8;
            break;
        default:
            return give_up(page, at);
        }
    }
    page->next = page->end;
    return 0;
}
