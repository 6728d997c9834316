/*
 * common/print_eval.c, print_parse.c: what has no value, what must not be computed, and what must
 * not hurt. Values themselves are held against a compiler in test_print_semantics.c.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format_maker.h"

static struct made made;

static void expect(const char *print, int32_t a, uint64_t b, const char *text)
{
    assert_string_equal(made_print(&made, print, a, b), text);
}

static void test_eval_division_by_zero_is_marked(void **state)
{
    (void)state;
    expect("\"%d %d\", 7 / REC->a, 7 % REC->a", 0, 0, "<division by zero> <division by zero>");
    expect("\"%d %s %d\", 1 / 0, REC->a / 0 ? \"x\" : \"y\", REC->a", 3, 0,
           "<division by zero> <division by zero> 3");
    expect("\"%llu\", REC->b / (u64)REC->a", 0, 5, "<division by zero>");
}

static void test_eval_guarded_division_is_not_computed(void **state)
{
    (void)state;
    expect("\"%d\", REC->a == 0 ? 0 : 7 / REC->a", 0, 0, "0");
    expect("\"%d\", REC->a != 0 && 7 / REC->a > 1", 0, 0, "0");
    expect("\"%d\", REC->a == 0 || 7 / REC->a > 1", 0, 0, "1");
    expect("\"%d\", 0 ? 1 / 0 : 5", 0, 0, "5");
}

/* The one signed quotient that traps on x86. */
static void test_eval_smallest_integer_by_minus_one_wraps(void **state)
{
    (void)state;
    expect("\"%d %d\", REC->a / (int)REC->b, REC->a % (int)REC->b", INT32_MIN, UINT64_MAX,
           "-2147483648 0");
    expect("\"%lld\", (s64)REC->b / (s64)REC->a", -1, 1ull << 63, "-9223372036854775808");
}

static void test_eval_shift_counts_are_taken_modulo_the_width(void **state)
{
    (void)state;
    expect("\"%d %llu\", 1 << REC->a, 1ULL << REC->a", 33, 0, "2 8589934592");
    expect("\"%d\", -8 >> REC->a", 1, 0, "-4");
}

/* crash-trace#4 */
static void test_eval_record_in_parentheses(void **state)
{
    (void)state;
    made_init(&made, false, 8);
    made_add(&made, "u32 hi;offset:8;size:4;signed:0;\nu32 lo;offset:12;size:4;signed:0;",
             "\"%llx %x %x\", (((u64)(REC)->hi << 32) | (REC)->lo), ((REC))->hi, (((REC)->lo))");
    assert_null(made.schema->print_error);
    made_put_int(&made, 0x11, 4);
    made_put_int(&made, 0x22, 4);
    assert_string_equal(made_text(&made), "1100000022 11 22");
    made_finish(&made);
}

static void test_eval_statement_expressions_have_locals(void **state)
{
    (void)state;
    expect("\"%d\", ({ int __UNIQUE_ID_x_920 = (REC->a); int __UNIQUE_ID_y_921 = (128); "
           "((__UNIQUE_ID_x_920) < (__UNIQUE_ID_y_921) ? (__UNIQUE_ID_x_920) : "
           "(__UNIQUE_ID_y_921)); })",
           200, 0, "128");
    expect("\"%d\", ({ typeof(REC->a) _min1 = (REC->a); typeof(5) _min2 = (5); "
           "(void) (&_min1 == &_min2); _min1 < _min2 ? _min1 : _min2; })",
           3, 0, "3");
    expect("\"%d\", ({ u8 x = REC->a; ({ u8 x = 1; x; }) + x; })", 257, 0, "2");
}

static void test_eval_compound_literal_of_ktime(void **state)
{
    (void)state;
    expect("\"%llu\", (unsigned long long)(((ktime_t) { .tv64 = REC->b }).tv64)", 0, 99, "99");
}

static void test_eval_compile_time_checks_have_size_zero(void **state)
{
    (void)state;
    expect("\"%d\", (int)(sizeof(REC->b) / sizeof(u8) + ((int)(sizeof(struct { "
           "int:(-!!(__builtin_types_compatible_p(typeof((REC->a)), typeof(&(REC->a)[0])))); }))))",
           0, 0, "8");
}

static void test_eval_what_the_kernel_alone_knows_is_said(void **state)
{
    (void)state;
    made_init(&made, false, 8);
    made_add(&made, "int * x;offset:8;size:8;signed:0;",
             "\"%d %p\", REC->x[1], (void *)((unsigned long)mem_map + sizeof(struct page))");
    assert_string_equal(made.schema->print_error,
                        "argument 1: only the kernel can follow `x` (and 1 more)");
    made_put_int(&made, 0x1000, 8);
    assert_string_equal(made_text(&made), "<known to the kernel only> <known to the kernel only>");
    made_finish(&made);
}

static void test_eval_record_shorter_than_its_fields_is_marked(void **state)
{
    (void)state;
    made_init(&made, false, 8);
    made_add(&made, "u32 x;offset:8;size:4;signed:0;\nchar name[8];offset:12;size:8;signed:0;",
             "\"%u [%s]\", REC->x, REC->name");
    made_put_int(&made, 7, 4);
    assert_string_equal(made_text(&made), "7 [<record too short>]");
    made.size -= 1;
    assert_string_equal(made_text(&made), "<record too short> [<record too short>]");
    made_finish(&made);
}

static void test_eval_text_without_end_stops_at_the_end_of_the_record(void **state)
{
    (void)state;
    made_init(&made, false, 8);
    made_add(&made, "char name[4];offset:8;size:4;signed:0;", "\"[%s]\", REC->name");
    made_put(&made, "abcd", 4);
    assert_string_equal(made_text(&made), "[abcd]");
    made_finish(&made);
}

/* `prefix` n times, `middle`, `suffix` n times. */
static char *nest(const char *prefix, const char *middle, const char *suffix, size_t count)
{
    char *text = malloc(64 + count * (strlen(prefix) + strlen(suffix)) + strlen(middle));
    char *at = stpcpy(text, "\"%d\", ");

    assert_non_null(text);
    for (size_t i = 0; i < count; i++)
        at = stpcpy(at, prefix);
    at = stpcpy(at, middle);
    for (size_t i = 0; i < count; i++)
        at = stpcpy(at, suffix);
    return text;
}

static void test_eval_depth_is_limited_and_the_limit_named(void **state)
{
    static const struct {
        const char *prefix, *middle, *suffix;
    } cases[] = {
        { "(", "1", ")" },          { "- ", "1", "" },    { "1 ? 1 : ", "1", "" },
        { "~", "REC->a", "" },      { "(int)", "1", "" }, { "({", "1", ";})" },
        { "sizeof(", "1", ")" },    { "f(", "1", ")" },   { "1 ? ", "1", " : 1" },
        { "1 + (", "REC->a", ")" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (size_t depth = 10; depth <= 1000; depth *= 100) {
            char *print = nest(cases[i].prefix, cases[i].middle, cases[i].suffix, depth);

            made_init(&made, false, 8);
            made_add(&made, "s32 a;offset:8;size:4;signed:1;", print);
            if (depth > 10)
                assert_non_null(strstr(made.schema->print_error, "nested too deeply"));
            made_finish(&made);
            free(print);
        }
}

/* Each local doubles the work of the one before: 2^60 steps if nobody counted. */
static void test_eval_work_is_limited(void **state)
{
    char print[8192], *at = stpcpy(print, "\"%d %d\", REC->a, ({ int x0 = REC->a; ");

    (void)state;
    for (int i = 1; i <= 15; i++)
        at += sprintf(at, "int x%d = x%d + x%d; ", i, i - 1, i - 1);
    (void)strcpy(at, "({ int y0 = x15 + x15; int y1 = y0 + y0; y1 + y1 + y1 + y1; }); })");
    made_init(&made, false, 8);
    made_add(&made, "s32 a;offset:8;size:4;signed:1;", print);
    assert_non_null(strstr(made.schema->print_error, "argument 2: nested too deeply"));
    made_finish(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eval_division_by_zero_is_marked),
        cmocka_unit_test(test_eval_guarded_division_is_not_computed),
        cmocka_unit_test(test_eval_smallest_integer_by_minus_one_wraps),
        cmocka_unit_test(test_eval_shift_counts_are_taken_modulo_the_width),
        cmocka_unit_test(test_eval_record_in_parentheses),
        cmocka_unit_test(test_eval_statement_expressions_have_locals),
        cmocka_unit_test(test_eval_compound_literal_of_ktime),
        cmocka_unit_test(test_eval_compile_time_checks_have_size_zero),
        cmocka_unit_test(test_eval_what_the_kernel_alone_knows_is_said),
        cmocka_unit_test(test_eval_record_shorter_than_its_fields_is_marked),
        cmocka_unit_test(test_eval_text_without_end_stops_at_the_end_of_the_record),
        cmocka_unit_test(test_eval_depth_is_limited_and_the_limit_named),
        cmocka_unit_test(test_eval_work_is_limited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
