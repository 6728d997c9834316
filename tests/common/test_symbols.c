/* common/symbols.c, printk.c: made texts, hostile texts, and this kernel's beside libtraceevent. */
#include <stdarg.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <event-parse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "printk.h"
#include "symbols.h"
#include "tracefs_instance.h"

static bool skipped; /* something this machine lacks */

static void expect(const struct symbols *symbols, uint64_t address, const char *name, uint64_t size,
                   const char *module)
{
    struct symbol symbol;

    assert_int_equal(symbols_find(symbols, address, &symbol), 1);
    assert_string_equal(symbol.name, name);
    assert_int_equal(symbol.size, size);
    if (module)
        assert_string_equal(symbol.module, module);
    else
        assert_null(symbol.module);
}

static void test_symbols_cover_the_space_to_the_next_address(void **state)
{
    static const char text[] = "0000000000000000 A absolute\n"
                               "ffffffff81000000 T alias_one\n"
                               "ffffffff81000000 t alias_two\n"
                               "ffffffffc0000000 t late\t[mod_b]\n"
                               "ffffffff81000100 T second\n"
                               "ffffffff81000180 D data\n"
                               "ffffffffc0000040 t later\t[mod_b]\n";
    struct symbols *symbols = symbols_create();
    struct symbol symbol;

    (void)state;
    assert_int_equal(symbols_add(symbols, text, strlen(text)), 0);
    assert_int_equal(symbols_count(symbols), 6);
    expect(symbols, 0xffffffff81000000, "alias_one", 0x100, NULL);
    expect(symbols, 0xffffffff810000ff, "alias_one", 0x100, NULL);
    expect(symbols, 0xffffffff81000100, "second", 0x80, NULL);
    expect(symbols, 0xffffffff81000190, "data", 0, NULL); /* a gap no symbol is as long as */
    expect(symbols, 0xffffffffc000003f, "late", 0x40, "mod_b");
    expect(symbols, 0xffffffffc0000050, "later", 0, "mod_b");
    assert_int_equal(symbols_find(symbols, 0xffffffff80ffffff, &symbol), 0);
    assert_int_equal(symbols_find(symbols, 0xffffffffd0000000, &symbol), 0);
    assert_int_equal(symbols_find(symbols, 0, &symbol), 0);
    symbols_destroy(symbols);
}

static void test_symbols_bad_lines_are_told_and_the_good_ones_kept(void **state)
{
    static const char text[] = "nonsense\n"
                               "ffffffff81000000 T good\n"
                               "ffffffff81000010 T\n"
                               "ffffffff81000010\n"
                               "\n"
                               "ffffffff81000020 T last_without_newline";
    struct symbols *symbols = symbols_create();

    (void)state;
    assert_int_equal(symbols_add(symbols, text, strlen(text)), -EBADMSG);
    assert_int_equal(symbols_count(symbols), 2);
    expect(symbols, 0xffffffff81000008, "good", 0x20, NULL);
    symbols_destroy(symbols);
}

static void test_symbols_every_prefix_of_a_text_is_harmless(void **state)
{
    static const char text[] = "ffffffff81000000 T one\nffffffff81000010 t two\t[mod]\n";

    (void)state;
    for (size_t size = 0; size <= sizeof(text) - 1; size++) {
        struct symbols *symbols = symbols_create();
        char *copy = malloc(size + 1);
        struct symbol symbol;

        memcpy(copy, text, size);
        (void)symbols_add(symbols, copy, size);
        (void)symbols_find(symbols, 0xffffffff81000004, &symbol);
        free(copy);
        symbols_destroy(symbols);
    }
}

/* libtraceevent knows the name at the start of each function; so must we, in between as well. */
static void test_symbols_of_this_kernel_are_those_of_libtraceevent(void **state)
{
    size_t size;
    char *text = read_whole("/proc/kallsyms", &size);
    struct symbols *symbols = symbols_create();
    struct tep_handle *tep = tep_alloc();
    char *copy = text ? strdup(text) : NULL;
    unsigned compared = 0, unknown = 0;

    (void)state;
    if (copy)
        (void)symbols_add(symbols, text, size);
    if (symbols_count(symbols) < 1000) {
        printf("SKIP: /proc/kallsyms with addresses\n");
        skipped = true;
    } else {
        assert_int_equal(tep_parse_kallsyms(tep, copy), 0);
    }
    for (const char *line = text; !skipped && *line; line = strchrnul(line, '\n') + 1) {
        uint64_t address = strtoull(line, NULL, 16) + 1;
        struct symbol symbol;
        uint64_t start;

        if (address < 2 || !symbols_find(symbols, address, &symbol))
            continue;
        start = tep_find_function_address(tep, address);
        if (start == 0) { /* it takes the last symbol for a mere end */
            unknown++;
            continue;
        }
        /* Of several names at one address the libraries may pick different ones. */
        assert_int_equal(symbol.address, start);
        compared++;
    }
    assert_true(skipped || (compared > 1000 && unknown <= 1));
    tep_free(tep);
    symbols_destroy(symbols);
    free(copy);
    free(text);
}

static void test_printk_texts_are_found_by_address_and_unescaped(void **state)
{
    static const char text[] = "0xffffffff82819800 : \"second %d\\n\"\n"
                               "0xffffffff82819700 : \"quote \\\" tab\\t end\"\n";
    struct printk *printk = printk_create();

    (void)state;
    assert_int_equal(printk_add(printk, text, strlen(text)), 0);
    assert_string_equal(printk_find(printk, 0xffffffff82819700), "quote \" tab\t end");
    assert_string_equal(printk_find(printk, 0xffffffff82819800), "second %d\n");
    assert_null(printk_find(printk, 0xffffffff82819801));
    printk_destroy(printk);
}

static void test_printk_bad_lines_are_told_and_the_good_ones_kept(void **state)
{
    static const char text[] = "no quotes\n\"only text\"\n0x10 : \"\n0x20 \"no colon\"\n"
                               "0x30 : \"\"\n0x40 : \"cut";
    struct printk *printk = printk_create();

    (void)state;
    assert_int_equal(printk_add(printk, text, strlen(text)), -EBADMSG);
    assert_string_equal(printk_find(printk, 0x30), "");
    assert_null(printk_find(printk, 0x10));
    assert_null(printk_find(printk, 0x20));
    assert_null(printk_find(printk, 0x40));
    printk_destroy(printk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symbols_cover_the_space_to_the_next_address),
        cmocka_unit_test(test_symbols_bad_lines_are_told_and_the_good_ones_kept),
        cmocka_unit_test(test_symbols_every_prefix_of_a_text_is_harmless),
        cmocka_unit_test(test_symbols_of_this_kernel_are_those_of_libtraceevent),
        cmocka_unit_test(test_printk_texts_are_found_by_address_and_unescaped),
        cmocka_unit_test(test_printk_bad_lines_are_told_and_the_good_ones_kept),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    return failed == 0 && skipped ? tracefs_skip_code() : failed;
}
