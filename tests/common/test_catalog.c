/* common/catalog.c: page layouts, look-ups, names of tasks. */
#include <stdarg.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracerd/catalog.h"

static struct trd_catalog *create(bool big_endian, uint8_t long_size)
{
    struct trd_catalog *catalog;

    assert_int_equal(trd_catalog_create(&catalog, big_endian, long_size), 0);
    return catalog;
}

static void expect_layout(const struct trd_catalog *catalog, bool big_endian, uint8_t long_size,
                          uint16_t data_offset)
{
    const struct trd_page_layout *layout = trd_catalog_get_layout(catalog);

    assert_int_equal(layout->big_endian, big_endian);
    assert_int_equal(layout->long_size, long_size);
    assert_int_equal(layout->commit_size, long_size);
    assert_int_equal(layout->commit_offset, 8);
    assert_int_equal(layout->data_offset, data_offset);
}

static void test_catalog_layout_follows_the_word_size(void **state)
{
    struct trd_catalog *catalog = NULL;

    (void)state;
    catalog = create(false, 8);
    expect_layout(catalog, false, 8, 16);
    trd_catalog_destroy(catalog);
    catalog = create(true, 4);
    expect_layout(catalog, true, 4, 12);
    trd_catalog_destroy(catalog);
    assert_int_equal(trd_catalog_create(&catalog, false, 2), -EINVAL);
    trd_catalog_destroy(NULL);
}

#define HEADER_PAGE(size, data)                                                                    \
    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"                                     \
    "\tfield: local_t commit;\toffset:8;\tsize:" size ";\tsigned:1;\n"                             \
    "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"                                     \
    "\tfield: char data;\toffset:" data ";\tsize:4080;\tsigned:0;\n"

/* A 32-bit recorder on a 64-bit kernel, and the other way round. */
static void test_catalog_header_page_tells_the_kernels_long(void **state)
{
    static const char wide[] = HEADER_PAGE("8", "16"), narrow[] = HEADER_PAGE("4", "12");
    struct trd_catalog *catalog = create(false, 4);

    (void)state;
    assert_int_equal(trd_catalog_set_header_page(catalog, wide, strlen(wide)), 0);
    expect_layout(catalog, false, 8, 16);
    assert_int_equal(trd_catalog_set_header_page(catalog, narrow, strlen(narrow)), 0);
    expect_layout(catalog, false, 4, 12);
    trd_catalog_destroy(catalog);
}

static void test_catalog_header_page_without_sense_leaves_the_default(void **state)
{
    static const char odd[] = HEADER_PAGE("3", "16"), whole[] = HEADER_PAGE("8", "16");

    (void)state;
    for (size_t size = 0; size < (size_t)(strstr(whole, "commit") - whole); size++) {
        struct trd_catalog *catalog = create(false, 4);

        assert_int_equal(trd_catalog_set_header_page(catalog, whole, size), -EBADMSG);
        expect_layout(catalog, false, 4, 12);
        trd_catalog_destroy(catalog);
    }
    {
        struct trd_catalog *catalog = create(false, 8);

        assert_int_equal(trd_catalog_set_header_page(catalog, odd, strlen(odd)), -EBADMSG);
        assert_int_equal(trd_catalog_set_header_page(catalog, "garbage\n", 8), -EBADMSG);
        expect_layout(catalog, false, 8, 16);
        trd_catalog_destroy(catalog);
    }
}

static int add(struct trd_catalog *catalog, const char *system, const char *name, unsigned id)
{
    char text[256];
    int size =
        snprintf(text, sizeof(text), "name: %s\nID: %u\nformat:\n\nprint fmt: \"\"\n", name, id);

    return trd_catalog_add_format(catalog, system, text, (size_t)size);
}

static void test_catalog_finds_schemas_by_id_name_and_index(void **state)
{
    struct trd_catalog *catalog = create(false, 8);
    char name[32], system[32];

    (void)state;
    assert_null(trd_catalog_find_name(catalog, "s0", "e0"));
    for (unsigned i = 0; i < 3000; i++) {
        (void)snprintf(name, sizeof(name), "e%u", i / 3);
        (void)snprintf(system, sizeof(system), "s%u", i % 3);
        assert_int_equal(add(catalog, system, name, 100 + i), 0);
    }
    for (unsigned i = 0; i < 3000; i++) {
        const struct trd_schema *schema = trd_catalog_find(catalog, 100 + i);

        (void)snprintf(name, sizeof(name), "e%u", i / 3);
        (void)snprintf(system, sizeof(system), "s%u", i % 3);
        assert_non_null(schema);
        assert_ptr_equal(schema, trd_catalog_get(catalog, i));
        assert_ptr_equal(schema, trd_catalog_find_name(catalog, system, name));
    }
    assert_string_equal(trd_catalog_find(catalog, 100)->full_name, "s0:e0");
    assert_null(trd_catalog_find(catalog, 99));
    assert_null(trd_catalog_find(catalog, UINT32_MAX));
    assert_null(trd_catalog_get(catalog, 3000));
    assert_null(trd_catalog_find_name(catalog, "s0", "e"));
    trd_catalog_destroy(catalog);
}

static void test_catalog_second_format_with_an_id_is_refused(void **state)
{
    struct trd_catalog *catalog = create(false, 8);

    (void)state;
    assert_int_equal(add(catalog, "a", "first", 7), 0);
    assert_int_equal(add(catalog, "b", "second", 7), -EEXIST);
    assert_string_equal(trd_catalog_find(catalog, 7)->name, "first");
    assert_null(trd_catalog_find_name(catalog, "b", "second"));
    trd_catalog_destroy(catalog);
}

/* lisa#1608: names hold blanks and brackets. */
static void test_catalog_task_names_with_blanks(void **state)
{
    static const char text[] = "12 a b-1 [000]: x\n4194304 last\nbad line\n";
    struct trd_catalog *catalog = create(false, 8);

    (void)state;
    assert_null(trd_catalog_comm(catalog, 12));
    assert_int_equal(trd_catalog_add_cmdlines(catalog, text, strlen(text)), -EBADMSG);
    assert_string_equal(trd_catalog_comm(catalog, 12), "a b-1 [000]: x");
    assert_string_equal(trd_catalog_comm(catalog, 4194304), "last");
    assert_null(trd_catalog_comm(catalog, 13));
    trd_catalog_destroy(catalog);
}

static void test_catalog_symbols_with_their_offset(void **state)
{
    static const char text[] = "ffffffff81000000 T one\nffffffff81000010 T two\n";
    struct trd_catalog *catalog = create(false, 8);
    uint64_t offset = 99;

    (void)state;
    assert_null(trd_catalog_symbol(catalog, 0xffffffff81000004, &offset));
    assert_int_equal(offset, 99);
    assert_int_equal(trd_catalog_add_kallsyms(catalog, text, strlen(text)), 0);
    assert_string_equal(trd_catalog_symbol(catalog, 0xffffffff81000004, &offset), "one");
    assert_int_equal(offset, 4);
    trd_catalog_destroy(catalog);
}

static void test_catalog_bytes_that_are_no_btf_are_refused(void **state)
{
    struct trd_catalog *catalog = create(false, 8);
    static const uint8_t bytes[64] = { 1, 2, 3 };

    (void)state;
    assert_int_equal(trd_catalog_add_btf(catalog, bytes, sizeof(bytes)), -EBADMSG);
    assert_int_equal(trd_catalog_add_btf(catalog, bytes, 0), -EBADMSG);
    trd_catalog_destroy(catalog);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_catalog_layout_follows_the_word_size),
        cmocka_unit_test(test_catalog_header_page_tells_the_kernels_long),
        cmocka_unit_test(test_catalog_header_page_without_sense_leaves_the_default),
        cmocka_unit_test(test_catalog_finds_schemas_by_id_name_and_index),
        cmocka_unit_test(test_catalog_second_format_with_an_id_is_refused),
        cmocka_unit_test(test_catalog_task_names_with_blanks),
        cmocka_unit_test(test_catalog_symbols_with_their_offset),
        cmocka_unit_test(test_catalog_bytes_that_are_no_btf_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
