#include "page_maker.h"

#include <string.h>

#define COMMIT_AT 8
#define TYPE_TIME_EXTEND 30
#define DELTA_BITS 27
#define SHORT_MAX 112

void page_maker_put(uint8_t *to, uint64_t value, size_t size, bool big_endian)
{
    for (size_t i = 0; i < size; i++)
        to[i] = (uint8_t)(value >> 8 * (big_endian ? size - 1 - i : i));
}

struct trd_page_layout page_maker_layout(bool big_endian, uint8_t long_size)
{
    return (struct trd_page_layout){
        .big_endian = big_endian,
        .long_size = long_size,
        .commit_size = long_size,
        .commit_offset = COMMIT_AT,
        .data_offset = (uint16_t)(COMMIT_AT + long_size),
    };
}

void page_maker_init(struct page_maker *page, uint8_t *bytes, size_t size, bool big_endian,
                     uint8_t long_size, uint64_t ts)
{
    *page = (struct page_maker){ bytes, size,       COMMIT_AT + (size_t)long_size,
                                 ts,    big_endian, long_size };
    memset(bytes, 0, size);
    page_maker_put(bytes, ts, 8, big_endian);
}

void page_maker_word(struct page_maker *page, uint32_t word)
{
    page_maker_put(page->bytes + page->at, word, 4, page->big_endian);
    page->at += 4;
}

void page_maker_head(struct page_maker *page, uint32_t type, uint32_t delta)
{
    page_maker_word(page, page->big_endian ? type << DELTA_BITS | delta : delta << 5 | type);
}

bool page_maker_event(struct page_maker *page, uint64_t ts, const void *payload, uint32_t size)
{
    uint64_t delta = ts - page->ts;
    bool far = delta >> DELTA_BITS != 0;
    bool is_long = size == 0 || size > SHORT_MAX || size % 4 != 0;
    size_t need = (far ? 8 : 0) + (is_long ? 8 : 4) + (size + 3) / 4 * 4;

    if (need > page->size - page->at)
        return false;
    if (far) {
        page_maker_head(page, TYPE_TIME_EXTEND, (uint32_t)(delta & ((1u << DELTA_BITS) - 1)));
        page_maker_word(page, (uint32_t)(delta >> DELTA_BITS));
        delta = 0;
    }
    page_maker_head(page, is_long ? 0 : size / 4, (uint32_t)delta);
    if (is_long)
        page_maker_word(page, size + 4);
    memcpy(page->bytes + page->at, payload, size);
    page->at += (size + 3) / 4 * 4;
    page->ts = ts;
    return true;
}

void page_maker_finish(struct page_maker *page, uint64_t lost)
{
    size_t end = page->at;
    uint64_t commit = end - COMMIT_AT - page->long_size;

    if (lost > 0)
        commit |= 1u << 31;
    if (lost > 0 && lost != PAGE_MAKER_LOST_UNKNOWN && page->size - end >= page->long_size) {
        commit |= 1u << 30;
        page_maker_put(page->bytes + end, lost, page->long_size, page->big_endian);
    }
    page_maker_put(page->bytes + COMMIT_AT, commit, page->long_size, page->big_endian);
}
