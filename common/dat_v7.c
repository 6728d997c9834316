/* trace.dat version 7: sections anywhere in the file, found through chained options. */
#include <errno.h>
#include <stdlib.h>

#include "dat_section.h"

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
    default: /* without it enumerators stay names, nothing else */
        (void)trd_catalog_add_btf(dat->catalog, text, size);
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

static void load_section(struct dat *dat, uint16_t id)
{
    struct dat_section section;
    int result = dat_section_find(dat, dat->sections[id], &section);

    if (result == 0 && section.id != id)
        result = -EBADMSG;
    if (result == 0)
        result = dat_section_unpack(dat, &section);
    if (result == 0)
        result = parse_section(dat, id, &section.cursor);
    dat_section_finish(&section);
    if (result != 0)
        dat_add_damage(dat, 0,
                       "section %u at offset %llu cannot be read; events that need it are missing",
                       id, (unsigned long long)dat->sections[id]);
}

/* In the order in which one needs the other, whatever their order in the file. */
static void load_metadata(struct dat *dat)
{
    static const uint16_t order[] = {
        DAT_OPTION_HEADER_INFO,   DAT_OPTION_BTF_FILE,      DAT_OPTION_KALLSYMS, DAT_OPTION_PRINTK,
        DAT_OPTION_FTRACE_EVENTS, DAT_OPTION_EVENT_FORMATS, DAT_OPTION_CMDLINES,
    };

    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
        if (dat->sections[order[i]])
            load_section(dat, order[i]);
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
    struct dat_section section;

    if (option->failed || page_size < DAT_PAGE_MIN || page_size > DAT_PAGE_MAX ||
        cpu_count > (option->size - option->at) / 20) {
        dat_add_damage(dat, 0, "a BUFFER option is damaged");
        dat->lacks_buffer = true;
        return;
    }
    if (cpu_count == 0) { /* then its section had better be empty, too */
        dat->lacks_buffer = true;
        return;
    }
    buffer = dat_add_buffer(dat, name, clock, page_size, cpu_count);
    if (!buffer) {
        dat_add_damage(dat, 0, "the file names too many buffers or CPUs; buffer \"%s\" is missing",
                       name);
        return;
    }
    buffer->section = offset;
    buffer->compressed = dat->codec.kind != CODEC_NONE;
    if (dat_section_find(dat, offset, &section) == 0 && section.id == DAT_OPTION_BUFFER)
        buffer->compressed = section.compressed;
    for (uint32_t i = 0; i < cpu_count; i++) {
        buffer->cpus[i].cpu = (int32_t)cursor_u32(option);
        buffer->cpus[i].offset = cursor_u64(option);
        buffer->cpus[i].size = cursor_u64(option);
    }
}

static void read_option(struct dat *dat, uint16_t id, struct cursor *option)
{
    uint64_t offset;

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
        offset = cursor_u64(option);
        if (!option->failed)
            dat->sections[id] = offset;
        break;
    default:
        dat_parse_option(dat, id, option);
        break;
    }
}

/* Option by option up to DONE; *out_next is the next section's offset, 0 = this was the last. */
static int parse_options(struct dat *dat, struct cursor *cursor, uint64_t *out_next)
{
    for (;;) {
        uint16_t id = cursor_u16(cursor);
        struct cursor option = { .big_endian = dat->big_endian };

        option.size = cursor_u32(cursor);
        option.bytes = cursor_take(cursor, option.size);
        if (!option.bytes)
            return -EBADMSG;
        if (id == DAT_OPTION_DONE) {
            *out_next = cursor_u64(&option);
            return option.failed ? -EBADMSG : 0;
        }
        read_option(dat, id, &option);
    }
}

static bool seen_options(const struct dat *dat, uint64_t offset)
{
    for (size_t i = 0; i < dat->options_count; i++)
        if (dat->options_seen[i] == offset)
            return true;
    return false;
}

int dat_read_options(struct dat *dat, uint64_t offset, uint64_t *out_next)
{
    struct dat_section section;
    int result;

    if (seen_options(dat, offset))
        return -ELOOP;
    if (dat->options_count == DAT_OPTION_SECTIONS_MAX)
        return -E2BIG;
    dat->options_seen[dat->options_count++] = offset;
    result = dat_section_find(dat, offset, &section);
    if (result == 0 && section.id != DAT_OPTION_DONE)
        result = -EBADMSG;
    if (result == 0)
        result = dat_section_unpack(dat, &section);
    if (result == 0)
        result = parse_options(dat, &section.cursor, out_next);
    dat_section_finish(&section);
    return result;
}

/* False if a part of the chain is missing. */
static bool follow_options(struct dat *dat, uint64_t next)
{
    while (next != 0) {
        uint64_t at = next;
        int result;

        next = 0;
        result = dat_read_options(dat, at, &next);
        if (result == 0)
            continue;
        dat_add_damage(dat, 0,
                       result == -ELOOP ? "the options go in a circle, back to offset %llu"
                       : result == -E2BIG
                           ? "the file has too many options sections; that at offset "
                             "%llu and what follows is not read"
                           : "the options at offset %llu are missing or damaged (was "
                             "the file cut?)",
                       (unsigned long long)at);
        return false;
    }
    return true;
}

int dat_read_v7(struct dat *dat, struct cursor *cursor)
{
    const char *name = cursor_text(cursor);
    const char *version = cursor_text(cursor);
    uint64_t options = cursor_u64(cursor);
    uint64_t first_section = cursor->at;
    bool complete;
    int result;

    (void)version; /* of the library that packed; every later one unpacks it */
    if (cursor->failed)
        return dat_fail(dat, -EBADMSG, "the file ends in its header");
    result = codec_init(&dat->codec, name);
    if (result == -ENOTSUP)
        return dat_fail(dat, result,
                        "the file is compressed with \"%.32s\", which is not built in (none, zlib "
                        "and zstd are)",
                        name);
    if (result != 0)
        return dat_fail(dat, result, "no memory");
    complete = follow_options(dat, options) && dat->buffer_count > 0 && !dat->lacks_buffer;
    if (!complete)
        dat_salvage_options(dat, first_section);
    load_metadata(dat);
    if (!complete)
        dat_salvage_data(dat, first_section);
    return 0;
}
