/*
 * Writes sub-buffers as the kernel's ring buffer would, of either byte order and word size; for
 * tests of whatever reads them.
 */
#ifndef TRD_TESTS_PAGE_MAKER_H
#define TRD_TESTS_PAGE_MAKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracerd/catalog.h"

#define PAGE_MAKER_LOST_UNKNOWN UINT64_MAX

struct page_maker {
    uint8_t *bytes; /* the caller's, `size` of them */
    size_t size;
    size_t at;
    uint64_t ts;
    bool big_endian;
    uint8_t long_size;
};

struct trd_page_layout page_maker_layout(bool big_endian, uint8_t long_size);

void page_maker_init(struct page_maker *page, uint8_t *bytes, size_t size, bool big_endian,
                     uint8_t long_size, uint64_t ts);
/* Any record head, and then words of any kind: the parts the rest is made of. */
void page_maker_head(struct page_maker *page, uint32_t type, uint32_t delta);
void page_maker_word(struct page_maker *page, uint32_t word);
/* A data record, with a time extend before it if the distance needs one; false if it does not fit.
 * Payloads beyond 112 bytes or not of whole words get the long form. */
bool page_maker_event(struct page_maker *page, uint64_t ts, const void *payload, uint32_t size);
/* Writes the commit word; `lost` events before this page, 0 = none. The count is stored if there is
 * room, as the kernel does. */
void page_maker_finish(struct page_maker *page, uint64_t lost);

void page_maker_put(uint8_t *to, uint64_t value, size_t size, bool big_endian);

#endif
