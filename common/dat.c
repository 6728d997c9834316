#include "dat.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int dat_fail(struct dat *dat, int result, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (dat->error_size > 0)
        (void)vsnprintf(dat->error, dat->error_size, format, arguments);
    va_end(arguments);
    return result;
}

void dat_add_damage(struct dat *dat, uint64_t bytes, const char *format, ...)
{
    va_list arguments;
    char *text = NULL;

    if (dat->damage_count == DAT_DAMAGE_MAX) {
        dat->damage[DAT_DAMAGE_MAX - 1].bytes += bytes;
        return;
    }
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    dat->damage[dat->damage_count++] = (struct trd_damage){ text, bytes };
}

struct place {
    const struct dat_buffer *buffer;
    struct dat_cpu_range *range;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->range->offset != y->range->offset)
        return x->range->offset < y->range->offset ? -1 : 1;
    return x->range->size < y->range->size ? -1 : x->range->size > y->range->size;
}

/* Bytes belong to one CPU: else a small file could be made to give the same events without end. */
static void refuse_shared_bytes(struct dat *dat, struct place *places, size_t count)
{
    uint64_t taken = 0;

    qsort(places, count, sizeof(*places), compare_places);
    for (size_t i = 0; i < count; i++) {
        struct dat_cpu_range *range = places[i].range;

        if (range->offset < taken) {
            dat_add_damage(dat, range->size,
                           "cpu %d%s%s: its data lies in another CPU's; it is not read", range->cpu,
                           *places[i].buffer->public.name ? " of " : "",
                           places[i].buffer->public.name);
            range->size = 0;
            continue;
        }
        taken = range->size > UINT64_MAX - range->offset ? UINT64_MAX : range->offset + range->size;
    }
}

static int check_ranges(struct dat *dat)
{
    struct place *places = calloc(dat->stream_count ? dat->stream_count : 1, sizeof(*places));
    size_t count = 0;

    if (!places)
        return dat_fail(dat, -ENOMEM, "no memory");
    for (size_t i = 0; i < dat->buffer_count; i++)
        for (uint32_t k = 0; k < dat->buffers[i].public.cpu_count; k++)
            if (dat->buffers[i].cpus[k].size > 0)
                places[count++] = (struct place){ &dat->buffers[i], &dat->buffers[i].cpus[k] };
    refuse_shared_bytes(dat, places, count);
    free(places);
    return 0;
}

int dat_read(struct dat *dat)
{
    static const uint8_t magic[] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
    struct cursor cursor = { dat->bytes, dat->size, 0, false, false };
    const uint8_t *start = cursor_take(&cursor, sizeof(magic));
    const char *version;
    int result;

    if (!start || memcmp(start, magic, sizeof(magic)) != 0)
        return dat_fail(dat, -EBADMSG, "this is no trace.dat file");
    version = cursor_text(&cursor);
    if (!version)
        return dat_fail(dat, -EBADMSG, "the file ends in its header");
    dat->version = strcmp(version, "6") == 0 ? 6 : strcmp(version, "7") == 0 ? 7 : 0;
    if (!dat->version)
        return dat_fail(dat, -EPROTONOSUPPORT,
                        "trace.dat version \"%.16s\" is not supported (6 and 7 are)", version);
    dat->big_endian = cursor_u8(&cursor) != 0;
    dat->long_size = cursor_u8(&cursor);
    cursor.big_endian = dat->big_endian;
    dat->page_size = cursor_u32(&cursor);
    if (cursor.failed || (dat->long_size != 4 && dat->long_size != 8) ||
        dat->page_size < DAT_PAGE_MIN || dat->page_size > DAT_PAGE_MAX)
        return dat_fail(dat, -EBADMSG, "the file's header makes no sense (page size, word size)");
    if (trd_catalog_create(&dat->catalog, dat->big_endian, dat->long_size) != 0)
        return dat_fail(dat, -ENOMEM, "no memory");
    result = dat->version == 6 ? dat_read_v6(dat, &cursor) : dat_read_v7(dat, &cursor);
    return result == 0 ? check_ranges(dat) : result;
}

void dat_release(const struct dat *dat, uint64_t from, uint64_t to)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    from = (from + page - 1) / page * page;
    to = to / page * page;
    if (dat->mapped && from < to)
        (void)madvise((void *)(uintptr_t)(dat->bytes + from), to - from, MADV_DONTNEED);
}

void dat_finish(struct dat *dat)
{
    for (size_t i = 0; i < dat->buffer_count; i++) {
        free((char *)(uintptr_t)dat->buffers[i].public.name);
        free((char *)(uintptr_t)dat->buffers[i].public.clock);
        free(dat->buffers[i].cpus);
    }
    free(dat->buffers);
    for (size_t i = 0; i < dat->damage_count; i++)
        free((char *)(uintptr_t)dat->damage[i].what);
    for (size_t i = 0; i < dat->stat_count; i++)
        free(dat->stats[i].buffer);
    free(dat->stats);
    free(dat->stat_buffer);
    free(dat->uname);
    free(dat->clock);
    dat_clock_finish(&dat->conversion);
    codec_finish(&dat->codec);
    trd_catalog_destroy(dat->catalog);
}

/* `name\0`, u64 size, text. */
static int parse_header_text(struct cursor *cursor, const char *name, const uint8_t **out_text,
                             uint64_t *out_size)
{
    const char *found = cursor_text(cursor);

    if (!found || strcmp(found, name) != 0)
        return -EBADMSG;
    *out_size = cursor_u64(cursor);
    *out_text = cursor_take(cursor, *out_size);
    return cursor->failed ? -EBADMSG : 0;
}

int dat_parse_headers(struct dat *dat, struct cursor *cursor)
{
    const uint8_t *text;
    uint64_t size;

    if (parse_header_text(cursor, "header_page", &text, &size) != 0)
        return dat_fail(dat, -EBADMSG, "the file's header_page is damaged");
    /* An empty or odd one leaves the default layout, which fits every kernel so far. */
    (void)trd_catalog_set_header_page(dat->catalog, (const char *)text, size);
    if (parse_header_text(cursor, "header_event", &text, &size) != 0)
        return dat_fail(dat, -EBADMSG, "the file's header_event is damaged");
    return 0;
}

static int parse_format(struct dat *dat, struct cursor *cursor, const char *system)
{
    uint64_t size = cursor_u64(cursor);
    const uint8_t *text = cursor_take(cursor, size);
    int result;

    if (!text)
        return dat_fail(dat, -EBADMSG, "the event formats end in the middle of system %s", system);
    result = trd_catalog_add_format(dat->catalog, system, (const char *)text, size);
    if (result == -EBADMSG)
        dat_add_damage(dat, size,
                       "an event format of system %s is not readable; its events are skipped",
                       system);
    return result == -ENOMEM ? result : 0;
}

int dat_parse_ftrace_formats(struct dat *dat, struct cursor *cursor)
{
    uint32_t count = cursor_u32(cursor);
    int result = 0;

    for (uint32_t i = 0; i < count && result == 0; i++)
        result = parse_format(dat, cursor, "ftrace");
    return result;
}

int dat_parse_event_formats(struct dat *dat, struct cursor *cursor)
{
    uint32_t systems = cursor_u32(cursor);
    int result = 0;

    for (uint32_t i = 0; i < systems && result == 0; i++) {
        const char *system = cursor_text(cursor);
        uint32_t count = cursor_u32(cursor);

        if (cursor->failed)
            return dat_fail(dat, -EBADMSG, "the event formats end too early");
        for (uint32_t k = 0; k < count && result == 0; k++)
            result = parse_format(dat, cursor, system);
    }
    return result;
}

struct dat_buffer *dat_add_buffer(struct dat *dat, const char *name, const char *clock,
                                  uint32_t page_size, uint32_t cpu_count)
{
    struct dat_buffer *buffers;
    struct dat_buffer *buffer;

    if (dat->buffer_count == DAT_BUFFERS_MAX || cpu_count > DAT_CPUS_MAX ||
        cpu_count > DAT_STREAMS_MAX - dat->stream_count)
        return NULL;
    buffers = realloc(dat->buffers, (dat->buffer_count + 1) * sizeof(*buffers));
    if (!buffers)
        return NULL;
    dat->buffers = buffers;
    buffer = &buffers[dat->buffer_count];
    *buffer = (struct dat_buffer){
        .public = { .name = strdup(name), .clock = strdup(clock), .page_size = page_size },
        .cpus = calloc(cpu_count ? cpu_count : 1, sizeof(*buffer->cpus)),
    };
    dat->buffer_count++;
    if (!buffer->public.name || !buffer->public.clock || !buffer->cpus)
        return NULL;
    buffer->public.cpu_count = cpu_count;
    dat->stream_count += cpu_count;
    return buffer;
}

int dat_add_cpu(struct dat *dat, struct dat_buffer *buffer, struct dat_cpu_range range)
{
    uint32_t count = buffer->public.cpu_count;
    struct dat_cpu_range *cpus;

    if (count == DAT_CPUS_MAX || dat->stream_count == DAT_STREAMS_MAX)
        return -E2BIG;
    cpus = realloc(buffer->cpus, (count + 1) * sizeof(*cpus));
    if (!cpus)
        return -ENOMEM;
    buffer->cpus = cpus;
    cpus[count] = range;
    buffer->public.cpu_count++;
    dat->stream_count++;
    return 0;
}
