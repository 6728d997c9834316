/* common/print_helper.c, print_call.c: what the helpers of tracing macros write. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "format_maker.h"

static struct made made;

static void expect(const char *print, int32_t a, uint64_t b, const char *text)
{
    assert_string_equal(made_print(&made, print, a, b), text);
}

#define FLAGS(value)                                                                               \
    "\"%s\", __print_flags(" value ", \"|\", { 1, \"A\" }, { 6, \"BC\" }, { 2, \"B\" })"

static void test_helper_flags_take_whole_masks_in_order_and_leave_the_rest(void **state)
{
    (void)state;
    expect(FLAGS("REC->a"), 0, 0, "");
    expect(FLAGS("REC->a"), 7, 0, "A|BC");
    expect(FLAGS("REC->a"), 3, 0, "A|B");
    expect(FLAGS("REC->a"), 0x18, 0, "0x18");
    expect(FLAGS("REC->a"), 0x19, 0, "A|0x18");
    expect(FLAGS("REC->a"), -8, 0, "0xfffffffffffffff8"); /* unsigned long of an int */
    expect(FLAGS("(u32)REC->a"), -8, 0, "0xfffffff8");
    expect("\"%s\", __print_flags(REC->a, \"\", { 1, \"A\" }, { 2, \"B\" })", 3, 0, "AB");
}

static void test_helper_flags_of_zero_match_while_bits_are_left_as_in_the_kernel(void **state)
{
    (void)state;
    expect("\"%s\", __print_flags(REC->a, \"|\", { 0, \"none\" }, { 1, \"A\" })", 1, 0, "none|A");
    expect("\"%s\", __print_flags(REC->a, \"|\", { 0, \"none\" }, { 1, \"A\" })", 0, 0, "");
}

static void test_helper_symbolic_compares_as_unsigned_long(void **state)
{
#define SYMBOLIC(value)                                                                            \
    "\"%s\", __print_symbolic(" value ", { -1, \"none\" }, { 5, \"five\" }, { 5, \"x\" })"
    (void)state;
    expect(SYMBOLIC("REC->a"), 5, 0, "five");
    expect(SYMBOLIC("REC->a"), -1, 0, "none");
    expect(SYMBOLIC("(u32)REC->a"), -1, 0, "0xffffffff");
    expect(SYMBOLIC("REC->a"), 6, 0, "0x6");
    expect("\"%s\", __print_symbolic(REC->a, { })", 6, 0, "0x6");
    expect("\"%s\", __print_symbolic_u64(REC->b, { 0x100000000ULL, \"big\" })", 0, 1ull << 32,
           "big");
}

static void test_helper_values_of_lists_on_32_bit_machines_are_cut(void **state)
{
    (void)state;
    made_init(&made, false, 4);
    made_add(&made, "s32 a;offset:8;size:4;signed:1;", SYMBOLIC("REC->a"));
    made_put_int(&made, (uint32_t)-1, 4);
    assert_string_equal(made_text(&made), "none");
    made_finish(&made);
}

/* Without BTF a name has no value: the entry is lost, not the argument, and the schema says so. */
static void test_helper_entry_without_a_value_is_left_out_and_named(void **state)
{
    (void)state;
    made_init(&made, false, 8);
    made_add(&made, "s32 a;offset:8;size:4;signed:1;",
             "\"%s %d\", __print_symbolic(REC->a, { (1 << NO_ONE_KNOWS), \"x\" }, { 2, \"two\" }), "
             "REC->a");
    assert_string_equal(made.schema->print_error, "argument 1: no value known for `NO_ONE_KNOWS`");
    assert_int_equal(trd_schema_field(made.schema, "a")->meaning, TRD_MEANING_ENUM);
    made_put_int(&made, 2, 4);
    assert_string_equal(made_text(&made), "two 2");
    made_finish(&made);
}

/* A record with an inline array of u16 and dynamic texts, bytes and longs. */
static void dynamic(const char *print, bool big_endian, uint8_t long_size, bool relative)
{
    const char *fields =
        relative
            ? "u16 in[2];offset:8;size:4;signed:0;\n__rel_loc char[] text;offset:12;size:4;signed:0;"
            : "u16 in[2];offset:8;size:4;signed:0;\n__data_loc char[] text;offset:12;size:4;signed:0;\n"
              "__data_loc u8[] bytes;offset:16;size:4;signed:0;\n"
              "__data_loc unsigned long[] mask;offset:20;size:4;signed:0;";

    made_init(&made, big_endian, long_size);
    made_add(&made, fields, print);
    assert_null(made.schema->print_error);
    made_put_int(&made, 0x1234, 2);
    made_put_int(&made, 0xff, 2);
    made_put_int(&made, relative ? 4 << 16 : 0, 4);
    if (relative) {
        made_put(&made, "rel", 4);
        return;
    }
    made_put_int(&made, 0, 8);
    made_put_dynamic(&made, 12, "a text", 7);
    made_put_dynamic(&made, 16, "\x01\x02\xfe", 3);
    made.size += (8 - made.size % 8) % 8;
    made_put_int(&made, 5, long_size);
    made_put_int(&made, 1, long_size);
    made_point(&made, 20, 2u * long_size);
}

static void expect_dynamic(const char *print, const char *text)
{
    for (int order = 0; order < 2; order++) {
        dynamic(print, order == 1, 8, false);
        assert_string_equal(made_text(&made), text);
        made_finish(&made);
    }
}

static void test_helper_dynamic_arrays_in_both_byte_orders(void **state)
{
    (void)state;
    expect_dynamic("\"%x %u\", REC->in[0], (u32)REC->in[1]", "1234 255");
    expect_dynamic("\"%s %u\", __get_str(text), __get_dynamic_array_len(text)", "a text 7");
    expect_dynamic("\"%s|%s\", __print_hex(__get_dynamic_array(bytes), 3), "
                   "__print_hex_str(__get_dynamic_array(bytes), __get_dynamic_array_len(bytes))",
                   "01 02 fe|0102fe");
    expect_dynamic("\"%s\", __print_array(REC->in, 2, sizeof(u16))", "{0x1234,0xff}");
    expect_dynamic("\"%s\", __print_array(__get_dynamic_array(bytes), "
                   "__get_dynamic_array_len(bytes) / sizeof(u8), sizeof(u8))",
                   "{0x1,0x2,0xfe}");
    expect_dynamic("\"%s\", __print_dynamic_array(mask, sizeof(unsigned long))", "{0x5,0x1}");
    expect_dynamic("\"%s %s\", __get_bitmask(mask), __get_cpumask(mask)",
                   "00000000,00000001,00000000,00000005 00000000,00000001,00000000,00000005");
    expect_dynamic("\"%c%d\", __get_str(text)[2], ((u8 *)__get_dynamic_array(bytes))[2]", "t254");
    expect_dynamic("\"%s\", __get_str(text)[0] ? \"some\" : \"none\"", "some");
    expect_dynamic("\"%x\", REC->__data_loc_text & 0xffff", "18");
}

static void test_helper_mask_that_is_no_whole_long_is_clear_behind_them(void **state)
{
    (void)state;
    made_init(&made, false, 8);
    made_add(&made, "__data_loc unsigned long[] mask;offset:8;size:4;signed:0;",
             "\"%s\", __get_bitmask(mask)");
    made_put_int(&made, 0, 4);
    made_put_dynamic(&made, 8, "\x05\0\0\0\0\0\0\0\xff\xff", 10);
    assert_string_equal(made_text(&made), "0000,00000000,00000005");
    made_finish(&made);
}

static void test_helper_relative_arrays_count_from_their_word(void **state)
{
    (void)state;
    dynamic("\"%s %u\", __get_rel_str(text), __get_rel_dynamic_array_len(text)", false, 8, true);
    assert_string_equal(made_text(&made), "rel 4");
    made_finish(&made);
}

static void test_helper_arrays_that_leave_the_record_are_marked(void **state)
{
    static const char *const prints[] = {
        "\"%s\", __print_hex(__get_dynamic_array(bytes), 4000)",
        "\"%s\", __print_array(REC->in, 1 << 30, 8)",
        "\"%s\", __print_array(REC->in, -1, 8)",
        "\"%d\", REC->in[100000]",
        "\"%d\", __get_str(text)[-9]",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(prints) / sizeof(prints[0]); i++) {
        dynamic(prints[i], false, 8, false);
        assert_string_equal(made_text(&made), "<record too short>");
        made_finish(&made);
    }
    dynamic("\"%s\", __get_str(text)", false, 8, false);
    made.data[14] = 0xff; /* the length runs over the end */
    assert_string_equal(made_text(&made), "<record too short>");
    made_finish(&made);
}

static void test_helper_hex_dump_has_rows_offsets_and_text(void **state)
{
    (void)state;
    made_init(&made, false, 8);
    made_add(&made, "u8 x[20];offset:8;size:20;signed:0;",
             "\"%s\", __print_hex_dump(\"> \", 2, 16, 1, REC->x, 20, 1)");
    made_put(&made, "0123456789abcdef\x01gh\xff", 20);
    assert_string_equal(made_text(&made),
                        "\n> 00000000: 30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66  "
                        "0123456789abcdef\n"
                        "> 00000010: 01 67 68 ff                                      .gh.");
    made_finish(&made);
}

static void test_helper_nanoseconds_split_into_seconds_and_rest(void **state)
{
    (void)state;
    expect("\"%llu.%09u\", __print_ns_to_secs(REC->b), __print_ns_without_secs(REC->b)", 0,
           12345678901234567890ull, "12345678901.234567890");
}

static void test_helper_byte_order_macros_follow_the_recording_machine(void **state)
{
    (void)state;
    for (int big_endian = 0; big_endian < 2; big_endian++) {
        made_init(&made, big_endian, 8);
        made_add(&made, "__be16 x;offset:8;size:2;signed:0;",
                 "\"%x %x %x\", __be16_to_cpup((__be16 *)&REC->x), __fswab16(REC->x), "
                 "(__builtin_constant_p((__u16)(REC->x)) ? 1 : REC->x)");
        made_put(&made, "\x12\x34", 2);
        assert_string_equal(made_text(&made), big_endian ? "1234 3412 1234" : "1234 1234 3412");
        made_finish(&made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_helper_flags_take_whole_masks_in_order_and_leave_the_rest),
        cmocka_unit_test(test_helper_flags_of_zero_match_while_bits_are_left_as_in_the_kernel),
        cmocka_unit_test(test_helper_symbolic_compares_as_unsigned_long),
        cmocka_unit_test(test_helper_values_of_lists_on_32_bit_machines_are_cut),
        cmocka_unit_test(test_helper_entry_without_a_value_is_left_out_and_named),
        cmocka_unit_test(test_helper_dynamic_arrays_in_both_byte_orders),
        cmocka_unit_test(test_helper_mask_that_is_no_whole_long_is_clear_behind_them),
        cmocka_unit_test(test_helper_relative_arrays_count_from_their_word),
        cmocka_unit_test(test_helper_arrays_that_leave_the_record_are_marked),
        cmocka_unit_test(test_helper_hex_dump_has_rows_offsets_and_text),
        cmocka_unit_test(test_helper_nanoseconds_split_into_seconds_and_rest),
        cmocka_unit_test(test_helper_byte_order_macros_follow_the_recording_machine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
