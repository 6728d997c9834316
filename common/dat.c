#include "dat.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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

char *dat_current_clock(const char *text, size_t size)
{
    const char *open = memchr(text, '[', size);
    const char *close = open ? memchr(open, ']', size - (size_t)(open - text)) : NULL;

    if (close)
        return strndup(open + 1, (size_t)(close - open - 1));
    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\0'))
        size--;
    return strndup(text, size);
}

static int64_t parse_number(const struct cursor *option)
{
    char digits[32] = "";

    memcpy(digits, option->bytes,
           option->size < sizeof(digits) - 1 ? option->size : sizeof(digits) - 1);
    return (int64_t)strtoll(digits, NULL, 0);
}

void dat_parse_option(struct dat *dat, uint16_t id, struct cursor *option)
{
    switch (id) {
    case DAT_OPTION_DATE: /* microseconds */
        dat->offset_ns += parse_number(option) * 1000;
        break;
    case DAT_OPTION_OFFSET:
        dat->offset_ns += parse_number(option);
        break;
    case DAT_OPTION_UNAME:
        free(dat->uname);
        dat->uname = strndup((const char *)option->bytes, option->size);
        break;
    case DAT_OPTION_TRACECLOCK:
        if (option->size > 0 && !dat->clock)
            dat->clock = dat_current_clock((const char *)option->bytes, option->size);
        break;
    case DAT_OPTION_TSC2NSEC: /* the stored offset is not added, as trace-cmd does since 2021 */
        dat->tsc_mult = cursor_u32(option);
        dat->tsc_shift = cursor_u32(option);
        if (option->failed || dat->tsc_shift > 63)
            dat->tsc_mult = 0;
        break;
    default: /* known without use here, or unknown: skipped by its length (C1) */
        break;
    }
}

struct dat_buffer *dat_add_buffer(struct dat *dat, const char *name, const char *clock,
                                  uint32_t page_size, uint32_t cpu_count)
{
    struct dat_buffer *buffers;
    struct dat_buffer *buffer;

    if (dat->buffer_count == DAT_BUFFERS_MAX || cpu_count > DAT_CPUS_MAX)
        return NULL;
    buffers = realloc(dat->buffers, (dat->buffer_count + 1) * sizeof(*buffers));
    if (!buffers)
        return NULL;
    dat->buffers = buffers;
    buffer = &buffers[dat->buffer_count];
    *buffer = (struct dat_buffer){
        .public = { .name = strdup(name),
                    .clock = strdup(clock),
                    .cpu_count = cpu_count,
                    .page_size = page_size },
        .cpus = calloc(cpu_count ? cpu_count : 1, sizeof(*buffer->cpus)),
    };
    dat->buffer_count++;
    return buffer->public.name && buffer->public.clock && buffer->cpus ? buffer : NULL;
}
