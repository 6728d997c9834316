#include "clr_clock.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* 2 GHz: two ticks are a nanosecond. */
#define SECOND_NS UINT64_C(1000000000)
#define TSC(ns) (7000 + 2 * (uint64_t)(ns))

static const struct trd_hello hello = {
    .clock = TRD_CLOCK_TSC,
    .started = { TSC(1000), 1000, 20 },
    .now = { TSC(5000), 5000, 40 },
};

static struct clr_clock clock_of(const struct trd_hello *greeting)
{
    struct clr_clock clock;

    assert_int_equal(clr_clock_init(&clock, greeting), 0);
    return clock;
}

static void add(struct clr_clock *clock, uint64_t tsc, uint64_t ns, uint64_t window)
{
    struct trd_clock_pair pair = { tsc, ns, window };

    clr_clock_add(clock, &pair);
}

static void test_clock_monotonic_stamps_stay_as_they_are(void **state)
{
    struct trd_hello plain = { .clock = TRD_CLOCK_MONOTONIC };
    struct clr_clock clock = clock_of(&plain);

    (void)state;
    assert_int_equal(clr_clock_ns(&clock, 12345), 12345);
    assert_int_equal(clock.error_ns, 0);
}

static void test_clock_ticks_become_nanoseconds_before_between_and_after_the_pairs(void **state)
{
    struct clr_clock clock = clock_of(&hello);

    (void)state;
    assert_int_equal(clr_clock_ns(&clock, TSC(500)), 500);
    assert_int_equal(clr_clock_ns(&clock, TSC(1000)), 1000);
    assert_int_equal(clr_clock_ns(&clock, TSC(2345)), 2345);
    assert_int_equal(clr_clock_ns(&clock, TSC(5000)), 5000);
    assert_int_equal(clr_clock_ns(&clock, TSC(3600 * SECOND_NS)), 3600 * SECOND_NS);
}

/* The kernel slews its clock: each piece has a pace of its own, and its ends are exact. */
static void test_clock_a_change_of_pace_is_followed_and_counted_as_error(void **state)
{
    struct clr_clock clock = clock_of(&hello);

    (void)state;
    add(&clock, TSC(10000005000), 10000005000, 40);
    assert_int_equal(clock.error_ns, 11);
    add(&clock, TSC(10010005000), 10010006000, 40); /* 100 ppm faster: 1000 ns in 10 ms */
    assert_int_equal(clr_clock_ns(&clock, TSC(10010005000)), 10010006000);
    assert_in_range(clr_clock_ns(&clock, TSC(10005005000)), 10005005499, 10005005500);
    assert_in_range(clock.error_ns, 1000, 1012);
}

static void test_clock_never_goes_back_over_a_pair(void **state)
{
    struct clr_clock clock = clock_of(&hello);
    uint64_t last = 0;

    (void)state;
    for (uint64_t step = 1; step < 50; step++) {
        uint64_t ns = 5000 + step * 1000;

        /* Readings that jitter by some nanoseconds. */
        add(&clock, TSC(ns), ns + step * 7 % 5, 40);
        for (uint64_t tick = TSC(ns - 1000); tick <= TSC(ns); tick++) {
            uint64_t at = clr_clock_ns(&clock, tick);

            assert_true(at + 1 >= last);
            last = at;
        }
    }
}

static void test_clock_a_pair_that_is_no_progress_is_left_out(void **state)
{
    struct clr_clock clock = clock_of(&hello);

    (void)state;
    add(&clock, TSC(4000), 9000, 0);
    add(&clock, TSC(9000), 5000, 0);
    add(&clock, 0, 0, 0);
    add(&clock, UINT64_MAX, 5001, UINT64_MAX);
    add(&clock, TSC(5001), UINT64_MAX, 0);
    assert_int_equal(clr_clock_ns(&clock, TSC(6000)), 6000);
    assert_int_equal(clock.error_ns, 11);
}

static void test_clock_a_greeting_without_a_pace_is_refused(void **state)
{
    struct trd_hello bad = hello;
    struct clr_clock clock;

    (void)state;
    bad.now = bad.started;
    assert_int_equal(clr_clock_init(&clock, &bad), -EBADMSG);
    bad.now = (struct trd_clock_pair){ TSC(1000) + 1, UINT64_MAX, 0 };
    assert_int_equal(clr_clock_init(&clock, &bad), -EBADMSG);
    bad.now = (struct trd_clock_pair){ UINT64_MAX, 1001, 0 };
    assert_int_equal(clr_clock_init(&clock, &bad), -EBADMSG);
    bad.clock = 3;
    assert_int_equal(clr_clock_init(&clock, &bad), -EBADMSG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clock_monotonic_stamps_stay_as_they_are),
        cmocka_unit_test(test_clock_ticks_become_nanoseconds_before_between_and_after_the_pairs),
        cmocka_unit_test(test_clock_a_change_of_pace_is_followed_and_counted_as_error),
        cmocka_unit_test(test_clock_never_goes_back_over_a_pair),
        cmocka_unit_test(test_clock_a_pair_that_is_no_progress_is_left_out),
        cmocka_unit_test(test_clock_a_greeting_without_a_pace_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
