#include "tracerd/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader_private.h"

static int compare_cpus(const void *a, const void *b)
{
    const struct dat_cpu *x = a, *y = b;

    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? -1 : 1;
    return x->buffer < y->buffer ? -1 : x->buffer > y->buffer;
}

static int start_cpus(struct trd_reader *reader)
{
    struct dat *dat = &reader->dat;
    size_t count = dat->stream_count ? dat->stream_count : 1;

    reader->cpus = calloc(count, sizeof(*reader->cpus));
    reader->heap.cpus = calloc(count, sizeof(struct dat_cpu *));
    if (!reader->cpus || !reader->heap.cpus)
        return dat_fail(dat, -ENOMEM, "no memory");
    for (size_t i = 0; i < dat->buffer_count; i++)
        for (uint32_t k = 0; k < dat->buffers[i].public.cpu_count; k++)
            dat_cpu_init(&reader->cpus[reader->cpu_count++], dat, &dat->buffers[i],
                         &dat->buffers[i].cpus[k], &reader->totals);
    qsort(reader->cpus, reader->cpu_count, sizeof(*reader->cpus), compare_cpus);
    for (size_t i = 0; i < reader->cpu_count; i++)
        if (dat_cpu_next(&reader->cpus[i]) == 1)
            reader->heap.cpus[reader->heap.size++] = &reader->cpus[i];
    dat_heap_order(&reader->heap);
    return 0;
}

static int open_bytes(struct trd_reader **out, struct trd_reader *reader)
{
    struct dat *dat = &reader->dat;
    int result = dat_read(dat);

    dat_release(dat, 0, dat->size);
    if (result == 0)
        result = start_cpus(reader);
    if (result != 0) {
        trd_reader_destroy(reader);
        return result;
    }
    /* Parts that failed are damage by now. */
    if (dat->error_size > 0)
        dat->error[0] = '\0';
    dat->error = NULL;
    dat->error_size = 0;
    *out = reader;
    return 0;
}

static struct trd_reader *create(char *error, size_t error_size)
{
    struct trd_reader *reader = calloc(1, sizeof(*reader));

    if (!reader) {
        (void)dat_fail(&(struct dat){ .error = error, .error_size = error_size }, 0, "no memory");
        return NULL;
    }
    reader->dat.error = error;
    reader->dat.error_size = error_size;
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
    if (!reader)
        return;
    for (size_t i = 0; i < reader->cpu_count; i++)
        dat_cpu_finish(&reader->cpus[i]);
    free(reader->cpus);
    free(reader->heap.cpus);
    dat_finish(&reader->dat);
    if (reader->dat.mapped)
        munmap((void *)(uintptr_t)reader->dat.bytes, reader->dat.size);
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

static void tell_unknown(struct dat *dat, const struct dat_totals *totals)
{
    for (size_t i = 0; i < totals->unknown_id_count; i++)
        dat_add_damage(dat, 0, "event id %u has no format: %llu records were skipped",
                       totals->unknown_ids[i].id, (unsigned long long)totals->unknown_ids[i].count);
    if (totals->unknown_others > 0)
        dat_add_damage(dat, 0, "further event ids have no format: %llu records were skipped",
                       (unsigned long long)totals->unknown_others);
    if (totals->short_records > 0)
        dat_add_damage(dat, 0, "%llu records are too short for an event id and were skipped",
                       (unsigned long long)totals->short_records);
}

static void sum_up(struct trd_reader *reader)
{
    const struct dat_totals *totals = &reader->totals;

    if (reader->summed_up)
        return;
    reader->summed_up = true;
    tell_unknown(&reader->dat, totals);
    if (totals->damaged_bytes > 0)
        dat_add_damage(&reader->dat, totals->damaged_bytes,
                       "%llu bytes of event data are damaged or cut off and were skipped",
                       (unsigned long long)totals->damaged_bytes);
}

/* A CPU of which nothing is left: its loss comes last, since it sorts so, and spans the trace. */
static int hand_out_loss_of_all(struct trd_reader *reader, struct trd_record *out)
{
    out->lost_from_ns = reader->first_ns;
    out->ts_ns = reader->emitted_ns;
    return 1;
}

int trd_reader_next(struct trd_reader *reader, struct trd_record *out)
{
    if (reader->handed_out)
        dat_heap_advance(&reader->heap);
    reader->handed_out = reader->heap.size > 0;
    if (!reader->handed_out) {
        sum_up(reader);
        return 0;
    }
    dat_cpu_get(reader->heap.cpus[0], out);
    if (__builtin_expect(out->ts_ns == DAT_CPU_NO_TIME, 0))
        return hand_out_loss_of_all(reader, out);
    /* Only a damaged page or a foreign clock goes back in time. */
    if (__builtin_expect(out->ts_ns < reader->emitted_ns, 0))
        out->flags |= TRD_RECORD_F_LATE;
    else
        reader->emitted_ns = out->ts_ns;
    if (__builtin_expect(reader->first_ns == 0, 0))
        reader->first_ns = out->ts_ns;
    return 1;
}

void reader_go_on(struct trd_reader *reader, const struct dat_slice *rest, uint64_t first_ns)
{
    reader->heap.size = 0;
    reader->handed_out = false;
    reader->first_ns = first_ns;
    reader->emitted_ns = rest->from_ns;
    for (size_t i = 0; i < reader->cpu_count; i++)
        if (dat_cpu_start(&reader->cpus[i], rest->places[i], rest->from_ns) == 1)
            reader->heap.cpus[reader->heap.size++] = &reader->cpus[i];
    dat_heap_order(&reader->heap);
}
