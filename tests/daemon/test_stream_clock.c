/*
 * Anchors and the clock of lines. The machine's clocks are this test's own: they go where it says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <jansson.h>

#include "stream_clock.h"

#define SECOND UINT64_C(1000000000)
#define READ_NS 25 /* what reading a clock takes */

static uint64_t mono, realtime_ahead, boot_ahead;

uint64_t clock_read_ns(clockid_t clock)
{
    mono += READ_NS;
    return clock == CLOCK_REALTIME   ? mono + realtime_ahead
           : clock == CLOCK_BOOTTIME ? mono + boot_ahead
                                     : mono;
}

static int set_up(void **state)
{
    static uv_loop_t loop;

    mono = 1000 * SECOND;
    realtime_ahead = 1700000000 * SECOND;
    boot_ahead = 60 * SECOND;
    uv_loop_init(&loop);
    *state = &loop;
    return 0;
}

static int tear_down(void **state)
{
    uv_loop_t *loop = *state;

    uv_run(loop, UV_RUN_DEFAULT);
    return uv_loop_close(loop);
}

static void test_anchor_error_bounds_the_readings(void **state)
{
    struct clock_anchor anchor;

    (void)state;
    clock_anchor_take(&anchor);
    assert_in_range(anchor.error_ns, 1, 2 * READ_NS);
    assert_in_range(anchor.realtime_ns - anchor.mono_ns, realtime_ahead - anchor.error_ns,
                    realtime_ahead + anchor.error_ns);
    assert_in_range(anchor.boot_ns - anchor.mono_ns, boot_ahead - anchor.error_ns,
                    boot_ahead + anchor.error_ns);
}

static void test_anchor_moves_with_steps_of_more_than_its_error(void **state)
{
    struct clock_anchor before, after;

    (void)state;
    clock_anchor_take(&before);
    mono += 3600 * SECOND; /* time alone moves nothing */
    clock_anchor_take(&after);
    assert_false(clock_anchor_has_moved(&before, &after));
    realtime_ahead -= 2 * before.error_ns + 2;
    clock_anchor_take(&after);
    assert_true(clock_anchor_has_moved(&before, &after));
    before = after;
    boot_ahead += 1000;
    clock_anchor_take(&after);
    assert_true(clock_anchor_has_moved(&before, &after));
}

static void test_anchor_as_json_comes_back(void **state)
{
    struct clock_anchor anchor, back;
    json_t *object, *bad;

    (void)state;
    clock_anchor_take(&anchor);
    object = clock_anchor_object(&anchor);
    assert_true(clock_anchor_parse(&back, object));
    assert_memory_equal(&anchor, &back, sizeof(anchor));
    assert_string_equal(json_string_value(json_object_get(object, "utc")),
                        "2023-11-14T22:30:00.000000050Z");
    bad = json_pack("{s:s,s:s,s:s}", "mono", "1", "realtime", "2x", "error_ns", "3");
    assert_false(clock_anchor_parse(&back, bad));
    assert_false(clock_anchor_parse(&back, NULL));
    json_decref(bad);
    json_decref(object);
}

/* A step is told at its place in time; times are by the anchor told last. */
static void test_stream_clock_live_changes_where_the_step_was(void **state)
{
    static struct stream_clock clock; /* its handle closes on the loop's next turn */
    struct trd_record record;
    uint64_t stepped;
    int64_t before;

    stream_clock_init_live(&clock, *state, "realtime");
    before = clock.offset_ns;
    assert_in_range((uint64_t)before, realtime_ahead - 2 * READ_NS, realtime_ahead + 2 * READ_NS);
    mono += SECOND;
    stream_clock_check(&clock);
    assert_int_equal(stream_clock_next(&clock, UINT64_MAX, &record), 0);
    realtime_ahead -= 5 * SECOND;
    stepped = mono;
    stream_clock_check(&clock);
    stream_clock_check(&clock); /* one step is one anchor */
    assert_int_equal(stream_clock_next(&clock, stepped, &record), 0);
    assert_true(clock.offset_ns == before);
    assert_int_equal(stream_clock_next(&clock, mono, &record), 1);
    assert_int_equal(record.kind, TRD_KIND_ANCHOR);
    assert_in_range(record.ts_ns, stepped, mono);
    assert_in_range((uint64_t)(before - clock.offset_ns), 5 * SECOND - 4 * READ_NS,
                    5 * SECOND + 4 * READ_NS);
    assert_int_equal(stream_clock_next(&clock, UINT64_MAX, &record), 0);
    clock_watch_stop(&clock.watch);
    stream_clock_finish(&clock);
}

static void test_stream_clock_boot_follows_a_suspension(void **state)
{
    static struct stream_clock clock; /* its handle closes on the loop's next turn */
    struct trd_record record;
    int64_t before;

    stream_clock_init_live(&clock, *state, "boot");
    before = clock.offset_ns;
    /* Both others go on while CLOCK_MONOTONIC stands. */
    boot_ahead += 7 * SECOND;
    realtime_ahead += 7 * SECOND;
    stream_clock_check(&clock);
    assert_int_equal(stream_clock_next(&clock, mono, &record), 1);
    assert_in_range((uint64_t)(clock.offset_ns - before), 7 * SECOND - 4 * READ_NS,
                    7 * SECOND + 4 * READ_NS);
    clock_watch_stop(&clock.watch);
    stream_clock_finish(&clock);
}

/* More steps than are kept: the last one counts. */
static void test_stream_clock_many_steps_end_at_the_last(void **state)
{
    static struct stream_clock clock; /* its handle closes on the loop's next turn */
    struct trd_record record;
    unsigned told = 0;

    stream_clock_init_live(&clock, *state, "realtime");
    for (int i = 0; i < 3 * ANCHORS_WAITING_MAX; i++) {
        realtime_ahead += SECOND;
        stream_clock_check(&clock);
    }
    while (stream_clock_next(&clock, UINT64_MAX, &record) == 1)
        told++;
    assert_int_equal(told, ANCHORS_WAITING_MAX);
    assert_in_range((uint64_t)clock.offset_ns, realtime_ahead - 2 * READ_NS,
                    realtime_ahead + 2 * READ_NS);
    clock_watch_stop(&clock.watch);
    stream_clock_finish(&clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_anchor_error_bounds_the_readings, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_anchor_moves_with_steps_of_more_than_its_error, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_anchor_as_json_comes_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_stream_clock_live_changes_where_the_step_was, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_stream_clock_boot_follows_a_suspension, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_stream_clock_many_steps_end_at_the_last, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
