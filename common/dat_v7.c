/* trace.dat version 7: sections anywhere in the file, found through chained options. */
#include "dat.h"

#include <errno.h>
#include <stdlib.h>

#define SECTION_HEADER_SIZE 16
#define SECTION_COMPRESSED 1

/* A section's content, decompressed if it was compressed. */
struct section {
    uint16_t id;
    bool compressed;
    struct cursor cursor;
    uint8_t *owned; /* what was decompressed */
};

static int decompress_section(struct dat *dat, struct section *section)
{
    uint32_t packed_size = cursor_u32(&section->cursor);
    uint32_t size = cursor_u32(&section->cursor);
    const uint8_t *packed;

    /* Writers before 2023-06 put 4 bytes too few into the section's size: trust the inner one. */
    section->cursor.size = dat->size - (size_t)(section->cursor.bytes - dat->bytes);
    packed = cursor_take(&section->cursor, packed_size);
    if (!packed || size > DAT_SECTION_MAX)
        return -EBADMSG;
    section->owned = malloc(size ? size : 1);
    if (!section->owned)
        return -ENOMEM;
    if (codec_decompress(dat->codec, packed, packed_size, section->owned, size) != 0)
        return -EBADMSG;
    section->cursor = (struct cursor){ section->owned, size, 0, dat->big_endian, false };
    return 0;
}

/* `content`: whether the body is metadata that can be had as a whole. */
static int open_section(struct dat *dat, uint64_t offset, uint16_t wanted, bool content,
                        struct section *out)
{
    struct cursor cursor = { dat->bytes, dat->size, 0, dat->big_endian, false };
    uint16_t flags;
    uint64_t size;
    int result = 0;

    memset(out, 0, sizeof(*out));
    (void)cursor_take(&cursor, offset);
    out->id = cursor_u16(&cursor);
    flags = cursor_u16(&cursor);
    (void)cursor_u32(&cursor); /* its description in the strings section */
    size = cursor_u64(&cursor);
    if (cursor.failed || out->id != wanted)
        return -EBADMSG;
    if (size > dat->size - cursor.at)
        size = dat->size - cursor.at;
    out->compressed = (flags & SECTION_COMPRESSED) != 0;
    out->cursor =
        (struct cursor){ dat->bytes + cursor.at, (size_t)size, 0, dat->big_endian, false };
    if (content && out->compressed)
        result = decompress_section(dat, out);
    if (result != 0)
        free(out->owned);
    return result;
}

static int parse_text_section(struct dat *dat, uint16_t id, struct cursor *cursor)
{
    uint64_t size = id == DAT_OPTION_CMDLINES || id == DAT_OPTION_BTF_FILE ? cursor_u64(cursor)
                                                                           : cursor_u32(cursor);
    const uint8_t *text = cursor_take(cursor, size);

    if (!text)
        return -EBADMSG;
    switch (id) {
    case DAT_OPTION_KALLSYMS:
        (void)trd_catalog_add_kallsyms(dat->catalog, (const char *)text, size);
        break;
    case DAT_OPTION_PRINTK:
        (void)trd_catalog_add_printk_formats(dat->catalog, (const char *)text, size);
        break;
    case DAT_OPTION_CMDLINES:
        (void)trd_catalog_add_cmdlines(dat->catalog, (const char *)text, size);
        break;
    default:
        break;
    }
    return 0;
}

static int parse_section(struct dat *dat, uint16_t id, struct cursor *cursor)
{
    switch (id) {
    case DAT_OPTION_HEADER_INFO:
        return dat_parse_headers(dat, cursor);
    case DAT_OPTION_FTRACE_EVENTS:
        return dat_parse_ftrace_formats(dat, cursor);
    case DAT_OPTION_EVENT_FORMATS:
        return dat_parse_event_formats(dat, cursor);
    default:
        return parse_text_section(dat, id, cursor);
    }
}

static void read_section(struct dat *dat, uint16_t id, struct cursor *option)
{
    uint64_t offset = cursor_u64(option);
    struct section section;
    int result = option->failed ? -EBADMSG : open_section(dat, offset, id, true, &section);

    if (result == 0) {
        result = parse_section(dat, id, &section.cursor);
        free(section.owned);
    }
    if (result != 0)
        dat_add_damage(dat, 0,
                       "section %u at offset %llu cannot be read; events that need it are missing",
                       id, (unsigned long long)offset);
}

/* u64 section, name, clock, u32 sub-buffer size, u32 CPUs; per CPU u32 cpu, u64 offset, u64 size.
 */
static void read_buffer(struct dat *dat, struct cursor *option)
{
    uint64_t offset = cursor_u64(option);
    const char *name = cursor_text(option);
    const char *clock = cursor_text(option);
    uint32_t page_size = cursor_u32(option);
    uint32_t cpu_count = cursor_u32(option);
    struct dat_buffer *buffer;
    struct section section;

    if (option->failed || page_size == 0 || page_size > DAT_PAGE_MAX ||
        cpu_count > (option->size - option->at) / 20) {
        dat_add_damage(dat, 0, "a BUFFER option is damaged; its events are missing");
        return;
    }
    buffer = dat_add_buffer(dat, name, clock, page_size, cpu_count);
    if (!buffer) {
        dat_add_damage(dat, 0, "the file names too many buffers or CPUs; buffer \"%s\" is missing",
                       name);
        return;
    }
    if (open_section(dat, offset, DAT_OPTION_BUFFER, false, &section) == 0)
        buffer->compressed = section.compressed;
    else
        buffer->compressed = dat->codec != CODEC_NONE;
    for (uint32_t i = 0; i < cpu_count; i++) {
        buffer->cpus[i].cpu = (int32_t)cursor_u32(option);
        buffer->cpus[i].offset = cursor_u64(option);
        buffer->cpus[i].size = cursor_u64(option);
    }
}

static void read_option(struct dat *dat, uint16_t id, struct cursor *option)
{
    switch (id) {
    case DAT_OPTION_BUFFER:
        read_buffer(dat, option);
        break;
    case DAT_OPTION_HEADER_INFO:
    case DAT_OPTION_FTRACE_EVENTS:
    case DAT_OPTION_EVENT_FORMATS:
    case DAT_OPTION_KALLSYMS:
    case DAT_OPTION_PRINTK:
    case DAT_OPTION_CMDLINES:
    case DAT_OPTION_BTF_FILE:
        read_section(dat, id, option);
        break;
    default:
        dat_parse_option(dat, id, option);
        break;
    }
}

/* One options section; *out_next is the next one's offset, 0 at the end. */
static int read_options(struct dat *dat, uint64_t offset, uint64_t *out_next)
{
    struct section section;
    int result = open_section(dat, offset, 0, true, &section);

    if (result != 0)
        return result;
    for (;;) {
        uint16_t id = cursor_u16(&section.cursor);
        struct cursor option = { .big_endian = dat->big_endian };

        option.size = cursor_u32(&section.cursor);
        option.bytes = cursor_take(&section.cursor, option.size);
        if (!option.bytes) {
            result = -EBADMSG;
            break;
        }
        if (id == DAT_OPTION_DONE) {
            *out_next = cursor_u64(&option);
            break;
        }
        read_option(dat, id, &option);
    }
    free(section.owned);
    return result;
}

int dat_read_v7(struct dat *dat, struct cursor *cursor)
{
    const char *name = cursor_text(cursor);
    const char *version = cursor_text(cursor);
    uint64_t next = cursor_u64(cursor);
    uint64_t first_section = cursor->at;
    int sections = 0;

    (void)version;
    if (cursor->failed)
        return dat_fail(dat, -EBADMSG, "the file ends in its header");
    if (codec_find(name, &dat->codec) != 0)
        return dat_fail(dat, -ENOTSUP,
                        "the file is compressed with \"%s\", which is not built in "
                        "(none, zlib and zstd are)",
                        name);
    while (next != 0) {
        uint64_t at = next;

        next = 0;
        if (++sections > DAT_OPTION_SECTIONS_MAX) {
            dat_add_damage(dat, 0, "the options go in a circle; the rest of them is not read");
            break;
        }
        if (read_options(dat, at, &next) != 0) {
            dat_add_damage(dat, 0, "the options at offset %llu are missing or damaged",
                           (unsigned long long)at);
            dat->truncated = true;
            break;
        }
    }
    if (dat->buffer_count == 0)
        dat_salvage_v7(dat, first_section);
    return 0;
}
