/*
 * common/print_text.c, print.c, print_event.c: format strings, conversions, what is shown where
 * something is missing. Where kernel and C library agree, snprintf is the oracle.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "format_maker.h"

static struct made made;

static void expect(const char *print, int32_t a, uint64_t b, const char *text)
{
    assert_string_equal(made_print(&made, print, a, b), text);
}

static void test_print_numbers_look_as_the_c_library_writes_them(void **state)
{
    static const char *const flags[] = { "", "-", "+", " ", "0", "-0", "+0", "#", "#0", "-#" };
    static const char *const widths[] = { "", "1", "8", "20", ".0", ".3", "12.5" };
    static const char conversions[] = "diuxXo";
    static const int32_t values[] = { 1, -1, 42, 2147483647, -2147483647 - 1 };

    (void)state;
    for (size_t f = 0; f < sizeof(flags) / sizeof(flags[0]); f++)
        for (size_t w = 0; w < sizeof(widths) / sizeof(widths[0]); w++)
            for (const char *c = conversions; *c; c++)
                for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
                    char conversion[32], print[64], expected[64];

                    /* The kernel fills with zeros in spite of a precision: see below. */
                    if (strchr(flags[f], '0') && strchr(widths[w], '.'))
                        continue;
                    (void)snprintf(conversion, sizeof(conversion), "[%%%s%s%c]", flags[f],
                                   widths[w], *c);
                    (void)snprintf(print, sizeof(print), "\"%s\", REC->a", conversion);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
                    (void)snprintf(expected, sizeof(expected), conversion, values[v]);
#pragma GCC diagnostic pop
                    /* `# o`: the kernel counts the prefix to the width, C to the digits. */
                    if (*c == 'o' && strchr(flags[f], '#') && strchr(widths[w], '.'))
                        continue;
                    expect(print, values[v], 0, expected);
                }
}

static void test_print_numbers_where_the_kernel_differs_from_c(void **state)
{
    (void)state;
    expect("\"%#x\", REC->a", 0, 0, "0x0");
    expect("\"%#08x\", REC->a", 255, 0, "0x0000ff");
    expect("\"%08.3d\", REC->a", 7, 0, "00000007");
    expect("\"%Lu %qd %Zu\", REC->b, REC->b, REC->b", 0, 7, "7 7 7");
}

static void test_print_integers_are_cut_to_the_size_of_the_conversion(void **state)
{
    (void)state;
    expect("\"%hhu %hx %d %ld\", REC->b, REC->b, REC->b, REC->b", 0, 0x1fffffff80ff02,
           "2 ff02 -8323326 9007199246417666");
    expect("\"%u %lld\", REC->a, (long long)REC->a", -2, 0, "4294967294 -2");
}

static void test_print_strings_obey_width_and_precision(void **state)
{
    (void)state;
    expect("\"[%s] [%5s] [%-5s] [%.2s] [%5.1s]\", \"abc\", \"abc\", \"abc\", \"abc\", \"abc\"", 0,
           0, "[abc] [  abc] [abc  ] [ab] [    a]");
    expect("\"[%*s] [%-*s] [%.*s]\", REC->a, \"x\", REC->a, \"x\", REC->a, \"abcdef\"", 3, 0,
           "[  x] [x  ] [abc]");
    expect("\"[%*s]\", REC->a, \"x\"", -3, 0, "[x  ]");
    expect("\"[%6s] [%-6s]\", __print_flags(REC->a, \"|\", { 1, \"A\" }, { 2, \"B\" }), "
           "__print_flags(REC->a, \"|\", { 1, \"A\" })",
           3, 0, "[   A|B] [A|0x2 ]");
    expect("\"[%c%3c%-3c]\", 'a', 'b', 'c'", 0, 0, "[a  bc  ]");
}

static void test_print_percent_signs_and_escapes_stand_for_themselves(void **state)
{
    (void)state;
    expect("\"100%% %d%% \\\"q\\\" \\x41\\102\" \" joined\\t.\", REC->a", 5, 0,
           "100% 5% \"q\" AB joined\t.");
    expect("\"%y %\", REC->a", 5, 0, "%y %");
}

static void test_print_an_argument_that_does_not_compile_costs_itself_only(void **state)
{
    (void)state;
    made_init(&made, false, 8);
    made_add(&made, "s32 a;offset:8;size:4;signed:1;",
             "\"%d %s %d\", REC->a, REC->gone->there(1, 2), REC->a + 1");
    made_put_int(&made, 7, 4);
    assert_string_equal(made_text(&made), "7 <REC->gone->there(1, 2)> 8");
    assert_string_equal(made.schema->print_error, "argument 2: no such field `gone`");
    made_finish(&made);
}

static void test_print_a_function_of_the_kernel_is_shown_with_its_arguments(void **state)
{
    (void)state;
    made_init(&made, false, 8);
    made_add(&made, "s32 a;offset:8;size:4;signed:1;",
             "\"%s %u %d\", decode_it(REC->a, \"x\", REC->a * 2), msecs(REC->a) / 2, REC->a");
    made_put_int(&made, 7, 4);
    assert_string_equal(made_text(&made), "decode_it(7, x, 14) <known to the kernel only> 7");
    assert_string_equal(made.schema->print_error,
                        "argument 1: only the kernel can answer `decode_it` (and 1 more)");
    made_finish(&made);
}

static void test_print_a_function_of_the_kernel_shows_arrays_as_bytes(void **state)
{
    (void)state;
    made_init(&made, false, 8);
    made_add(&made, "u32 x[2];offset:8;size:8;signed:0;\nchar t[4];offset:16;size:4;signed:0;",
             "\"%s\", decode(REC->x, REC->t, other(REC->x[1]))");
    made_put_int(&made, 1, 4);
    made_put_int(&made, 2, 4);
    made_put(&made, "abc", 4);
    assert_string_equal(made_text(&made), "decode(01 00 00 00 02 00 00 00 61 62 63 00, abc, "
                                          "other(2))");
    made_finish(&made);
}

static void test_print_missing_arguments_and_formats_are_named(void **state)
{
    static const struct {
        const char *print, *text, *error;
    } cases[] = {
        { "\"%d %d\", REC->a", "7 <missing>", "argument 2: missing" },
        { "REC->a", "", "no format string" },
        { "\"%pV\", REC->a", "0000000000000007", "argument 1: only the kernel can print `%pV`" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        made_init(&made, false, 8);
        made_add(&made, "s32 a;offset:8;size:4;signed:1;", cases[i].print);
        made_put_int(&made, 7, 4);
        assert_string_equal(made_text(&made), cases[i].text);
        assert_string_equal(made.schema->print_error, cases[i].error);
        made_finish(&made);
    }
}

static void test_print_output_is_cut_and_its_full_length_returned(void **state)
{
    char out[8];

    (void)state;
    made_init(&made, false, 8);
    made_add(&made, "s32 a;offset:8;size:4;signed:1;",
             "\"%d-%10s-%08x\", REC->a, \"text\", REC->a");
    made_put_int(&made, 7, 4);
    for (size_t capacity = 0; capacity <= sizeof(out); capacity++) {
        memset(out, 'z', sizeof(out));
        assert_int_equal(
            trd_event_print(made.catalog, made.schema, made.data, made.size, out, capacity), 21);
        assert_memory_equal(out, "7-      ", capacity > 0 ? capacity - 1 : 0);
        if (capacity > 0)
            assert_int_equal(out[capacity - 1], '\0');
        for (size_t i = capacity; i < sizeof(out); i++)
            assert_int_equal(out[i], 'z');
    }
    made_finish(&made);
}

static void add_ftrace(const char *name, const char *fields)
{
    char text[1024];
    int size = snprintf(text, sizeof(text),
                        "name: %s\nID: %d\nformat:\n"
                        "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n%s\n"
                        "print fmt: \"\"\n",
                        name, MADE_ID, fields);

    made_init(&made, false, 4);
    assert_int_equal(trd_catalog_add_format(made.catalog, "ftrace", text, (size_t)size), 0);
    made.schema = trd_catalog_find(made.catalog, MADE_ID);
}

static void test_print_trace_printk_takes_its_format_from_kernel_memory(void **state)
{
    static const char formats[] = "0xc0001000 : \"n=%d %s %hx %llu %p\\n\"\n";
    static const char symbols[] = "c0000100 T caller\nc0000200 T next\n";

    (void)state;
    add_ftrace("bprint", "\tfield:unsigned long ip;\toffset:8;\tsize:4;\tsigned:0;\n"
                         "\tfield:const char * fmt;\toffset:12;\tsize:4;\tsigned:0;\n"
                         "\tfield:u32 buf[];\toffset:16;\tsize:0;\tsigned:0;\n");
    assert_int_equal(trd_catalog_add_printk_formats(made.catalog, formats, strlen(formats)), 0);
    assert_int_equal(trd_catalog_add_kallsyms(made.catalog, symbols, strlen(symbols)), 0);
    made_put_int(&made, 0xc0000110, 4);
    made_put_int(&made, 0xc0001000, 4);
    made_put_int(&made, (uint32_t)-5, 4);
    made_put(&made, "text", 5);
    made_put_int(&made, 0, 1); /* short: aligned to 2 */
    made_put_int(&made, 0xbeef, 2);
    made_put_int(&made, 0x100000000, 8);
    made_put_int(&made, 0xc0de, 4);
    assert_string_equal(made_text(&made), "caller: n=-5 text beef 4294967296 0000c0de");
    made.size -= 6; /* the record ends within the last integers */
    assert_string_equal(made_text(&made), "caller: n=-5 text beef <record too short>");
    made_finish(&made);
}

static void test_print_stack_runs_to_the_end_of_the_record(void **state)
{
    static const char symbols[] = "c0000100 T one\nc0000200 t two\t[mod]\nc0000300 T end\n";

    (void)state;
    add_ftrace("kernel_stack",
               "\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
               "\tfield:unsigned long caller[8];\toffset:12;\tsize:32;\tsigned:0;\n");
    assert_int_equal(trd_catalog_add_kallsyms(made.catalog, symbols, strlen(symbols)), 0);
    made_put_int(&made, 9, 4);
    for (int i = 0; i < 5; i++)
        made_put_int(&made, i % 2 ? 0xc0000204 : 0xc0000104, 4);
    assert_string_equal(made_text(&made), "<stack trace>\n => one\n => two [mod]\n => one\n"
                                          " => two [mod]\n => one");
    assert_int_equal(trd_schema_field(made.schema, "caller")->storage, TRD_STORAGE_TAIL_INTS);
    made_finish(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_print_numbers_look_as_the_c_library_writes_them),
        cmocka_unit_test(test_print_numbers_where_the_kernel_differs_from_c),
        cmocka_unit_test(test_print_integers_are_cut_to_the_size_of_the_conversion),
        cmocka_unit_test(test_print_strings_obey_width_and_precision),
        cmocka_unit_test(test_print_percent_signs_and_escapes_stand_for_themselves),
        cmocka_unit_test(test_print_an_argument_that_does_not_compile_costs_itself_only),
        cmocka_unit_test(test_print_a_function_of_the_kernel_is_shown_with_its_arguments),
        cmocka_unit_test(test_print_a_function_of_the_kernel_shows_arrays_as_bytes),
        cmocka_unit_test(test_print_missing_arguments_and_formats_are_named),
        cmocka_unit_test(test_print_output_is_cut_and_its_full_length_returned),
        cmocka_unit_test(test_print_trace_printk_takes_its_format_from_kernel_memory),
        cmocka_unit_test(test_print_stack_runs_to_the_end_of_the_record),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
