/* Signatures of methods, and values as JSON text, without a runtime. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "signature.h"
#include "value.h"

#define PARSE(out, ...)                                                                            \
    signature_parse((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }), out)

/* Signatures */

static void test_signature_of_an_instance_method(void **state)
{
    struct signature signature;

    (void)state;
    assert_true(PARSE(&signature, 0x20, 2, ELEMENT_VOID, ELEMENT_I4, ELEMENT_STRING));
    assert_true(signature.has_this);
    assert_int_equal(signature.result.element, ELEMENT_VOID);
    assert_int_equal(signature.count, 2);
    assert_int_equal(signature.parameters[0].element, ELEMENT_I4);
    assert_int_equal(signature.parameters[1].element, ELEMENT_STRING);
}

/* static ref readonly Dictionary<string, int[,]> F<T>(T, enum, delegate*<int, void>, int[,], int)
 */
static void test_signature_types_inside_types_are_skipped(void **state)
{
    struct signature signature;

    (void)state;
    assert_true(PARSE(&signature, 0x10, 1, 5, ELEMENT_REFERENCE, ELEMENT_REQUIRED_MODIFIER, 0x49,
                      ELEMENT_GENERIC, ELEMENT_CLASS, 0x81, 0x05, 2, ELEMENT_STRING, ELEMENT_ARRAY,
                      ELEMENT_I4, 2, 0, 0, /* parameters */
                      ELEMENT_METHOD_PARAMETER, 0, ELEMENT_VALUE_TYPE, 0xc0, 0x00, 0x40, 0x05,
                      ELEMENT_FUNCTION_POINTER, 0, 1, ELEMENT_VOID, ELEMENT_I4, ELEMENT_ARRAY,
                      ELEMENT_I4, 2, 1, 3, 2, 0, 0, ELEMENT_I4));
    assert_false(signature.has_this);
    assert_int_equal(signature.result.element, ELEMENT_REFERENCE);
    assert_int_equal(signature.parameters[0].element, ELEMENT_METHOD_PARAMETER);
    assert_int_equal(signature.parameters[1].element, ELEMENT_VALUE_TYPE);
    assert_int_equal(signature.parameters[1].number, 0x01000000 | 0x4005 >> 2);
    assert_int_equal(signature.parameters[2].element, ELEMENT_FUNCTION_POINTER);
    assert_int_equal(signature.parameters[3].element, ELEMENT_ARRAY);
    assert_int_equal(signature.parameters[4].element, ELEMENT_I4);
}

static void test_signature_of_a_generic_struct_is_a_value_type(void **state)
{
    struct signature signature;

    (void)state;
    assert_true(PARSE(&signature, 0, 1, ELEMENT_VOID, ELEMENT_GENERIC, ELEMENT_VALUE_TYPE, 0x08, 1,
                      ELEMENT_I4));
    assert_int_equal(signature.parameters[0].element, ELEMENT_VALUE_TYPE);
    assert_int_equal(signature.parameters[0].number, 0x02000002);
}

static void test_signature_every_truncation_is_refused(void **state)
{
    static const uint8_t whole[] = {
        0x30, 1, 2, ELEMENT_GENERIC, ELEMENT_CLASS, 0x81, 0x05, 1, 0x1d, 8, ELEMENT_ARRAY, 8, 2, 1,
        3,    1, 0, ELEMENT_STRING
    };
    struct signature signature;

    (void)state;
    assert_true(signature_parse(whole, sizeof(whole), &signature));
    for (size_t size = 0; size < sizeof(whole); size++) {
        uint8_t *exact = malloc(size + 1);

        memcpy(exact, whole, size);
        assert_false(signature_parse(exact, size, &signature));
        free(exact);
    }
    assert_false(signature_parse(NULL, 4, &signature));
}

static void test_signature_that_is_none_is_refused(void **state)
{
    struct signature signature;
    uint8_t deep[64];

    (void)state;
    assert_false(PARSE(&signature, 0x06, ELEMENT_I4));                  /* a field's */
    assert_false(PARSE(&signature, 0x05, 1, ELEMENT_VOID, ELEMENT_I4)); /* vararg */
    assert_false(PARSE(&signature, 0x60, 1, ELEMENT_VOID, ELEMENT_I4)); /* explicit this */
    assert_false(PARSE(&signature, 0, 1, ELEMENT_VOID, 0));             /* no element */
    assert_false(PARSE(&signature, 0, 1, ELEMENT_VOID, 0x40));          /* likewise */
    assert_false(PARSE(&signature, 0, 0xbf, 0xff, ELEMENT_VOID));       /* too many */
    assert_false(PARSE(&signature, 0, 0xff, ELEMENT_VOID));             /* no number */
    memset(deep, ELEMENT_POINTER, sizeof(deep));
    deep[0] = 0;
    deep[1] = 0;
    assert_false(signature_parse(deep, sizeof(deep), &signature));
}

/* Values */

static struct value_text text;
static char bytes[256];
static const struct value_reader reader = { .has_string = true,
                                            .string = { .length = 8, .buffer = 12 } };

static const char *show(struct value_type type, const void *start, size_t length, size_t capacity)
{
    text = (struct value_text){ .bytes = bytes, .capacity = capacity };
    if (!value_append(&text, &reader, type, start, length))
        return NULL;
    bytes[text.used] = '\0';
    return bytes;
}

#define SHOW(kind, value)                                                                          \
    show((struct value_type){ VALUE_##kind, sizeof(value) }, &(value), sizeof(value), 200)
#define EXPECT(kind, type, number, expected)                                                       \
    do {                                                                                           \
        type value_ = (number);                                                                    \
        assert_string_equal(SHOW(kind, value_), expected);                                         \
        assert_false(text.is_cut);                                                                 \
    } while (0)

static void test_numbers_by_their_width(void **state)
{
    (void)state;
    EXPECT(SIGNED, int8_t, -128, "-128");
    EXPECT(UNSIGNED, uint8_t, 255, "255");
    EXPECT(SIGNED, int16_t, -1, "-1");
    EXPECT(SIGNED, int32_t, INT32_MIN, "-2147483648");
    EXPECT(UNSIGNED, uint32_t, UINT32_MAX, "4294967295");
    EXPECT(SIGNED, int64_t, INT64_MIN, "\"-9223372036854775808\"");
    EXPECT(UNSIGNED, uint64_t, UINT64_MAX, "\"18446744073709551615\"");
    EXPECT(BOOL, uint8_t, 1, "true");
    EXPECT(ADDRESS, uint64_t, 0x7f00, "\"0x7f00\"");
    EXPECT(BYTES, uint16_t, 0x1234, "\"3412\"");
}

static void test_floats_are_the_shortest_that_read_back(void **state)
{
    (void)state;
    EXPECT(FLOAT, double, 0.1, "0.1");
    EXPECT(FLOAT, double, 1.0 / 3, "0.3333333333333333");
    EXPECT(FLOAT, double, 5e-324, "4.94065645841247e-324");
    EXPECT(FLOAT, float, 1.1f, "1.1");
    EXPECT(FLOAT, float, 16777217.0f, "16777216");
    EXPECT(FLOAT, double, (double)NAN, "\"NaN\"");
    EXPECT(FLOAT, double, (double)-INFINITY, "\"-Infinity\"");
    EXPECT(FLOAT, double, -0.0, "-0");
}

struct string {
    const void *type;
    uint32_t length;
    uint16_t units[300];
};

static void test_text_is_escaped_and_cut(void **state)
{
    struct string string = { .length = 8,
                             .units = { 'a', '"', '\\', '\n', 0xe9, 0xd83d, 0xde00, 0xd800 } };
    const void *reference = &string;

    (void)state;
    assert_string_equal(SHOW(STRING, reference),
                        "\"a\\\"\\\\\\u000a\xc3\xa9\xf0\x9f\x98\x80\\uf7ed\\uf7a0\\uf780\"");
    assert_false(text.is_cut);
    /* A character that stands for a byte elsewhere. */
    string.length = 1;
    string.units[0] = 0xf741;
    assert_string_equal(SHOW(STRING, reference), "\"\\uf7ef\\uf79d\\uf781\"");
    string.length = 300;
    for (size_t i = 0; i < 300; i++)
        string.units[i] = 'x';
    assert_int_equal(strlen(show((struct value_type){ VALUE_STRING, 8 }, &reference, 8, 60)), 60);
    assert_true(text.is_cut && bytes[0] == '"' && bytes[59] == '"');
    reference = NULL;
    assert_string_equal(SHOW(STRING, reference), "null");
}

static void test_value_without_room_is_left_out_whole(void **state)
{
    double number = 0.1;

    (void)state;
    for (size_t capacity = 0; capacity < 3; capacity++)
        assert_null(show((struct value_type){ VALUE_FLOAT, 8 }, &number, 8, capacity));
    assert_string_equal(show((struct value_type){ VALUE_FLOAT, 8 }, &number, 8, 3), "0.1");
}

static void test_range_that_is_none_is_null_and_cut(void **state)
{
    int32_t number = 5;

    (void)state;
    assert_string_equal(show((struct value_type){ VALUE_SIGNED, 4 }, NULL, 4, 20), "null");
    assert_true(text.is_cut);
    assert_string_equal(show((struct value_type){ VALUE_SIGNED, 4 }, &number, 2, 20), "null");
    assert_true(text.is_cut);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signature_of_an_instance_method),
        cmocka_unit_test(test_signature_types_inside_types_are_skipped),
        cmocka_unit_test(test_signature_of_a_generic_struct_is_a_value_type),
        cmocka_unit_test(test_signature_every_truncation_is_refused),
        cmocka_unit_test(test_signature_that_is_none_is_refused),
        cmocka_unit_test(test_numbers_by_their_width),
        cmocka_unit_test(test_floats_are_the_shortest_that_read_back),
        cmocka_unit_test(test_text_is_escaped_and_cut),
        cmocka_unit_test(test_value_without_room_is_left_out_whole),
        cmocka_unit_test(test_range_that_is_none_is_null_and_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
