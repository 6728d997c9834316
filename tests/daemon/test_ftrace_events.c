/* Which kernel events are chosen, and what is said about those that are not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture.h"
#include "ftrace_events.h"

#define AVAILABLE                                                                                  \
    "sched:sched_switch\nsched:sched_waking\nsched:sched_stat_runtime\nirq:softirq_entry\n"        \
    "raw_syscalls:sys_enter\ntask:task_newtask\n"

static int choose(struct ftrace_events *events, const char *first, const char *second)
{
    struct options options = { .events = { first, second },
                               .event_count = !!first + (size_t) !!second };

    return ftrace_events_choose(events, &options, strdup(AVAILABLE));
}

static void test_default_set_has_scheduling_and_no_system_calls(void **state)
{
    struct ftrace_events events;

    (void)state;
    assert_int_equal(choose(&events, NULL, NULL), 0);
    for (size_t i = 0; i < events.count; i++)
        assert_null(strstr(events.names[i], "raw_syscalls"));
    assert_string_equal(events.names[0], "sched:sched_switch");
    assert_true(events.count >= 4);
    ftrace_events_finish(&events);
}

static void test_globs_choose_their_events_and_new_tasks(void **state)
{
    struct ftrace_events events;

    (void)state;
    assert_int_equal(choose(&events, "sched:*ing", "raw_*:sys_enter"), 0);
    assert_int_equal(events.count, 3);
    assert_string_equal(events.names[0], "sched:sched_waking");
    assert_string_equal(events.names[1], "raw_syscalls:sys_enter");
    assert_string_equal(events.names[2], "task:task_newtask");
    ftrace_events_finish(&events);
}

static char *complaint(const char *glob, int *out_result)
{
    struct ftrace_events events;
    struct capture capture;

    capture_begin(&capture, STDERR_FILENO);
    *out_result = choose(&events, "sched:*", glob);
    return capture_end(&capture);
}

static void test_glob_without_match_names_the_event_that_was_meant(void **state)
{
    static const char *const cases[][2] = {
        { "sched:sched_swich", "sched:sched_switch" }, /* a letter missing */
        { "shed:sched_waking", "sched:sched_waking" }, /* the system misspelt */
        { "syscalls:sys_enter", "raw_syscalls:sys_enter" },
        { "irq:entry", "irq:softirq_entry" }, /* a part of the name */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int result;
        char *text = complaint(cases[i][0], &result);

        assert_int_equal(result, EXIT_USAGE);
        assert_int_equal(capture_lines(text), 1);
        assert_non_null(strstr(text, cases[i][0]));
        assert_non_null(strstr(text, cases[i][1]));
        free(text);
    }
}

static void test_glob_unlike_anything_says_where_the_events_are_listed(void **state)
{
    int result;
    char *text = complaint("nothing:*", &result);

    (void)state;
    assert_int_equal(result, EXIT_USAGE);
    assert_int_equal(capture_lines(text), 1);
    assert_non_null(strstr(text, "available_events"));
    free(text);
}

static void test_events_of_ftrace_itself_need_not_be_offered(void **state)
{
    struct ftrace_events events;

    (void)state;
    assert_int_equal(choose(&events, "ftrace:print", NULL), 0);
    assert_int_equal(events.count, 1); /* new tasks */
    ftrace_events_finish(&events);
}

static void test_name_longer_than_any_buffer_is_near_to_nothing(void **state)
{
    static const char *const offered[] = { "a:b" };
    char *name = malloc(5000);

    (void)state;
    memset(name, 'x', 4999);
    name[4999] = '\0';
    assert_null(ftrace_events_nearest(offered, 1, name));
    assert_string_equal(ftrace_events_nearest(offered, 1, "a:b"), "a:b");
    free(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_set_has_scheduling_and_no_system_calls),
        cmocka_unit_test(test_globs_choose_their_events_and_new_tasks),
        cmocka_unit_test(test_glob_without_match_names_the_event_that_was_meant),
        cmocka_unit_test(test_glob_unlike_anything_says_where_the_events_are_listed),
        cmocka_unit_test(test_events_of_ftrace_itself_need_not_be_offered),
        cmocka_unit_test(test_name_longer_than_any_buffer_is_near_to_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
