/* Names from metadata, and what is remembered of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <string.h>

#include "fake_info.h"
#include "fake_stubs.h"
#include "names.h"
#include "names_known.h"
#include "names_source.h"
#include "text.h"

/* Nothing is remembered of the one before. */
static void new_runtime(void)
{
    (void)fake_reset();
    names_forget();
}

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
    names_forget();
    for (FunctionID function = 8; function < 8 * 20000; function += 8) {
        assert_false(names_is_known(NAMES_METHODS, function));
        names_set_known(NAMES_METHODS, function);
    }
    assert_true(names_is_known(NAMES_METHODS, 8));
    assert_true(names_is_known(NAMES_METHODS, 8 * 19999));
    names_forget();
    assert_false(names_is_known(NAMES_METHODS, 8));
}

/* More methods than are remembered: they are told again, none is taken for another. */
static void test_method_beyond_what_is_remembered_is_told_again(void **state)
{
    unsigned unknown = 0;

    (void)state;
    names_forget();
    for (FunctionID function = 8; function <= 8 * 60000; function += 8)
        names_set_known(NAMES_METHODS, function);
    for (FunctionID function = 8; function <= 8 * 60000; function += 8)
        unknown += !names_is_known(NAMES_METHODS, function);
    assert_true(unknown >= 60000 - (1u << 15));
    for (FunctionID function = 8 * 60001; function <= 8 * 70000; function += 8)
        assert_false(names_is_known(NAMES_METHODS, function));
    names_forget();
}

static void test_method_that_went_is_told_again_and_no_other(void **state)
{
    (void)state;
    names_forget();
    for (FunctionID function = 8; function <= 8 * 10000; function += 8)
        names_set_known(NAMES_METHODS, function);
    for (FunctionID function = 8; function <= 8 * 10000; function += 16)
        names_forget_one(NAMES_METHODS, function);
    for (FunctionID function = 8; function <= 8 * 10000; function += 8)
        assert_int_equal(names_is_known(NAMES_METHODS, function), function % 16 == 0);
    names_forget();
}

/* Forgetting is a step of an epoch that comes round. */
static void test_method_is_forgotten_however_often(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3 * 65536; i++) {
        assert_false(names_is_known(NAMES_METHODS, 4096));
        names_set_known(NAMES_METHODS, 4096);
        assert_true(names_is_known(NAMES_METHODS, 4096));
        assert_false(names_is_known(NAMES_TYPES, 4096));
        names_forget();
    }
}

static void check_instance(ClassID class_id, mdTypeDef type, const char *method, ULONG32 arguments,
                           const char *expected, const char *raw)
{
    struct method_name name;

    new_runtime();
    fake.function_class = class_id;
    fake.method_type = type;
    fake.method = method;
    fake.arguments = arguments;
    fake.has_builder = true;
    names_method(fake_info(), 1, &name);
    assert_int_equal(name.size, strlen(expected));
    assert_memory_equal(name.text, expected, name.size);
    assert_int_equal(name.raw_size, strlen(raw));
    assert_memory_equal(name.raw, raw, name.raw_size);
    assert_int_equal(fake.refs_out, 0);
}

static void test_method_of_a_generic_type_has_its_arguments(void **state)
{
    (void)state;
    check_instance(FAKE_BOX_CLASS, FAKE_BOX_TYPE, "Put", 0, "Space.Box<Space.Outer+Inner>.Put",
                   "Space.Box`1.Put");
    check_instance(FAKE_BOX_CLASS, FAKE_BOX_TYPE, "Put", 2,
                   "Space.Box<Space.Outer+Inner>.Put<Space.Outer+Inner,Space.Outer+Inner>",
                   "Space.Box`1.Put");
    check_instance(0, 0, "Put", 1, "Space.Outer+Inner.Put<Space.Outer+Inner>",
                   "Space.Outer+Inner.Put");
    check_instance(FAKE_PAIR_CLASS, FAKE_PAIR_TYPE, "Swap", 0,
                   "Space.Pair<Space.Box<Space.Outer+Inner>,Space.Outer+Inner[,]>.Swap",
                   "Space.Pair`2.Swap");
}

static void test_method_of_shared_code_has_the_names_of_its_parameters(void **state)
{
    (void)state;
    check_instance(0, FAKE_PAIR_TYPE, "Swap", 0, "Space.Pair<T,U>.Swap", "Space.Pair`2.Swap");
}

static void test_method_that_is_a_state_machine_has_the_name_of_its_source(void **state)
{
    struct method_name name;

    (void)state;
    check_instance(FAKE_MACHINE_CLASS, FAKE_MACHINE_TYPE, "MoveNext", 0,
                   "Space.Box<Space.Outer+Inner>.PutAsync<Space.Outer+Inner[,]>",
                   "Space.Box`1+<PutAsync>d__3`1.MoveNext");
    names_method(fake_info(), 1, &name);
    assert_int_equal(name.form, SOURCE_ASYNC);
    fake.has_builder = false;
    names_method(fake_info(), 1, &name);
    assert_int_equal(name.form, SOURCE_ITERATOR);
    check_instance(0, FAKE_MACHINE_TYPE, "MoveNext", 0, "Space.Box<T>.PutAsync<U>",
                   "Space.Box`1+<PutAsync>d__3`1.MoveNext");
}

/* Its name begins behind its last dot, so the compiler leaves none in it. */
static void test_method_of_an_interface_in_a_state_machine_has_its_dots(void **state)
{
    struct source_text type = { "<N-IBag-Each>d__1", 17 };
    struct source_text types[] = { { "N.Bag", 5 }, type };
    struct source_name name;

    (void)state;
    names_source(types, 2, (struct source_text){ "MoveNext", 8 }, true, &name);
    assert_true(name.dashed);
    assert_int_equal(name.method.size, 11);
    names_source(types, 2, (struct source_text){ "a-b", 3 }, true, &name);
    assert_false(name.dashed);
}

static void check_class(ClassID class_id, const char *expected, mdToken token)
{
    struct type_name name;

    new_runtime();
    names_type(fake_info(), class_id, &name);
    assert_int_equal(name.size, strlen(expected));
    assert_memory_equal(name.text, expected, name.size);
    if (token)
        assert_int_equal(name.token, token);
    assert_int_equal(fake.refs_out, 0);
}

static void test_type_is_named_with_what_it_is_made_of(void **state)
{
    (void)state;
    check_class(FAKE_PLAIN_CLASS, "Space.Outer+Inner", 0);
    check_class(FAKE_GRID_CLASS, "Space.Outer+Inner[,]", 0);
    check_class(FAKE_GRIDS_CLASS, "Space.Outer+Inner[,][]", 0);
    check_class(FAKE_POINTER_CLASS, "?", 0);
    check_class(FAKE_POINTERS_CLASS, "?*[]", 0);
    check_class(0, "?", 0);
}

/* The parts of types repeat: each is asked for once. */
static void test_type_that_is_part_of_others_is_asked_for_once(void **state)
{
    struct type_name name;

    (void)state;
    new_runtime();
    names_type(fake_info(), FAKE_PAIR_CLASS, &name);
    assert_int_equal(fake.class_questions, 3); /* pair, box, plain */
    names_type(fake_info(), FAKE_BOX_CLASS, &name);
    names_type(fake_info(), FAKE_GRIDS_CLASS, &name);
    assert_int_equal(fake.class_questions, 3);
    names_forget();
    names_type(fake_info(), FAKE_BOX_CLASS, &name);
    assert_int_equal(fake.class_questions, 5);
}

/* What could not be told in full is asked for again. */
static void test_type_that_was_not_complete_is_asked_for_again(void **state)
{
    struct type_name name;

    (void)state;
    new_runtime();
    fake.hr = CORPROF_E_DATAINCOMPLETE;
    names_type(fake_info(), FAKE_BOX_CLASS, &name);
    assert_int_equal(name.size, 1);
    fake.hr = S_OK;
    names_type(fake_info(), FAKE_BOX_CLASS, &name);
    assert_int_equal(name.size, strlen("Space.Box<Space.Outer+Inner>"));
}

static void test_type_without_end_is_cut(void **state)
{
    struct type_name name;

    (void)state;
    new_runtime();
    names_type(fake_info(), FAKE_DEEP_CLASS, &name);
    assert_true(name.size < NAMES_TEXT_MAX);
    assert_memory_equal(name.text, "Space.Box<Space.Box<Space.Box<", 30);
    assert_non_null(memmem(name.text, name.size, "<...>>>>", 8));
    fake.fill = FAKE_ENDLESS;
    names_type(fake_info(), FAKE_DEEP_CLASS, &name);
    assert_true(name.size >= TRD_TEXT_MAX);
    assert_true(name.size <= NAMES_TEXT_MAX);
    assert_int_equal(fake.refs_out, 0);
}

static void test_type_that_is_not_complete_has_a_name(void **state)
{
    struct type_name name;

    (void)state;
    new_runtime();
    fake.hr = CORPROF_E_DATAINCOMPLETE;
    names_type(fake_info(), FAKE_BOX_CLASS, &name);
    assert_int_equal(name.size, 1);
    assert_int_equal(name.text[0], '?');
    assert_int_equal(name.module, 0);
    assert_int_equal(name.token, 0);
}

/* One method of the runtime answers oddly, in each way it could; the others as they should. */
static void check_names_under_fault(void)
{
    static const ClassID classes[] = { FAKE_PLAIN_CLASS, FAKE_PAIR_CLASS, FAKE_GRIDS_CLASS,
                                       FAKE_POINTERS_CLASS, FAKE_DEEP_CLASS };
    struct method_name method;
    struct type_name type;

    fake.method_type = FAKE_MACHINE_TYPE;
    fake.method = "MoveNext";
    fake.arguments = 2;
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        fake.function_class = classes[i];
        names_forget();
        names_method(fake_info(), 1, &method);
        assert_in_range(method.size, 1, NAMES_TEXT_MAX);
        assert_true(method.raw_size <= NAMES_TEXT_MAX);
        names_forget();
        names_type(fake_info(), classes[i], &type);
        assert_in_range(type.size, 1, NAMES_TEXT_MAX);
    }
}

static void test_names_are_told_whatever_one_answer_is(void **state)
{
    static const HRESULT results[] = { S_OK, S_FALSE, E_FAIL, CORPROF_E_DATAINCOMPLETE };
    unsigned spoiled = 0;

    (void)state;
    for (int object = FAKE_INFO; object <= FAKE_IMPORT; object++)
        for (int slot = 3; slot < FAKE_SLOTS; slot++)
            for (int spoil = FAKE_AS_IT_IS; spoil < FAKE_SPOILS; spoil++)
                for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
                    if (!fake_method_name((enum fake_object)object, slot) ||
                        (spoil == FAKE_OUTS_POISON && SUCCEEDED(results[i])) ||
                        !fake_can_spoil((enum fake_object)object, slot, (enum fake_spoil)spoil))
                        continue;
                    new_runtime();
                    fake_fault = (struct fake_fault){ true, (enum fake_object)object, slot,
                                                      results[i], (enum fake_spoil)spoil };
                    check_names_under_fault();
                    spoiled++;
                }
    fake_fault.armed = false;
    assert_true(spoiled > 1000);
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

/* A module went: the id may be another type's. However often that is, there is room. */
static void test_type_is_asked_for_again_once_names_were_forgotten(void **state)
{
    (void)state;
    (void)fake_reset();
    for (unsigned i = 1; i <= 5000; i++) {
        check_type(0x200000, FAKE_TYPE_NAME);
        check_type(0x200000, FAKE_TYPE_NAME);
        assert_int_equal(fake.class_questions, i);
        names_forget();
    }
}

#define KEEPERS 4
#define KEPT_ROUNDS 3000000
#define RIVALS 4
static pthread_barrier_t keepers_ready;
static ClassID rivals[RIVALS]; /* types that are kept in the same place */

static size_t spell(ClassID class_id, char *text)
{
    size_t size = NAMES_KEPT_MAX - class_id / 8 % 3;

    memset(text, 'a' + (int)(class_id / 8 % 26), size);
    return size;
}

/* Those that drive the first one out. */
static void find_rivals(void)
{
    char text[NAMES_KEPT_MAX];
    size_t found = 1;

    rivals[0] = 8;
    for (ClassID class_id = 16; found < RIVALS; class_id += 8) {
        names_keep(NAMES_KEPT_TYPES, rivals[0], text, spell(rivals[0], text));
        names_keep(NAMES_KEPT_TYPES, class_id, text, spell(class_id, text));
        if (names_kept(NAMES_KEPT_TYPES, rivals[0], text) == 0)
            rivals[found++] = class_id;
    }
}

/* Counts the names that were not those of the type. */
static void *keep_and_look(void *context)
{
    uintptr_t wrong = 0;
    char text[NAMES_KEPT_MAX], expected[NAMES_KEPT_MAX];

    (void)pthread_barrier_wait(&keepers_ready);
    for (uintptr_t i = (uintptr_t)context; i < KEPT_ROUNDS; i++) {
        ClassID class_id = rivals[i % RIVALS];
        size_t size = spell(class_id, expected), kept;

        names_keep(NAMES_KEPT_TYPES, class_id, expected, size);
        kept = names_kept(NAMES_KEPT_TYPES, class_id, text);
        if (kept > 0)
            wrong += kept != size || memcmp(text, expected, size) != 0;
    }
    return (void *)wrong;
}

static void test_type_is_never_given_the_name_of_another(void **state)
{
    pthread_t threads[KEEPERS];
    void *wrong;

    (void)state;
    names_forget();
    find_rivals();
    assert_int_equal(pthread_barrier_init(&keepers_ready, NULL, KEEPERS), 0);
    for (uintptr_t i = 0; i < KEEPERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, keep_and_look, (void *)i), 0);
    for (size_t i = 0; i < KEEPERS; i++) {
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    (void)pthread_barrier_destroy(&keepers_ready);
    names_forget();
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

/* What is not ASCII, at each place and cut at each length, beside what is. */
static void test_text_of_mixed_widths_is_converted_and_cut(void **state)
{
    uint16_t units[24];

    (void)state;
    for (size_t odd = 0; odd < 24; odd++)
        for (size_t capacity = 0; capacity < 28; capacity++) {
            char expected[32], text[32];
            size_t size = 0, used = 0;

            for (size_t i = 0; i < 24; i++) {
                const char *bytes = i == odd ? "\xe4\xb8\x96" : "a";
                size_t length = strlen(bytes);

                units[i] = i == odd ? 0x4e16 : 'a';
                if (size == used && used + length <= capacity) {
                    memcpy(expected + used, bytes, length);
                    used += length;
                }
                size += length;
                if (size != used)
                    size = SIZE_MAX / 2; /* cut: nothing behind */
            }
            assert_int_equal(text_from_utf16(units, 24, text, capacity), used);
            assert_memory_equal(text, expected, used);
        }
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
        cmocka_unit_test(test_method_that_went_is_told_again_and_no_other),
        cmocka_unit_test(test_method_is_forgotten_however_often),
        cmocka_unit_test(test_method_of_a_generic_type_has_its_arguments),
        cmocka_unit_test(test_method_of_shared_code_has_the_names_of_its_parameters),
        cmocka_unit_test(test_method_that_is_a_state_machine_has_the_name_of_its_source),
        cmocka_unit_test(test_method_of_an_interface_in_a_state_machine_has_its_dots),
        cmocka_unit_test(test_type_is_named_with_what_it_is_made_of),
        cmocka_unit_test(test_type_that_is_part_of_others_is_asked_for_once),
        cmocka_unit_test(test_type_that_was_not_complete_is_asked_for_again),
        cmocka_unit_test(test_type_without_end_is_cut),
        cmocka_unit_test(test_type_that_is_not_complete_has_a_name),
        cmocka_unit_test(test_names_are_told_whatever_one_answer_is),
        cmocka_unit_test(test_type_of_an_object_is_asked_for_once),
        cmocka_unit_test(test_type_is_asked_for_again_once_names_were_forgotten),
        cmocka_unit_test(test_type_is_never_given_the_name_of_another),
        cmocka_unit_test(test_type_beyond_what_is_remembered_still_has_its_name),
        cmocka_unit_test(test_type_that_cannot_be_told_has_no_name),
        cmocka_unit_test(test_text_of_every_width_is_converted),
        cmocka_unit_test(test_text_with_lone_surrogates_keeps_them),
        cmocka_unit_test(test_text_is_cut_between_characters),
        cmocka_unit_test(test_text_of_mixed_widths_is_converted_and_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
