/* Spans of calls from what traced methods tell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event.h"
#include "tracerd/catalog.h"
#include "tracerd/enrich.h"

#define PID 4242
#define WORKER 4250
#define DEEPEST 4096 /* CALLS_MAX of enrich_methods.c */

static struct trd_enrich *enrich;

static int set_up(void **state)
{
    (void)state;
    return trd_enrich_create(&enrich);
}

static int tear_down(void **state)
{
    (void)state;
    trd_enrich_destroy(enrich);
    return 0;
}

static void tell(uint16_t id, uint64_t ts_ns, int32_t tid, const void *fixed, size_t size)
{
    struct trd_record record;

    trd_record_init(&record);
    record.kind = TRD_KIND_EVENT;
    record.source = TRD_SOURCE_CLR;
    record.ts_ns = ts_ns;
    record.pid = PID;
    record.tid = tid;
    record.schema = trd_clr_schema(id);
    record.data = fixed;
    record.size = (uint32_t)size;
    (void)trd_enrich_record(enrich, &record);
}

#define TELL(event, ts_ns, tid, ...)                                                               \
    do {                                                                                           \
        struct trd_ev_##event fixed = { __VA_ARGS__ };                                             \
                                                                                                   \
        tell(TRD_EV_##event, ts_ns, tid, &fixed, sizeof(fixed));                                   \
    } while (0)
#define ENTER(at, number) TELL(method_enter, at, WORKER, .method = (number))
#define LEAVE(at, number) TELL(method_leave, at, WORKER, .method = (number))

static void tell_loss(int32_t tid, uint64_t from_ns, uint64_t to_ns)
{
    struct trd_record record;

    trd_record_init(&record);
    record.kind = TRD_KIND_LOST;
    record.source = TRD_SOURCE_CLR;
    record.ts_ns = to_ns;
    record.lost_from_ns = from_ns;
    record.lost = 3;
    record.pid = PID;
    record.tid = tid;
    (void)trd_enrich_record(enrich, &record);
}

static void expect(uint64_t ts_ns, uint64_t dur_ns, bool incomplete, const char *args)
{
    struct trd_record record;
    char text[256];

    assert_int_equal(trd_enrich_derived(enrich, &record), 1);
    assert_int_equal(record.kind, TRD_KIND_SPAN);
    assert_string_equal(record.name, "clr:call");
    assert_int_equal(record.pid, PID);
    (void)snprintf(text, sizeof(text), "%.*s", (int)record.args_json_size, record.args_json);
    assert_string_equal(text, args);
    assert_int_equal(record.ts_ns, ts_ns);
    assert_int_equal(record.dur_ns, dur_ns);
    assert_int_equal((record.flags & TRD_RECORD_F_INCOMPLETE) != 0, incomplete);
}

static void expect_nothing(void)
{
    struct trd_record record;

    assert_int_equal(trd_enrich_derived(enrich, &record), 0);
}

#define CALL(id, depth) "{\"method\":{\"id\":\"" id "\"},\"depth\":" depth "}"

static void test_calls_nest_and_end_from_the_inside(void **state)
{
    (void)state;
    ENTER(100, 1);
    ENTER(110, 2);
    LEAVE(120, 2);
    expect(110, 10, false, CALL("0x2", "1"));
    LEAVE(150, 1);
    expect(100, 50, false, CALL("0x1", "0"));
    expect_nothing();
}

static void test_recursion_ends_the_innermost_call_first(void **state)
{
    (void)state;
    ENTER(100, 1);
    ENTER(110, 1);
    LEAVE(120, 1);
    expect(110, 10, false, CALL("0x1", "1"));
    LEAVE(130, 1);
    expect(100, 30, false, CALL("0x1", "0"));
}

static void test_tail_call_ends_the_caller_and_unwinding_is_told(void **state)
{
    (void)state;
    ENTER(100, 1);
    ENTER(105, 2);
    TELL(method_tailcall, 110, WORKER, .method = 2);
    expect(105, 5, false, "{\"method\":{\"id\":\"0x2\"},\"depth\":1,\"tailcall\":true}");
    ENTER(110, 3);
    TELL(method_leave, 120, WORKER, .method = 3, .unwound = 1);
    expect(110, 10, false, "{\"method\":{\"id\":\"0x3\"},\"depth\":1,\"unwound\":true}");
    LEAVE(130, 1);
    expect(100, 30, false, CALL("0x1", "0"));
}

static void test_calls_of_two_threads_do_not_meet(void **state)
{
    (void)state;
    ENTER(100, 1);
    TELL(method_enter, 105, PID, .method = 1);
    LEAVE(110, 1);
    expect(100, 10, false, CALL("0x1", "0"));
    TELL(method_leave, 125, PID, .method = 1);
    expect(105, 20, false, CALL("0x1", "0"));
}

static void test_an_end_that_was_never_told_is_incomplete_at_the_next_outer_one(void **state)
{
    (void)state;
    ENTER(100, 1);
    ENTER(110, 2);
    ENTER(115, 3);
    LEAVE(150, 1);
    expect(115, 35, true, CALL("0x3", "2"));
    expect(110, 40, true, CALL("0x2", "1"));
    expect(100, 50, false, CALL("0x1", "0"));
}

static void test_an_end_without_a_beginning_is_no_call(void **state)
{
    (void)state;
    LEAVE(90, 7);
    ENTER(100, 1);
    LEAVE(105, 7);
    expect_nothing();
    LEAVE(110, 1);
    expect(100, 10, false, CALL("0x1", "0"));
}

static void test_loss_ends_the_thread_s_calls_and_later_ends_find_none(void **state)
{
    (void)state;
    ENTER(100, 1);
    ENTER(110, 2);
    tell_loss(PID, 111, 112);
    expect_nothing();
    tell_loss(WORKER, 120, 130);
    expect(110, 10, true, CALL("0x2", "1"));
    expect(100, 20, true, CALL("0x1", "0"));
    LEAVE(140, 2);
    ENTER(150, 2);
    LEAVE(160, 2);
    expect(150, 10, false, CALL("0x2", "0"));
    LEAVE(170, 1);
    expect_nothing();
}

static void test_end_of_the_trace_ends_every_call(void **state)
{
    (void)state;
    ENTER(100, 1);
    trd_enrich_finish(enrich, 180);
    expect(100, 80, true, CALL("0x1", "0"));
    expect_nothing();
}

/* Deeper ones are counted, so that those above still meet their own ends. */
static void test_calls_deeper_than_the_limit_have_no_span(void **state)
{
    uint64_t now = 1000;

    (void)state;
    for (int i = 0; i < DEEPEST + 100; i++)
        ENTER(now++, 1);
    for (int i = 0; i < 100; i++)
        LEAVE(now++, 1);
    expect_nothing();
    LEAVE(now, 1);
    expect(1000 + DEEPEST - 1, now - 1000 - DEEPEST + 1, false, CALL("0x1", "4095"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_calls_nest_and_end_from_the_inside),
        TEST(test_recursion_ends_the_innermost_call_first),
        TEST(test_tail_call_ends_the_caller_and_unwinding_is_told),
        TEST(test_calls_of_two_threads_do_not_meet),
        TEST(test_an_end_that_was_never_told_is_incomplete_at_the_next_outer_one),
        TEST(test_an_end_without_a_beginning_is_no_call),
        TEST(test_loss_ends_the_thread_s_calls_and_later_ends_find_none),
        TEST(test_end_of_the_trace_ends_every_call),
        TEST(test_calls_deeper_than_the_limit_have_no_span),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
