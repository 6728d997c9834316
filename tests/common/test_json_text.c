/*
 * Strings and numbers of the JSON writer against two independent truths: jansson, a strict parser,
 * and printf. Case C21: whatever the bytes, the line parses and the bytes can be had back.
 */
#include <inttypes.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "json_writer.h"
#include "tracerd/json.h"

#define ROUNDS 20000
#define TEXT_MAX 96

static uint32_t random_state = 0x2545f491;

static uint32_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state;
}

/* Parses what was written and undoes the repair; the bytes must be those that went in. */
static void check_round_trip(const char *bytes, size_t size)
{
    /* Exactly as large as promised: a sanitizer sees every byte beyond. */
    char *out = malloc(JSON_STRING_MAX(size));
    size_t written = trd_json_string(bytes, size, out, JSON_STRING_MAX(size));
    json_error_t error;
    json_t *value;
    char *text;

    assert_true(written >= 2 && written <= JSON_STRING_MAX(size));
    value = json_loadb(out, written, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    if (!value)
        fail_msg("jansson: %s: %.*s", error.text, (int)written, out);
    text = malloc(json_string_length(value) + 1);
    memcpy(text, json_string_value(value), json_string_length(value) + 1);
    assert_int_equal(trd_json_restore(text, json_string_length(value)), size);
    assert_memory_equal(text, bytes, size);
    free(text);
    json_decref(value);
    free(out);
}

static void test_string_of_any_bytes_parses_and_comes_back(void **state)
{
    /* Bytes that meet the edges of UTF-8 and of the repair's own range more often than chance. */
    static const uint8_t edges[] = { 0x00, 0x01, 0x1f, 0x22, 0x5c, 0x7f, 0x80, 0xbf, 0xc0, 0xc2,
                                     0xe0, 0xed, 0xef, 0x9c, 0x9f, 0xa0, 0xf0, 0xf4, 0x8f, 0xff };
    char text[TEXT_MAX];

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        size_t size = next_random() % TEXT_MAX;

        for (size_t i = 0; i < size; i++) {
            uint32_t choice = next_random();

            text[i] = choice & 0x100   ? (char)('a' + choice % 26)
                      : choice & 0x200 ? (char)edges[choice % sizeof(edges)]
                                       : (char)choice;
        }
        check_round_trip(text, size);
    }
}

static void test_string_special_byte_is_found_at_every_place(void **state)
{
    static const char special[] = { '"', '\\', '\n', '\x7f', '\x1f', '\x80', '\xff', '\0' };
    char text[40];

    (void)state;
    for (size_t size = 1; size <= sizeof(text); size++)
        for (size_t at = 0; at < size; at++)
            for (size_t k = 0; k < sizeof(special); k++) {
                memset(text, 'x', size);
                text[at] = special[k];
                check_round_trip(text, size);
            }
}

static void check_string(const char *bytes, size_t size, const char *expected)
{
    char out[256];
    size_t written = trd_json_string(bytes, size, out, sizeof(out));

    assert_int_equal(written, strlen(expected));
    assert_memory_equal(out, expected, written);
}

static void test_string_good_utf8_is_kept_and_bad_bytes_follow_the_rule(void **state)
{
    (void)state;
    check_string("plain", 5, "\"plain\"");
    check_string("\x01\"\\\xff", 4, "\"\\u0001\\\"\\\\\\uf7ff\"");
    check_string("\b\t\n\f\r\x7f", 6, "\"\\b\\t\\n\\f\\r\\u007f\"");
    check_string("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 9,
                 "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
    /* Overlong, surrogate, beyond U+10FFFF, cut short. */
    check_string("\xc0\x80", 2, "\"\\uf7c0\\uf780\"");
    check_string("\xed\xa0\x80", 3, "\"\\uf7ed\\uf7a0\\uf780\"");
    check_string("\xf4\x90\x80\x80", 4, "\"\\uf7f4\\uf790\\uf780\\uf780\"");
    check_string("\xe2\x82", 2, "\"\\uf7e2\\uf782\"");
    /* U+F7FF itself, which the repair uses. */
    check_string("\xef\x9f\xbf", 3, "\"\\uf7ef\\uf79f\\uf7bf\"");
}

static void test_string_without_room_says_what_it_needs(void **state)
{
    char out[8];

    (void)state;
    assert_int_equal(trd_json_string("abcdef", 6, out, sizeof(out)), 6 * 6 + 2);
}

static void test_text_ends_at_the_first_nul(void **state)
{
    static const char padded[32] = "a name of more than 16";
    char out[256];

    (void)state;
    assert_int_equal(json_put_text(out, padded, sizeof(padded)) - out, 24);
    assert_memory_equal(out, "\"a name of more than 16\"", 24);
    assert_int_equal(json_put_text(out, "\0abc", 4) - out, 2);
    assert_int_equal(json_put_text(out, "abc", 2) - out, 4);
    assert_memory_equal(out, "\"ab\"", 4);
}

static void check_numbers(uint64_t value)
{
    char out[64], expected[64];
    int size;

    size = snprintf(expected, sizeof(expected), "%" PRIu64, value);
    assert_int_equal(json_put_u64(out, value) - out, size);
    assert_memory_equal(out, expected, (size_t)size);
    size = snprintf(expected, sizeof(expected), "%" PRId64, (int64_t)value);
    assert_int_equal(json_put_i64(out, (int64_t)value) - out, size);
    assert_memory_equal(out, expected, (size_t)size);
    size = snprintf(expected, sizeof(expected), "%" PRIu32, (uint32_t)value);
    assert_int_equal(json_put_u32(out, (uint32_t)value) - out, size);
    assert_memory_equal(out, expected, (size_t)size);
    size = snprintf(expected, sizeof(expected), "\"0x%" PRIx64 "\"", value);
    assert_int_equal(json_put_hex(out, value) - out, size);
    assert_memory_equal(out, expected, (size_t)size);
}

static void test_numbers_equal_those_of_printf(void **state)
{
    uint64_t power = 1;

    (void)state;
    check_numbers(0);
    for (int digits = 0; digits < 20; digits++, power *= 10)
        for (int off = -2; off <= 2; off++)
            check_numbers(power + (uint64_t)off);
    for (int bit = 0; bit < 64; bit++)
        for (int off = -1; off <= 1; off++)
            check_numbers((UINT64_C(1) << bit) + (uint64_t)off);
    for (int round = 0; round < ROUNDS; round++)
        check_numbers(((uint64_t)next_random() << 32 | next_random()) >> next_random() % 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_string_of_any_bytes_parses_and_comes_back),
        cmocka_unit_test(test_string_special_byte_is_found_at_every_place),
        cmocka_unit_test(test_string_good_utf8_is_kept_and_bad_bytes_follow_the_rule),
        cmocka_unit_test(test_string_without_room_says_what_it_needs),
        cmocka_unit_test(test_text_ends_at_the_first_nul),
        cmocka_unit_test(test_numbers_equal_those_of_printf),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
