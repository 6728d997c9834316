#include "dat_maker_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dat_maker_init(struct dat_maker *maker, int version, const char *codec)
{
    memset(maker, 0, sizeof(*maker));
    maker->version = version;
    maker->codec = codec;
    maker->long_size = 8;
    maker->page_size = 4096;
}

void dat_maker_finish(struct dat_maker *maker)
{
    for (size_t i = 0; i < maker->buffer_count; i++)
        for (uint32_t k = 0; k < maker->buffers[i].cpu_count; k++) {
            free(maker->buffers[i].cpus[k].pages.bytes);
            free(maker->buffers[i].cpus[k].open);
        }
    for (size_t i = 0; i < maker->option_count; i++)
        free(maker->options[i].data.bytes);
    free(maker->file.bytes);
}

void dat_maker_option(struct dat_maker *maker, uint16_t id, const void *data, size_t size)
{
    if (maker->option_count == DAT_MAKER_OPTIONS)
        abort();
    maker->options[maker->option_count].id = id;
    maker_put(&maker->options[maker->option_count++].data, data, size);
}

struct dat_maker_buffer *dat_maker_buffer(struct dat_maker *maker, const char *name,
                                          const char *clock, uint32_t page_size, uint32_t cpu_count)
{
    struct dat_maker_buffer *buffer = &maker->buffers[maker->buffer_count++];

    if (maker->buffer_count > DAT_MAKER_BUFFERS || cpu_count > DAT_MAKER_CPUS)
        abort();
    (void)snprintf(buffer->name, sizeof(buffer->name), "%s", name);
    (void)snprintf(buffer->clock, sizeof(buffer->clock), "%s", clock);
    buffer->page_size = page_size;
    buffer->cpu_count = cpu_count;
    return buffer;
}

static void close_page(struct dat_maker_cpu *cpu, uint32_t page_size)
{
    if (!cpu->open)
        return;
    page_maker_finish(&cpu->page, cpu->lost);
    maker_put(&cpu->pages, cpu->open, page_size);
    free(cpu->open);
    cpu->open = NULL;
    cpu->lost = 0;
}

static void open_page(const struct dat_maker *maker, const struct dat_maker_buffer *buffer,
                      struct dat_maker_cpu *cpu, uint64_t ts)
{
    cpu->open = malloc(buffer->page_size);
    if (!cpu->open)
        abort();
    page_maker_init(&cpu->page, cpu->open, buffer->page_size, maker->big_endian, maker->long_size,
                    ts);
}

void dat_maker_event(struct dat_maker *maker, struct dat_maker_buffer *buffer, uint32_t cpu_number,
                     uint64_t ts, const void *payload, uint32_t size)
{
    struct dat_maker_cpu *cpu = &buffer->cpus[cpu_number];

    if (!cpu->open)
        open_page(maker, buffer, cpu, ts);
    if (page_maker_event(&cpu->page, ts, payload, size))
        return;
    close_page(cpu, buffer->page_size);
    open_page(maker, buffer, cpu, ts);
    if (!page_maker_event(&cpu->page, ts, payload, size))
        abort();
}

void dat_maker_tick(struct dat_maker *maker, struct dat_maker_buffer *buffer, uint32_t cpu,
                    uint64_t ts, int32_t pid, uint64_t number)
{
    uint8_t payload[16] = { 0 };

    page_maker_put(payload, DAT_MAKER_TICK_ID, 2, maker->big_endian);
    page_maker_put(payload + 4, (uint32_t)pid, 4, maker->big_endian);
    page_maker_put(payload + 8, number, 8, maker->big_endian);
    dat_maker_event(maker, buffer, cpu, ts, payload, sizeof(payload));
}

void dat_maker_lose(struct dat_maker *maker, struct dat_maker_buffer *buffer, uint32_t cpu,
                    uint64_t lost)
{
    (void)maker;
    close_page(&buffer->cpus[cpu], buffer->page_size);
    buffer->cpus[cpu].lost = lost;
}

const struct dat_maker_bytes *dat_maker_write(struct dat_maker *maker)
{
    for (size_t i = 0; i < maker->buffer_count; i++)
        for (uint32_t k = 0; k < maker->buffers[i].cpu_count; k++)
            close_page(&maker->buffers[i].cpus[k], maker->buffers[i].page_size);
    maker->file.size = maker->boundary_count = maker->data_begin = 0;
    if (maker->version == 6)
        maker_write_v6(maker);
    else
        maker_write_v7(maker);
    return &maker->file;
}
