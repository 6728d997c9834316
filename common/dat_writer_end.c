/* The end of a trace.dat: what lies in regions far apart is compressed, if that is asked for, and
 * moved together. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dat_pack.h"
#include "dat_writer_private.h"

static int move_stream(struct trd_dat_writer *writer, struct dat_stream *stream, uint64_t to)
{
    int result = 0;

    if (stream->size > 0 && to != stream->begin)
        result = writer->target.move(writer->target.context, stream->begin, to, stream->size);
    if (result == 0)
        stream->begin = to;
    return result;
}

/* One behind the other. *out_end: behind the last. */
static int move_together(struct trd_dat_writer *writer, uint64_t *out_end)
{
    uint64_t at =
        dat_layout_round_up(writer->kernel_section + DAT_SECTION_HEAD, writer->options.page_size);
    int result = 0;

    for (uint32_t i = 0; i <= writer->options.cpu_max && result == 0; i++) {
        if (i == writer->options.cpu_max) {
            writer->clr_section = at;
            at += writer->options.page_size;
        }
        result = move_stream(writer, &writer->streams[i], at);
        if (result == 0 && i < writer->options.cpu_max)
            result = dat_layout_write_options_now(writer);
        at = dat_layout_round_up(at + writer->streams[i].size, writer->options.page_size);
    }
    *out_end = at;
    if (result == 0)
        result = dat_layout_write_head(writer, writer->kernel_section, writer->clr_section);
    return result == 0 ? dat_layout_write_head(writer, writer->clr_section, at) : result;
}

/*
 * Compressed data lie behind the others by now, heads of their own at the end of the room of the
 * second options: with eight bytes of the header the file is the other one. Then the first heads
 * may change too, which is where the data belong from here on.
 */
static int switch_to_packed(struct trd_dat_writer *writer)
{
    uint64_t kernel = writer->kernel_section, clr = writer->clr_section;
    uint64_t heads;
    int result;

    writer->options_at = dat_layout_second_options(writer);
    heads = writer->options_at + dat_layout_options_room(writer) - 2 * DAT_SECTION_HEAD;
    writer->packed = true;
    writer->kernel_section = heads;
    writer->clr_section = heads + DAT_SECTION_HEAD;
    result = dat_layout_write_head(writer, writer->kernel_section, clr);
    if (result == 0)
        result = dat_layout_write_head(writer, writer->clr_section, writer->clr->begin);
    if (result == 0)
        result = dat_layout_write_options_now(writer);
    if (result == 0)
        result = dat_layout_write_options_at(writer, writer->options_at);
    if (result == 0)
        result = dat_layout_write_head(writer, kernel, clr);
    if (result == 0)
        result = dat_layout_write_head(writer, clr, writer->clr->begin + writer->clr->size);
    writer->kernel_section = kernel;
    writer->clr_section = clr;
    return result;
}

static int pack_streams(struct trd_dat_writer *writer)
{
    struct dat_pack *pack = dat_pack_create(writer->options.page_size);
    int result = pack ? 0 : -ENOMEM;

    for (uint32_t i = 0; result == 0 && i <= writer->options.cpu_max; i++)
        result = dat_pack_stream(pack, &writer->streams[i]);
    dat_pack_destroy(pack);
    return result;
}

/* Where it fails, for lack of room say, the data stay as they were. */
static int pack(struct trd_dat_writer *writer)
{
    size_t size = (writer->options.cpu_max + 1u) * sizeof(*writer->streams);
    struct dat_stream *before = malloc(size);
    int result = before ? 0 : -ENOMEM;

    if (before)
        memcpy(before, writer->streams, size);
    if (result == 0)
        result = pack_streams(writer);
    if (result != 0 && before)
        memcpy(writer->streams, before, size);
    free(before);
    return result == 0 ? switch_to_packed(writer) : result;
}

static void put_statistics(const struct trd_dat_writer *writer, struct dat_bytes *out)
{
    for (uint32_t i = 0; i < writer->cpu_count; i++) {
        struct dat_bytes text = { 0 };

        dat_bytes_print(&text, "CPU: %u\nentries: 0\noverrun: %llu\ncommit overrun: 0\n", i,
                        (unsigned long long)writer->streams[i].lost);
        dat_bytes_print(&text, "dropped events: 0\n");
        dat_layout_put_option(out, DAT_OPTION_CPUSTAT, text.bytes, (uint32_t)text.size);
        out->failed |= text.failed;
        dat_bytes_finish(&text);
    }
}

/* Options of the whole file, and names; whoever opens it is led here from now on. */
static int write_tail(struct trd_dat_writer *writer, uint64_t end)
{
    struct dat_bytes out = { 0 };
    uint64_t *sizes = dat_layout_sizes(writer);
    uint64_t options_at, size;
    size_t section;
    int result;

    if (!sizes)
        return -ENOMEM;
    writer->sections[DAT_OPTION_CMDLINES] = end;
    dat_sections_put_cmdlines(&out, &writer->comms);
    section = dat_section_open(&out, DAT_OPTION_DONE);
    dat_layout_put_options(writer, &out, writer->cpu_count, sizes);
    put_statistics(writer, &out);
    dat_layout_put_end(&out, section);
    free(sizes);
    options_at = end + section;
    size = end + out.size;
    result = dat_layout_write(writer, end, &out);
    if (result == 0)
        result = dat_layout_write_options_at(writer, options_at);
    return result == 0 ? writer->target.resize(writer->target.context, size) : result;
}

int trd_dat_writer_end(struct trd_dat_writer *writer)
{
    int result = writer->started ? 0 : dat_layout_start(writer);
    uint64_t end = 0;
    int packed = 0;

    for (uint32_t i = 0; result == 0 && i <= writer->options.cpu_max; i++)
        result = dat_stream_flush(&writer->streams[i]);
    if (result == 0)
        result = dat_layout_write_options_now(writer);
    if (result == 0 && writer->options.zstd)
        packed = pack(writer);
    if (result == 0)
        result = move_together(writer, &end);
    result = result == 0 ? write_tail(writer, end) : result;
    return result != 0 ? result : packed;
}
