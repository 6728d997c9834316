/*
 * A trace.dat: records go to the library's writer, whose bytes go to a file. The file is told of
 * what it holds once a second, so that little is missing of it if we are killed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "log.h"
#include "output_file.h"
#include "sinks.h"
#include "tracerd/dat_writer.h"

#define PAGE_SIZE (64u << 10)
#define MOVE_PIECE (1u << 20)
#define SYNC_RECORDS (1u << 16)
/* Of files that are replayed, who may have been recorded on larger machines. */
#define FOREIGN_CPUS_MAX 1024

struct dat_sink {
    struct sink sink;
    struct output_file file;
    struct trd_dat_writer *writer;     /* owned; made for the first record */
    const struct trd_catalog *catalog; /* the first one */
    uint64_t records;
};

static int write_at(void *context, uint64_t offset, const void *bytes, size_t size)
{
    const struct output_file *file = context;

    while (size > 0) {
        ssize_t written = pwrite(file->fd, bytes, size, (off_t)offset);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -errno;
        bytes = (const char *)bytes + written;
        offset += (uint64_t)written;
        size -= (size_t)written;
    }
    return 0;
}

static int read_at(void *context, uint64_t offset, void *bytes, size_t size)
{
    const struct output_file *file = context;

    while (size > 0) {
        ssize_t got = pread(file->fd, bytes, size, (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -errno : -EIO;
        bytes = (char *)bytes + got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return 0;
}

/* From the front, so that a place before may overlap. */
static int move_pieces(struct output_file *file, uint64_t from, uint64_t to, uint64_t size)
{
    char *piece = malloc(MOVE_PIECE);
    int result = piece ? 0 : -ENOMEM;

    while (result == 0 && size > 0) {
        ssize_t got = pread(file->fd, piece, size < MOVE_PIECE ? size : MOVE_PIECE, (off_t)from);

        if (got < 0 && errno == EINTR)
            continue;
        result = got < 0 ? -errno : got == 0 ? -EIO : write_at(file, to, piece, (size_t)got);
        if (got > 0) {
            from += (uint64_t)got;
            to += (uint64_t)got;
            size -= (uint64_t)got;
        }
    }
    free(piece);
    return result;
}

/* The kernel copies where the two places do not overlap, which file systems may do by sharing. */
static int move(void *context, uint64_t from, uint64_t to, uint64_t size)
{
    struct output_file *file = context;

    while (size > 0 && size <= from - to) {
        off_t in = (off_t)from, out = (off_t)to;
        ssize_t copied = copy_file_range(file->fd, &in, file->fd, &out, size, 0);

        if (copied <= 0)
            break;
        from += (uint64_t)copied;
        to += (uint64_t)copied;
        size -= (uint64_t)copied;
    }
    return move_pieces(file, from, to, size);
}

static int resize(void *context, uint64_t size)
{
    const struct output_file *file = context;

    return ftruncate(file->fd, (off_t)size) == 0 ? 0 : -errno;
}

static void check(struct dat_sink *dat, int result)
{
    if (result == 0 || dat->file.failed)
        return;
    output_file_fail(&dat->file, -result);
    if (dat->writer)
        trd_dat_writer_abandon(dat->writer);
    pipeline_sink_failed(dat->sink.pipeline, &dat->sink);
}

static void describe_machine(char *out, size_t size)
{
    struct utsname name;

    *out = '\0';
    if (uname(&name) == 0)
        (void)snprintf(out, size, "%s %s %s %s", name.sysname, name.nodename, name.release,
                       name.machine);
}

static int create_writer(struct dat_sink *dat)
{
    const struct trd_dat_target target = { write_at, read_at, move, resize, &dat->file };
    const struct pipeline *pipeline = dat->sink.pipeline;
    bool live = pipeline_is_live(pipeline);
    const char *clock = pipeline_clock(pipeline);
    uint32_t cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
    char machine[512] = "";
    const struct trd_dat_options options = { .cpu_count = live ? cpus : 1,
                                             .cpu_max = live ? cpus : FOREIGN_CPUS_MAX,
                                             .page_size = PAGE_SIZE,
                                             /* Ftrace's own, unless told otherwise. */
                                             .clock = clock ? clock : "local",
                                             .uname = machine,
                                             .zstd = pipeline_options(pipeline)->compress != NULL };
    int result;

    if (live)
        describe_machine(machine, sizeof(machine));
    result = trd_dat_writer_create(&dat->writer, &target, &options);
    if (result == 0 && dat->catalog)
        result = trd_dat_writer_set_catalog(dat->writer, dat->catalog);
    if (result != -ENOTSUP)
        return result;
    log_notice("%s: the kernel's events are of another byte order and cannot be written there",
               dat->file.path);
    return 0;
}

/* Each second; where a file is converted, nobody gives the seconds. */
static bool is_sync_due(struct dat_sink *dat, const struct trd_record *record)
{
    return record->kind == TRD_KIND_HEARTBEAT || ++dat->records % SYNC_RECORDS == 0;
}

static void record(struct sink *sink, const struct trd_record *record)
{
    struct dat_sink *dat = (struct dat_sink *)sink;
    int result = 0;

    if (dat->file.failed)
        return;
    if (!dat->writer && record->kind != TRD_KIND_HEARTBEAT)
        result = create_writer(dat);
    if (result == 0 && dat->writer && record->kind != TRD_KIND_HEARTBEAT)
        result = trd_dat_writer_record(dat->writer, record);
    if (result == 0 && dat->writer && is_sync_due(dat, record))
        result = trd_dat_writer_sync(dat->writer);
    check(dat, result);
}

static void page(struct sink *sink, uint32_t cpu, const uint8_t *bytes, size_t size)
{
    struct dat_sink *dat = (struct dat_sink *)sink;
    int result = 0;

    if (dat->file.failed)
        return;
    if (!dat->writer)
        result = create_writer(dat);
    if (result == 0)
        result = trd_dat_writer_page(dat->writer, cpu, bytes, size);
    check(dat, result);
}

/* Lines `tid name`. */
static void cmdlines(struct sink *sink, const char *text, size_t size)
{
    struct dat_sink *dat = (struct dat_sink *)sink;
    const char *end = text + size;

    while (dat->writer && text < end) {
        size_t line = strcspn(text, "\n");
        size_t number = strcspn(text, " ");

        if (number < line)
            trd_dat_writer_set_comm(dat->writer, atoi(text), text + number + 1, line - number - 1);
        text += line + 1;
    }
}

static void catalog(struct sink *sink, const struct trd_catalog *catalog)
{
    struct dat_sink *dat = (struct dat_sink *)sink;

    if (!dat->catalog)
        dat->catalog = catalog;
    else
        log_notice("%s holds one kernel's events: those of the second one are left out",
                   dat->file.path);
}

static void end(struct sink *sink)
{
    struct dat_sink *dat = (struct dat_sink *)sink;
    uint64_t left_out;

    if (!dat->writer && !dat->file.failed)
        check(dat, create_writer(dat));
    if (dat->writer && !dat->file.failed)
        check(dat, trd_dat_writer_end(dat->writer));
    left_out = dat->writer ? trd_dat_writer_left_out(dat->writer) : 0;
    if (left_out > 0)
        log_notice("%s: %llu events do not fit into this form and were left out", dat->file.path,
                   (unsigned long long)left_out);
    check(dat, output_file_close(&dat->file));
    trd_dat_writer_destroy(dat->writer);
    pipeline_sink_closed(sink->pipeline, sink);
    free(dat);
}

int sink_dat_open(struct pipeline *pipeline, const char *path)
{
    struct dat_sink *dat = calloc(1, sizeof(*dat));

    if (!dat) {
        log_error("cannot open %s: no memory", path);
        return EXIT_NOTHING;
    }
    if (output_file_open_seekable(&dat->file, path) != 0) {
        free(dat);
        return EXIT_USAGE;
    }
    dat->sink.name = path;
    dat->sink.record = record;
    dat->sink.page = page;
    dat->sink.cmdlines = cmdlines;
    dat->sink.catalog = catalog;
    dat->sink.end = end;
    pipeline_add_sink(pipeline, &dat->sink);
    return 0;
}
