#include "dat_maker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define SECTION_COMPRESSED 1
#define CHUNK_PAGES 10

static const char header_event[] = "# compressed entry header\n"
                                   "\ttype_len    :    5 bits\n"
                                   "\ttime_delta  :   27 bits\n"
                                   "\tarray       :   32 bits\n"
                                   "\n"
                                   "\tpadding     : type == 29\n"
                                   "\ttime_extend : type == 30\n"
                                   "\ttime_stamp : type == 31\n"
                                   "\tdata max type_len  == 28\n";

#define COMMON_FIELDS                                                                              \
    "format:\n"                                                                                    \
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                         \
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                         \
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"                 \
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"                                     \
    "\n"

static const char tick_format[] =
    "name: tick\nID: 400\n" COMMON_FIELDS
    "\tfield:unsigned long long number;\toffset:8;\tsize:8;\tsigned:0;\n"
    "\nprint fmt: \"number=%llu\", REC->number\n";

static const char print_format[] =
    "name: print\nID: 5\n" COMMON_FIELDS "\tfield:unsigned int ip;\toffset:8;\tsize:4;\tsigned:0;\n"
    "\tfield:char buf[];\toffset:12;\tsize:0;\tsigned:0;\n"
    "\nprint fmt: \"%s\", REC->buf\n";

static void append(struct dat_maker_bytes *out, const void *bytes, size_t size)
{
    if (size == 0)
        return;
    if (out->size + size > out->capacity) {
        out->capacity = (out->size + size) * 2;
        out->bytes = realloc(out->bytes, out->capacity);
        if (!out->bytes)
            abort();
    }
    if (bytes)
        memcpy(out->bytes + out->size, bytes, size);
    else
        memset(out->bytes + out->size, 0, size);
    out->size += size;
}

static void append_text(struct dat_maker_bytes *out, const char *text)
{
    append(out, text, strlen(text) + 1);
}

static void append_number(const struct dat_maker *maker, struct dat_maker_bytes *out,
                          uint64_t value, size_t size)
{
    uint8_t bytes[8];

    page_maker_put(bytes, value, size, maker->big_endian);
    append(out, bytes, size);
}

static void align(struct dat_maker_bytes *out, size_t size)
{
    append(out, NULL, (size - out->size % size) % size);
}

static void mark(struct dat_maker *maker)
{
    if (maker->boundary_count < DAT_MAKER_BOUNDARIES)
        maker->boundaries[maker->boundary_count++] = maker->file.size;
}

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
    append(&maker->options[maker->option_count++].data, data, size);
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
    append(&cpu->pages, cpu->open, page_size);
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

/* Parts that both versions share. */

static void put_headers(const struct dat_maker *maker, struct dat_maker_bytes *out)
{
    char header_page[512];
    int long_size = maker->long_size;

    (void)snprintf(header_page, sizeof(header_page),
                   "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                   "\tfield: local_t commit;\toffset:8;\tsize:%d;\tsigned:1;\n"
                   "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                   "\tfield: char data;\toffset:%d;\tsize:%u;\tsigned:1;\n",
                   long_size, 8 + long_size, maker->page_size - 8 - (uint32_t)long_size);
    append_text(out, "header_page");
    append_number(maker, out, strlen(header_page), 8);
    append(out, header_page, strlen(header_page));
    append_text(out, "header_event");
    append_number(maker, out, strlen(header_event), 8);
    append(out, header_event, strlen(header_event));
}

static void put_format(const struct dat_maker *maker, struct dat_maker_bytes *out, const char *text)
{
    append_number(maker, out, strlen(text), 8);
    append(out, text, strlen(text));
}

static void put_ftrace_formats(const struct dat_maker *maker, struct dat_maker_bytes *out)
{
    append_number(maker, out, 1, 4);
    put_format(maker, out, print_format);
}

static void put_event_formats(const struct dat_maker *maker, struct dat_maker_bytes *out)
{
    append_number(maker, out, 1, 4);
    append_text(out, "test");
    append_number(maker, out, 1, 4);
    put_format(maker, out, tick_format);
}

static void put_kallsyms(const struct dat_maker *maker, struct dat_maker_bytes *out)
{
    static const char text[] = "ffffffff81000000 T _stext\nffffffff81000040 T secondary\n";

    append_number(maker, out, strlen(text), 4);
    append(out, text, strlen(text));
}

static void put_printk(const struct dat_maker *maker, struct dat_maker_bytes *out)
{
    static const char text[] = "0xffffffff82000000 : \"hello\\n\"\n";

    append_number(maker, out, strlen(text), 4);
    append(out, text, strlen(text));
}

static void put_cmdlines(const struct dat_maker *maker, struct dat_maker_bytes *out)
{
    static const char text[] = "17 worker one\n";

    append_number(maker, out, strlen(text), 8);
    append(out, text, strlen(text));
}

static void put_option(const struct dat_maker *maker, struct dat_maker_bytes *out, uint16_t id,
                       const struct dat_maker_bytes *data)
{
    append_number(maker, out, id, 2);
    append_number(maker, out, data->size, 4);
    append(out, data->bytes ? data->bytes : (const uint8_t *)"", data->size);
}

static void put_number_option(const struct dat_maker *maker, struct dat_maker_bytes *out,
                              uint16_t id, uint64_t value, size_t size)
{
    struct dat_maker_bytes data = { 0 };

    append_number(maker, &data, value, size);
    put_option(maker, out, id, &data);
    free(data.bytes);
}

static void put_start(struct dat_maker *maker)
{
    static const uint8_t magic[] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
    struct dat_maker_bytes *out = &maker->file;
    uint8_t words[2] = { maker->big_endian, maker->long_size };

    append(out, magic, sizeof(magic));
    append_text(out, maker->version == 6 ? "6" : "7");
    append(out, words, 2);
    append_number(maker, out, maker->page_size, 4);
}

/* Version 6 */

static void put_table(struct dat_maker *maker, const struct dat_maker_buffer *buffer)
{
    struct dat_maker_bytes *out = &maker->file;
    size_t text = maker->faults & DAT_MAKER_CLOCK_TEXT && !*buffer->name ? 64 : 0;
    uint64_t offset = out->size + 10 + 16 * (uint64_t)buffer->cpu_count + text;

    append(out, "flyrecord", 10);
    mark(maker);
    for (uint32_t i = 0; i < buffer->cpu_count; i++) {
        offset = (offset + buffer->page_size - 1) / buffer->page_size * buffer->page_size;
        append_number(maker, out, offset, 8);
        append_number(maker, out, buffer->cpus[i].pages.size, 8);
        offset += buffer->cpus[i].pages.size;
    }
    if (text) {
        mark(maker);
        append_number(maker, out, 14, 8);
        append(out, "local [mono]\n\0", 14);
    }
    for (uint32_t i = 0; i < buffer->cpu_count; i++) {
        align(out, buffer->page_size);
        mark(maker);
        if (!maker->data_begin && buffer->cpus[i].pages.size > 0)
            maker->data_begin = out->size;
        append(out, buffer->cpus[i].pages.bytes ? buffer->cpus[i].pages.bytes : (uint8_t *)"",
               buffer->cpus[i].pages.size);
    }
}

static void write_v6(struct dat_maker *maker)
{
    static void (*const parts[])(const struct dat_maker *, struct dat_maker_bytes *) = {
        put_headers, put_ftrace_formats, put_event_formats, put_kallsyms, put_printk, put_cmdlines,
    };
    struct dat_maker_bytes *out = &maker->file;
    bool count_in_option = maker->faults & DAT_MAKER_CPUCOUNT_OPTION;
    size_t offsets[DAT_MAKER_BUFFERS];

    put_start(maker);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        mark(maker);
        parts[i](maker, out);
    }
    mark(maker);
    append_number(maker, out, count_in_option ? 0 : maker->buffers[0].cpu_count, 4);
    mark(maker);
    if (maker->faults & DAT_MAKER_LATENCY) {
        append(out, "latency  ", 10);
        append(out, "# tracer: irqsoff\n", 18);
        return;
    }
    append(out, "options  ", 10);
    for (size_t i = 0; i < maker->option_count; i++) {
        mark(maker);
        put_option(maker, out, maker->options[i].id, &maker->options[i].data);
    }
    if (count_in_option)
        put_number_option(maker, out, 8, maker->buffers[0].cpu_count, 4);
    if (maker->faults & DAT_MAKER_CLOCK_TEXT)
        put_option(maker, out, 4, &(struct dat_maker_bytes){ 0 });
    for (size_t i = 1; i < maker->buffer_count; i++) {
        struct dat_maker_bytes data = { 0 };

        append_number(maker, &data, 0, 8);
        append_text(&data, maker->buffers[i].name);
        offsets[i] = out->size + 6;
        put_option(maker, out, 3, &data);
        free(data.bytes);
    }
    append_number(maker, out, 0, 2);
    mark(maker);
    put_table(maker, &maker->buffers[0]);
    for (size_t i = 1; i < maker->buffer_count; i++) {
        page_maker_put(out->bytes + offsets[i], out->size, 8, maker->big_endian);
        put_table(maker, &maker->buffers[i]);
    }
}

/* Version 7 */

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
    append_number(maker, out, packed_size, 4);
    append_number(maker, out, size, 4);
    append(out, packed, packed_size);
    free(packed);
}

static size_t begin_section(struct dat_maker *maker, uint16_t id, bool packed)
{
    size_t at = maker->file.size;

    mark(maker);
    append_number(maker, &maker->file, id, 2);
    append_number(maker, &maker->file, packed ? SECTION_COMPRESSED : 0, 2);
    append_number(maker, &maker->file, 0, 4);
    append_number(maker, &maker->file, 0, 8);
    mark(maker);
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
        append(&maker->file, body->bytes, body->size);
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
        append(out, cpu->pages.bytes, cpu->pages.size);
        return cpu->pages.size;
    }
    append_number(maker, out, (cpu->pages.size + chunk - 1) / chunk, 4);
    for (size_t at = 0; at < cpu->pages.size; at += chunk) {
        mark(maker);
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

    append_number(maker, option, at, 8);
    append_text(option, buffer->name);
    append_text(option, buffer->clock);
    append_number(maker, option, buffer->page_size, 4);
    append_number(maker, option, buffer->cpu_count, 4);
    for (uint32_t i = 0; i < buffer->cpu_count; i++) {
        uint64_t offset, size;

        align(&maker->file, buffer->page_size);
        mark(maker);
        offset = maker->file.size;
        size = put_cpu(maker, buffer, &buffer->cpus[i]);
        append_number(maker, option, i, 4);
        append_number(maker, option, offset, 8);
        append_number(maker, option, size, 8);
    }
    if (!(maker->faults & DAT_MAKER_OPEN_SECTION))
        end_section(maker, at, 0);
}

/* An options section that goes on at `next`, which is set later through *out_next_at. */
static size_t put_options(struct dat_maker *maker, struct dat_maker_bytes *options, uint64_t next)
{
    size_t at;

    put_number_option(maker, options, 0, next, 8);
    at = put_section(maker, 0, options, packs(maker) && maker->faults & DAT_MAKER_PACKED_OPTIONS);
    free(options->bytes);
    memset(options, 0, sizeof(*options));
    return at;
}

static void put_metadata(struct dat_maker *maker, struct dat_maker_bytes *options)
{
    static void (*const parts[])(const struct dat_maker *, struct dat_maker_bytes *) = {
        put_headers, put_ftrace_formats, put_event_formats, put_kallsyms, put_printk, put_cmdlines,
    };

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        struct dat_maker_bytes body = { 0 };
        uint16_t id = (uint16_t)(16 + i);
        size_t at;

        parts[i](maker, &body);
        at = put_section(maker, id, &body, packs(maker));
        put_number_option(maker, options, id, at, 8);
        free(body.bytes);
    }
    if (maker->faults & DAT_MAKER_UNKNOWN_SECTION) {
        struct dat_maker_bytes body = { 0 };

        append(&body, "\x05\x00\x03\x00 what is this?", 18);
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
        put_option(maker, &options, maker->options[i].id, &maker->options[i].data);
    put_number_option(maker, &options, 8, maker->buffers[0].cpu_count, 4);
    *first_options = put_options(maker, &options, *second_options);
    for (size_t i = 0; i < maker->buffer_count; i++) {
        struct dat_maker_bytes option = { 0 };

        put_data(maker, &maker->buffers[i], &option);
        if (!(maker->faults & DAT_MAKER_NO_BUFFER_OPTION))
            put_option(maker, &buffers, 3, &option);
        free(option.bytes);
    }
    if (maker->faults & DAT_MAKER_OPEN_SECTION) {
        free(buffers.bytes);
        return;
    }
    *second_options =
        put_options(maker, &buffers, maker->faults & DAT_MAKER_CYCLIC_OPTIONS ? *first_options : 0);
    append_text(&strings, "options");
    (void)put_section(maker, 15, &strings, packs(maker));
    free(strings.bytes);
}

static void write_v7(struct dat_maker *maker)
{
    uint64_t first = 0, second = 0, guess;

    do {
        guess = second;
        maker->file.size = maker->boundary_count = maker->data_begin = 0;
        put_start(maker);
        append_text(&maker->file, maker->codec);
        append_text(&maker->file, "1.2.3");
        append_number(maker, &maker->file, first, 8);
        put_sections(maker, &first, &second);
    } while (second != guess);
    page_maker_put(maker->file.bytes + maker->boundaries[0] - 8, first, 8, maker->big_endian);
}

const struct dat_maker_bytes *dat_maker_write(struct dat_maker *maker)
{
    for (size_t i = 0; i < maker->buffer_count; i++)
        for (uint32_t k = 0; k < maker->buffers[i].cpu_count; k++)
            close_page(&maker->buffers[i].cpus[k], maker->buffers[i].page_size);
    maker->file.size = maker->boundary_count = maker->data_begin = 0;
    if (maker->version == 6)
        write_v6(maker);
    else
        write_v7(maker);
    return &maker->file;
}
