/*
 * trd_reader beside `trace-cmd report`: the same events in the same order with the same times,
 * threads and numbers. Three runs: `made` (files of dat_maker), `shared` (files of other people's
 * systems, beside the source tree), `live` (a recording made now, on this kernel). In `shared` and
 * `live` every page is walked by kbuffer as well.
 *
 * On purpose we differ in: equal times of several buffers (by CPU, then buffer), a guest's
 * TIME_SHIFT (applied without the host's file, so no file here has one), losses (trace-cmd prints
 * none with -R), damage (trace-cmd gives up).
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <kbuffer.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bytes.h"
#include "dat_maker.h"
#include "reader_check.h"
#include "trace_cmd.h"
#include "tracerd/page.h"
#include "tracerd/reader.h"

#define START 1000000000u
#define SKIPPED 77

static char folder[] = "/tmp/tracerd-test-XXXXXX";
static size_t fields_compared;

/* Integers that stand in the record as such, and that trace-cmd prints as numbers. */
static void compare_fields(const struct trd_record *record, const char *text)
{
    const struct trd_schema *schema = record->schema;

    for (uint32_t i = schema->common_count; i < schema->field_count; i++) {
        const struct trd_field *field = &schema->fields[i];
        uint64_t mask = field->size < 8 ? (UINT64_C(1) << 8 * (field->size & 7)) - 1 : UINT64_MAX;
        uint64_t value;

        if (field->storage != TRD_STORAGE_INT)
            continue;
        assert_true((uint32_t)field->offset + field->size <= record->size);
        value = load_int(record->data + field->offset, field->size, field->is_signed,
                         schema->big_endian);
        switch (trace_cmd_check(text, field->name, value, mask)) {
        case TRACE_CMD_SILENT:
            break;
        case TRACE_CMD_AGREES:
            fields_compared++;
            break;
        case TRACE_CMD_DIFFERS:
            fail_msg("%s.%s is %#lx, not what trace-cmd says: %s", schema->name, field->name,
                     (unsigned long)value, text);
        }
    }
}

static size_t compare_file(const char *path)
{
    struct trace_cmd report;
    struct trace_cmd_line line;
    struct trd_reader *reader = NULL;
    struct trd_record record;
    char error[256] = "";
    size_t events = 0;
    int result;

    if (trd_reader_open(&reader, path, error, sizeof(error)) != 0)
        fail_msg("%s: %s", path, error);
    trace_cmd_report(&report, path);
    while ((result = trd_reader_next(reader, &record)) == 1) {
        if (record.kind != TRD_KIND_EVENT)
            continue;
        assert_true(trace_cmd_next(&report, &line));
        assert_int_equal(record.ts_ns, line.ts_ns);
        assert_int_equal(record.cpu, line.cpu);
        assert_int_equal(record.tid, line.pid);
        assert_string_equal(record.schema->name, line.name);
        assert_string_equal(record.stream ? record.stream : "", line.stream);
        compare_fields(&record, line.fields);
        events++;
    }
    assert_int_equal(result, 0);
    assert_false(trace_cmd_next(&report, &line));
    assert_null(trd_reader_damage(reader, 0));
    trace_cmd_finish(&report);
    trd_reader_destroy(reader);
    return events;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* made */

static void compare_made(struct dat_maker *maker, size_t events)
{
    const struct dat_maker_bytes *file = dat_maker_write(maker);
    char path[64];

    (void)snprintf(path, sizeof(path), "%s/made.dat", folder);
    write_file(path, file->bytes, file->size);
    assert_int_equal(compare_file(path), events);
    dat_maker_finish(maker);
}

static void compare_layout(int version, const char *codec, int variant, uint32_t page_size)
{
    struct dat_maker maker;
    struct dat_maker_buffer *top;

    dat_maker_init(&maker, version, codec);
    maker.big_endian = variant & 1;
    maker.long_size = variant & 2 ? 4 : 8;
    maker.page_size = page_size;
    top = dat_maker_buffer(&maker, "", "mono", page_size, 3);
    fill_ticks(&maker, top, START, 3000);
    compare_made(&maker, 3000);
}

/* zlib is not built into Debian's trace-cmd. */
static void test_peers_agree_on_every_version_codec_byte_order_word_and_page_size(void **state)
{
    (void)state;
    for (int variant = 0; variant < 4; variant++)
        for (uint32_t page_size = 4096; page_size <= 65536; page_size *= 4) {
            compare_layout(6, "none", variant, page_size);
            compare_layout(7, "none", variant, page_size);
            compare_layout(7, "zstd", variant, page_size);
        }
}

/* Between buffers we decide by CPU first, trace-cmd by buffer first: no ties between them here. */
static void test_peers_agree_on_several_buffers_and_equal_times_of_cpus(void **state)
{
    (void)state;
    for (int version = 6; version <= 7; version++) {
        struct dat_maker maker;
        struct dat_maker_buffer *buffers[2];

        dat_maker_init(&maker, version, version == 6 ? "none" : "zstd");
        buffers[0] = dat_maker_buffer(&maker, "", "mono", 4096, 3);
        buffers[1] = dat_maker_buffer(&maker, "other", "mono", 4096, 3);
        for (uint32_t i = 0; i < 2000; i++)
            dat_maker_tick(&maker, buffers[i % 2], i / 2 % 3, START + (i / 6 * 2 + i % 2) * 10, 7,
                           i);
        compare_made(&maker, 2000);
    }
}

static void test_peers_agree_on_conversions_of_time(void **state)
{
    static const struct {
        uint16_t id;
        const char *data;
        size_t size;
        const char *clock;
    } options[] = {
        { 1, "0x1234", 7, "mono" },
        { 7, "-500", 5, "mono" },
        { 14, "\6\0\0\0\2\0\0\0\1\2\3\4\5\6\7\10", 16, "x86-tsc" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        struct dat_maker maker;

        dat_maker_init(&maker, 7, "none");
        dat_maker_option(&maker, options[i].id, options[i].data, options[i].size);
        fill_ticks(&maker, dat_maker_buffer(&maker, "", options[i].clock, 4096, 3), START, 100);
        compare_made(&maker, 100);
    }
}

/* Pages beside kbuffer */

static void compare_page(struct kbuffer *kbuffer, const uint8_t *bytes, size_t size,
                         const struct trd_page_layout *layout)
{
    struct trd_page page;
    struct trd_page_event event;
    unsigned long long ts;
    void *data;
    int missed;

    assert_int_equal(trd_page_init(&page, bytes, size, layout), 0);
    assert_int_equal(kbuffer_load_subbuffer(kbuffer, (void *)(uintptr_t)bytes), 0);
    missed = kbuffer_missed_events(kbuffer);
    if (kbuffer_curr_index(kbuffer) == 0)
        assert_int_equal(missed, !page.lost_events         ? 0
                                 : page.lost == UINT64_MAX ? -1
                                                           : (int)page.lost);
    for (data = kbuffer_read_event(kbuffer, &ts); data; data = kbuffer_next_event(kbuffer, &ts)) {
        assert_int_equal(trd_page_next(&page, &event), 1);
        assert_int_equal(event.ts, ts);
        assert_ptr_equal(event.data, data);
        assert_int_equal(event.size, kbuffer_event_size(kbuffer));
    }
    assert_int_equal(trd_page_next(&page, &event), 0);
}

static size_t compare_pages(const uint8_t *bytes, size_t size, size_t page_size,
                            const struct trd_page_layout *layout)
{
    struct kbuffer *kbuffer =
        kbuffer_alloc(layout->commit_size == 8 ? KBUFFER_LSIZE_8 : KBUFFER_LSIZE_4,
                      layout->big_endian ? KBUFFER_ENDIAN_BIG : KBUFFER_ENDIAN_LITTLE);
    size_t pages = 0;

    assert_non_null(kbuffer);
    for (size_t at = 0; at + page_size <= size; at += page_size, pages++)
        compare_page(kbuffer, bytes + at, page_size, layout);
    kbuffer_free(kbuffer);
    return pages;
}

static uint8_t *read_file(const char *path, size_t *out_size)
{
    FILE *file = fopen(path, "r");
    uint8_t *bytes = NULL;
    size_t size = 0, got;

    assert_non_null(file);
    do {
        bytes = realloc(bytes, size + (1 << 20));
        assert_non_null(bytes);
        got = fread(bytes + size, 1, 1 << 20, file);
        size += got;
    } while (got > 0);
    (void)fclose(file);
    *out_size = size;
    return bytes;
}

/* shared */

static const char *shared_folder(void)
{
    const char *shared = getenv("TRACERD_SHARED");

    return shared ? shared : TRACERD_SOURCE "/../shared";
}

/* A version 6 file has its data behind its metadata, page-aligned, to the end; pages that hold
 * something are found by kbuffer's and our own agreement on where they end. */
static size_t compare_pages_of_version_6(const char *path)
{
    struct trd_reader *reader;
    char error[256];
    size_t size, pages = 0;
    uint8_t *bytes = read_file(path, &size);
    uint8_t *table = memmem(bytes, size, "flyrecord", 10);
    const struct trd_page_layout *layout;

    assert_int_equal(trd_reader_open(&reader, path, error, sizeof(error)), 0);
    layout = trd_catalog_get_layout(trd_reader_catalog(reader));
    assert_non_null(table);
    for (uint32_t cpu = 0; cpu < trd_reader_buffer(reader, 0)->cpu_count; cpu++) {
        uint64_t offset = load_u64(table + 10 + 16 * cpu, layout->big_endian);
        uint64_t length = load_u64(table + 18 + 16 * cpu, layout->big_endian);

        assert_true(offset + length <= size);
        pages +=
            compare_pages(bytes + offset, length, trd_reader_buffer(reader, 0)->page_size, layout);
    }
    trd_reader_destroy(reader);
    free(bytes);
    return pages;
}

static void test_peers_agree_on_files_of_other_systems(void **state)
{
    char pattern[512], converted[64];
    glob_t files;

    (void)state;
    (void)snprintf(pattern, sizeof(pattern), "%s/data/traces/*.dat", shared_folder());
    (void)snprintf(converted, sizeof(converted), "%s/v6.dat", folder);
    assert_int_equal(glob(pattern, 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        size_t events, pages;

        fields_compared = 0;
        events = compare_file(files.gl_pathv[i]);
        trace_cmd_run("convert --file-version 6 -i '%s' -o '%s'", files.gl_pathv[i], converted);
        assert_int_equal(compare_file(converted), events);
        pages = compare_pages_of_version_6(converted);
        print_message("%s: %zu events, %zu numbers, %zu pages agree\n", files.gl_pathv[i], events,
                      fields_compared, pages);
        assert_true(events > 1000 && fields_compared > 1000 && pages > 10);
    }
    globfree(&files);
}

/* live */

static char instance[128];

static void write_instance(const char *file, const char *text)
{
    char path[256];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/%s", instance, file);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    (void)close(fd);
}

/* Something for every kind of record: plenty, pauses that need a time extend, losses. */
static void make_load(void)
{
    struct timespec pause = { 0, 200000000 }; /* 2^27 ns are 134 ms */

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 20000; i++)
            (void)getppid();
        for (int i = 0; i < 200; i++)
            (void)nanosleep(&(struct timespec){ 0, 1000 }, NULL);
        (void)nanosleep(&pause, NULL);
    }
}

static size_t drain(int cpu, const char *to)
{
    char path[256];
    uint8_t *bytes = malloc(16 << 20);
    size_t size = 0;
    ssize_t got;
    int fd;

    assert_non_null(bytes);
    (void)snprintf(path, sizeof(path), "%s/per_cpu/cpu%d/trace_pipe_raw", instance, cpu);
    fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(fd >= 0);
    while (size + 4096 <= 16 << 20 && (got = read(fd, bytes + size, 4096)) > 0)
        size += 4096;
    (void)close(fd);
    if (size > 0) {
        struct trd_page_layout layout =
            page_maker_layout(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, sizeof(long));

        assert_int_equal(compare_pages(bytes, size, 4096, &layout), size / 4096);
    }
    write_file(to, bytes, size);
    free(bytes);
    return size;
}

static uint64_t read_overrun(int cpu)
{
    char path[256], line[128];
    unsigned long long overrun = 0;
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/per_cpu/cpu%d/stats", instance, cpu);
    file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file))
        (void)sscanf(line, "overrun: %llu", &overrun);
    (void)fclose(file);
    return overrun;
}

/* C17: what the ring overwrote stands in the stream, to the last event. */
static void expect_losses(const char *path, const uint64_t *overruns, long cpus)
{
    struct trd_reader *reader;
    struct trd_record record;
    uint64_t *lost = calloc((size_t)cpus, sizeof(*lost));
    char error[256];

    assert_non_null(lost);
    assert_int_equal(trd_reader_open(&reader, path, error, sizeof(error)), 0);
    while (trd_reader_next(reader, &record) == 1)
        if (record.kind == TRD_KIND_LOST)
            lost[record.cpu] = record.lost == TRD_LOST_UNKNOWN
                                   ? overruns[record.cpu] /* the page had no room for the count */
                                   : lost[record.cpu] + record.lost;
    for (long cpu = 0; cpu < cpus; cpu++)
        assert_int_equal(lost[cpu], overruns[cpu]);
    trd_reader_destroy(reader);
    free(lost);
}

static void remove_instance(void)
{
    if (!*instance)
        return;
    write_instance("tracing_on", "0");
    write_instance("events/enable", "0");
    (void)rmdir(instance);
}

static void start_instance(void)
{
    (void)snprintf(instance, sizeof(instance),
                   "/sys/kernel/tracing/instances/tracerd-test-reader-%d", (int)getpid());
    assert_int_equal(mkdir(instance, 0700), 0);
    write_instance("trace_clock", "mono");
    write_instance("buffer_size_kb", "512");
    write_instance("events/sched/enable", "1");
    write_instance("events/raw_syscalls/enable", "1");
}

static void test_peers_agree_on_a_live_recording(void **state)
{
    char raw[1024] = "", path[256], header[64], out[64], converted[64];
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    uint64_t *overruns = calloc((size_t)cpus, sizeof(*overruns)), overrun = 0;
    size_t size = 0, events;

    (void)state;
    assert_non_null(overruns);
    start_instance();
    make_load();
    write_instance("tracing_on", "0");
    for (int cpu = 0; cpu < cpus; cpu++) {
        (void)snprintf(path, sizeof(path), "%s/cpu%d.raw", folder, cpu);
        overruns[cpu] = read_overrun(cpu);
        overrun += overruns[cpu];
        size += drain(cpu, path);
        (void)snprintf(raw + strlen(raw), sizeof(raw) - strlen(raw), " '%s'", path);
    }
    remove_instance();
    *instance = '\0';
    assert_true(size > 100 * 4096);
    (void)snprintf(header, sizeof(header), "%s/header.dat", folder);
    (void)snprintf(out, sizeof(out), "%s/live.dat", folder);
    (void)snprintf(converted, sizeof(converted), "%s/converted.dat", folder);
    trace_cmd_run("restore -c -o '%s'", header);
    trace_cmd_run("restore -i '%s' -o '%s'%s", header, out, raw);
    events = compare_file(out);
    expect_losses(out, overruns, cpus);
    print_message("live: %zu events, %zu numbers, %zu pages agree; %llu events were overwritten\n",
                  events, fields_compared, size / 4096, (unsigned long long)overrun);
    assert_true(events > 10000 && overrun > 0);
    free(overruns);
    trace_cmd_run("convert --compression zstd -i '%s' -o '%s'", out, converted);
    assert_int_equal(compare_file(converted), events);
    trace_cmd_run("convert --file-version 6 -i '%s' -o '%s'", out, converted);
    assert_int_equal(compare_file(converted), events);
}

static int setup(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
    char command[64];

    (void)state;
    remove_instance();
    (void)snprintf(command, sizeof(command), "rm -r '%s'", folder);
    return system(command);
}

/* What this machine lacks, or NULL. The shared files are no part of the machine: not even in CI. */
static const char *find_missing(const char *run, bool *out_excused)
{
    char path[512];

    *out_excused = !getenv("CI") || strcmp(getenv("CI"), "true") != 0;
    if (!trace_cmd_is_there())
        return "trace-cmd";
    if (strcmp(run, "live") == 0 && access("/sys/kernel/tracing/instances", W_OK) != 0)
        return "writable tracefs at /sys/kernel/tracing";
    (void)snprintf(path, sizeof(path), "%s/data/traces", shared_folder());
    if (strcmp(run, "shared") == 0 && access(path, R_OK) != 0) {
        *out_excused = true;
        return "recordings in $TRACERD_SHARED/data/traces";
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest made[] = {
        cmocka_unit_test(test_peers_agree_on_every_version_codec_byte_order_word_and_page_size),
        cmocka_unit_test(test_peers_agree_on_several_buffers_and_equal_times_of_cpus),
        cmocka_unit_test(test_peers_agree_on_conversions_of_time),
    };
    static const struct CMUnitTest shared[] = {
        cmocka_unit_test(test_peers_agree_on_files_of_other_systems),
    };
    static const struct CMUnitTest live[] = {
        cmocka_unit_test(test_peers_agree_on_a_live_recording),
    };
    const char *run = argc > 1 ? argv[1] : "made";
    bool excused;
    const char *missing = find_missing(run, &excused);

    if (missing) {
        printf("SKIP: %s\n", missing);
        return excused ? SKIPPED : 1;
    }
    if (strcmp(run, "shared") == 0)
        return cmocka_run_group_tests(shared, setup, teardown);
    if (strcmp(run, "live") == 0)
        return cmocka_run_group_tests(live, setup, teardown);
    return cmocka_run_group_tests(made, setup, teardown);
}
