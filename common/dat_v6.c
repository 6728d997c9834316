/* trace.dat version 6: one part after the other, no compression. */
#include "dat.h"

#include <errno.h>
#include <stdlib.h>

#define TAG_SIZE 10
/* How far behind damaged options the data is looked for; options hold some KiB. */
#define SEARCH_MAX (16u << 20)

static bool tag_is(const uint8_t *tag, const char *name)
{
    return tag && memcmp(tag, name, strlen(name)) == 0;
}

/* u32 or u64 size, text. */
static const char *sized_text(struct cursor *cursor, bool wide, uint64_t *out_size)
{
    *out_size = wide ? cursor_u64(cursor) : cursor_u32(cursor);
    return (const char *)cursor_take(cursor, *out_size);
}

static int read_metadata(struct dat *dat, struct cursor *cursor)
{
    const char *text;
    uint64_t size;
    int result = dat_parse_headers(dat, cursor);

    if (result == 0)
        result = dat_parse_ftrace_formats(dat, cursor);
    if (result == 0)
        result = dat_parse_event_formats(dat, cursor);
    if (result != 0)
        return result;
    if ((text = sized_text(cursor, false, &size)))
        (void)trd_catalog_add_kallsyms(dat->catalog, text, size);
    if ((text = sized_text(cursor, false, &size)))
        (void)trd_catalog_add_printk_formats(dat->catalog, text, size);
    if ((text = sized_text(cursor, true, &size)))
        (void)trd_catalog_add_cmdlines(dat->catalog, text, size);
    return cursor->failed ? dat_fail(dat, -EBADMSG,
                                     "the file ends before its data; nothing can be read from it")
                          : 0;
}

/* Per CPU u64 offset, u64 size. */
static int read_cpu_table(struct dat *dat, struct cursor *cursor, const char *name,
                          uint32_t cpu_count)
{
    struct dat_buffer *buffer =
        dat_add_buffer(dat, name, dat->clock ? dat->clock : "", dat->page_size, cpu_count);

    if (!buffer)
        return dat_fail(dat, -EBADMSG, "the file names too many buffers or CPUs");
    for (uint32_t i = 0; i < cpu_count; i++)
        buffer->cpus[i] = (struct dat_cpu_range){ .cpu = (int32_t)i,
                                                  .offset = cursor_u64(cursor),
                                                  .size = cursor_u64(cursor) };
    return cursor->failed ? dat_fail(dat, -EBADMSG, "the file ends in its table of CPUs") : 0;
}

struct instance {
    uint64_t offset;
    const char *name;
};

static void read_instance_option(struct cursor *option, struct instance *instances,
                                 size_t *instance_count)
{
    uint64_t offset = cursor_u64(option);
    const char *name = cursor_text(option);

    if (name && *instance_count < DAT_BUFFERS_MAX)
        instances[(*instance_count)++] = (struct instance){ offset, name };
}

static int read_options(struct dat *dat, struct cursor *cursor, struct instance *instances,
                        size_t *instance_count)
{
    for (;;) {
        uint16_t id = cursor_u16(cursor);
        struct cursor option = { .big_endian = dat->big_endian };

        if (cursor->failed)
            return dat_fail(dat, -EBADMSG, "the file ends in its options");
        if (id == DAT_OPTION_DONE)
            return 0;
        option.size = cursor_u32(cursor);
        option.bytes = cursor_take(cursor, option.size);
        if (!option.bytes)
            return dat_fail(dat, -EBADMSG, "option %u reaches beyond the file", id);
        if (id == DAT_OPTION_BUFFER)
            read_instance_option(&option, instances, instance_count);
        else
            dat_parse_option(dat, id, &option);
    }
}

/* Behind the top buffer's table: u64 length and the text of trace_clock. */
static void read_clock(struct dat *dat, struct cursor *cursor)
{
    uint64_t size = cursor_u64(cursor);
    const char *text = (const char *)cursor_take(cursor, size);

    if (!dat->clock_follows || !text || dat->clock)
        return;
    dat->clock = dat_current_clock(text, size);
    if (dat->clock && dat->buffer_count > 0) {
        free((char *)(uintptr_t)dat->buffers[0].public.clock);
        dat->buffers[0].public.clock = strdup(dat->clock);
    }
}

static int read_instance(struct dat *dat, const struct instance *instance, uint32_t cpu_count)
{
    struct cursor cursor = { dat->bytes, dat->size, 0, dat->big_endian, false };
    const uint8_t *tag;

    (void)cursor_take(&cursor, instance->offset);
    tag = cursor_take(&cursor, TAG_SIZE);
    if (!tag_is(tag, "flyrecord") || cpu_count > (cursor.size - cursor.at) / 16) {
        dat_add_damage(
            dat, 0,
            "the data of instance \"%s\" is not where the file says (was it cut?); it is "
            "missing",
            instance->name);
        return 0;
    }
    return read_cpu_table(dat, &cursor, instance->name, cpu_count);
}

/* Where options cannot be stepped through, the tag before the data still stands behind them. */
static int find_data(struct dat *dat, struct cursor *cursor, size_t from)
{
    size_t left = cursor->size - from;
    const uint8_t *tag =
        memmem(cursor->bytes + from, left < SEARCH_MAX ? left : SEARCH_MAX, "flyrecord", TAG_SIZE);

    if (!tag)
        return -EBADMSG;
    dat_add_damage(dat, (uint64_t)(tag - cursor->bytes) - from,
                   "the options at offset %zu are damaged; the data was found behind them, what "
                   "they said is missing",
                   from);
    cursor->failed = false;
    cursor->at = (size_t)(tag - cursor->bytes) + TAG_SIZE;
    return 0;
}

/* Up to the table of CPUs, which stands behind the last tag. */
static int read_tags(struct dat *dat, struct cursor *cursor, struct instance *instances,
                     size_t *instance_count)
{
    const uint8_t *tag = cursor_take(cursor, TAG_SIZE);
    size_t from = cursor->at;
    int result = 0;

    if (tag_is(tag, "options")) {
        result = read_options(dat, cursor, instances, instance_count);
        tag = cursor_take(cursor, TAG_SIZE);
    }
    if (tag_is(tag, "latency"))
        return dat_fail(dat, -ENOTSUP,
                        "the file holds a latency tracer's text, not binary data; read it with "
                        "trace-cmd report");
    if (result == 0 && tag_is(tag, "flyrecord"))
        return 0;
    if (result == 0)
        result = dat_fail(dat, -EBADMSG,
                          "the file ends before its data, or something else stands there");
    return find_data(dat, cursor, from) == 0 ? 0 : result;
}

int dat_read_v6(struct dat *dat, struct cursor *cursor)
{
    struct instance *instances = calloc(DAT_BUFFERS_MAX, sizeof(*instances));
    size_t instance_count = 0;
    uint32_t cpu_count;
    int result = instances ? read_metadata(dat, cursor) : -ENOMEM;

    if (result != 0)
        goto out;
    cpu_count = cursor_u32(cursor);
    result = read_tags(dat, cursor, instances, &instance_count);
    if (result != 0)
        goto out;
    /* A live recording does not know the count when it writes it first. */
    if (dat->cpu_count)
        cpu_count = dat->cpu_count;
    if (cpu_count == 0)
        dat_add_damage(dat, 0, "the file says that it was recorded on no CPU; nothing is read");
    result = read_cpu_table(dat, cursor, "", cpu_count);
    if (result == 0)
        read_clock(dat, cursor);
    for (size_t i = 0; i < instance_count && result == 0; i++)
        result = read_instance(dat, &instances[i], cpu_count);
out:
    free(instances);
    return result;
}
