/* What is JSON and what is not, of a text that somebody else wrote. */
#include <string.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "json_check.h"

static void test_values_are_accepted(void **state)
{
    static const char *const values[] = {
        "null",
        "true",
        "false",
        "0",
        "-0",
        "-12.5e-3",
        "1E+9",
        "\"\"",
        "\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"",
        "\"\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80\"",
        "{}",
        "[]",
        "{\"a\":1,\"b\":{\"type\":\"X\"},\"c\":[1,[2]]}",
        "[[[[[[[0]]]]]]]",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        if (!json_check(values[i], strlen(values[i])))
            fail_msg("refused: %s", values[i]);
}

static void test_everything_else_is_refused(void **state)
{
    static const char *const values[] = {
        "",
        "nul",
        "nulls",
        "01",
        "1.",
        ".5",
        "+1",
        "1e",
        "-",
        "\"",
        "\"\n\"",
        "\"\x7f\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\ud800\"",
        "\"\xff\"",
        "\"\xc0\x80\"",
        "\"\xed\xa0\x80\"",
        "\"\xf4\x90\x80\x80\"",
        "\"\xe4\xb8\"",
        "{",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{1:2}",
        "[1,]",
        "[1",
        "1 ",
        " 1",
        "{}{}",
        "NaN",
        "[[[[[[[[0]]]]]]]]",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        if (json_check(values[i], strlen(values[i])))
            fail_msg("accepted: %s", values[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_are_accepted),
        cmocka_unit_test(test_everything_else_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
