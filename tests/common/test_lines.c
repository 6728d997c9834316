/*
 * Lines of several threads are, byte for byte and in order, what a reader and a writer make of the
 * file one record after the other: of plain files, of damaged ones up to where they are plain, and
 * from there on.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "dat_maker.h"
#include "tracerd/json.h"
#include "tracerd/lines.h"

#define START 1000000000u
#define EVENTS 20000
#define FIRST_SEQ 4711
#define OPTION_CPUSTAT 2
#define PAGE_SIZE 4096u

/* TRACERD_TEST_SEED gives other files than those of every day. */
static uint64_t random_bits(void)
{
    static uint64_t state;

    if (state == 0) {
        const char *seed = getenv("TRACERD_TEST_SEED");

        state = 88172645463325252u + (seed ? strtoull(seed, NULL, 10) : 0);
    }
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* What came of a file: lines, then what is told about it. */
struct told {
    char *bytes; /* owned */
    size_t size, capacity;
    uint64_t seq; /* of the next line */
    uint64_t events, lost, unknown_lost, filtered;
    uint64_t batches, noted;
};

static void keep(struct told *told, const char *bytes, size_t size)
{
    while (told->capacity - told->size < size) {
        told->capacity = told->capacity ? told->capacity * 2 : 1 << 20;
        told->bytes = realloc(told->bytes, told->capacity);
        assert_non_null(told->bytes);
    }
    if (size > 0)
        memcpy(told->bytes + told->size, bytes, size);
    told->size += size;
}

static void count(struct told *told, const struct trd_record *record)
{
    if (record->kind == TRD_KIND_EVENT)
        told->events++;
    else if (record->lost == TRD_LOST_UNKNOWN)
        told->unknown_lost++;
    else
        told->lost += record->lost;
}

/* Marks some, leaves out others: both show in the lines. */
static bool select_some(void *state, struct trd_record *record)
{
    (void)state;
    if (record->tid % 16 == 1)
        record->flags |= TRD_RECORD_F_UNALIGNED;
    return record->tid % 8 != 3;
}

static void note(void *state, const struct trd_record *record)
{
    assert_true(record->tid % 8 != 3);
    ++*(uint64_t *)state;
}

static void tell_rest(struct told *told, struct trd_reader *reader)
{
    static char line[TRD_JSON_LINE_MAX];
    const struct trd_damage *damage;
    struct trd_record record;
    struct trd_json *json;

    assert_int_equal(trd_json_create(&json, NULL), 0);
    trd_json_add_catalog(json, trd_reader_catalog(reader));
    while (trd_reader_next(reader, &record) == 1) {
        count(told, &record);
        if (!select_some(NULL, &record)) {
            told->filtered += record.kind == TRD_KIND_EVENT;
            continue;
        }
        told->noted++;
        keep(told, line, (size_t)trd_json_line(json, &record, told->seq++, line, sizeof(line)));
    }
    for (size_t i = 0; (damage = trd_reader_damage(reader, i)); i++)
        keep(told, line,
             (size_t)snprintf(line, sizeof(line), "%llu: %s\n", (unsigned long long)damage->bytes,
                              damage->what));
    trd_json_destroy(json);
}

static void take_batch(struct told *told, const struct trd_lines_batch *batch)
{
    uint64_t newlines = 0;

    for (size_t i = 0; i < batch->size; i++)
        newlines += batch->bytes[i] == '\n';
    assert_int_equal(batch->count, newlines);
    assert_int_equal(batch->last_seq + 1, told->seq + batch->count);
    assert_true(batch->last_ns >= batch->first_ns && batch->read_ns >= batch->last_ns);
    assert_int_equal(batch->unwritten, 0);
    told->seq = batch->last_seq + 1;
    told->events += batch->events;
    told->lost += batch->lost;
    told->unknown_lost += batch->unknown_lost;
    told->filtered += batch->filtered;
    told->batches++;
    keep(told, batch->bytes, batch->size);
}

struct way {
    unsigned threads; /* 0 = the reader alone */
    size_t slice_bytes;
    uint64_t stop_after; /* batches; 0 = never */
};

static void tell_slices(struct told *told, struct trd_reader *reader, const struct way *way)
{
    uint64_t notes[TRD_LINES_THREADS_MAX] = { 0 };
    struct trd_lines_rules rules = { .select = select_some,
                                     .note = note,
                                     .threads = way->threads,
                                     .slice_bytes = way->slice_bytes };
    struct trd_lines_batch batch;
    struct trd_lines *lines;
    int result;

    for (unsigned i = 0; i < way->threads; i++)
        rules.states[i] = &notes[i];
    result = trd_lines_create(&lines, reader, &rules, told->seq);
    if (result == -ENOTSUP)
        return;
    assert_int_equal(result, 0);
    while (trd_lines_next(lines, &batch) == 1) {
        take_batch(told, &batch);
        if (told->batches == way->stop_after)
            trd_lines_stop(lines);
    }
    assert_int_equal(trd_lines_next(lines, &batch), 0);
    trd_lines_destroy(lines);
    for (unsigned i = 0; i < way->threads; i++)
        told->noted += notes[i];
}

static void tell(struct told *told, const struct dat_maker_bytes *file, const struct way *way)
{
    struct trd_reader *reader;
    char error[256];

    *told = (struct told){ .seq = FIRST_SEQ };
    if (trd_reader_open_memory(&reader, file->bytes, file->size, error, sizeof(error)) != 0) {
        keep(told, error, strlen(error));
        return;
    }
    if (way->threads > 0)
        tell_slices(told, reader, way);
    tell_rest(told, reader);
    trd_reader_destroy(reader);
}

static void show_difference(const struct told *told, const struct told *expected)
{
    size_t least = told->size < expected->size ? told->size : expected->size, at = 0, line = 0;

    for (; at < least && told->bytes[at] == expected->bytes[at]; at++)
        if (told->bytes[at] == '\n')
            line = at + 1;
    print_error("is:        %.*s\nshould be: %.*s\n",
                (int)(told->size - line < 300 ? told->size - line : 300), told->bytes + line,
                (int)(expected->size - line < 300 ? expected->size - line : 300),
                expected->bytes + line);
}

/* The number of batches that came by slices. */
static uint64_t check(const struct dat_maker_bytes *file, const struct way *way)
{
    struct told expected, told;

    tell(&expected, file, &(struct way){ 0 });
    tell(&told, file, way);
    if (told.size != expected.size || memcmp(told.bytes, expected.bytes, told.size) != 0)
        show_difference(&told, &expected);
    assert_int_equal(told.size, expected.size);
    assert_int_equal(memcmp(told.bytes, expected.bytes, told.size), 0);
    assert_int_equal(told.seq, expected.seq);
    assert_int_equal(told.events, expected.events);
    assert_int_equal(told.lost, expected.lost);
    assert_int_equal(told.unknown_lost, expected.unknown_lost);
    assert_int_equal(told.filtered, expected.filtered);
    assert_int_equal(told.noted, expected.noted);
    free(told.bytes);
    free(expected.bytes);
    return told.batches;
}

static struct dat_maker maker;

static void stat_option(int cpu, unsigned overrun)
{
    char text[256];
    int size = snprintf(text, sizeof(text),
                        "CPU: %d\nentries: 0\noverrun: %u\ncommit overrun: 0\nbytes: 1\n"
                        "oldest event ts: 0\nnow ts: 0\ndropped events: 0\nread events: 0\n",
                        cpu, overrun);

    dat_maker_option(&maker, OPTION_CPUSTAT, text, (size_t)size + 1);
}

/* Bursts on one CPU, pauses, equal times, losses; CPUs that end early; one buffer of larger pages.
 */
static const struct dat_maker_bytes *make(const char *codec)
{
    struct dat_maker_buffer *top, *other;
    uint64_t ts = START;
    uint32_t cpu = 0;

    dat_maker_init(&maker, 7, codec);
    maker.long_size = random_bits() % 2 ? 8 : 4;
    maker.big_endian = random_bits() % 2;
    top = dat_maker_buffer(&maker, "", "mono", PAGE_SIZE, 4);
    other = dat_maker_buffer(&maker, "other", "mono", 4 * PAGE_SIZE, 3);
    for (uint32_t i = 0; i < EVENTS; i++) {
        uint64_t dice = random_bits();
        struct dat_maker_buffer *buffer = dice % 5 == 0 ? other : top;

        if (dice % 50 == 1)
            cpu = (uint32_t)(dice >> 8) % (i < EVENTS / 2 ? 3 : 2);
        if (dice % 3)
            ts += (dice >> 16) % (dice % 1000 == 2 ? 2000000000 : 500);
        if (dice % 400 == 3)
            dat_maker_lose(&maker, buffer, cpu,
                           dice % 7 ? (dice >> 20) % 99 + 1 : PAGE_MAKER_LOST_UNKNOWN);
        dat_maker_tick(&maker, buffer, cpu, ts, (int32_t)(dice >> 40) % 100 + 1, dice);
    }
    stat_option(0, 100000);
    stat_option(1, 3);
    return dat_maker_write(&maker);
}

static const struct way ways[] = {
    { .threads = 1, .slice_bytes = 1 },        { .threads = 2, .slice_bytes = 1 },
    { .threads = 2, .slice_bytes = 64 << 10 }, { .threads = 5, .slice_bytes = 20000 },
    { .threads = 3, .slice_bytes = 0 },
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

static void test_slices_of_a_plain_file_give_the_lines_of_one_reading(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const struct dat_maker_bytes *file = make("none");

        for (size_t k = 0; k < WAYS; k++)
            assert_true(check(file, &ways[k]) > 3);
        dat_maker_finish(&maker);
    }
}

static void test_what_is_behind_damage_comes_from_the_reader(void **state)
{
    uint64_t in_slices = 0;

    (void)state;
    for (int i = 0; i < 60; i++) {
        const struct dat_maker_bytes *file = make("none");
        size_t data = file->size - maker.data_begin;

        for (uint64_t n = random_bits() % 4 + 1; n > 0; n--)
            file->bytes[maker.data_begin + random_bits() % data] = (uint8_t)random_bits();
        in_slices += check(file, &ways[random_bits() % WAYS]) > 0;
        dat_maker_finish(&maker);
    }
    assert_true(in_slices > 20);
}

static void test_page_heads_that_lie_change_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < 60; i++) {
        const struct dat_maker_bytes *file = make("none");
        size_t pages = (file->size - maker.data_begin) / PAGE_SIZE;
        size_t at = maker.data_begin + random_bits() % pages * PAGE_SIZE + random_bits() % 16;

        file->bytes[at] ^= (uint8_t)(1u << random_bits() % 8);
        (void)check(file, &ways[random_bits() % WAYS]);
        dat_maker_finish(&maker);
    }
}

static void test_a_file_that_was_cut_gives_the_same_lines_and_sentences(void **state)
{
    (void)state;
    for (int i = 0; i < 60; i++) {
        struct dat_maker_bytes file = *make("none");

        file.size = maker.data_begin + random_bits() % (file.size - maker.data_begin);
        (void)check(&file, &ways[random_bits() % WAYS]);
        dat_maker_finish(&maker);
    }
}

static void test_a_compressed_file_is_left_to_the_reader(void **state)
{
    (void)state;
    assert_int_equal(check(make("zstd"), &ways[2]), 0);
    dat_maker_finish(&maker);
}

static void test_after_stop_the_reader_has_the_rest(void **state)
{
    const struct dat_maker_bytes *file = make("none");

    (void)state;
    for (unsigned threads = 1; threads < 4; threads++) {
        struct way way = { .threads = threads, .slice_bytes = 1, .stop_after = 3 };
        uint64_t batches = check(file, &way);

        /* Those under way are still handed out. */
        assert_true(batches >= 3 && batches <= 3 + 2 * threads);
    }
    dat_maker_finish(&maker);
}

static void test_destroy_with_slices_on_their_way_drops_them(void **state)
{
    const struct dat_maker_bytes *file = make("none");

    (void)state;
    for (unsigned handed_out = 0; handed_out < 5; handed_out++) {
        struct trd_lines_rules rules = { .threads = 4, .slice_bytes = 1 };
        struct trd_lines_batch batch;
        struct trd_reader *reader;
        struct trd_lines *lines;
        char error[256];

        assert_int_equal(
            trd_reader_open_memory(&reader, file->bytes, file->size, error, sizeof(error)), 0);
        assert_int_equal(trd_lines_create(&lines, reader, &rules, 0), 0);
        for (unsigned i = 0; i < handed_out; i++)
            assert_int_equal(trd_lines_next(lines, &batch), 1);
        trd_lines_destroy(lines);
        trd_reader_destroy(reader);
    }
    dat_maker_finish(&maker);
}

static void test_a_number_of_threads_that_makes_no_sense_is_refused(void **state)
{
    const struct dat_maker_bytes *file = make("none");
    struct trd_lines_rules rules = { .threads = 0 };
    struct trd_lines *lines = NULL;
    struct trd_reader *reader;
    char error[256];

    (void)state;
    assert_int_equal(trd_reader_open_memory(&reader, file->bytes, file->size, error, sizeof(error)),
                     0);
    assert_int_equal(trd_lines_create(&lines, reader, &rules, 0), -EINVAL);
    rules.threads = TRD_LINES_THREADS_MAX + 1;
    assert_int_equal(trd_lines_create(&lines, reader, &rules, 0), -EINVAL);
    assert_null(lines);
    trd_reader_destroy(reader);
    dat_maker_finish(&maker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slices_of_a_plain_file_give_the_lines_of_one_reading),
        cmocka_unit_test(test_what_is_behind_damage_comes_from_the_reader),
        cmocka_unit_test(test_page_heads_that_lie_change_nothing),
        cmocka_unit_test(test_a_file_that_was_cut_gives_the_same_lines_and_sentences),
        cmocka_unit_test(test_a_compressed_file_is_left_to_the_reader),
        cmocka_unit_test(test_after_stop_the_reader_has_the_rest),
        cmocka_unit_test(test_destroy_with_slices_on_their_way_drops_them),
        cmocka_unit_test(test_a_number_of_threads_that_makes_no_sense_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
