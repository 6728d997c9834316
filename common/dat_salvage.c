/*
 * A version 7 file that was cut lacks the option that says where the data is, since that is written
 * last. Sections follow each other without gaps, so the data section is found by stepping from
 * header to header, and inside it the CPUs by their pages: page-aligned runs in CPU order.
 */
#include "dat.h"

#include <stdlib.h>

#define SECTION_COMPRESSED 1

static uint64_t align(uint64_t offset, uint32_t page_size)
{
    return (offset + page_size - 1) / page_size * page_size;
}

static void add_cpu(struct dat *dat, struct dat_buffer *buffer, uint64_t offset, uint64_t end)
{
    struct dat_cpu_range *cpus;
    uint32_t count = buffer->public.cpu_count;

    if (end <= offset || count == DAT_CPUS_MAX)
        return;
    (void)dat;
    cpus = realloc(buffer->cpus, (count + 1) * sizeof(*cpus));
    if (!cpus)
        return;
    buffer->cpus = cpus;
    cpus[count] = (struct dat_cpu_range){ (int32_t)count, offset, end - offset };
    buffer->public.cpu_count = count + 1;
}

/* Page times grow within a CPU; where they fall back, the next CPU's pages begin. */
static void scan_pages(struct dat *dat, struct dat_buffer *buffer, uint64_t at, uint64_t end)
{
    uint32_t page_size = buffer->public.page_size;
    uint64_t start = at, last = 0;

    for (; at + 16 <= end; at += page_size) {
        uint64_t ts = load_u64(dat->bytes + at, dat->big_endian);

        if (ts < last) {
            add_cpu(dat, buffer, start, at);
            start = at;
        }
        last = ts;
    }
    add_cpu(dat, buffer, start, end);
}

/* Per CPU: u32 chunks, then u32 packed size, u32 size, bytes each. */
static void scan_chunks(struct dat *dat, struct dat_buffer *buffer, uint64_t at, uint64_t end)
{
    while (at + 4 <= end) {
        struct cursor cursor = { dat->bytes + at, (size_t)(end - at), 0, dat->big_endian, false };
        uint32_t chunks = cursor_u32(&cursor);

        if (chunks == 0)
            break;
        for (uint32_t i = 0; i < chunks && !cursor.failed; i++) {
            uint32_t packed = cursor_u32(&cursor);

            (void)cursor_u32(&cursor);
            (void)cursor_take(&cursor, packed);
        }
        add_cpu(dat, buffer, at, cursor.failed ? end : at + cursor.at);
        if (cursor.failed)
            break;
        at = align(at + cursor.at, buffer->public.page_size);
    }
}

static void salvage_section(struct dat *dat, uint64_t body, uint64_t end, bool compressed)
{
    struct dat_buffer *buffer =
        dat_add_buffer(dat, "", dat->clock ? dat->clock : "", dat->page_size, 0);

    if (!buffer)
        return;
    buffer->compressed = compressed;
    body = align(body, dat->page_size);
    if (compressed)
        scan_chunks(dat, buffer, body, end);
    else
        scan_pages(dat, buffer, body, end);
    dat_add_damage(dat, 0,
                   "the file lost its directory (was it cut?): %llu bytes of data were found by "
                   "their pages; CPU numbers are guessed from their order",
                   (unsigned long long)(end > body ? end - body : 0));
}

void dat_salvage_v7(struct dat *dat, uint64_t first_section)
{
    struct cursor cursor = { dat->bytes, dat->size, 0, dat->big_endian, false };

    dat->truncated = true;
    (void)cursor_take(&cursor, first_section);
    while (!cursor.failed && cursor.at < cursor.size) {
        uint16_t id = cursor_u16(&cursor);
        uint16_t flags = cursor_u16(&cursor);
        uint64_t size, body;

        (void)cursor_u32(&cursor);
        size = cursor_u64(&cursor);
        if (cursor.failed)
            break;
        body = cursor.at;
        if (id == DAT_OPTION_BUFFER)
            salvage_section(dat, body,
                            size > dat->size - body || size == 0 ? dat->size : body + size,
                            flags & SECTION_COMPRESSED);
        if (size == 0) /* it was being written when the recording ended */
            break;
        (void)cursor_take(&cursor, size);
    }
}
