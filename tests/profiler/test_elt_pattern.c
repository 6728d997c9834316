#include "elt_pattern.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static bool takes(const char *text, const char *name)
{
    struct elt_patterns patterns;

    assert_int_equal(elt_patterns_parse(&patterns, text), 0);
    return elt_patterns_match(&patterns, name, strlen(name));
}

static void test_pattern_star_crosses_dots_and_question_mark_is_one(void **state)
{
    (void)state;
    assert_true(takes("Shop.Cart.*", "Shop.Cart.Add"));
    assert_true(takes("Shop.*", "Shop.Cart+Line.Add"));
    assert_true(takes("*", "x"));
    assert_true(takes("*.A?d", "Shop.Cart.Add"));
    assert_false(takes("*.A?d", "Shop.Cart.Ad"));
    assert_false(takes("Shop.Cart", "Shop.Cart.Add"));
    assert_false(takes("Shop.Cart.*", "Shop.Carts.Add"));
    assert_false(takes("shop.*", "Shop.Cart.Add"));
}

static void test_pattern_star_that_must_go_back_finds_its_place(void **state)
{
    (void)state;
    assert_true(takes("*ab*abc", "abababc"));
    assert_true(takes("a*b*c", "aXbXbXc"));
    assert_false(takes("*ab*abd", "abababc"));
    assert_true(takes("**", "anything"));
}

static void test_pattern_exclusion_wins_wherever_it_stands(void **state)
{
    (void)state;
    assert_true(takes("Shop.*,!Shop.Cart.get_*", "Shop.Cart.Add"));
    assert_false(takes("Shop.*,!Shop.Cart.get_*", "Shop.Cart.get_Count"));
    assert_false(takes("!Shop.Cart.get_*,Shop.*", "Shop.Cart.get_Count"));
    assert_false(takes("!Shop.Cart.get_*,Shop.*", "Bank.Cart.Add"));
}

static void test_pattern_exclusions_alone_exclude_from_everything(void **state)
{
    (void)state;
    assert_true(takes("!System.*", "Shop.Cart.Add"));
    assert_false(takes("!System.*", "System.String.Concat"));
}

static void test_pattern_nothing_takes_nothing(void **state)
{
    (void)state;
    assert_false(takes("", "Shop.Cart.Add"));
    assert_false(takes(",,", "Shop.Cart.Add"));
    assert_false(takes("!", "Shop.Cart.Add"));
    assert_true(takes(",,Shop.*,", "Shop.Cart.Add"));
}

static void test_pattern_type_arguments_may_be_left_out_or_named(void **state)
{
    static const char name[] = "Shop.Box<System.Int32>.Put<Shop.Map<A,B>>";

    (void)state;
    assert_true(takes("Shop.Box.Put", name));
    assert_true(takes("Shop.Box<System.Int32>.*", name));
    assert_false(takes("Shop.Box<System.Int64>.*", name));
    assert_false(takes("Shop.*,!Shop.Box<System.Int32>*", name));
    assert_true(takes("Shop.Box.Put", "Shop.Box[System.Int32].Put"));
}

static void test_pattern_names_that_compilers_write_in_brackets_are_names(void **state)
{
    (void)state;
    assert_true(takes("Program.<Main>$", "Program.<Main>$"));
    assert_true(takes("Shop.<>c.<Run>b__0", "Shop.<>c.<Run>b__0"));
    assert_false(takes("Program.$", "Program.<Main>$"));
    assert_true(takes("Shop.Outer+<Go>d__1.MoveNext", "Shop.Outer+<Go>d__1.MoveNext"));
}

static void test_pattern_more_than_the_limit_is_said(void **state)
{
    char text[4 * ELT_PATTERNS_MAX + 8] = "";
    struct elt_patterns patterns;

    (void)state;
    for (int i = 0; i <= ELT_PATTERNS_MAX; i++)
        strcat(text, "x*,");
    assert_int_equal(elt_patterns_parse(&patterns, text), -E2BIG);
    assert_true(elt_patterns_match(&patterns, "xy", 2));
}

static void test_pattern_name_longer_than_any_text_is_not_taken(void **state)
{
    static char name[8192];
    struct elt_patterns patterns;

    (void)state;
    memset(name, 'a', sizeof(name));
    assert_int_equal(elt_patterns_parse(&patterns, "*"), 0);
    assert_false(elt_patterns_match(&patterns, name, sizeof(name)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pattern_star_crosses_dots_and_question_mark_is_one),
        cmocka_unit_test(test_pattern_star_that_must_go_back_finds_its_place),
        cmocka_unit_test(test_pattern_exclusion_wins_wherever_it_stands),
        cmocka_unit_test(test_pattern_exclusions_alone_exclude_from_everything),
        cmocka_unit_test(test_pattern_nothing_takes_nothing),
        cmocka_unit_test(test_pattern_type_arguments_may_be_left_out_or_named),
        cmocka_unit_test(test_pattern_names_that_compilers_write_in_brackets_are_names),
        cmocka_unit_test(test_pattern_more_than_the_limit_is_said),
        cmocka_unit_test(test_pattern_name_longer_than_any_text_is_not_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
