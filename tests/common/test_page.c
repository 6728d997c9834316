/* common/page.c against hand-written bytes, hostile bytes, and libtraceevent's kbuffer. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>
#include <kbuffer.h>

#include "page_maker.h"
#include "tracerd/page.h"

#define PAGE_SIZE 4096
#define TYPE_PADDING 29
#define TYPE_TIME_EXTEND 30
#define TYPE_TIME_STAMP 31

static uint8_t bytes[PAGE_SIZE];

static struct trd_page start(const struct page_maker *maker, int expected)
{
    struct trd_page_layout layout = page_maker_layout(maker->big_endian, maker->long_size);
    struct trd_page page;

    assert_int_equal(trd_page_init(&page, maker->bytes, maker->size, &layout), expected);
    return page;
}

static void expect_event(struct trd_page *page, uint64_t ts, const void *payload, uint32_t size)
{
    struct trd_page_event event;

    assert_int_equal(trd_page_next(page, &event), 1);
    assert_int_equal(event.ts, ts);
    assert_int_equal(event.size, size);
    assert_memory_equal(event.data, payload, size);
}

static void expect_end(struct trd_page *page, int expected)
{
    struct trd_page_event event;

    assert_int_equal(trd_page_next(page, &event), expected);
    assert_int_equal(trd_page_next(page, &event), 0);
}

/* Bytes written down by hand from ring_buffer.c, so that page_maker is not its own witness. */
static void test_page_of_a_little_endian_64_bit_kernel(void **state)
{
    static const uint8_t page_bytes[] = {
        0x00, 0xca, 0x9a, 0x3b, 0,    0,   0,   0,                       /* 1000000000 */
        0x18, 0,    0,    0,    0,    0,   0,   0,                       /* 24 bytes */
        0xa2, 0x00, 0x00, 0x00, 'a',  'b', 'c', 'd', 'e', 'f', 'g', 'h', /* type 2, delta 5 */
        0xe0, 0x00, 0x00, 0x00, 0x07, 0,   0,   0,   'x', 'y', 'z', 0,   /* type 0, delta 7 */
    };
    struct trd_page_layout layout = page_maker_layout(false, 8);
    struct trd_page page;

    (void)state;
    assert_int_equal(trd_page_init(&page, page_bytes, sizeof(page_bytes), &layout), 0);
    assert_int_equal(page.ts, 1000000000);
    assert_false(page.lost_events);
    expect_event(&page, 1000000005, "abcdefgh", 8);
    expect_event(&page, 1000000012, "xyz", 3);
    expect_end(&page, 0);
    assert_int_equal(page.damaged, 0);
}

static void test_page_of_a_big_endian_32_bit_kernel(void **state)
{
    static const uint8_t page_bytes[] = {
        0,    0,    0,    0,    0x3b, 0x9a, 0xca, 0x00, /* 1000000000 */
        0xc0, 0,    0,    0x0c,                         /* 12 bytes, missed, count stored */
        0x10, 0x00, 0x00, 0x05, 'a',  'b',  'c',  'd',  'e', 'f', 'g', 'h', /* type 2, delta 5 */
        0,    0,    0x01, 0x02,
    };
    struct trd_page_layout layout = page_maker_layout(true, 4);
    struct trd_page page;

    (void)state;
    assert_int_equal(trd_page_init(&page, page_bytes, sizeof(page_bytes), &layout), 0);
    assert_true(page.lost_events);
    assert_int_equal(page.lost, 258);
    expect_event(&page, 1000000005, "abcdefgh", 8);
    expect_end(&page, 0);
}

static void test_page_time_extend_adds_its_59_bits(void **state)
{
    struct page_maker maker;
    struct trd_page page;

    (void)state;
    page_maker_init(&maker, bytes, PAGE_SIZE, false, 8, 7);
    page_maker_head(&maker, TYPE_TIME_EXTEND, 3);
    page_maker_word(&maker, 0xffffffff);
    page_maker_head(&maker, 1, 1);
    page_maker_word(&maker, 42);
    page_maker_finish(&maker, 0);
    page = start(&maker, 0);
    expect_event(&page, 7 + (UINT64_C(0xffffffff) << 27) + 3 + 1, "\x2a\0\0", 4);
    expect_end(&page, 0);
}

static void expect_stamp(uint64_t before, uint32_t high, uint32_t low, uint64_t expected)
{
    struct page_maker maker;
    struct trd_page page;

    page_maker_init(&maker, bytes, PAGE_SIZE, true, 8, before);
    page_maker_head(&maker, TYPE_TIME_STAMP, low);
    page_maker_word(&maker, high);
    page_maker_head(&maker, 1, 0);
    page_maker_word(&maker, 0);
    page_maker_finish(&maker, 0);
    page = start(&maker, 0);
    expect_event(&page, expected, "\0\0\0", 4);
}

static void test_page_absolute_stamp_replaces_the_low_59_bits(void **state)
{
    const uint64_t top = UINT64_C(0xf8) << 56;

    (void)state;
    expect_stamp(1000, 1, 2, (UINT64_C(1) << 27) + 2);
    expect_stamp(top + 1000, 1, 2, top + (UINT64_C(1) << 27) + 2);
}

static void test_page_absolute_stamp_below_the_time_before_wraps_only_with_upper_bits(void **state)
{
    const uint64_t top = UINT64_C(0x08) << 56;

    (void)state;
    expect_stamp(1000, 0, 2, 2);
    expect_stamp(top + 1000, 0, 2, top + (UINT64_C(1) << 59) + 2);
}

static void test_page_discarded_event_is_skipped_with_its_time(void **state)
{
    struct page_maker maker;
    struct trd_page page;

    (void)state;
    page_maker_init(&maker, bytes, PAGE_SIZE, false, 8, 100);
    page_maker_head(&maker, TYPE_PADDING, 10);
    page_maker_word(&maker, 8);
    page_maker_word(&maker, 0xdead);
    assert_true(page_maker_event(&maker, 105, "kept", 4));
    page_maker_finish(&maker, 0);
    page = start(&maker, 0);
    expect_event(&page, 115, "kept", 4);
    expect_end(&page, 0);
}

static void test_page_padding_without_time_ends_the_page(void **state)
{
    struct page_maker maker;
    struct trd_page page;

    (void)state;
    page_maker_init(&maker, bytes, PAGE_SIZE, false, 8, 100);
    assert_true(page_maker_event(&maker, 105, "kept", 4));
    page_maker_head(&maker, TYPE_PADDING, 0);
    assert_true(page_maker_event(&maker, 106, "not!", 4));
    page_maker_finish(&maker, 0);
    page = start(&maker, 0);
    expect_event(&page, 105, "kept", 4);
    expect_end(&page, 0);
    assert_int_equal(page.damaged, 0);
}

static void test_page_lost_without_room_for_a_count_is_unknown(void **state)
{
    struct page_maker maker;
    struct trd_page page;

    (void)state;
    page_maker_init(&maker, bytes, 32, false, 8, 1);
    assert_true(page_maker_event(&maker, 2, "12345678", 8));
    page_maker_finish(&maker, 4416);
    page = start(&maker, 0);
    assert_true(page.lost_events);
    assert_true(page.lost == UINT64_MAX);
}

/* 0xffffffff80000ff0 was seen: flag bit 31 sign-extended, no count. */
static void test_page_lost_flag_extended_into_the_upper_half(void **state)
{
    struct page_maker maker;
    struct trd_page page;

    (void)state;
    page_maker_init(&maker, bytes, PAGE_SIZE, false, 8, 1);
    assert_true(page_maker_event(&maker, 2, "1234", 4));
    page_maker_put(bytes + 8, UINT64_C(0xffffffff80000000) + 8, 8, false);
    page = start(&maker, 0);
    assert_true(page.lost_events);
    assert_true(page.lost == UINT64_MAX);
    expect_event(&page, 2, "1234", 4);
    expect_end(&page, 0);
}

static void test_page_stored_count_beyond_the_page_is_unknown(void **state)
{
    struct page_maker maker;
    struct trd_page page;

    (void)state;
    page_maker_init(&maker, bytes, 28, false, 8, 1);
    assert_true(page_maker_event(&maker, 2, "12345678", 8));
    page_maker_put(bytes + 8, (UINT64_C(3) << 30) + 12, 8, false);
    page = start(&maker, 0);
    assert_true(page.lost == UINT64_MAX);
}

static void test_page_commit_beyond_the_bytes_walks_what_is_there(void **state)
{
    struct page_maker maker;
    struct trd_page page;

    (void)state;
    page_maker_init(&maker, bytes, PAGE_SIZE, false, 8, 1);
    assert_true(page_maker_event(&maker, 2, "1234", 4));
    assert_true(page_maker_event(&maker, 3, "5678", 4));
    page_maker_finish(&maker, 0);
    maker.size = 16 + 12; /* the second record has lost its payload */
    page = start(&maker, -EBADMSG);
    assert_int_equal(page.damaged, 4);
    expect_event(&page, 2, "1234", 4);
    expect_end(&page, -EBADMSG);
    assert_int_equal(page.damaged, 8);
}

static void test_page_shorter_than_its_header_gives_nothing(void **state)
{
    struct trd_page_layout layout = page_maker_layout(false, 8);
    struct trd_page page;

    (void)state;
    /* Words of 8 bytes with data at 12: a header_page that contradicts itself. */
    layout.data_offset = 12;
    for (size_t size = 0; size < 16; size++) {
        uint8_t *exact = malloc(size ? size : 1); /* so that ASAN sees a byte too many */

        memset(exact, 0, size);
        assert_int_equal(trd_page_init(&page, exact, size, &layout), -EBADMSG);
        expect_end(&page, 0);
        free(exact);
    }
}

static void expect_refused(uint32_t type, uint32_t delta, uint32_t word)
{
    struct page_maker maker;
    struct trd_page page;

    page_maker_init(&maker, bytes, PAGE_SIZE, false, 8, 1);
    assert_true(page_maker_event(&maker, 2, "1234", 4));
    page_maker_head(&maker, type, delta);
    page_maker_word(&maker, word);
    page_maker_finish(&maker, 0);
    page = start(&maker, 0);
    expect_event(&page, 2, "1234", 4);
    expect_end(&page, -EBADMSG);
    assert_int_equal(page.damaged, 8);
}

static void test_page_lengths_that_leave_the_page_end_it_as_damage(void **state)
{
    static const uint32_t lengths[] = { 0,          1,          3,          5,         8,
                                        0x7fffffff, 0x80000000, 0xfffffffc, 0xffffffff };

    (void)state;
    expect_refused(2, 1, 0);
    expect_refused(28, 1, 0);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        expect_refused(0, 1, lengths[i]);
        expect_refused(TYPE_PADDING, 1, lengths[i]);
    }
}

/* xorshift: the same pages in every run */
static uint64_t random_state = 88172645463325252u;

static uint32_t random_below(uint32_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 11) % limit;
}

/* One record of any kind; false when the page may be full. */
static bool add_random(struct page_maker *maker)
{
    static const uint8_t payload[512];
    uint32_t delta = random_below(1u << 27);

    if (maker->size - maker->at < 600)
        return false;
    switch (random_below(8)) {
    case 0:
        page_maker_head(maker, TYPE_TIME_EXTEND, delta);
        page_maker_word(maker, random_below(1u << 20));
        return true;
    case 1: /* no lower than before: kbuffer has no rule for stamps that go back */
        maker->ts += UINT64_C(1) << 40;
        page_maker_head(maker, TYPE_TIME_STAMP, (uint32_t)(maker->ts & ((1u << 27) - 1)));
        page_maker_word(maker, (uint32_t)(maker->ts >> 27));
        return true;
    case 2:
        page_maker_head(maker, TYPE_PADDING, delta + 1 < 1u << 27 ? delta + 1 : delta);
        page_maker_word(maker, 4 + 4 * (delta % 16));
        maker->at += 4 * (delta % 16);
        return true;
    case 3:
        return page_maker_event(maker, maker->ts + delta, payload, 113 + random_below(300));
    default:
        return page_maker_event(maker, maker->ts + delta, payload, 4 + 4 * random_below(28));
    }
}

static void compare_with_kbuffer(const struct page_maker *maker)
{
    struct kbuffer *kbuffer =
        kbuffer_alloc(maker->long_size == 8 ? KBUFFER_LSIZE_8 : KBUFFER_LSIZE_4,
                      maker->big_endian ? KBUFFER_ENDIAN_BIG : KBUFFER_ENDIAN_LITTLE);
    struct trd_page page = start(maker, 0);
    struct trd_page_event event;
    unsigned long long ts;
    void *data;
    int missed;

    assert_non_null(kbuffer);
    assert_int_equal(kbuffer_load_subbuffer(kbuffer, maker->bytes), 0);
    missed = kbuffer_missed_events(kbuffer);
    /* kbuffer forgets the loss where the first record of the page is not a data record. */
    if (kbuffer_curr_index(kbuffer) == 0)
        assert_int_equal(missed, !page.lost_events         ? 0
                                 : page.lost == UINT64_MAX ? -1
                                                           : (int)page.lost);
    for (data = kbuffer_read_event(kbuffer, &ts); data; data = kbuffer_next_event(kbuffer, &ts)) {
        assert_int_equal(trd_page_next(&page, &event), 1);
        assert_int_equal(event.ts, ts);
        assert_ptr_equal(event.data, data);
        /* kbuffer rounds odd sizes up. */
        assert_int_equal((event.size + 3) / 4 * 4, (kbuffer_event_size(kbuffer) + 3) / 4 * 4);
    }
    expect_end(&page, 0);
    kbuffer_free(kbuffer);
}

static void test_page_agrees_with_kbuffer_on_every_kind_of_record(void **state)
{
    static uint8_t big[65536];
    struct page_maker maker;

    (void)state;
    for (uint32_t i = 0; i < 2000; i++) {
        size_t size = (size_t)4096 << random_below(5);

        page_maker_init(&maker, big, size, i & 1, i & 2 ? 8 : 4, random_below(1u << 30));
        while (add_random(&maker))
            ;
        page_maker_finish(&maker, i % 5 == 0   ? PAGE_MAKER_LOST_UNKNOWN
                                  : i % 5 == 1 ? 1 + random_below(100000)
                                               : 0);
        compare_with_kbuffer(&maker);
    }
}

/* Whatever the bytes, records lie inside the page and the walk ends. */
static void test_page_of_random_bytes_stays_inside(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 20000; round++) {
        size_t size = random_below(256);
        uint8_t *exact = malloc(size ? size : 1);
        struct trd_page_layout layout = page_maker_layout(round & 1, round & 2 ? 8 : 4);
        struct trd_page page;
        struct trd_page_event event;
        uint32_t steps = 0;

        for (size_t i = 0; i < size; i++)
            exact[i] = (uint8_t)random_below(random_below(4) ? 256 : 2);
        (void)trd_page_init(&page, exact, size, &layout);
        while (trd_page_next(&page, &event) == 1) {
            assert_true(event.data >= exact && event.data + event.size <= exact + size);
            assert_true(++steps <= size / 4);
        }
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_page_of_a_little_endian_64_bit_kernel),
        cmocka_unit_test(test_page_of_a_big_endian_32_bit_kernel),
        cmocka_unit_test(test_page_time_extend_adds_its_59_bits),
        cmocka_unit_test(test_page_absolute_stamp_replaces_the_low_59_bits),
        cmocka_unit_test(test_page_absolute_stamp_below_the_time_before_wraps_only_with_upper_bits),
        cmocka_unit_test(test_page_discarded_event_is_skipped_with_its_time),
        cmocka_unit_test(test_page_padding_without_time_ends_the_page),
        cmocka_unit_test(test_page_lost_without_room_for_a_count_is_unknown),
        cmocka_unit_test(test_page_lost_flag_extended_into_the_upper_half),
        cmocka_unit_test(test_page_stored_count_beyond_the_page_is_unknown),
        cmocka_unit_test(test_page_commit_beyond_the_bytes_walks_what_is_there),
        cmocka_unit_test(test_page_shorter_than_its_header_gives_nothing),
        cmocka_unit_test(test_page_lengths_that_leave_the_page_end_it_as_damage),
        cmocka_unit_test(test_page_agrees_with_kbuffer_on_every_kind_of_record),
        cmocka_unit_test(test_page_of_random_bytes_stays_inside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
