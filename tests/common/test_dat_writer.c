/* What is written as a trace.dat comes back from the reader: records, losses, times, texts. */
#include "tracerd/dat_writer.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

#include "event.h"
#include "tracerd/reader.h"

#define FORMAT                                                                                     \
    "name: tick\nID: 77\nformat:\n"                                                                \
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                         \
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                         \
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"                 \
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"                                   \
    "\tfield:u64 value;\toffset:8;\tsize:8;\tsigned:0;\n\n"                                        \
    "print fmt: \"value=%llu\", REC->value\n"

/* A file that is mostly holes: pieces by their place, as a file system has it. */
#define PIECES_MAX 4096
struct piece {
    uint64_t at;
    size_t size;
    uint8_t *bytes;
};
struct file {
    struct piece pieces[PIECES_MAX];
    size_t count;
    uint64_t size;
    int error; /* what the next writing fails with */
};

static int write_piece(void *context, uint64_t offset, const void *bytes, size_t size)
{
    struct file *file = context;

    if (file->error)
        return file->error;
    assert_true(file->count < PIECES_MAX);
    file->pieces[file->count] = (struct piece){ offset, size, malloc(size) };
    memcpy(file->pieces[file->count++].bytes, bytes, size);
    if (offset + size > file->size)
        file->size = offset + size;
    return 0;
}

static void read_back(const struct file *file, uint64_t from, uint8_t *out, uint64_t size)
{
    memset(out, 0, size);
    for (size_t i = 0; i < file->count; i++) {
        const struct piece *piece = &file->pieces[i];
        uint64_t begin = piece->at > from ? piece->at : from;
        uint64_t end =
            piece->at + piece->size < from + size ? piece->at + piece->size : from + size;

        if (begin < end)
            memcpy(out + (begin - from), piece->bytes + (begin - piece->at), end - begin);
    }
}

static int read_piece(void *context, uint64_t offset, void *bytes, size_t size)
{
    read_back(context, offset, bytes, size);
    return 0;
}

static int move_piece(void *context, uint64_t from, uint64_t to, uint64_t size)
{
    uint8_t *bytes = malloc(size);
    int result;

    assert_true(to < from);
    read_back(context, from, bytes, size);
    result = write_piece(context, to, bytes, size);
    free(bytes);
    return result;
}

static int resize(void *context, uint64_t size)
{
    struct file *file = context;

    file->size = size;
    return 0;
}

struct world {
    struct file file;
    struct trd_catalog *catalog;
    struct trd_dat_writer *writer;
    struct trd_reader *reader;
    uint8_t *bytes;
};

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    const struct trd_dat_target target = { write_piece, read_piece, move_piece, resize,
                                           &world->file };
    const struct trd_dat_options options = {
        .cpu_count = 2, .cpu_max = 4, .page_size = 4096, .clock = "mono", .uname = "Test box"
    };

    assert_int_equal(trd_catalog_create(&world->catalog, false, 8), 0);
    assert_int_equal(trd_catalog_add_format(world->catalog, "test", FORMAT, sizeof(FORMAT) - 1), 0);
    assert_int_equal(trd_dat_writer_create(&world->writer, &target, &options), 0);
    assert_int_equal(trd_dat_writer_set_catalog(world->writer, world->catalog), 0);
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;

    trd_reader_destroy(world->reader);
    trd_dat_writer_destroy(world->writer);
    trd_catalog_destroy(world->catalog);
    for (size_t i = 0; i < world->file.count; i++)
        free(world->file.pieces[i].bytes);
    free(world->bytes);
    free(world);
    return 0;
}

static void open_reader(struct world *world)
{
    char error[256] = "";

    world->bytes = malloc(world->file.size);
    read_back(&world->file, 0, world->bytes, world->file.size);
    assert_int_equal(trd_reader_open_memory(&world->reader, world->bytes, world->file.size, error,
                                            sizeof(error)),
                     0);
}

struct tick {
    uint16_t type;
    uint8_t flags, preempt_count;
    int32_t pid;
    uint64_t value;
};

static int put_tick(struct world *world, int32_t cpu, uint64_t ts, uint64_t value)
{
    struct tick tick = { .type = 77, .pid = 5, .value = value };
    struct trd_record record;

    trd_record_init(&record);
    record.source = TRD_SOURCE_FTRACE;
    record.cpu = cpu;
    record.tid = 5;
    record.ts_ns = ts;
    record.schema = trd_catalog_find(world->catalog, 77);
    record.data = (const uint8_t *)&tick;
    record.size = sizeof(tick);
    return trd_dat_writer_record(world->writer, &record);
}

static uint64_t value_of(const struct trd_record *record)
{
    struct tick tick;

    assert_int_equal(record->size, sizeof(tick));
    memcpy(&tick, record->data, sizeof(tick));
    return tick.value;
}

static void test_dat_writer_records_of_two_cpus_come_back_in_order(void **state)
{
    struct world *world = *state;
    struct trd_record record;

    for (uint64_t i = 0; i < 5000; i++)
        assert_int_equal(put_tick(world, (int32_t)(i % 2), 1000 + i * 7, i), 0);
    assert_int_equal(trd_dat_writer_end(world->writer), 0);
    open_reader(world);
    for (uint64_t i = 0; i < 5000; i++) {
        assert_int_equal(trd_reader_next(world->reader, &record), 1);
        assert_int_equal(record.kind, TRD_KIND_EVENT);
        assert_int_equal(record.ts_ns, 1000 + i * 7);
        assert_int_equal(record.cpu, i % 2);
        assert_int_equal(value_of(&record), i);
    }
    assert_int_equal(trd_reader_next(world->reader, &record), 0);
    assert_null(trd_reader_damage(world->reader, 0));
    assert_string_equal(trd_reader_uname(world->reader), "Test box");
}

static void test_dat_writer_hours_between_records_are_kept_to_the_nanosecond(void **state)
{
    static const uint64_t times[] = { 5, 6, UINT64_C(1) << 27, UINT64_C(1) << 40,
                                      UINT64_C(1) << 58 };
    struct world *world = *state;
    struct trd_record record;

    for (size_t i = 0; i < 5; i++)
        assert_int_equal(put_tick(world, 0, times[i], i), 0);
    assert_int_equal(trd_dat_writer_end(world->writer), 0);
    open_reader(world);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(trd_reader_next(world->reader, &record), 1);
        assert_int_equal(record.ts_ns, times[i]);
    }
}

static void test_dat_writer_loss_stands_before_the_record_behind_it(void **state)
{
    struct world *world = *state;
    struct trd_record lost, record;

    assert_int_equal(put_tick(world, 1, 100, 1), 0);
    trd_record_init(&lost);
    lost.kind = TRD_KIND_LOST;
    lost.source = TRD_SOURCE_FTRACE;
    lost.cpu = 1;
    lost.lost = 42;
    lost.lost_from_ns = 100;
    lost.ts_ns = 200;
    assert_int_equal(trd_dat_writer_record(world->writer, &lost), 0);
    assert_int_equal(put_tick(world, 1, 200, 2), 0);
    assert_int_equal(trd_dat_writer_end(world->writer), 0);
    open_reader(world);
    assert_int_equal(trd_reader_next(world->reader, &record), 1);
    assert_int_equal(trd_reader_next(world->reader, &record), 1);
    assert_int_equal(record.kind, TRD_KIND_LOST);
    assert_int_equal(record.lost, 42);
    assert_int_equal(record.lost_from_ns, 100);
    assert_int_equal(record.ts_ns, 200);
    assert_int_equal(trd_reader_next(world->reader, &record), 1);
    assert_int_equal(value_of(&record), 2);
    assert_int_equal(trd_reader_next(world->reader, &record), 0);
}

static void test_dat_writer_event_of_the_clr_keeps_its_texts_thread_and_marks(void **state)
{
    struct world *world = *state;
    struct {
        struct trd_ev_thread_name fixed;
        char text[64];
    } name = { .fixed = { .thread = 0x1234 } };
    uint32_t used = sizeof(name.fixed);
    struct trd_record record;
    size_t size;

    assert_true(trd_event_put_text(&name, &used, sizeof(name), &name.fixed.name, "worker", 6));
    trd_record_init(&record);
    record.source = TRD_SOURCE_CLR;
    record.pid = 40;
    record.tid = 41;
    record.ts_ns = 9000;
    record.flags = TRD_RECORD_F_CATCH_UP;
    record.schema = trd_clr_schema(TRD_EV_thread_name);
    record.data = (const uint8_t *)&name;
    record.size = used;
    assert_int_equal(trd_dat_writer_record(world->writer, &record), 0);
    assert_int_equal(trd_dat_writer_end(world->writer), 0);
    open_reader(world);
    assert_int_equal(trd_reader_next(world->reader, &record), 1);
    assert_int_equal(record.kind, TRD_KIND_DEFINITION);
    assert_string_equal(record.name, "thread_owner");
    assert_int_equal(trd_reader_next(world->reader, &record), 1);
    assert_ptr_equal(record.schema, trd_clr_schema(TRD_EV_thread_name));
    assert_int_equal(record.source, TRD_SOURCE_CLR);
    assert_int_equal(record.pid, 40);
    assert_int_equal(record.tid, 41);
    assert_int_equal(record.cpu, -1);
    assert_int_equal(record.flags, TRD_RECORD_F_CATCH_UP);
    memcpy(&name, record.data, record.size);
    assert_string_equal(trd_event_text(&name, name.fixed.name, &size), "worker");
}

static void test_dat_writer_synced_and_never_ended_opens_with_all_up_to_then(void **state)
{
    struct world *world = *state;
    struct trd_record record;
    uint64_t count = 0;

    for (uint64_t i = 0; i < 300; i++)
        assert_int_equal(put_tick(world, 0, 1000 + i, i), 0);
    assert_int_equal(trd_dat_writer_sync(world->writer), 0);
    /* The other CPUs' regions are holes of a size that no memory has. */
    assert_true(world->file.size > UINT64_C(1) << 40);
    world->file.size = 1 << 20;
    open_reader(world);
    while (trd_reader_next(world->reader, &record) == 1)
        count += record.kind == TRD_KIND_EVENT;
    assert_int_equal(count, 300);
}

static void test_dat_writer_cpu_beyond_the_limit_is_counted_as_left_out(void **state)
{
    struct world *world = *state;

    assert_int_equal(put_tick(world, 3, 1, 1), 0);
    assert_int_equal(put_tick(world, 4, 2, 1), 0);
    assert_int_equal(put_tick(world, -1, 3, 1), 0);
    assert_int_equal(trd_dat_writer_left_out(world->writer), 2);
}

static void test_dat_writer_full_disk_is_handed_on(void **state)
{
    struct world *world = *state;
    int result = 0;

    assert_int_equal(put_tick(world, 0, 1, 1), 0);
    world->file.error = -28;
    for (uint64_t i = 2; i < 1000 && result == 0; i++)
        result = put_tick(world, 0, i, i);
    assert_int_equal(result, -28);
    assert_int_equal(trd_dat_writer_end(world->writer), -28);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_dat_writer_records_of_two_cpus_come_back_in_order),
        TEST(test_dat_writer_hours_between_records_are_kept_to_the_nanosecond),
        TEST(test_dat_writer_loss_stands_before_the_record_behind_it),
        TEST(test_dat_writer_event_of_the_clr_keeps_its_texts_thread_and_marks),
        TEST(test_dat_writer_synced_and_never_ended_opens_with_all_up_to_then),
        TEST(test_dat_writer_cpu_beyond_the_limit_is_counted_as_left_out),
        TEST(test_dat_writer_full_disk_is_handed_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
