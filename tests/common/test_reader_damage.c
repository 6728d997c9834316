/* trd_reader on files that are cut, damaged or made to harm: what can be read is read, what cannot
 * is told, nothing else happens. */
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

#define START 1000000000u
#define PAGE_SIZE 4096u
#define PAGE_HEADER 16u
/* Of a tick in a page: its head and its payload. */
#define TICK_SIZE 20u
#define TICKS 2500u
#define CPUS 2u

static const struct kind {
    int version;
    const char *codec;
} kinds[] = { { 6, "none" }, { 7, "none" }, { 7, "zlib" }, { 7, "zstd" } };
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static struct dat_maker maker;

/* TICKS on CPUS CPUs, so several pages of each. */
static const struct dat_maker_bytes *make(const struct kind *kind, uint32_t faults)
{
    dat_maker_init(&maker, kind->version, kind->codec);
    maker.faults = faults;
    fill_ticks(&maker, dat_maker_buffer(&maker, "", "mono", PAGE_SIZE, CPUS), START, TICKS);
    return dat_maker_write(&maker);
}

/* Whatever was read is a tick that was written, once, at its time. */
static void expect_only_ticks(const struct reading *reading)
{
    static bool seen[TICKS];

    memset(seen, 0, sizeof(seen));
    for (size_t i = 0; i < reading->count; i++) {
        const struct seen *record = &reading->records[i];

        if (record->is_loss)
            continue;
        assert_true(record->number < TICKS);
        assert_false(seen[record->number]);
        assert_int_equal(record->ts_ns, START + record->number * 10);
        assert_int_equal(record->tid, 100 + record->number % CPUS);
        seen[record->number] = true;
    }
}

/* Ticks of pages that lie one behind the other from data_begin on, as far as they are there. */
static size_t count_ticks(const struct dat_maker_bytes *file, size_t cut)
{
    size_t count = 0;

    for (size_t at = maker.data_begin; at + PAGE_SIZE <= file->size; at += PAGE_SIZE) {
        size_t ticks = ((size_t)file->bytes[at + 8] | (size_t)file->bytes[at + 9] << 8) / TICK_SIZE;
        size_t there = cut > at + PAGE_HEADER ? (cut - at - PAGE_HEADER) / TICK_SIZE : 0;

        if (count + ticks > TICKS) /* behind the last page */
            break;
        count += there < ticks ? there : ticks;
    }
    return count;
}

/* Every byte where structures are, samples inside the pages. */
static size_t next_cut(size_t cut)
{
    if (cut < maker.data_begin + 100)
        return cut + 1;
    for (size_t i = 0; i < maker.boundary_count; i++)
        if (cut + 2 >= maker.boundaries[i] && cut < maker.boundaries[i] + 26)
            return cut + 1;
    return cut + 61;
}

static void cut_everywhere(const struct kind *kind)
{
    const struct dat_maker_bytes *file = make(kind, 0);
    bool packed = strcmp(kind->codec, "none") != 0;
    size_t last = 0;

    for (size_t cut = 0; cut < file->size; cut = next_cut(cut)) {
        struct reading reading;

        reading_init(&reading, file->bytes, cut);
        if (reading.opened != 0) {
            assert_true(cut < maker.data_begin);
            continue;
        }
        expect_only_ticks(&reading);
        if (!packed)
            assert_int_equal(reading.events, count_ticks(file, cut));
        assert_true(reading.events >= last);
        /* The strings at the end of version 7 are nothing that anyone misses. */
        if (reading.events < TICKS || kind->version == 6) {
            assert_true(reading.damage_count > 0);
            assert_true(cut <= maker.data_begin + PAGE_HEADER || reading.losses > 0);
        }
        last = reading.events;
        reading_finish(&reading);
    }
    assert_int_equal(last, kind->version == 6 ? count_ticks(file, file->size - 1) : TICKS);
    dat_maker_finish(&maker);
}

static void test_reader_cut_at_any_place_gives_what_is_there(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++)
        cut_everywhere(&kinds[i]);
}

static struct reading read_made(const struct kind *kind, uint32_t faults)
{
    const struct dat_maker_bytes *file = make(kind, faults);
    struct reading reading;

    reading_init(&reading, file->bytes, file->size);
    dat_maker_finish(&maker);
    return reading;
}

static void test_reader_without_its_directory_finds_everything_by_sections(void **state)
{
    (void)state;
    for (size_t i = 1; i < KINDS; i++) {
        struct reading reading = read_made(&kinds[i], DAT_MAKER_NO_BUFFER_OPTION);

        expect_ticks(&reading, START, TICKS, CPUS);
        assert_int_equal(reading.losses, 0);
        assert_non_null(strstr(reading.damage, "lost its directory"));
        reading_finish(&reading);
        reading = read_made(&kinds[i], DAT_MAKER_NO_BUFFER_OPTION | DAT_MAKER_SHORT_SECTIONS);
        expect_ticks(&reading, START, TICKS, CPUS);
        reading_finish(&reading);
    }
}

static void test_reader_of_a_section_that_was_never_closed_finds_everything(void **state)
{
    (void)state;
    for (size_t i = 1; i < KINDS; i++) {
        struct reading reading = read_made(&kinds[i], DAT_MAKER_OPEN_SECTION);

        expect_ticks(&reading, START, TICKS, CPUS);
        assert_int_equal(reading.losses, 1); /* there may have been more */
        assert_true(reading.records[reading.count - 1].is_loss);
        assert_true(reading.records[reading.count - 1].lost == UINT64_MAX);
        reading_finish(&reading);
    }
}

static void test_reader_salvages_large_pages(void **state)
{
    (void)state;
    for (size_t i = 1; i < KINDS; i++)
        for (uint32_t page_size = 8192; page_size <= 65536; page_size *= 2) {
            const struct dat_maker_bytes *file;
            struct reading reading;

            dat_maker_init(&maker, 7, kinds[i].codec);
            maker.faults = DAT_MAKER_OPEN_SECTION;
            fill_ticks(&maker, dat_maker_buffer(&maker, "", "mono", page_size, CPUS), START, 20000);
            file = dat_maker_write(&maker);
            reading_init(&reading, file->bytes, file->size);
            expect_ticks(&reading, START, 20000, CPUS);
            reading_finish(&reading);
            dat_maker_finish(&maker);
        }
}

static void test_reader_options_in_a_circle_are_read_once(void **state)
{
    (void)state;
    for (size_t i = 1; i < KINDS; i++) {
        struct reading reading = read_made(&kinds[i], DAT_MAKER_CYCLIC_OPTIONS);

        expect_ticks(&reading, START, TICKS, CPUS);
        assert_non_null(strstr(reading.damage, "circle"));
        assert_int_equal(reading.damage_count, 1);
        reading_finish(&reading);
    }
}

static void test_reader_start_of_options_lost_finds_them_by_sections(void **state)
{
    (void)state;
    for (size_t i = 1; i < KINDS; i++) {
        const struct dat_maker_bytes *file = make(&kinds[i], 0);
        struct reading reading;

        page_maker_put(file->bytes + maker.boundaries[0] - 8, file->size - 3, 8, false);
        reading_init(&reading, file->bytes, file->size);
        expect_ticks(&reading, START, TICKS, CPUS);
        assert_int_equal(reading.damage_count, 1);
        reading_finish(&reading);
        dat_maker_finish(&maker);
    }
}

static void test_reader_damaged_page_costs_only_itself(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct dat_maker_bytes *file = make(&kinds[i], 0);
        struct reading reading;

        /* The second page's third record claims to be padding that leaves the page. */
        memcpy(file->bytes + maker.data_begin + PAGE_SIZE + PAGE_HEADER + 2 * TICK_SIZE,
               "\x3d\0\0\0\xff\xff\xff\xff", 8);
        reading_init(&reading, file->bytes, file->size);
        expect_only_ticks(&reading);
        assert_int_equal(reading.events, TICKS - (PAGE_SIZE - PAGE_HEADER) / TICK_SIZE + 2);
        assert_int_equal(reading.losses, 1);
        assert_non_null(strstr(reading.damage, "4040 bytes of event data are damaged"));
        reading_finish(&reading);
        dat_maker_finish(&maker);
    }
}

static void test_reader_damaged_chunk_costs_only_itself(void **state)
{
    (void)state;
    for (size_t i = 2; i < KINDS; i++) {
        const struct dat_maker_bytes *file;
        struct reading reading;
        bool lost = false;

        dat_maker_init(&maker, 7, kinds[i].codec);
        fill_ticks(&maker, dat_maker_buffer(&maker, "", "mono", PAGE_SIZE, 1), START, 8000);
        file = dat_maker_write(&maker);
        /* The first chunk: behind the number of chunks and its own sizes. */
        memset(file->bytes + maker.data_begin + 12, 0xee, 32);
        reading_init(&reading, file->bytes, file->size);
        assert_int_equal(reading.events, 8000 - 10 * 204);
        for (size_t k = 0; k < reading.count; k++)
            lost |= reading.records[k].is_loss && reading.records[k].lost == UINT64_MAX;
        assert_true(lost);
        assert_true(reading.damage_count > 0);
        reading_finish(&reading);
        dat_maker_finish(&maker);
    }
}

static void test_reader_chunk_of_an_absurd_size_is_refused_without_memory(void **state)
{
    static const uint32_t sizes[] = { 0xffffffff, 0x80000000, 0x7fffffff, 5u << 20 };

    (void)state;
    for (size_t i = 2; i < KINDS; i++)
        for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
            const struct dat_maker_bytes *file = make(&kinds[i], 0);
            struct reading reading;

            page_maker_put(file->bytes + maker.data_begin + 8, sizes[k], 4, false);
            reading_init(&reading, file->bytes, file->size);
            expect_only_ticks(&reading);
            assert_int_equal(reading.events, TICKS / 2); /* the other CPU's */
            assert_non_null(strstr(reading.damage, "as large as it claims"));
            reading_finish(&reading);
            dat_maker_finish(&maker);
        }
}

/* Else a few bytes a CPU would give a chunk of megabytes again and again. */
static void test_reader_cpus_that_share_their_data_are_read_once(void **state)
{
    (void)state;
    for (size_t i = 1; i < KINDS; i++) {
        const struct dat_maker_bytes *file = make(&kinds[i], 0);
        uint8_t *option = memmem(file->bytes, file->size, "\0mono\0\0\x10\0\0\2\0\0\0", 14);
        struct reading reading;

        assert_non_null(option);
        memcpy(option + 14 + 20 + 4, option + 14 + 4, 16); /* CPU 1 lies where CPU 0 does */
        reading_init(&reading, file->bytes, file->size);
        expect_only_ticks(&reading);
        assert_int_equal(reading.events, TICKS / 2);
        assert_string_equal(reading.damage,
                            "cpu 1: its data lies in another CPU's; it is not read\n");
        reading_finish(&reading);
        dat_maker_finish(&maker);
    }
}

static void test_reader_packed_data_that_claims_to_be_empty_is_told(void **state)
{
    (void)state;
    for (size_t i = 2; i < KINDS; i++) {
        const struct dat_maker_bytes *file = make(&kinds[i], 0);
        struct reading reading;

        page_maker_put(file->bytes + maker.data_begin, 0, 4, false);
        reading_init(&reading, file->bytes, file->size);
        expect_only_ticks(&reading);
        assert_int_equal(reading.events, TICKS / 2);
        assert_int_equal(reading.losses, 1);
        assert_string_equal(reading.damage, "cpu 0: its data claims to be empty\n");
        reading_finish(&reading);
        dat_maker_finish(&maker);
    }
}

/* Reads and looks at nothing but that it ends, and says so if nothing came of it. */
static void survive(const struct dat_maker_bytes *file)
{
    struct reading reading;

    reading_init(&reading, file->bytes, file->size);
    if (reading.opened == 0 && reading.events == 0)
        assert_true(reading.damage_count > 0 || reading.losses > 0);
    reading_finish(&reading);
}

static void test_reader_any_number_of_the_file_may_be_any_value(void **state)
{
    static const uint64_t values[] = { 0,          1,          0xffffffff,
                                       0x7fffffff, 0x80000000, UINT64_C(1) << 63,
                                       INT64_MAX,  UINT64_MAX, 0xfffffff0 };

    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        const struct dat_maker_bytes *file = make(&kinds[i], 0);

        for (size_t b = 0; b < maker.boundary_count; b++)
            for (size_t at = maker.boundaries[b]; at < maker.boundaries[b] + 24; at += 2)
                for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++)
                    for (size_t size = 4; size <= 8; size += 4) {
                        uint8_t kept[8];

                        if (at + 8 > file->size)
                            continue;
                        memcpy(kept, file->bytes + at, 8);
                        page_maker_put(file->bytes + at, values[v], size, false);
                        survive(file);
                        memcpy(file->bytes + at, kept, 8);
                    }
        dat_maker_finish(&maker);
    }
}

static uint64_t random_state = 88172645463325252u;

static uint32_t random_below(size_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 11) % limit);
}

static void test_reader_random_damage_is_survived(void **state)
{
    (void)state;
    for (size_t i = 0; i < KINDS; i++) {
        const struct dat_maker_bytes *file = make(&kinds[i], 0);
        uint8_t *kept = malloc(file->size);

        assert_non_null(kept);
        memcpy(kept, file->bytes, file->size);
        for (int round = 0; round < 2000; round++) {
            struct reading reading;

            /* Half of it where the structures are. */
            for (int k = 0; k < 1 + round % 8; k++)
                file->bytes[random_below(round % 2 ? file->size : maker.data_begin + 64)] =
                    (uint8_t)random_below(256);
            reading_init(&reading, file->bytes, file->size);
            reading_finish(&reading);
            memcpy(file->bytes, kept, file->size);
        }
        free(kept);
        dat_maker_finish(&maker);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reader_cut_at_any_place_gives_what_is_there),
        cmocka_unit_test(test_reader_without_its_directory_finds_everything_by_sections),
        cmocka_unit_test(test_reader_of_a_section_that_was_never_closed_finds_everything),
        cmocka_unit_test(test_reader_salvages_large_pages),
        cmocka_unit_test(test_reader_options_in_a_circle_are_read_once),
        cmocka_unit_test(test_reader_start_of_options_lost_finds_them_by_sections),
        cmocka_unit_test(test_reader_damaged_page_costs_only_itself),
        cmocka_unit_test(test_reader_damaged_chunk_costs_only_itself),
        cmocka_unit_test(test_reader_chunk_of_an_absurd_size_is_refused_without_memory),
        cmocka_unit_test(test_reader_cpus_that_share_their_data_are_read_once),
        cmocka_unit_test(test_reader_packed_data_that_claims_to_be_empty_is_told),
        cmocka_unit_test(test_reader_any_number_of_the_file_may_be_any_value),
        cmocka_unit_test(test_reader_random_damage_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
