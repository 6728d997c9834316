/* What a traced process hands on to its children: nothing of ours, all of what belongs to others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach.h"
#include "environment.h"
#include "fake_info.h"

#define LIST "CORECLR_NOTIFICATION_PROFILERS="
#define OURS TRD_CLSID_NOTIFICATION_TEXT

static int setup(void **state)
{
    (void)state;
    assert_int_equal(clearenv(), 0);
    assert_non_null(fake_reset());
    return 0;
}

static void be_named_in_main_slot(void)
{
    setenv("PATH", "/bin", 1);
    setenv("CORECLR_ENABLE_PROFILING", "1", 1);
    setenv("CORECLR_PROFILER", TRD_CLSID_MAIN_TEXT, 1);
    setenv("CORECLR_PROFILER_PATH", "/p.so", 1);
    setenv(TRD_ENV_SOCKET, "/s", 1);
    setenv(TRD_ENV_CATEGORIES, "gc", 1);
    setenv("CORECLR_SOMETHING", "else", 1);
}

static void test_main_profiler_leaves_nothing_of_itself(void **state)
{
    (void)state;
    be_named_in_main_slot();
    environment_clear(fake_info(), 11);
    assert_null(getenv("CORECLR_ENABLE_PROFILING"));
    assert_null(getenv("CORECLR_PROFILER"));
    assert_null(getenv("CORECLR_PROFILER_PATH"));
    assert_null(getenv(TRD_ENV_SOCKET));
    assert_null(getenv(TRD_ENV_CATEGORIES));
    assert_string_equal(getenv("CORECLR_SOMETHING"), "else");
    assert_string_equal(getenv("PATH"), "/bin");
    /* And in the runtime's copy. */
    assert_non_null(strstr(fake.names_unset, ";CORECLR_ENABLE_PROFILING;"));
    assert_non_null(strstr(fake.names_unset, ";CORECLR_PROFILER;"));
    assert_non_null(strstr(fake.names_unset, ";CORECLR_PROFILER_PATH;"));
    assert_non_null(strstr(fake.names_unset, ";" TRD_ENV_SOCKET ";"));
    assert_null(strstr(fake.names_unset, ";CORECLR_SOMETHING;"));
    /* libc takes the array as its own. */
    assert_int_equal(setenv("LATER", "1", 1), 0);
    assert_string_equal(getenv("LATER"), "1");
    assert_string_equal(getenv("PATH"), "/bin");
}

static void test_old_runtime_is_not_asked(void **state)
{
    (void)state;
    be_named_in_main_slot();
    environment_clear(fake_info(), 10);
    assert_null(getenv("CORECLR_PROFILER"));
    assert_int_equal(fake.variables_unset, 0);
}

static void test_children_that_are_followed_inherit_all(void **state)
{
    (void)state;
    be_named_in_main_slot();
    setenv(TRD_ENV_FOLLOW, "1", 1);
    environment_clear(fake_info(), 11);
    assert_string_equal(getenv("CORECLR_PROFILER"), TRD_CLSID_MAIN_TEXT);
    assert_string_equal(getenv(TRD_ENV_SOCKET), "/s");
    assert_int_equal(fake.variables_unset, 0);
}

static void test_other_main_profiler_keeps_its_variables(void **state)
{
    (void)state;
    be_named_in_main_slot();
    setenv("CORECLR_PROFILER", "{x}", 1);
    setenv("CORECLR_ENABLE_NOTIFICATION_PROFILERS", "1", 1);
    setenv("CORECLR_NOTIFICATION_PROFILERS", "/p.so=" OURS ";", 1);
    environment_clear(fake_info(), 11);
    assert_string_equal(getenv("CORECLR_PROFILER"), "{x}");
    assert_string_equal(getenv("CORECLR_PROFILER_PATH"), "/p.so");
    assert_string_equal(getenv("CORECLR_ENABLE_PROFILING"), "1");
    assert_null(getenv("CORECLR_NOTIFICATION_PROFILERS"));
    assert_null(getenv("CORECLR_ENABLE_NOTIFICATION_PROFILERS"));
    assert_null(getenv(TRD_ENV_SOCKET));
}

static void test_list_of_notification_profilers_keeps_the_others(void **state)
{
    static const struct {
        const char *before, *after;
    } cases[] = {
        { LIST "/p.so=" OURS ";", NULL },
        { LIST "/p.so=" OURS, NULL },
        { LIST "/n.so={n};/p.so=" OURS ";", LIST "/n.so={n};" },
        { LIST "/p.so=" OURS ";/n.so={n};", LIST "/n.so={n};" },
        { LIST "/a={a};/p.so=" OURS ";/b={b}", LIST "/a={a};/b={b}" },
        { LIST "/a={a};", LIST "/a={a};" },
        { LIST, LIST },
        { LIST ";;" OURS ";;", LIST ";;;" },
        { "NOTIFICATION=" OURS, "NOTIFICATION=" OURS },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *variable = strdup(cases[i].before), *after = variable;

        environment_filter(variable, true, &after);
        if (cases[i].after)
            assert_string_equal(after, cases[i].after);
        else
            assert_null(after);
        if (after != variable)
            free(after);
        free(variable);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_main_profiler_leaves_nothing_of_itself, setup),
        cmocka_unit_test_setup(test_old_runtime_is_not_asked, setup),
        cmocka_unit_test_setup(test_children_that_are_followed_inherit_all, setup),
        cmocka_unit_test_setup(test_other_main_profiler_keeps_its_variables, setup),
        cmocka_unit_test_setup(test_list_of_notification_profilers_keeps_the_others, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
