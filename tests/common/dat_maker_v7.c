#include "dat_maker_private.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define SECTION_COMPRESSED 1
#define CHUNK_PAGES 10

static bool packs(const struct dat_maker *maker)
{
    return strcmp(maker->codec, "zlib") == 0 || strcmp(maker->codec, "zstd") == 0;
}

/* u32 packed size, u32 size, packed bytes. */
static void put_packed(const struct dat_maker *maker, struct dat_maker_bytes *out,
                       const uint8_t *bytes, size_t size)
{
    size_t bound = ZSTD_compressBound(size) + compressBound(size);
    uint8_t *packed = malloc(bound);
    uLongf packed_size = bound;

    if (!packed)
        abort();
    if (strcmp(maker->codec, "zlib") == 0) {
        if (compress(packed, &packed_size, bytes, size) != Z_OK)
            abort();
    } else {
        ZSTD_CCtx *context = ZSTD_createCCtx();

        (void)ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
        packed_size = ZSTD_compress2(context, packed, bound, bytes, size);
        ZSTD_freeCCtx(context);
    }
    maker_put_number(maker, out, packed_size, 4);
    maker_put_number(maker, out, size, 4);
    maker_put(out, packed, packed_size);
    free(packed);
}

static size_t begin_section(struct dat_maker *maker, uint16_t id, bool packed)
{
    size_t at = maker->file.size;

    maker_mark(maker);
    maker_put_number(maker, &maker->file, id, 2);
    maker_put_number(maker, &maker->file, packed ? SECTION_COMPRESSED : 0, 2);
    maker_put_number(maker, &maker->file, 0, 4);
    maker_put_number(maker, &maker->file, 0, 8);
    maker_mark(maker);
    return at;
}

static void end_section(struct dat_maker *maker, size_t at, size_t missing)
{
    page_maker_put(maker->file.bytes + at + 8, maker->file.size - at - 16 - missing, 8,
                   maker->big_endian);
}

static size_t put_section(struct dat_maker *maker, uint16_t id, const struct dat_maker_bytes *body,
                          bool packed)
{
    size_t at = begin_section(maker, id, packed);

    if (packed)
        put_packed(maker, &maker->file, body->bytes, body->size);
    else
        maker_put(&maker->file, body->bytes, body->size);
    end_section(maker, at, packed && maker->faults & DAT_MAKER_SHORT_SECTIONS ? 4 : 0);
    return at;
}

static uint64_t put_cpu(struct dat_maker *maker, const struct dat_maker_buffer *buffer,
                        const struct dat_maker_cpu *cpu)
{
    struct dat_maker_bytes *out = &maker->file;
    size_t begin = out->size, chunk = CHUNK_PAGES * (size_t)buffer->page_size;

    if (cpu->pages.size == 0)
        return 0;
    if (!maker->data_begin)
        maker->data_begin = out->size;
    if (!packs(maker)) {
        maker_put(out, cpu->pages.bytes, cpu->pages.size);
        return cpu->pages.size;
    }
    maker_put_number(maker, out, (cpu->pages.size + chunk - 1) / chunk, 4);
    for (size_t at = 0; at < cpu->pages.size; at += chunk) {
        maker_mark(maker);
        put_packed(maker, out, cpu->pages.bytes + at,
                   cpu->pages.size - at < chunk ? cpu->pages.size - at : chunk);
    }
    return out->size - begin - (maker->faults & DAT_MAKER_SHORT_RUNS ? 4 : 0);
}

/* The data section; its BUFFER option goes to *option. */
static void put_data(struct dat_maker *maker, const struct dat_maker_buffer *buffer,
                     struct dat_maker_bytes *option)
{
    size_t at = begin_section(maker, 3, packs(maker));

    maker_put_number(maker, option, at, 8);
    maker_put_text(option, buffer->name);
    maker_put_text(option, buffer->clock);
    maker_put_number(maker, option, buffer->page_size, 4);
    maker_put_number(maker, option, buffer->cpu_count, 4);
    for (uint32_t i = 0; i < buffer->cpu_count; i++) {
        uint64_t offset, size;

        maker_align(&maker->file, buffer->page_size);
        maker_mark(maker);
        offset = maker->file.size;
        size = put_cpu(maker, buffer, &buffer->cpus[i]);
        maker_put_number(maker, option, i, 4);
        maker_put_number(maker, option, offset, 8);
        maker_put_number(maker, option, size, 8);
    }
    if (!(maker->faults & DAT_MAKER_OPEN_SECTION))
        end_section(maker, at, 0);
}

/* An options section that goes on at `next`, which is set later through *out_next_at. */
static size_t put_options(struct dat_maker *maker, struct dat_maker_bytes *options, uint64_t next)
{
    size_t at;

    maker_put_number_option(maker, options, 0, next, 8);
    at = put_section(maker, 0, options, packs(maker) && maker->faults & DAT_MAKER_PACKED_OPTIONS);
    free(options->bytes);
    memset(options, 0, sizeof(*options));
    return at;
}

static void put_metadata(struct dat_maker *maker, struct dat_maker_bytes *options)
{
    for (size_t i = 0; i < MAKER_PARTS; i++) {
        struct dat_maker_bytes body = { 0 };
        uint16_t id = (uint16_t)(16 + i);
        size_t at;

        maker_parts[i](maker, &body);
        at = put_section(maker, id, &body, packs(maker));
        maker_put_number_option(maker, options, id, at, 8);
        free(body.bytes);
    }
    if (maker->faults & DAT_MAKER_UNKNOWN_SECTION) {
        struct dat_maker_bytes body = { 0 };

        maker_put(&body, "\x05\x00\x03\x00 what is this?", 18);
        (void)put_section(maker, 200, &body, packs(maker));
        free(body.bytes);
    }
}

/* As trace-cmd does it: metadata, options, data, options with BUFFER, strings. The first options
 * section is written with a guess of where the second will be, until the guess is right. */
static void put_sections(struct dat_maker *maker, uint64_t *first_options, uint64_t *second_options)
{
    struct dat_maker_bytes options = { 0 }, buffers = { 0 }, strings = { 0 };

    put_metadata(maker, &options);
    for (size_t i = 0; i < maker->option_count; i++)
        maker_put_option(maker, &options, maker->options[i].id, &maker->options[i].data);
    maker_put_number_option(maker, &options, 8, maker->buffers[0].cpu_count, 4);
    *first_options = put_options(maker, &options, *second_options);
    for (size_t i = 0; i < maker->buffer_count; i++) {
        struct dat_maker_bytes option = { 0 };

        put_data(maker, &maker->buffers[i], &option);
        if (!(maker->faults & DAT_MAKER_NO_BUFFER_OPTION))
            maker_put_option(maker, &buffers, 3, &option);
        free(option.bytes);
    }
    if (maker->faults & DAT_MAKER_OPEN_SECTION) {
        free(buffers.bytes);
        return;
    }
    *second_options =
        put_options(maker, &buffers, maker->faults & DAT_MAKER_CYCLIC_OPTIONS ? *first_options : 0);
    maker_put_text(&strings, "options");
    (void)put_section(maker, 15, &strings, packs(maker));
    free(strings.bytes);
}

void maker_write_v7(struct dat_maker *maker)
{
    uint64_t first = 0, second = 0, guess;

    do {
        guess = second;
        maker->file.size = maker->boundary_count = maker->data_begin = 0;
        maker_put_start(maker);
        maker_put_text(&maker->file, maker->codec);
        maker_put_text(&maker->file, "1.2.3");
        maker_put_number(maker, &maker->file, first, 8);
        put_sections(maker, &first, &second);
    } while (second != guess);
    page_maker_put(maker->file.bytes + maker->boundaries[0] - 8, first, 8, maker->big_endian);
}
