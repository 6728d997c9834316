#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dat_pack.h"
#include "dat_writer_private.h"

/* What a file that grows may claim; the file systems in use allow twice as much. */
#define FILE_SIZE_MAX (UINT64_C(8) << 40)
#define STREAM_SIZE_MAX (UINT64_C(1) << 40)

int dat_layout_write(struct trd_dat_writer *writer, uint64_t offset, struct dat_bytes *bytes)
{
    int result = bytes->failed ? -ENOMEM
                               : writer->target.write(writer->target.context, offset, bytes->bytes,
                                                      bytes->size);

    dat_bytes_finish(bytes);
    return result;
}

static void put_header(const struct trd_dat_writer *writer, struct dat_bytes *out)
{
    static const uint8_t magic[] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
    const uint8_t machine[] = { __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, sizeof(long) };

    dat_bytes_put(out, magic, sizeof(magic));
    dat_bytes_text(out, "7");
    dat_bytes_put(out, machine, sizeof(machine));
    /* trace-cmd takes this one for the largest sub-buffer of the top buffer. */
    dat_bytes_u32(out, writer->options.page_size);
    /* Data are compressed at the end only: sections say by themselves whether they are. */
    dat_bytes_text(out, writer->options.zstd ? "zstd" : "none");
    dat_bytes_text(out, "");
    dat_bytes_u64(out, writer->options_at);
}

void dat_layout_put_option(struct dat_bytes *out, uint16_t id, const void *data, uint32_t size)
{
    dat_bytes_u16(out, id);
    dat_bytes_u32(out, size);
    dat_bytes_put(out, data, size);
}

static void put_buffer(const struct trd_dat_writer *writer, struct dat_bytes *out, uint64_t section,
                       const char *name, const struct dat_stream *streams, uint32_t count,
                       const uint64_t *sizes)
{
    dat_bytes_u16(out, DAT_OPTION_BUFFER);
    dat_bytes_u32(out, (uint32_t)(8 + strlen(name) + 1 + strlen(writer->options.clock) + 1 + 8 +
                                  (size_t)count * 20));
    dat_bytes_u64(out, section);
    dat_bytes_text(out, name);
    dat_bytes_text(out, writer->options.clock);
    dat_bytes_u32(out, writer->options.page_size);
    dat_bytes_u32(out, count);
    for (uint32_t i = 0; i < count; i++) {
        dat_bytes_u32(out, i);
        dat_bytes_u64(out, streams[i].begin);
        dat_bytes_u64(out, sizes[i]);
    }
}

static void put_clock(const struct trd_dat_writer *writer, struct dat_bytes *out)
{
    struct dat_bytes text = { 0 };

    dat_bytes_print(&text, "[%s]\n", writer->options.clock);
    dat_layout_put_option(out, DAT_OPTION_TRACECLOCK, text.bytes, (uint32_t)text.size);
    out->failed |= text.failed;
    dat_bytes_finish(&text);
}

void dat_layout_put_options(const struct trd_dat_writer *writer, struct dat_bytes *out,
                            uint32_t cpus, const uint64_t *sizes)
{
    put_clock(writer, out);
    dat_layout_put_option(out, DAT_OPTION_UNAME, writer->options.uname,
                          (uint32_t)strlen(writer->options.uname) + 1);
    dat_layout_put_option(out, DAT_OPTION_CPUCOUNT, &cpus, sizeof(cpus));
    for (uint16_t id = DAT_OPTION_HEADER_INFO; id <= DAT_OPTION_CMDLINES; id++)
        if (writer->sections[id])
            dat_layout_put_option(out, id, &writer->sections[id], sizeof(writer->sections[id]));
    put_buffer(writer, out, writer->kernel_section, "", writer->streams, cpus, sizes);
    put_buffer(writer, out, writer->clr_section, DAT_CLR_BUFFER, writer->clr, 1,
               &sizes[writer->clr - writer->streams]);
}

void dat_layout_put_end(struct dat_bytes *out, size_t section)
{
    const uint64_t none = 0;

    dat_layout_put_option(out, DAT_OPTION_DONE, &none, sizeof(none));
    dat_section_close(out, section);
}

/* The same size each time: it is written again as the file grows. */
int dat_layout_write_options(struct trd_dat_writer *writer, const uint64_t *sizes)
{
    struct dat_bytes out = { 0 };
    size_t section = dat_section_open(&out, DAT_OPTION_DONE);

    dat_layout_put_options(writer, &out, writer->options.cpu_max, sizes);
    dat_layout_put_end(&out, section);
    return dat_layout_write(writer, writer->options_at, &out);
}

uint64_t *dat_layout_sizes(const struct trd_dat_writer *writer)
{
    uint64_t *sizes = calloc(writer->options.cpu_max + 1u, sizeof(*sizes));

    for (uint32_t i = 0; sizes && i <= writer->options.cpu_max; i++)
        sizes[i] = writer->streams[i].size;
    return sizes;
}

int dat_layout_write_head(struct trd_dat_writer *writer, uint64_t at, uint64_t end)
{
    struct dat_bytes out = { 0 };
    uint64_t size = end - at - DAT_SECTION_HEAD;
    uint16_t flags = writer->packed ? DAT_SECTION_COMPRESSED : 0;

    (void)dat_section_open(&out, DAT_OPTION_BUFFER);
    if (!out.failed) {
        memcpy(out.bytes + 2, &flags, sizeof(flags));
        memcpy(out.bytes + 8, &size, sizeof(size));
    }
    return dat_layout_write(writer, at, &out);
}

uint64_t dat_layout_round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* A region for each CPU, the head of the CLR's data between the last one's and its own. */
static int place_streams(struct trd_dat_writer *writer, uint64_t at)
{
    uint32_t page = writer->options.page_size, cpus = writer->options.cpu_max;
    uint64_t room = FILE_SIZE_MAX / (cpus + 1u);
    int result;

    room = (room < STREAM_SIZE_MAX ? room : STREAM_SIZE_MAX) / page * page;
    writer->kernel_section = at;
    at = dat_layout_round_up(at + DAT_SECTION_HEAD, page);
    for (uint32_t i = 0; i <= cpus; i++) {
        if (i == cpus) {
            writer->clr_section = at;
            at += page;
        }
        writer->streams[i].target = &writer->target;
        writer->streams[i].layout = writer->layout;
        writer->streams[i].page_size = page;
        writer->streams[i].begin = at;
        writer->streams[i].room = room;
        at += room;
    }
    result = dat_layout_write_head(writer, writer->kernel_section, writer->clr_section);
    return result == 0 ? dat_layout_write_head(writer, writer->clr_section, at) : result;
}

int dat_layout_write_options_now(struct trd_dat_writer *writer)
{
    uint64_t *sizes = dat_layout_sizes(writer);
    int result = sizes ? dat_layout_write_options(writer, sizes) : -ENOMEM;

    free(sizes);
    return result;
}

/* Room for the options, whose size depends on texts and the number of CPUs only. */
uint64_t dat_layout_options_room(const struct trd_dat_writer *writer)
{
    return 512 + 2 * DAT_SECTION_HEAD + strlen(writer->options.uname) +
           3 * strlen(writer->options.clock) + ((uint64_t)writer->options.cpu_max + 1) * 20;
}

/* Where those of the compressed data go while they are moved: the first ones hold until then. */
uint64_t dat_layout_second_options(const struct trd_dat_writer *writer)
{
    return writer->options_at + (writer->options.zstd ? dat_layout_options_room(writer) : 0);
}

int dat_layout_start(struct trd_dat_writer *writer)
{
    struct dat_bytes head = { 0 };
    uint64_t offsets[DAT_OPTION_LAST + 1] = { 0 };
    int result;

    writer->started = true;
    writer->clr_base = dat_clr_choose_base(writer->catalog);
    put_header(writer, &head);
    writer->header_size = head.size;
    dat_sections_put(&head, writer->catalog, &writer->layout, writer->options.page_size,
                     writer->clr_base, offsets);
    if (writer->options.zstd)
        dat_pack_sections(&head, writer->header_size, offsets);
    memcpy(writer->sections, offsets, sizeof(offsets));
    writer->options_at = head.size;
    if (!head.failed)
        memcpy(head.bytes + writer->header_size - 8, &writer->options_at,
               sizeof(writer->options_at));
    result = dat_layout_write(writer, 0, &head);
    if (result == 0)
        result = place_streams(writer,
                               dat_layout_second_options(writer) + dat_layout_options_room(writer));
    return result == 0 ? dat_layout_write_options_now(writer) : result;
}

int dat_layout_write_options_at(struct trd_dat_writer *writer, uint64_t at)
{
    return writer->target.write(writer->target.context, writer->header_size - sizeof(at), &at,
                                sizeof(at));
}
