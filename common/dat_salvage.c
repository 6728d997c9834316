/*
 * A version 7 file that was cut lacks the option that says where the data is, since that is written
 * last. Sections follow each other without gaps, so the data sections are found by stepping from
 * header to header, and inside them the CPUs: page-aligned runs in CPU order, each beginning with
 * its number of chunks, or where the pages' times fall back.
 */
#include <stdio.h>
#include <stdlib.h>

#include "dat_section.h"
#include "tracerd/page.h"

/* Pages looked at to find out how large pages are. */
#define PROBES 16

void dat_salvage_options(struct dat *dat, uint64_t first_section)
{
    struct dat_section section;
    uint64_t at = first_section, next;

    while (dat_section_next(dat, &at, &section)) {
        if (section.id == DAT_OPTION_DONE)
            (void)dat_read_options(dat, section.at, &next);
        else if (section.id <= DAT_OPTION_LAST && !dat->sections[section.id])
            dat->sections[section.id] = section.at;
    }
}

static uint64_t align(uint64_t offset, uint32_t page_size)
{
    return (offset + page_size - 1) / page_size * page_size;
}

/* Whether the first bytes are whole pages of this size and nothing else. */
static bool are_pages(const struct dat *dat, const uint8_t *bytes, uint64_t size,
                      uint32_t page_size)
{
    const struct trd_page_layout *layout = trd_catalog_get_layout(dat->catalog);

    for (uint32_t i = 0; i < PROBES && size >= page_size; i++) {
        struct trd_page page;
        struct trd_page_event event;

        if (trd_page_init(&page, bytes, page_size, layout) != 0 || page.ts == 0)
            return false;
        while (trd_page_next(&page, &event) == 1)
            ;
        if (page.damaged)
            return false;
        bytes += page_size;
        size -= page_size;
    }
    return true;
}

/* header_page tells of the top buffer only: the smallest size that fits is taken. */
static uint32_t guess_page_size(const struct dat *dat, const uint8_t *bytes, uint64_t size)
{
    for (uint32_t page_size = dat->page_size; page_size <= DAT_PAGE_MAX; page_size *= 2)
        if (are_pages(dat, bytes, size, page_size))
            return page_size;
    return dat->page_size;
}

static void add_cpu(struct dat *dat, struct dat_buffer *buffer, uint64_t offset, uint64_t end)
{
    struct dat_cpu_range range = { .cpu = (int32_t)buffer->public.cpu_count,
                                   .offset = offset,
                                   .size = end - offset };

    if (end > offset)
        (void)dat_add_cpu(dat, buffer, range);
}

static void scan_pages(struct dat *dat, struct dat_buffer *buffer, uint64_t at, uint64_t end)
{
    uint32_t page_size = guess_page_size(dat, dat->bytes + at, end - at);
    uint64_t start = at, last = 0;

    buffer->public.page_size = page_size;
    for (; at + 8 <= end; at += page_size) {
        uint64_t ts = load_u64(dat->bytes + at, dat->big_endian);

        if (ts < last) {
            add_cpu(dat, buffer, start, at);
            start = at;
        }
        last = ts;
        if (at % DAT_RELEASE_STEP < page_size)
            dat_release(dat, start, at);
    }
    add_cpu(dat, buffer, start, end);
}

static uint32_t guess_packed_page_size(struct dat *dat, struct cursor cursor)
{
    uint32_t packed_size = cursor_u32(&cursor);
    uint32_t size = cursor_u32(&cursor);
    const uint8_t *packed = cursor_take(&cursor, packed_size);
    uint8_t *bytes = packed && size <= DAT_CHUNK_MAX ? malloc(size ? size : 1) : NULL;
    uint32_t page_size = dat->page_size;

    if (bytes && codec_decompress(&dat->codec, packed, packed_size, bytes, size) == 0)
        page_size = guess_page_size(dat, bytes, size);
    free(bytes);
    return page_size;
}

/* Per CPU: u32 chunks, then u32 packed size, u32 size, bytes each. */
static void scan_chunks(struct dat *dat, struct dat_buffer *buffer, uint64_t at, uint64_t end)
{
    while (at + 4 < end) {
        struct cursor cursor = { dat->bytes + at, (size_t)(end - at), 0, dat->big_endian, false };
        uint32_t chunks = cursor_u32(&cursor);

        if (chunks == 0) { /* padding */
            at = align(at + 1, dat->page_size);
            continue;
        }
        if (buffer->public.cpu_count == 0)
            buffer->public.page_size = guess_packed_page_size(dat, cursor);
        for (uint32_t i = 0; i < chunks && !cursor.failed; i++) {
            uint32_t packed_size = cursor_u32(&cursor);

            (void)cursor_u32(&cursor);
            (void)cursor_take(&cursor, packed_size);
        }
        add_cpu(dat, buffer, at, cursor.failed ? end : at + cursor.at);
        dat_release(dat, at, at + cursor.at);
        if (cursor.failed)
            break;
        at = align(at + cursor.at, dat->page_size);
    }
}

/* Where a CPU's run begins: page-aligned, and not the zeros before it. */
static uint64_t find_data(const struct dat *dat, uint64_t at, uint64_t end)
{
    for (at = align(at, dat->page_size); at + 16 <= end; at += dat->page_size)
        if (load_u64(dat->bytes + at, dat->big_endian) != 0)
            break;
    return at < end ? at : end;
}

static void salvage_section(struct dat *dat, const struct dat_section *section)
{
    uint64_t at = (uint64_t)(section->cursor.bytes - dat->bytes);
    uint64_t end = at + section->cursor.size;
    char name[32] = "";
    struct dat_buffer *buffer;

    at = find_data(dat, at, end);
    if (at == end)
        return;
    if (dat->buffer_count > 0)
        (void)snprintf(name, sizeof(name), "unnamed-%zu", dat->buffer_count);
    buffer = dat_add_buffer(dat, name, dat->clock ? dat->clock : "", dat->page_size, 0);
    if (!buffer)
        return;
    buffer->section = section->at;
    buffer->compressed = section->compressed;
    if (section->compressed)
        scan_chunks(dat, buffer, at, end);
    else
        scan_pages(dat, buffer, at, end);
    /* Those before the last are whole: something follows them. */
    if (section->open && buffer->public.cpu_count > 0)
        buffer->cpus[buffer->public.cpu_count - 1].cut = true;
    dat_add_damage(dat, 0,
                   "the file lost its directory (was it cut?): %llu bytes of data were found by "
                   "their pages; CPU numbers are guessed from their order",
                   (unsigned long long)(end - at));
}

static bool is_known(const struct dat *dat, uint64_t section)
{
    for (size_t i = 0; i < dat->buffer_count; i++)
        if (dat->buffers[i].section == section)
            return true;
    return false;
}

void dat_salvage_data(struct dat *dat, uint64_t first_section)
{
    struct dat_section section;
    uint64_t at = first_section;

    while (dat_section_next(dat, &at, &section))
        if (section.id == DAT_OPTION_BUFFER && !is_known(dat, section.at))
            salvage_section(dat, &section);
    if (dat->buffer_count == 0)
        dat_add_damage(dat, 0, "the file does not say where its events are, and none were found");
}
