/* Frames as they come, cut, and as an enemy would write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

static const struct trd_hello good_hello = {
    .magic = TRD_PROTOCOL_MAGIC,
    .version = TRD_PROTOCOL_VERSION,
    .pid = 4242,
    .clock = TRD_CLOCK_MONOTONIC,
    .ring_size = TRD_RING_SIZE_DEFAULT,
    .ring_count = TRD_RING_COUNT_DEFAULT,
    .accounted = 7,
};

static const struct trd_welcome good_welcome = {
    .magic = TRD_PROTOCOL_MAGIC,
    .version = TRD_PROTOCOL_VERSION,
    .categories = TRD_CATEGORIES_ALL,
    .mark_interval_ms = 10,
};

static size_t put_frame(uint8_t *bytes, enum trd_frame_type type, const void *payload, size_t size)
{
    struct trd_frame_head head;

    trd_frame_head_init(&head, type, (uint32_t)size);
    memcpy(bytes, &head, sizeof(head));
    memcpy(bytes + sizeof(head), payload, size);
    return sizeof(head) + size;
}

static void test_frames_behind_each_other_are_taken_one_by_one(void **state)
{
    struct trd_mark mark = { .ts_ns = 5 };
    struct trd_frame_head head;
    const uint8_t *payload;
    uint8_t bytes[256];
    size_t first = put_frame(bytes, TRD_FRAME_HELLO, &good_hello, sizeof(good_hello));
    size_t size = first + put_frame(bytes + first, TRD_FRAME_MARK, &mark, sizeof(mark));

    (void)state;
    assert_int_equal(trd_frame_next(bytes, size, &head, &payload), 1);
    assert_int_equal(head.type, TRD_FRAME_HELLO);
    assert_ptr_equal(payload + head.size, bytes + first);
    assert_int_equal(trd_frame_next(bytes + first, size - first, &head, &payload), 1);
    assert_int_equal(head.type, TRD_FRAME_MARK);
}

static void test_frame_cut_anywhere_asks_for_more(void **state)
{
    struct trd_frame_head head;
    const uint8_t *payload;
    uint8_t bytes[256];
    size_t size = put_frame(bytes, TRD_FRAME_HELLO, &good_hello, sizeof(good_hello));

    (void)state;
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *copy = malloc(cut ? cut : 1);

        assert_non_null(copy);
        memcpy(copy, bytes, cut);
        assert_int_equal(trd_frame_next(copy, cut, &head, &payload), 0);
        free(copy);
    }
}

static int next_of(struct trd_frame_head head, size_t readable)
{
    static uint8_t bytes[TRD_FRAME_SIZE_MAX + 64];
    const uint8_t *payload;

    memcpy(bytes, &head, sizeof(head));
    return trd_frame_next(bytes, readable, &head, &payload);
}

static void test_frame_length_over_limit_is_refused(void **state)
{
    static const uint32_t sizes[] = { TRD_FRAME_SIZE_MAX + 1, 0x7fffffff, 0x80000000, 0xffffffff };

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        assert_int_equal(
            next_of((struct trd_frame_head){ .size = sizes[i], .type = TRD_FRAME_BATCH }, 8),
            -EBADMSG);
    assert_int_equal(
        next_of((struct trd_frame_head){ .size = TRD_FRAME_SIZE_MAX, .type = TRD_FRAME_BATCH }, 8),
        0);
    assert_int_equal(
        next_of((struct trd_frame_head){ .size = TRD_FRAME_SIZE_MAX, .type = TRD_FRAME_BATCH },
                sizeof(struct trd_frame_head) + TRD_FRAME_SIZE_MAX),
        1);
}

static void test_frame_of_unknown_type_is_refused(void **state)
{
    (void)state;
    for (unsigned type = 0; type < 256; type++) {
        bool known = (type >= 0x01 && type <= 0x06) || (type >= 0x41 && type <= 0x47);

        assert_int_equal(next_of((struct trd_frame_head){ .type = (uint8_t)type }, 8),
                         known ? 1 : -EBADMSG);
    }
}

static void test_frame_with_reserved_bytes_set_is_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct trd_frame_head head = { .type = TRD_FRAME_MARK };

        head.zero[i] = 1;
        assert_int_equal(next_of(head, 8), -EBADMSG);
    }
}

static int hello_of(struct trd_hello hello)
{
    struct trd_hello out;

    return trd_frame_hello((const uint8_t *)&hello, sizeof(hello), &out);
}

#define HELLO_WITH(member, value)                                                                  \
    ({                                                                                             \
        struct trd_hello changed = good_hello;                                                     \
        changed.member = (value);                                                                  \
        hello_of(changed);                                                                         \
    })

static void test_hello_is_taken_whole(void **state)
{
    struct trd_hello out;

    (void)state;
    assert_int_equal(trd_frame_hello((const uint8_t *)&good_hello, sizeof(good_hello), &out), 0);
    assert_memory_equal(&out, &good_hello, sizeof(out));
}

static void test_hello_with_impossible_values_is_refused(void **state)
{
    (void)state;
    assert_int_equal(HELLO_WITH(magic, TRD_PROTOCOL_MAGIC + 1), -EBADMSG);
    assert_int_equal(HELLO_WITH(clock, 0), -EBADMSG);
    assert_int_equal(HELLO_WITH(clock, TRD_CLOCK_TSC), 0);
    assert_int_equal(HELLO_WITH(clock, 3), -EBADMSG);
    assert_int_equal(HELLO_WITH(ring_size, 0), -EBADMSG);
    assert_int_equal(HELLO_WITH(ring_size, TRD_RING_SIZE_DEFAULT + 16), -EBADMSG);
    assert_int_equal(HELLO_WITH(ring_size, TRD_RING_SIZE_MIN / 2), -EBADMSG);
    assert_int_equal(HELLO_WITH(ring_size, TRD_RING_SIZE_MAX * 2), -EBADMSG);
    assert_int_equal(HELLO_WITH(ring_size, 0x80000000), -EBADMSG);
    assert_int_equal(HELLO_WITH(ring_count, 0), -EBADMSG);
    assert_int_equal(HELLO_WITH(ring_count, TRD_RING_COUNT_MAX + 1), -EBADMSG);
    assert_int_equal(HELLO_WITH(ring_count, 0xffffffff), -EBADMSG);
}

static void test_hello_with_another_clock_and_no_moments_of_it_is_refused(void **state)
{
    struct trd_hello hello = good_hello, out;

    (void)state;
    hello.clock = TRD_CLOCK_TSC;
    assert_int_equal(trd_frame_hello((const uint8_t *)&hello, TRD_HELLO_SIZE_MIN, &out), -EBADMSG);
}

static void test_hello_of_another_version_is_told_apart(void **state)
{
    (void)state;
    assert_int_equal(HELLO_WITH(version, 0), -EPROTONOSUPPORT);
    assert_int_equal(HELLO_WITH(version, TRD_PROTOCOL_VERSION + 1), -EPROTONOSUPPORT);
}

static int welcome_of(struct trd_welcome welcome)
{
    struct trd_welcome out;

    return trd_frame_welcome((const uint8_t *)&welcome, sizeof(welcome), &out);
}

static void test_welcome_with_impossible_values_is_refused(void **state)
{
    struct trd_welcome welcome = good_welcome;

    (void)state;
    assert_int_equal(welcome_of(welcome), 0);
    welcome.mark_interval_ms = 0;
    assert_int_equal(welcome_of(welcome), -EBADMSG);
    welcome.mark_interval_ms = TRD_MARK_INTERVAL_MAX_MS + 1;
    assert_int_equal(welcome_of(welcome), -EBADMSG);
    welcome = good_welcome;
    welcome.version++;
    assert_int_equal(welcome_of(welcome), -EPROTONOSUPPORT);
    welcome.magic++;
    assert_int_equal(welcome_of(welcome), -EBADMSG);
}

/* Each decoder against a heap block one byte too short, of its exact size, and longer. */
#define CHECK_SIZES(decode, type, good) CHECK_SIZES_FROM(decode, type, good, sizeof(struct type))
/* Members from `least` on may be absent, all or none. */
#define CHECK_SIZES_FROM(decode, type, good, least)                                                \
    do {                                                                                           \
        uint8_t *bytes = malloc(sizeof(struct type) + 8);                                          \
        struct type out;                                                                           \
                                                                                                   \
        assert_non_null(bytes);                                                                    \
        memset(bytes, 0, sizeof(struct type) + 8);                                                 \
        memcpy(bytes, good, sizeof(struct type));                                                  \
        for (size_t size = 0; size < (least); size++)                                              \
            assert_int_equal(decode(bytes, size, &out), -EBADMSG);                                 \
        assert_int_equal(decode(bytes, least, &out), 0);                                           \
        assert_int_equal(decode(bytes, sizeof(struct type), &out), 0);                             \
        assert_int_equal(decode(bytes, sizeof(struct type) + 8, &out), 0);                         \
        assert_memory_equal(&out, good, sizeof(out));                                              \
        free(bytes);                                                                               \
    } while (0)

static void test_payload_too_short_is_refused_and_longer_is_read(void **state)
{
    struct trd_mark mark = { .ts_ns = 1 };
    struct trd_ring_lost lost = {
        .ring = 3, .tid = 4, .from_ns = 5, .to_ns = 6, .count = 7, .told = 8
    };
    struct trd_goodbye goodbye = { .produced = 9, .dropped = 9 };
    struct trd_categories categories = { .categories = 2 };
    struct trd_ping ping = { .token = 8 };

    (void)state;
    CHECK_SIZES_FROM(trd_frame_hello, trd_hello, &good_hello, TRD_HELLO_SIZE_MIN);
    CHECK_SIZES(trd_frame_welcome, trd_welcome, &good_welcome);
    CHECK_SIZES_FROM(trd_frame_mark, trd_mark, &mark, TRD_MARK_SIZE_MIN);
    CHECK_SIZES(trd_frame_ring_lost, trd_ring_lost, &lost);
    CHECK_SIZES(trd_frame_goodbye, trd_goodbye, &goodbye);
    CHECK_SIZES(trd_frame_categories, trd_categories, &categories);
    CHECK_SIZES(trd_frame_ping, trd_ping, &ping);
}

static void test_resolve_that_holds_fewer_addresses_than_it_says_is_refused(void **state)
{
    struct {
        struct trd_resolve head;
        uint64_t addresses[TRD_RESOLVE_MAX + 1];
    } payload = { .head = { .count = TRD_RESOLVE_MAX }, .addresses = { 0x1000 } };
    size_t whole = sizeof(payload.head) + TRD_RESOLVE_MAX * sizeof(uint64_t);
    const uint8_t *bytes = (const uint8_t *)&payload;
    uint64_t addresses[TRD_RESOLVE_MAX];
    struct trd_resolve out;

    (void)state;
    payload.addresses[TRD_RESOLVE_MAX - 1] = 0x2000;
    assert_int_equal(trd_frame_resolve(bytes, whole, &out, addresses), 0);
    assert_int_equal(addresses[0], 0x1000);
    assert_int_equal(addresses[TRD_RESOLVE_MAX - 1], 0x2000);
    assert_int_equal(trd_frame_resolve(bytes, whole - 1, &out, addresses), -EBADMSG);
    assert_int_equal(trd_frame_resolve(bytes, sizeof(payload.head), &out, addresses), -EBADMSG);
    assert_int_equal(trd_frame_resolve(bytes, 3, &out, addresses), -EBADMSG);
    payload.head.count = TRD_RESOLVE_MAX + 1;
    assert_int_equal(trd_frame_resolve(bytes, sizeof(payload), &out, addresses), -EBADMSG);
    payload.head.count = 0;
    assert_int_equal(trd_frame_resolve(bytes, sizeof(payload), &out, addresses), -EBADMSG);
}

static void test_goodbye_that_dropped_more_than_it_made_is_refused(void **state)
{
    struct trd_goodbye goodbye = { .produced = 9, .dropped = 10 }, out;

    (void)state;
    assert_int_equal(trd_frame_goodbye((const uint8_t *)&goodbye, sizeof(goodbye), &out), -EBADMSG);
}

static int batch_of(struct trd_batch batch, size_t records)
{
    uint8_t bytes[sizeof(batch) + 64] = { 0 };
    const uint8_t *at;
    size_t size;
    int result;

    memcpy(bytes, &batch, sizeof(batch));
    result = trd_frame_batch(bytes, sizeof(batch) + records, &batch, &at, &size);
    if (result == 0) {
        assert_ptr_equal(at, bytes + sizeof(batch));
        assert_int_equal(size, records);
    }
    return result;
}

static void test_batch_out_of_line_is_refused(void **state)
{
    (void)state;
    assert_int_equal(batch_of((struct trd_batch){ .position = 32 }, 48), 0);
    assert_int_equal(batch_of((struct trd_batch){ .position = 32 }, 0), 0);
    assert_int_equal(batch_of((struct trd_batch){ .position = 40 }, 48), -EBADMSG);
    assert_int_equal(batch_of((struct trd_batch){ .position = 32 }, 40), -EBADMSG);
    assert_int_equal(batch_of((struct trd_batch){ .ring = TRD_RING_COUNT_MAX }, 48), -EBADMSG);
}

static void test_batch_with_record_running_over_its_end_is_seen(void **state)
{
    struct trd_event_head head = { .size = 64, .id = TRD_EV_gc_end }, out;
    uint8_t bytes[sizeof(struct trd_batch) + 32] = { 0 };
    struct trd_batch batch;
    const uint8_t *at;
    size_t size;

    (void)state;
    memcpy(bytes + sizeof(batch), &head, sizeof(head));
    assert_int_equal(trd_frame_batch(bytes, sizeof(bytes), &batch, &at, &size), 0);
    assert_int_equal(trd_event_check(at, size, &out), -EAGAIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_behind_each_other_are_taken_one_by_one),
        cmocka_unit_test(test_frame_cut_anywhere_asks_for_more),
        cmocka_unit_test(test_frame_length_over_limit_is_refused),
        cmocka_unit_test(test_frame_of_unknown_type_is_refused),
        cmocka_unit_test(test_frame_with_reserved_bytes_set_is_refused),
        cmocka_unit_test(test_hello_is_taken_whole),
        cmocka_unit_test(test_hello_with_impossible_values_is_refused),
        cmocka_unit_test(test_hello_with_another_clock_and_no_moments_of_it_is_refused),
        cmocka_unit_test(test_hello_of_another_version_is_told_apart),
        cmocka_unit_test(test_welcome_with_impossible_values_is_refused),
        cmocka_unit_test(test_payload_too_short_is_refused_and_longer_is_read),
        cmocka_unit_test(test_resolve_that_holds_fewer_addresses_than_it_says_is_refused),
        cmocka_unit_test(test_goodbye_that_dropped_more_than_it_made_is_refused),
        cmocka_unit_test(test_batch_out_of_line_is_refused),
        cmocka_unit_test(test_batch_with_record_running_over_its_end_is_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
