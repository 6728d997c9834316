#include "tracerd/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dat.h"
#include "dat_cpu.h"

struct trd_reader {
    struct dat dat;
    struct dat_cpu *cpus; /* owned; cpu_count of them */
    size_t cpu_count;
    struct trd_merge *merge; /* owned */
    struct dat_totals totals;
    bool summed_up; /* the end was reached and what was skipped has been told */
};

static int read_start(struct dat *dat)
{
    static const uint8_t magic[] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
    struct cursor cursor = { dat->bytes, dat->size, 0, false, false };
    const uint8_t *start = cursor_take(&cursor, sizeof(magic));
    const char *version;

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
    if (cursor.failed || (dat->long_size != 4 && dat->long_size != 8) || dat->page_size < 16 ||
        dat->page_size > DAT_PAGE_MAX)
        return dat_fail(dat, -EBADMSG, "the file's header makes no sense (page size, word size)");
    if (trd_catalog_create(&dat->catalog, dat->big_endian, dat->long_size) != 0)
        return dat_fail(dat, -ENOMEM, "no memory");
    return dat->version == 6 ? dat_read_v6(dat, &cursor) : dat_read_v7(dat, &cursor);
}

/* Equal times come by lower CPU, then in the order of the buffers: the merge keeps this order. */
static int compare_cpus(const void *a, const void *b)
{
    const struct dat_cpu *x = a, *y = b;

    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? -1 : 1;
    return x->buffer < y->buffer ? -1 : x->buffer > y->buffer;
}

static int start_merge(struct trd_reader *reader)
{
    struct dat *dat = &reader->dat;
    size_t count = 0;
    int result = trd_merge_create(&reader->merge, 0);

    for (size_t i = 0; i < dat->buffer_count; i++)
        count += dat->buffers[i].public.cpu_count;
    reader->cpus = calloc(count ? count : 1, sizeof(*reader->cpus));
    if (!reader->cpus)
        return -ENOMEM;
    for (size_t i = 0; i < dat->buffer_count && result == 0; i++)
        for (uint32_t k = 0; k < dat->buffers[i].public.cpu_count; k++)
            (void)dat_cpu_init(&reader->cpus[reader->cpu_count++], dat, &dat->buffers[i],
                               &dat->buffers[i].cpus[k], &reader->totals);
    qsort(reader->cpus, reader->cpu_count, sizeof(*reader->cpus), compare_cpus);
    for (size_t i = 0; i < reader->cpu_count && result == 0; i++)
        result = trd_merge_add(reader->merge, &reader->cpus[i].input);
    return result;
}

static int open_bytes(struct trd_reader **out, struct trd_reader *reader)
{
    int result = read_start(&reader->dat);

    if (result == 0)
        result = start_merge(reader);
    if (result != 0) {
        trd_reader_destroy(reader);
        return result;
    }
    reader->dat.error = NULL;
    reader->dat.error_size = 0;
    *out = reader;
    return 0;
}

static struct trd_reader *create(char *error, size_t error_size)
{
    struct trd_reader *reader = calloc(1, sizeof(*reader));

    if (reader) {
        reader->dat.error = error;
        reader->dat.error_size = error_size;
    }
    return reader;
}

int trd_reader_open_memory(struct trd_reader **out, const uint8_t *bytes, size_t size, char *error,
                           size_t error_size)
{
    struct trd_reader *reader = create(error, error_size);

    if (!reader)
        return -ENOMEM;
    reader->dat.bytes = bytes;
    reader->dat.size = size;
    return open_bytes(out, reader);
}

static int map_file(struct dat *dat, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    void *bytes;

    if (fd < 0 || fstat(fd, &status) != 0) {
        int error = errno;

        if (fd >= 0)
            close(fd);
        return dat_fail(dat, -error, "%s", strerror(error));
    }
    if (!S_ISREG(status.st_mode) || status.st_size == 0) {
        close(fd);
        return dat_fail(dat, -EBADMSG,
                        S_ISREG(status.st_mode) ? "the file is empty" : "this is no regular file");
    }
    bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        return dat_fail(dat, -errno, "the file cannot be mapped: %s", strerror(errno));
    dat->bytes = bytes;
    dat->size = (size_t)status.st_size;
    dat->mapped = true;
    return 0;
}

int trd_reader_open(struct trd_reader **out, const char *path, char *error, size_t error_size)
{
    struct trd_reader *reader = create(error, error_size);
    int result;

    if (!reader)
        return -ENOMEM;
    result = map_file(&reader->dat, path);
    if (result != 0) {
        trd_reader_destroy(reader);
        return result;
    }
    return open_bytes(out, reader);
}

void trd_reader_destroy(struct trd_reader *reader)
{
    struct dat *dat;

    if (!reader)
        return;
    dat = &reader->dat;
    for (size_t i = 0; i < reader->cpu_count; i++)
        dat_cpu_finish(&reader->cpus[i]);
    free(reader->cpus);
    trd_merge_destroy(reader->merge);
    for (size_t i = 0; i < dat->buffer_count; i++) {
        free((char *)(uintptr_t)dat->buffers[i].public.name);
        free((char *)(uintptr_t)dat->buffers[i].public.clock);
        free(dat->buffers[i].cpus);
    }
    free(dat->buffers);
    for (size_t i = 0; i < dat->damage_count; i++)
        free((char *)(uintptr_t)dat->damage[i].what);
    free(dat->uname);
    free(dat->clock);
    trd_catalog_destroy(dat->catalog);
    if (dat->mapped)
        munmap((void *)(uintptr_t)dat->bytes, dat->size);
    free(reader);
}

const struct trd_catalog *trd_reader_catalog(const struct trd_reader *reader)
{
    return reader->dat.catalog;
}

const struct trd_reader_buffer *trd_reader_buffer(const struct trd_reader *reader, size_t index)
{
    return index < reader->dat.buffer_count ? &reader->dat.buffers[index].public : NULL;
}

const struct trd_damage *trd_reader_damage(const struct trd_reader *reader, size_t index)
{
    return index < reader->dat.damage_count ? &reader->dat.damage[index] : NULL;
}

const char *trd_reader_uname(const struct trd_reader *reader)
{
    return reader->dat.uname ? reader->dat.uname : "";
}

static void sum_up(struct trd_reader *reader)
{
    if (reader->summed_up)
        return;
    reader->summed_up = true;
    if (reader->totals.unknown_ids > 0)
        dat_add_damage(&reader->dat, 0, "%llu events have ids without a format and were skipped",
                       (unsigned long long)reader->totals.unknown_ids);
    if (reader->totals.damaged_bytes > 0 && reader->dat.damage_count == 0)
        dat_add_damage(&reader->dat, reader->totals.damaged_bytes,
                       "%llu bytes of event data are damaged and were skipped",
                       (unsigned long long)reader->totals.damaged_bytes);
}

int trd_reader_next(struct trd_reader *reader, struct trd_record *out)
{
    int result = trd_merge_next(reader->merge, 0, out);

    if (result == 0)
        sum_up(reader);
    return result;
}
