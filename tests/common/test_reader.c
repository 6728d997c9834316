/* trd_reader on files whose content is known: every layout, option and loss that may stand in one.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>

#include "reader_check.h"
#include "tracerd/reader.h"

#define START 1000000000u

enum {
    OPTION_DATE = 1,
    OPTION_CPUSTAT = 2,
    OPTION_OFFSET = 7,
    OPTION_TIME_SHIFT = 12,
    OPTION_TSC2NSEC = 14
};

static struct dat_maker maker;
static struct dat_maker_buffer *top;

static void begin(int version, const char *codec)
{
    dat_maker_init(&maker, version, codec);
    top = dat_maker_buffer(&maker, "", "mono", 4096, 3);
}

static struct reading finish(void)
{
    const struct dat_maker_bytes *file = dat_maker_write(&maker);
    struct reading reading;

    reading_init(&reading, file->bytes, file->size);
    dat_maker_finish(&maker);
    return reading;
}

static void read_layout(int version, const char *codec, bool big_endian, uint8_t long_size,
                        uint32_t page_size)
{
    struct reading reading;

    dat_maker_init(&maker, version, codec);
    maker.big_endian = big_endian;
    maker.long_size = long_size;
    maker.page_size = page_size;
    top = dat_maker_buffer(&maker, "", "mono", page_size, 3);
    fill_ticks(&maker, top, START, 10000);
    reading = finish();
    reading_expect_whole(&reading);
    expect_ticks(&reading, START, 10000, 3);
    assert_int_equal(reading.losses, 0);
    reading_finish(&reading);
}

static void test_reader_every_version_codec_byte_order_word_and_page_size(void **state)
{
    static const struct {
        int version;
        const char *codec;
    } kinds[] = { { 6, "none" }, { 7, "none" }, { 7, "zlib" }, { 7, "zstd" } };

    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        for (int variant = 0; variant < 4; variant++)
            for (uint32_t page_size = 4096; page_size <= 65536; page_size *= 2)
                read_layout(kinds[i].version, kinds[i].codec, variant & 1, variant & 2 ? 4 : 8,
                            page_size);
}

static void read_faulty(const char *codec, uint32_t faults)
{
    struct reading reading;

    begin(7, codec);
    maker.faults = faults;
    fill_ticks(&maker, top, START, 3000);
    reading = finish();
    reading_expect_whole(&reading);
    expect_ticks(&reading, START, 3000, 3);
    reading_finish(&reading);
}

static void test_reader_writers_faults_cost_nothing(void **state)
{
    (void)state;
    read_faulty("zstd", DAT_MAKER_SHORT_SECTIONS);
    read_faulty("zlib", DAT_MAKER_SHORT_SECTIONS | DAT_MAKER_PACKED_OPTIONS);
    read_faulty("zstd", DAT_MAKER_SHORT_RUNS);
}

static void test_reader_compressed_options(void **state)
{
    (void)state;
    read_faulty("zlib", DAT_MAKER_PACKED_OPTIONS);
    read_faulty("zstd", DAT_MAKER_PACKED_OPTIONS);
}

/* C1: gpuvis refused every file of a newer recorder. */
static void test_reader_unknown_options_and_sections_are_skipped(void **state)
{
    static const struct {
        int version;
        const char *codec;
    } kinds[] = { { 6, "none" }, { 7, "none" }, { 7, "zlib" }, { 7, "zstd" } };

    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct reading reading;

        begin(kinds[i].version, kinds[i].codec);
        maker.faults = DAT_MAKER_UNKNOWN_SECTION;
        dat_maker_option(&maker, 200, "twelve bytes", 12);
        dat_maker_option(&maker, 65535, "", 0);
        fill_ticks(&maker, top, START, 300);
        reading = finish();
        reading_expect_whole(&reading);
        expect_ticks(&reading, START, 300, 3);
        reading_finish(&reading);
    }
}

static void expect_refused(struct reading *reading, int result, const char *word)
{
    assert_int_equal(reading->opened, result);
    if (!strstr(reading->error, word))
        fail_msg("\"%s\" does not say %s", reading->error, word);
    reading_finish(reading);
}

static void test_reader_codec_that_is_not_built_in_is_named(void **state)
{
    struct reading reading;

    (void)state;
    begin(7, "lz4");
    fill_ticks(&maker, top, START, 3);
    reading = finish();
    expect_refused(&reading, -ENOTSUP, "\"lz4\"");
}

static void test_reader_latency_text_is_refused(void **state)
{
    struct reading reading;

    (void)state;
    begin(6, "none");
    maker.faults = DAT_MAKER_LATENCY;
    reading = finish();
    expect_refused(&reading, -ENOTSUP, "latency");
}

static void test_reader_other_versions_and_other_files_are_refused(void **state)
{
    static const uint8_t version_8[] = "\x17\x08\x44tracing8\0\0\x08\0\x10\0\0none\0\0\0";
    struct reading reading;

    (void)state;
    reading_init(&reading, version_8, sizeof(version_8));
    expect_refused(&reading, -EPROTONOSUPPORT, "\"8\"");
    reading_init(&reading, (const uint8_t *)"#!/bin/sh\necho no trace\n", 24);
    expect_refused(&reading, -EBADMSG, "no trace.dat");
    reading_init(&reading, (const uint8_t *)"", 0);
    expect_refused(&reading, -EBADMSG, "no trace.dat");
}

static void test_reader_missing_file_is_named_by_the_system(void **state)
{
    struct trd_reader *reader = NULL;
    char error[64] = "";

    (void)state;
    assert_int_equal(trd_reader_open(&reader, "/nonexistent/trace.dat", error, sizeof(error)),
                     -ENOENT);
    assert_string_equal(error, strerror(ENOENT));
    assert_int_equal(trd_reader_open(&reader, "/", error, sizeof(error)), -EBADMSG);
    assert_null(reader);
}

static void test_reader_buffers_are_merged_and_named(void **state)
{
    struct dat_maker_buffer *other;

    (void)state;
    for (int version = 6; version <= 7; version++) {
        struct reading reading;

        begin(version, version == 6 ? "none" : "zstd");
        other = dat_maker_buffer(&maker, "clr", "mono", 4096, 3);
        for (uint32_t i = 0; i < 1000; i++)
            dat_maker_tick(&maker, i % 2 ? other : top, i % 3, START + i * 10,
                           100 + (int32_t)(i % 3), i);
        reading = finish();
        reading_expect_whole(&reading);
        expect_ticks(&reading, START, 1000, 3);
        for (size_t i = 0; i < reading.count; i++)
            assert_string_equal(reading.records[i].stream, i % 2 ? "clr" : "");
        reading_finish(&reading);
    }
}

static void test_reader_equal_times_come_by_lower_cpu_then_buffer_order(void **state)
{
    struct dat_maker_buffer *buffers[3];

    (void)state;
    for (int version = 6; version <= 7; version++) {
        struct reading reading;
        size_t at = 0;

        begin(version, "none");
        buffers[0] = top;
        buffers[1] = dat_maker_buffer(&maker, "z", "mono", 4096, 3);
        buffers[2] = dat_maker_buffer(&maker, "a", "mono", 4096, 3);
        for (uint32_t cpu = 3; cpu-- > 0;)
            for (uint32_t buffer = 3; buffer-- > 0;)
                dat_maker_tick(&maker, buffers[buffer], cpu, START, 1, cpu * 3 + buffer);
        reading = finish();
        assert_int_equal(reading.events, 9);
        for (at = 0; at < 9; at++)
            assert_int_equal(reading.records[at].number, at);
        reading_finish(&reading);
    }
}

static void test_reader_tells_buffers_clock_and_pages(void **state)
{
    const struct dat_maker_bytes *file;
    struct trd_reader *reader;
    char error[64];

    (void)state;
    begin(7, "none");
    (void)dat_maker_buffer(&maker, "big", "x86-tsc", 65536, 2);
    dat_maker_option(&maker, 5, "Linux made-up", 14);
    file = dat_maker_write(&maker);
    assert_int_equal(trd_reader_open_memory(&reader, file->bytes, file->size, error, sizeof(error)),
                     0);
    assert_string_equal(trd_reader_buffer(reader, 0)->name, "");
    assert_string_equal(trd_reader_buffer(reader, 0)->clock, "mono");
    assert_string_equal(trd_reader_buffer(reader, 1)->name, "big");
    assert_string_equal(trd_reader_buffer(reader, 1)->clock, "x86-tsc");
    assert_int_equal(trd_reader_buffer(reader, 1)->page_size, 65536);
    assert_int_equal(trd_reader_buffer(reader, 1)->cpu_count, 2);
    assert_null(trd_reader_buffer(reader, 2));
    assert_string_equal(trd_reader_uname(reader), "Linux made-up");
    assert_string_equal(trd_catalog_comm(trd_reader_catalog(reader), 17), "worker one");
    trd_reader_destroy(reader);
    dat_maker_finish(&maker);
}

static void test_reader_version_6_count_and_clock_where_a_live_recording_puts_them(void **state)
{
    const struct dat_maker_bytes *file;
    struct trd_reader *reader;
    struct reading reading;
    char error[64];

    (void)state;
    begin(6, "none");
    maker.faults = DAT_MAKER_CPUCOUNT_OPTION | DAT_MAKER_CLOCK_TEXT;
    fill_ticks(&maker, top, START, 500);
    file = dat_maker_write(&maker);
    assert_int_equal(trd_reader_open_memory(&reader, file->bytes, file->size, error, sizeof(error)),
                     0);
    assert_string_equal(trd_reader_buffer(reader, 0)->clock, "mono");
    trd_reader_destroy(reader);
    reading = finish();
    reading_expect_whole(&reading);
    expect_ticks(&reading, START, 500, 3);
    reading_finish(&reading);
}

static void expect_times(uint64_t first, uint64_t second)
{
    struct reading reading;

    dat_maker_tick(&maker, top, 1, 1000, 1, 0);
    dat_maker_tick(&maker, top, 1, 3000, 1, 1);
    reading = finish();
    reading_expect_whole(&reading);
    assert_int_equal(reading.events, 2);
    assert_int_equal(reading.records[0].ts_ns, first);
    assert_int_equal(reading.records[1].ts_ns, second);
    reading_finish(&reading);
}

static void test_reader_date_and_offset_are_added(void **state)
{
    (void)state;
    begin(7, "none");
    dat_maker_option(&maker, OPTION_DATE, "0x10", 5); /* microseconds */
    expect_times(17000, 19000);
    begin(6, "none");
    dat_maker_option(&maker, OPTION_OFFSET, "-500", 5);
    expect_times(500, 2500);
    begin(7, "none");
    dat_maker_option(&maker, OPTION_OFFSET, "7", 2);
    dat_maker_option(&maker, OPTION_DATE, "1", 2);
    expect_times(2007, 4007);
}

static void tsc_option(uint32_t mult, uint32_t shift)
{
    uint8_t option[16];

    page_maker_put(option, mult, 4, maker.big_endian);
    page_maker_put(option + 4, shift, 4, maker.big_endian);
    page_maker_put(option + 8, 12345, 8, maker.big_endian); /* not added, as trace-cmd does */
    dat_maker_option(&maker, OPTION_TSC2NSEC, option, sizeof(option));
}

static void test_reader_ticks_become_nanoseconds(void **state)
{
    (void)state;
    dat_maker_init(&maker, 7, "none");
    maker.big_endian = true;
    top = dat_maker_buffer(&maker, "", "x86-tsc", 4096, 3);
    tsc_option(6, 2);
    expect_times(1500, 4500);
}

static void test_reader_a_clock_of_nanoseconds_has_no_ticks(void **state)
{
    (void)state;
    begin(7, "none");
    tsc_option(6, 2);
    expect_times(1000, 3000);
}

struct sample {
    uint64_t time;
    int64_t offset;
    uint64_t scaling;
    uint64_t fraction;
};

/* TIME_SHIFT for CPUs 0 and 1, the same for both. */
static void shift_option(bool interpolate, const struct sample *samples, uint32_t count)
{
    uint8_t option[512];
    size_t at = 16;

    page_maker_put(option, 0xabcd, 8, false);
    page_maker_put(option + 8, interpolate, 4, false);
    page_maker_put(option + 12, 2, 4, false);
    for (int cpu = 0; cpu < 2; cpu++) {
        page_maker_put(option + at, count, 4, false);
        at += 4;
        for (int column = 0; column < 3; column++)
            for (uint32_t i = 0; i < count; i++, at += 8)
                page_maker_put(option + at,
                               column == 0   ? samples[i].time
                               : column == 1 ? (uint64_t)samples[i].offset
                                             : samples[i].scaling,
                               8, false);
    }
    for (int cpu = 0; cpu < 2; cpu++)
        for (uint32_t i = 0; i < count; i++, at += 8)
            page_maker_put(option + at, samples[i].fraction, 8, false);
    dat_maker_option(&maker, OPTION_TIME_SHIFT, option, at);
}

static void test_reader_guest_times_become_the_hosts(void **state)
{
    static const struct sample one[] = { { 5, -400, 9, 0 } };
    static const struct sample line[] = { { 1000, 100, 1, 0 },
                                          { 2000, 200, 1, 0 },
                                          { 4000, 600, 1, 0 } };
    static const struct sample scaled[] = { { 0, 50, 3, 1 }, { 2000, 70, 5, 1 } };

    (void)state;
    begin(7, "none"); /* with one sample only its offset counts */
    shift_option(false, one, 1);
    expect_times(600, 2600);
    begin(7, "none");
    shift_option(true, line, 3);
    expect_times(1100, 3400);
    begin(7, "none");
    shift_option(false, scaled, 2);
    expect_times(1000 * 3 / 2 + 50, 3000 * 5 / 2 + 70);
}

static void test_reader_damaged_clock_options_are_told_and_left_out(void **state)
{
    static const uint8_t shift[] = { 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f };
    struct reading reading;

    (void)state;
    begin(7, "none");
    dat_maker_option(&maker, OPTION_TIME_SHIFT, shift, sizeof(shift));
    dat_maker_option(&maker, OPTION_TSC2NSEC, "\1\0\0\0\x40\0\0\0", 8);
    fill_ticks(&maker, top, START, 30);
    reading = finish();
    assert_int_equal(reading.damage_count, 2);
    assert_non_null(strstr(reading.damage, "option 12"));
    assert_non_null(strstr(reading.damage, "option 14"));
    expect_ticks(&reading, START, 30, 3);
    reading_finish(&reading);
}

/* C17: kept + lost = made, and the loss stands where it happened. */
static void test_reader_losses_stand_in_place_with_their_count(void **state)
{
    struct reading reading;
    uint64_t lost = 0;

    (void)state;
    begin(7, "zstd");
    for (uint32_t i = 0; i < 1000; i++) {
        if (i % 100 == 50) {
            dat_maker_lose(&maker, top, 1, 30);
            i += 29;
            continue;
        }
        dat_maker_tick(&maker, top, 1, START + i * 10, 1, i);
    }
    reading = finish();
    reading_expect_whole(&reading);
    assert_int_equal(reading.losses, 10);
    for (size_t i = 0; i < reading.count; i++) {
        const struct seen *seen = &reading.records[i];

        if (!seen->is_loss)
            continue;
        lost += seen->lost;
        assert_int_equal(seen->cpu, 1);
        assert_int_equal(seen->ts_ns, reading.records[i + 1].ts_ns);
        assert_int_equal(seen->from_ns, reading.records[i - 1].ts_ns);
        assert_int_equal(reading.records[i + 1].number - reading.records[i - 1].number, 31);
    }
    assert_int_equal(reading.events + lost, 1000);
    reading_finish(&reading);
}

static void stat_option(int cpu, unsigned overrun, unsigned commit, unsigned dropped)
{
    char text[256];
    int size = snprintf(text, sizeof(text),
                        "CPU: %d\nentries: 0\noverrun: %u\ncommit overrun: %u\nbytes: 1\n"
                        "oldest event ts:     1.000000\nnow ts:     2.000000\n"
                        "dropped events: %u\nread events: 9\n",
                        cpu, overrun, commit, dropped);

    dat_maker_option(&maker, OPTION_CPUSTAT, text, (size_t)size + 1);
}

static void test_reader_what_pages_do_not_tell_comes_from_the_kernels_counters(void **state)
{
    const struct seen *last;
    struct reading reading;

    (void)state;
    begin(7, "none");
    stat_option(0, 0, 0, 0);
    stat_option(1, 42, 3, 5); /* 42 overrun, of which the pages tell 30 */
    dat_maker_tick(&maker, top, 1, START, 1, 0);
    dat_maker_lose(&maker, top, 1, 30);
    dat_maker_tick(&maker, top, 1, START + 100, 1, 1);
    dat_maker_lose(&maker, top, 1, PAGE_MAKER_LOST_UNKNOWN);
    dat_maker_tick(&maker, top, 1, START + 200, 1, 2);
    reading = finish();
    reading_expect_whole(&reading);
    assert_int_equal(reading.losses, 3);
    assert_true(reading.records[1].lost == 30);
    assert_true(reading.records[3].lost == UINT64_MAX);
    last = &reading.records[reading.count - 1];
    assert_true(last->is_loss);
    assert_int_equal(last->lost, 20);
    assert_int_equal(last->from_ns, START);
    assert_int_equal(last->ts_ns, START + 200);
    reading_finish(&reading);
}

static void test_reader_counters_of_an_instance_are_its_own(void **state)
{
    struct dat_maker_buffer *other;
    struct reading reading;

    (void)state;
    begin(7, "none");
    other = dat_maker_buffer(&maker, "other", "mono", 4096, 2);
    stat_option(0, 0, 0, 0);
    dat_maker_option(&maker, OPTION_CPUSTAT, "\nBuffer: other\n\n", 17);
    stat_option(0, 7, 0, 0);
    dat_maker_tick(&maker, top, 0, START, 1, 0);
    dat_maker_tick(&maker, other, 0, START + 5, 1, 1);
    reading = finish();
    assert_int_equal(reading.losses, 1);
    assert_true(reading.records[2].is_loss);
    assert_int_equal(reading.records[2].lost, 7);
    assert_string_equal(reading.records[2].stream, "other");
    reading_finish(&reading);
}

static void test_reader_loss_of_a_cpu_without_events_spans_the_trace(void **state)
{
    struct reading reading;

    (void)state;
    begin(7, "none");
    stat_option(2, 0, 0, 11);
    dat_maker_tick(&maker, top, 0, START, 1, 0);
    dat_maker_tick(&maker, top, 1, START + 50, 1, 1);
    reading = finish();
    assert_int_equal(reading.count, 3);
    assert_int_equal(reading.records[2].cpu, 2);
    assert_int_equal(reading.records[2].lost, 11);
    assert_int_equal(reading.records[2].from_ns, START);
    assert_int_equal(reading.records[2].ts_ns, START + 50);
    reading_finish(&reading);
}

/* C12: overwrite mode leaves CPUs that begin at different times. */
static void test_reader_cpus_that_begin_apart_are_all_there(void **state)
{
    struct reading reading;

    (void)state;
    begin(7, "none");
    dat_maker_tick(&maker, top, 0, START, 1, 0);
    dat_maker_tick(&maker, top, 0, START + 3000000000u, 1, 2);
    dat_maker_tick(&maker, top, 1, START + 2000000000u, 1, 1);
    dat_maker_tick(&maker, top, 1, START + 4000000000u, 1, 3);
    reading = finish();
    reading_expect_whole(&reading);
    assert_int_equal(reading.events, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(reading.records[i].number, i);
    reading_finish(&reading);
}

static void test_reader_events_without_a_format_are_counted_not_handed_out(void **state)
{
    static const uint8_t unknown[8] = { 0xe7, 0x03 }; /* 999 */
    struct reading reading;

    (void)state;
    begin(7, "none");
    dat_maker_tick(&maker, top, 0, START, 1, 0);
    dat_maker_event(&maker, top, 0, START + 1, unknown, 8);
    dat_maker_event(&maker, top, 1, START + 2, unknown, 8);
    dat_maker_event(&maker, top, 1, START + 3, "x", 1);
    dat_maker_tick(&maker, top, 0, START + 4, 1, 1);
    reading = finish();
    assert_int_equal(reading.events, 2);
    assert_string_equal(reading.damage,
                        "event id 999 has no format: 2 records were skipped\n"
                        "1 records are too short for an event id and were skipped\n");
    reading_finish(&reading);
}

static void test_reader_page_that_goes_back_in_time_is_marked_late(void **state)
{
    struct reading reading;

    (void)state;
    begin(7, "none");
    dat_maker_tick(&maker, top, 0, START + 100, 1, 0);
    dat_maker_lose(&maker, top, 0, 0); /* a new page */
    dat_maker_tick(&maker, top, 0, START, 1, 1);
    dat_maker_tick(&maker, top, 0, START + 200, 1, 2);
    reading = finish();
    assert_int_equal(reading.events, 3);
    assert_int_equal(reading.records[0].flags, 0);
    assert_int_equal(reading.records[1].flags, TRD_RECORD_F_LATE);
    assert_int_equal(reading.records[2].flags, 0);
    reading_finish(&reading);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reader_every_version_codec_byte_order_word_and_page_size),
        cmocka_unit_test(test_reader_writers_faults_cost_nothing),
        cmocka_unit_test(test_reader_compressed_options),
        cmocka_unit_test(test_reader_unknown_options_and_sections_are_skipped),
        cmocka_unit_test(test_reader_codec_that_is_not_built_in_is_named),
        cmocka_unit_test(test_reader_latency_text_is_refused),
        cmocka_unit_test(test_reader_other_versions_and_other_files_are_refused),
        cmocka_unit_test(test_reader_missing_file_is_named_by_the_system),
        cmocka_unit_test(test_reader_buffers_are_merged_and_named),
        cmocka_unit_test(test_reader_equal_times_come_by_lower_cpu_then_buffer_order),
        cmocka_unit_test(test_reader_tells_buffers_clock_and_pages),
        cmocka_unit_test(test_reader_version_6_count_and_clock_where_a_live_recording_puts_them),
        cmocka_unit_test(test_reader_date_and_offset_are_added),
        cmocka_unit_test(test_reader_ticks_become_nanoseconds),
        cmocka_unit_test(test_reader_a_clock_of_nanoseconds_has_no_ticks),
        cmocka_unit_test(test_reader_guest_times_become_the_hosts),
        cmocka_unit_test(test_reader_damaged_clock_options_are_told_and_left_out),
        cmocka_unit_test(test_reader_losses_stand_in_place_with_their_count),
        cmocka_unit_test(test_reader_what_pages_do_not_tell_comes_from_the_kernels_counters),
        cmocka_unit_test(test_reader_counters_of_an_instance_are_its_own),
        cmocka_unit_test(test_reader_loss_of_a_cpu_without_events_spans_the_trace),
        cmocka_unit_test(test_reader_cpus_that_begin_apart_are_all_there),
        cmocka_unit_test(test_reader_events_without_a_format_are_counted_not_handed_out),
        cmocka_unit_test(test_reader_page_that_goes_back_in_time_is_marked_late),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
