/* Names from metadata, and what is remembered of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "fake_info.h"
#include "names.h"
#include "text.h"

static void check_method(const char *expected)
{
    struct method_name name;

    names_method(fake_info(), 1, &name);
    assert_int_equal(name.size, strlen(expected));
    assert_memory_equal(name.text, expected, name.size);
    assert_int_equal(fake.refs_out, 0);
}

static void test_method_of_a_nested_type_has_its_whole_name(void **state)
{
    struct method_name name;

    (void)state;
    (void)fake_reset();
    check_method(FAKE_METHOD_NAME);
    names_method(fake_info(), 1, &name);
    assert_int_equal(name.module, FAKE_MODULE);
    assert_int_equal(name.token, FAKE_METHOD_TOKEN);
}

static void test_method_without_metadata_is_named_as_dynamic(void **state)
{
    struct method_name name;

    (void)state;
    (void)fake_reset();
    fake.dynamic = true;
    check_method("dynamicClass.made_at_run_time");
    names_method(fake_info(), 1, &name);
    assert_int_equal(name.module, 0);
    assert_int_equal(name.token, 0);
}

static void test_method_that_nothing_is_known_of_has_a_name(void **state)
{
    (void)state;
    (void)fake_reset();
    fake.hr = E_FAIL;
    check_method("?");
    fake.hr = S_OK;
    fake.fill = FAKE_ZERO;
    check_method("?");
}

static void test_name_without_end_is_long_enough_to_be_marked_as_cut(void **state)
{
    struct method_name name;

    (void)state;
    (void)fake_reset();
    fake.fill = FAKE_ENDLESS;
    names_method(fake_info(), 1, &name);
    assert_true(name.size >= TRD_TEXT_MAX);
    assert_true(name.size <= sizeof(name.text));
}

static void test_method_is_known_once_it_was_told(void **state)
{
    (void)state;
    names_forget_methods();
    for (FunctionID function = 8; function < 8 * 20000; function += 8) {
        assert_false(names_method_is_known(function));
        names_method_set_known(function);
    }
    assert_true(names_method_is_known(8));
    assert_true(names_method_is_known(8 * 19999));
    names_forget_methods();
    assert_false(names_method_is_known(8));
}

/* More methods than are remembered: they are told again, none is taken for another. */
static void test_method_beyond_what_is_remembered_is_told_again(void **state)
{
    unsigned unknown = 0;

    (void)state;
    names_forget_methods();
    for (FunctionID function = 8; function <= 8 * 60000; function += 8)
        names_method_set_known(function);
    for (FunctionID function = 8; function <= 8 * 60000; function += 8)
        unknown += !names_method_is_known(function);
    assert_true(unknown >= 60000 - (1u << 15));
    for (FunctionID function = 8 * 60001; function <= 8 * 70000; function += 8)
        assert_false(names_method_is_known(function));
    names_forget_methods();
}

static void check_type(ObjectID object, const char *expected)
{
    char text[NAMES_TEXT_MAX];
    size_t size = names_type_of_object(fake_info(), object, text);

    assert_int_equal(size, strlen(expected));
    assert_memory_equal(text, expected, size);
    assert_int_equal(fake.refs_out, 0);
}

static void test_type_of_an_object_is_asked_for_once(void **state)
{
    (void)state;
    (void)fake_reset();
    check_type(0x100000, FAKE_TYPE_NAME);
    check_type(0x100000, FAKE_TYPE_NAME);
    assert_int_equal(fake.class_questions, 1);
    check_type(0x100100, FAKE_TYPE_NAME);
    assert_int_equal(fake.class_questions, 2);
}

static void test_type_of_a_module_that_went_is_asked_for_again(void **state)
{
    (void)state;
    (void)fake_reset();
    check_type(0x200000, FAKE_TYPE_NAME);
    names_forget(FAKE_MODULE + 1);
    check_type(0x200000, FAKE_TYPE_NAME);
    assert_int_equal(fake.class_questions, 1);
    names_forget(FAKE_MODULE);
    check_type(0x200000, FAKE_TYPE_NAME);
    assert_int_equal(fake.class_questions, 2);
}

static void test_type_beyond_what_is_remembered_still_has_its_name(void **state)
{
    (void)state;
    (void)fake_reset();
    for (ObjectID object = 0x300000; object < 0x300000 + 16 * 5000; object += 16)
        check_type(object, FAKE_TYPE_NAME);
}

static void test_type_that_cannot_be_told_has_no_name(void **state)
{
    (void)state;
    (void)fake_reset();
    check_type(0, "");
    fake.hr = E_FAIL;
    check_type(0x400000, "");
    fake.hr = S_OK;
    fake.fill = FAKE_UNTOUCHED;
    check_type(0x400000, "");
}

static void check_text(const uint16_t *units, size_t count, size_t capacity, const char *expected)
{
    char text[64];
    size_t size = text_from_utf16(units, count, text, capacity);

    assert_int_equal(size, strlen(expected));
    assert_memory_equal(text, expected, size);
}

static void test_text_of_every_width_is_converted(void **state)
{
    static const uint16_t units[] = { 'a', 0x7f, 0x80, 0x7ff, 0x800, 0xffff, 0xd83d, 0xde00 };

    (void)state;
    check_text(units, 8, 64, "a\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x9f\x98\x80");
}

static void test_text_with_lone_surrogates_keeps_them(void **state)
{
    static const uint16_t units[] = { 0xd83d, 'x', 0xde00, 0xd83d };

    (void)state;
    check_text(units, 4, 64, "\xed\xa0\xbdx\xed\xb8\x80\xed\xa0\xbd");
}

static void test_text_is_cut_between_characters(void **state)
{
    static const uint16_t units[] = { 'a', 0xd83d, 0xde00, 'b' };

    (void)state;
    check_text(units, 4, 0, "");
    check_text(units, 4, 1, "a");
    check_text(units, 4, 4, "a");
    check_text(units, 4, 5, "a\xf0\x9f\x98\x80");
    check_text(units, 4, 6,
               "a\xf0\x9f\x98\x80"
               "b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_method_of_a_nested_type_has_its_whole_name),
        cmocka_unit_test(test_method_without_metadata_is_named_as_dynamic),
        cmocka_unit_test(test_method_that_nothing_is_known_of_has_a_name),
        cmocka_unit_test(test_name_without_end_is_long_enough_to_be_marked_as_cut),
        cmocka_unit_test(test_method_is_known_once_it_was_told),
        cmocka_unit_test(test_method_beyond_what_is_remembered_is_told_again),
        cmocka_unit_test(test_type_of_an_object_is_asked_for_once),
        cmocka_unit_test(test_type_of_a_module_that_went_is_asked_for_again),
        cmocka_unit_test(test_type_beyond_what_is_remembered_still_has_its_name),
        cmocka_unit_test(test_type_that_cannot_be_told_has_no_name),
        cmocka_unit_test(test_text_of_every_width_is_converted),
        cmocka_unit_test(test_text_with_lone_surrogates_keeps_them),
        cmocka_unit_test(test_text_is_cut_between_characters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
