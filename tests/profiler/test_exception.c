/* What is told of exceptions beyond the callback's own arguments: the message, and whose step ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "exception_message.h"
#include "exception_steps.h"
#include "fake_info.h"

/* Memory as the fake says objects lie. */
struct string {
    void *type;
    uint32_t length;
    uint16_t units[600];
};
struct object {
    void *type;
    const struct string *message;
};

static struct string string_of(const char *text, uint32_t length)
{
    struct string string = { .length = length };

    for (uint32_t i = 0; i < length && i < 600; i++)
        string.units[i] = (uint16_t)text[i % strlen(text)];
    return string;
}

static size_t ask(ClassID class_id, const struct string *message, char *text, bool *out_cut)
{
    struct object object = { NULL, message };

    return exception_message(fake_info(), class_id, (ObjectID)&object, text, out_cut);
}

static void start(void)
{
    (void)fake_reset();
    fake.objects = true;
    exception_message_forget();
}

static void check(ClassID class_id, const struct string *message, size_t size, bool is_cut)
{
    char text[EXCEPTION_MESSAGE_MAX];
    bool cut = !is_cut;

    assert_int_equal(ask(class_id, message, text, &cut), size);
    assert_int_equal(cut, is_cut);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(text[i], (char)message->units[i]);
}

static void test_message_is_read_off_the_object(void **state)
{
    struct string whole = string_of("went wrong", 10), empty = string_of("x", 0);

    (void)state;
    start();
    check(0x40000, &whole, 10, false);
    check(0x40000, &empty, 0, false);
    check(0x40000, NULL, 0, false);
    check(0x50000, &whole, 10, false);
}

static void test_message_that_is_long_is_cut_and_said_to_be(void **state)
{
    struct string full = string_of("ab", EXCEPTION_MESSAGE_UNITS_MAX);
    struct string more = string_of("ab", EXCEPTION_MESSAGE_UNITS_MAX + 1);

    (void)state;
    start();
    check(0x40000, &full, EXCEPTION_MESSAGE_UNITS_MAX, false);
    check(0x40000, &more, EXCEPTION_MESSAGE_UNITS_MAX, true);
    /* A length that no string has is not believed further than that. */
    more.length = 0xffffffff;
    check(0x40000, &more, EXCEPTION_MESSAGE_UNITS_MAX, true);
}

static void test_message_of_what_is_no_exception_is_not_looked_for(void **state)
{
    struct string whole = string_of("went wrong", 10);

    (void)state;
    start();
    check(0, &whole, 0, false);
    check(FAKE_OBJECT_CLASS, &whole, 0, false);
    fake.hr = E_FAIL;
    check(0x60000, &whole, 0, false);
}

/* Class ids are used again after a module went: what was known of them is not. */
static void test_message_class_that_went_is_asked_for_again(void **state)
{
    struct string whole = string_of("went wrong", 10);

    (void)state;
    start();
    check(0x70000, &whole, 10, false);
    fake.hr = E_FAIL;
    check(0x70000, &whole, 10, false);
    exception_message_forget();
    check(0x70000, &whole, 0, false);
}

static void test_steps_end_with_the_method_they_began_with(void **state)
{
    (void)state;
    exception_steps_begin(STEP_UNWIND, 1);
    exception_steps_begin(STEP_FINALLY, 1);
    /* The finally block throws and catches on its own. */
    exception_steps_begin(STEP_SEARCH, 2);
    assert_int_equal(exception_steps_end(STEP_SEARCH), 2);
    exception_steps_begin(STEP_UNWIND, 2);
    exception_steps_begin(STEP_CATCH, 2);
    assert_int_equal(exception_steps_end(STEP_CATCH), 2);
    assert_int_equal(exception_steps_end(STEP_FINALLY), 1);
    assert_int_equal(exception_steps_end(STEP_UNWIND), 1);
    assert_int_equal(exception_steps_end(STEP_UNWIND), 0);
    assert_int_equal(exception_steps_end(STEP_CATCH), 0);
}

static void test_steps_beyond_what_is_remembered_end_without_a_method(void **state)
{
    (void)state;
    for (FunctionID method = 1; method <= 1000; method++)
        exception_steps_begin(STEP_FILTER, method);
    for (FunctionID method = 1000; method > 1000 - 64; method--)
        assert_int_equal(exception_steps_end(STEP_FILTER), method);
    assert_int_equal(exception_steps_end(STEP_FILTER), 0);
}

/* The runtime is asked for the class of the first object of each, as long as they begin with it. */
static void test_class_is_asked_once_while_objects_begin_with_it(void **state)
{
    struct string whole = string_of("went wrong", 10);
    struct object first = { NULL, &whole }, second = { NULL, &whole };
    ClassID class_id = (ClassID)&first + FAKE_CLASS_OF_OBJECT;
    char text[EXCEPTION_MESSAGE_MAX];
    bool cut;

    (void)state;
    start();
    first.type = (void *)class_id;
    assert_int_equal(exception_class(fake_info(), (ObjectID)&first), class_id);
    assert_int_equal(exception_message(fake_info(), class_id, (ObjectID)&first, text, &cut), 10);
    /* The fake would say otherwise of the second one. */
    second.type = first.type;
    assert_int_equal(exception_class(fake_info(), (ObjectID)&second), class_id);
    exception_message_forget();
    assert_int_equal(exception_class(fake_info(), (ObjectID)&second),
                     (ClassID)&second + FAKE_CLASS_OF_OBJECT);
    assert_int_equal(exception_class(fake_info(), 0), 0);
    /* Which was an object that begins with something else: from now on each is asked for. */
    assert_int_equal(exception_message(fake_info(), class_id, (ObjectID)&first, text, &cut), 10);
    assert_int_equal(exception_class(fake_info(), (ObjectID)&second),
                     (ClassID)&second + FAKE_CLASS_OF_OBJECT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_message_is_read_off_the_object),
        cmocka_unit_test(test_message_that_is_long_is_cut_and_said_to_be),
        cmocka_unit_test(test_message_of_what_is_no_exception_is_not_looked_for),
        cmocka_unit_test(test_message_class_that_went_is_asked_for_again),
        cmocka_unit_test(test_steps_end_with_the_method_they_began_with),
        cmocka_unit_test(test_steps_beyond_what_is_remembered_end_without_a_method),
        cmocka_unit_test(test_class_is_asked_once_while_objects_begin_with_it),
    };

    return exception_steps_init() != 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
