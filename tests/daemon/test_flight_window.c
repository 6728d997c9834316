/* The flight recorder's memory: what leaves it, in which order, who is asked for room, and what is
 * remembered of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "event.h"
#include "flight_known.h"
#include "flight_window.h"

#define LANES 3
#define SIZE (64u << 10)

static struct flight_window *window;
static uint32_t discarded[LANES]; /* entries; each holds its number in its lane */
static uint32_t taken[LANES], put[LANES];
static uint32_t readable; /* entries of lane 0 that make_room may take */

static uint32_t number_in(const uint8_t *bytes, size_t size)
{
    uint32_t number;

    assert_true(size >= sizeof(number));
    memcpy(&number, bytes, sizeof(number));
    for (size_t i = sizeof(number); i < size; i++)
        assert_int_equal(bytes[i], (uint8_t)number);
    return number;
}

/* Entries of a lane leave in their order, be it this way or the other. */
static void discard(void *context, uint32_t lane, const uint8_t *bytes, size_t size)
{
    assert_ptr_equal(context, &window);
    assert_int_equal(number_in(bytes, size), taken[lane] + discarded[lane]);
    discarded[lane]++;
}

static bool take(uint32_t lane)
{
    const uint8_t *bytes;
    size_t size;

    if (!flight_window_first(window, lane, &bytes, &size))
        return false;
    assert_int_equal(number_in(bytes, size), taken[lane] + discarded[lane]);
    taken[lane]++;
    flight_window_take(window, lane);
    return true;
}

static bool make_room(void *context)
{
    (void)context;
    if (readable == 0)
        return false;
    readable--;
    return take(0);
}

static int set_up(void **state)
{
    const struct flight_window_user user = { discard, make_room, &window };

    (void)state;
    memset(discarded, 0, sizeof(discarded));
    memset(taken, 0, sizeof(taken));
    memset(put, 0, sizeof(put));
    readable = 0;
    return flight_window_create(&window, SIZE, LANES, &user);
}

static int tear_down(void **state)
{
    (void)state;
    flight_window_destroy(window);
    return 0;
}

static bool add(uint32_t lane, uint64_t arrival_ns, size_t size)
{
    uint8_t *place = flight_window_put(window, lane, arrival_ns, size);

    if (!place)
        return false;
    assert_int_equal((uintptr_t)place % 32, 0);
    memset(place, (uint8_t)put[lane], size);
    memcpy(place, &put[lane], sizeof(put[lane]));
    put[lane]++;
    return true;
}

static void test_flight_window_keeps_the_newest_of_every_size(void **state)
{
    (void)state;
    srandom(7);
    for (int i = 0; i < 20000; i++)
        assert_true(add((uint32_t)random() % LANES, (uint64_t)i, 4 + (size_t)random() % 9000));
    for (uint32_t lane = 0; lane < LANES; lane++) {
        while (take(lane))
            ;
        assert_int_equal(discarded[lane] + taken[lane], put[lane]);
        assert_true(taken[lane] > 0 && discarded[lane] > 0);
    }
}

static void test_flight_window_discards_by_time(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 30; i++)
        assert_true(add(i % LANES, 100 + i, 100));
    flight_window_discard(window, 115);
    for (uint32_t lane = 0; lane < LANES; lane++)
        assert_int_equal(discarded[lane], 5);
    flight_window_discard(window, UINT64_MAX);
    for (uint32_t lane = 0; lane < LANES; lane++)
        assert_int_equal(discarded[lane], 10);
    assert_false(take(0));
}

static void test_flight_window_a_held_lane_is_asked_for_room_and_loses_nothing(void **state)
{
    (void)state;
    flight_window_hold(window, 0, true);
    while (put[0] < 40)
        assert_true(add(0, put[0], 1000));
    flight_window_discard(window, UINT64_MAX);
    assert_int_equal(discarded[0], 0);
    /* Full: entries of others come in as far as its reader takes its own. */
    readable = 10;
    while (add(1, 100 + put[1], 1000))
        ;
    assert_int_equal(readable, 0);
    assert_int_equal(taken[0], 10);
    assert_int_equal(discarded[0], 0);
    assert_int_equal(discarded[1], 0);
    flight_window_hold(window, 0, false);
    assert_true(add(1, 200, 1000));
    assert_int_equal(discarded[0], 1);
}

static void test_flight_window_refuses_what_it_cannot_hold(void **state)
{
    (void)state;
    assert_true(add(0, 1, SIZE / 4));
    assert_null(flight_window_put(window, 1, 2, SIZE / 2 + 1));
    assert_int_equal(discarded[0], 0);
}

/* What is remembered */

static void note(struct flight_known *known, uint16_t id, int32_t pid, uint64_t ts_ns,
                 const void *bytes, uint32_t size)
{
    const struct flight_event event = {
        .ts_ns = ts_ns, .pid = pid, .id = id, .size = size, .kind = TRD_KIND_EVENT
    };

    flight_known_note(known, &event, bytes);
}
#define NOTE(known, ident, pid, ts, ...)                                                           \
    note(known, TRD_EV_##ident, pid, ts, &(struct trd_ev_##ident){ __VA_ARGS__ },                  \
         sizeof(struct trd_ev_##ident))

static void check(struct flight_known *known, const uint64_t *times, size_t count)
{
    const struct flight_event *event;
    const uint8_t *bytes;
    size_t at = 0;

    flight_known_rewind(known);
    while (flight_known_next(known, &event, &bytes)) {
        assert_true(at < count);
        assert_int_equal(event->ts_ns, times[at++]);
    }
    assert_int_equal(at, count);
}
#define CHECK(known, ...)                                                                          \
    check(known, (const uint64_t[]){ __VA_ARGS__ },                                                \
          sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void test_flight_known_keeps_what_still_holds(void **state)
{
    struct flight_known *known;

    (void)state;
    assert_int_equal(flight_known_create(&known, 1 << 20), 0);
    NOTE(known, method, 1, 10, .method = 77);
    NOTE(known, gc_start, 1, 11, .number = 1); /* stands for nothing */
    NOTE(known, method, 2, 12, .method = 77);  /* of another process */
    NOTE(known, thread_created, 1, 13, .thread = 5);
    NOTE(known, thread_name, 1, 14, .thread = 5);
    NOTE(known, event_field, 1, 15, .schema = 3, .index = 0);
    NOTE(known, event_field, 1, 16, .schema = 3, .index = 1);
    CHECK(known, 10, 12, 13, 14, 15, 16);
    NOTE(known, thread_name, 1, 20, .thread = 5); /* anew */
    NOTE(known, event_field, 1, 21, .schema = 3, .index = 0);
    CHECK(known, 10, 12, 13, 16, 20, 21);
    NOTE(known, thread_destroyed, 1, 22, .thread = 5);
    NOTE(known, method_unload, 2, 23, .method = 77);
    CHECK(known, 10, 16, 21);
    flight_known_destroy(known);
}

static void test_flight_known_counts_what_it_has_no_room_for(void **state)
{
    struct flight_known *known;
    const struct flight_event *event;
    const uint8_t *bytes;
    uint64_t count = 0;

    (void)state;
    assert_int_equal(flight_known_create(&known, 10000), 0);
    for (uint64_t i = 1; i <= 1000; i++)
        NOTE(known, method, 1, i, .method = i);
    flight_known_rewind(known);
    while (flight_known_next(known, &event, &bytes))
        count++;
    assert_true(count > 10);
    assert_int_equal(count + flight_known_refused(known), 1000);
    flight_known_destroy(known);
}

static void test_flight_known_may_change_under_a_walk(void **state)
{
    struct flight_known *known;
    const struct flight_event *event;
    const uint8_t *bytes;

    (void)state;
    assert_int_equal(flight_known_create(&known, 1 << 20), 0);
    for (uint64_t i = 1; i <= 3; i++)
        NOTE(known, thread_name, 1, i, .thread = i);
    flight_known_rewind(known);
    assert_true(flight_known_next(known, &event, &bytes));
    NOTE(known, thread_destroyed, 1, 9, .thread = 2);
    assert_true(flight_known_next(known, &event, &bytes));
    assert_int_equal(event->ts_ns, 3);
    assert_false(flight_known_next(known, &event, &bytes));
    flight_known_destroy(known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_flight_window_keeps_the_newest_of_every_size, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_flight_window_discards_by_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            test_flight_window_a_held_lane_is_asked_for_room_and_loses_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_flight_window_refuses_what_it_cannot_hold, set_up,
                                        tear_down),
        cmocka_unit_test(test_flight_known_keeps_what_still_holds),
        cmocka_unit_test(test_flight_known_counts_what_it_has_no_room_for),
        cmocka_unit_test(test_flight_known_may_change_under_a_walk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
