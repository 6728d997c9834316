#include "dat_maker_private.h"

#include <stdlib.h>

static void put_table(struct dat_maker *maker, const struct dat_maker_buffer *buffer)
{
    struct dat_maker_bytes *out = &maker->file;
    size_t text = maker->faults & DAT_MAKER_CLOCK_TEXT && !*buffer->name ? 64 : 0;
    uint64_t offset = out->size + 10 + 16 * (uint64_t)buffer->cpu_count + text;

    maker_put(out, "flyrecord", 10);
    maker_mark(maker);
    for (uint32_t i = 0; i < buffer->cpu_count; i++) {
        offset = (offset + buffer->page_size - 1) / buffer->page_size * buffer->page_size;
        maker_put_number(maker, out, offset, 8);
        maker_put_number(maker, out, buffer->cpus[i].pages.size, 8);
        offset += buffer->cpus[i].pages.size;
    }
    if (text) {
        maker_mark(maker);
        maker_put_number(maker, out, 14, 8);
        maker_put(out, "local [mono]\n\0", 14);
    }
    for (uint32_t i = 0; i < buffer->cpu_count; i++) {
        maker_align(out, buffer->page_size);
        maker_mark(maker);
        if (!maker->data_begin && buffer->cpus[i].pages.size > 0)
            maker->data_begin = out->size;
        maker_put(out, buffer->cpus[i].pages.bytes ? buffer->cpus[i].pages.bytes : (uint8_t *)"",
                  buffer->cpus[i].pages.size);
    }
}

void maker_write_v6(struct dat_maker *maker)
{
    struct dat_maker_bytes *out = &maker->file;
    bool count_in_option = maker->faults & DAT_MAKER_CPUCOUNT_OPTION;
    size_t offsets[DAT_MAKER_BUFFERS];

    maker_put_start(maker);
    for (size_t i = 0; i < MAKER_PARTS; i++) {
        maker_mark(maker);
        maker_parts[i](maker, out);
    }
    maker_mark(maker);
    maker_put_number(maker, out, count_in_option ? 0 : maker->buffers[0].cpu_count, 4);
    maker_mark(maker);
    if (maker->faults & DAT_MAKER_LATENCY) {
        maker_put(out, "latency  ", 10);
        maker_put(out, "# tracer: irqsoff\n", 18);
        return;
    }
    maker_put(out, "options  ", 10);
    for (size_t i = 0; i < maker->option_count; i++) {
        maker_mark(maker);
        maker_put_option(maker, out, maker->options[i].id, &maker->options[i].data);
    }
    if (count_in_option)
        maker_put_number_option(maker, out, 8, maker->buffers[0].cpu_count, 4);
    if (maker->faults & DAT_MAKER_CLOCK_TEXT)
        maker_put_option(maker, out, 4, &(struct dat_maker_bytes){ 0 });
    for (size_t i = 1; i < maker->buffer_count; i++) {
        struct dat_maker_bytes data = { 0 };

        maker_put_number(maker, &data, 0, 8);
        maker_put_text(&data, maker->buffers[i].name);
        offsets[i] = out->size + 6;
        maker_put_option(maker, out, 3, &data);
        free(data.bytes);
    }
    maker_put_number(maker, out, 0, 2);
    maker_mark(maker);
    put_table(maker, &maker->buffers[0]);
    for (size_t i = 1; i < maker->buffer_count; i++) {
        page_maker_put(out->bytes + offsets[i], out->size, 8, maker->big_endian);
        put_table(maker, &maker->buffers[i]);
    }
}
