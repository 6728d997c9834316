/* Names read out of a loaded image: tests/data/metadata/sample.dll, whose source lies beside it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fake_info.h"
#include "metadata_image.h"
#include "metadata_tables.h"
#include "names.h"
#include "names_known.h"

#define METHOD_ADDED 0x06000063u

static uint8_t *image;
static size_t image_size;

static int read_image(void **state)
{
    FILE *file = fopen(TRD_TEST_DATA "/sample.dll", "rb");

    (void)state;
    assert_non_null(file);
    image = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(image, MAP_FAILED);
    image_size = fread(image, 1, 1 << 16, file);
    fclose(file);
    return image_size > 0 ? 0 : -1;
}

static void new_runtime(void)
{
    (void)fake_reset();
    names_forget();
    fake.image = image;
}

static void check_name(mdToken method, const char *expected)
{
    struct method_name name;

    fake.method_token = method;
    names_method(fake_info(), 1, &name);
    assert_int_equal(name.size, strlen(expected));
    assert_memory_equal(name.text, expected, name.size);
    assert_int_equal(fake.refs_out, 0);
}

static void test_names_in_an_image_are_read_without_opening_its_metadata(void **state)
{
    (void)state;
    new_runtime();
    check_name(0x06000001, "Space.Empty..ctor");
    check_name(0x06000003, "Space.Outer<T>..ctor");
    check_name(0x06000004, "Space.Outer<T>+Inner.Größe");
    check_name(0x06000005, "Space.Outer<T>+Inner.Plain");
    check_name(0x06000007, "Space.Outer<T>.WaitAsync");
    assert_int_equal(fake.metadata_opened, 0);
}

static void test_method_that_was_added_later_is_asked_for(void **state)
{
    (void)state;
    new_runtime();
    fake.method_type = 0x02000063;
    fake.method = "Added";
    check_name(METHOD_ADDED, "Space.Other.Added");
    assert_true(fake.metadata_opened > 0);
}

static void test_memory_that_is_no_image_is_not_read(void **state)
{
    uint8_t *hole = mmap(NULL, 1 << 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    munmap(hole, 1 << 16);
    new_runtime();
    fake.image = hole;
    check_name(FAKE_METHOD_TOKEN, FAKE_METHOD_NAME);
    assert_true(fake.metadata_opened > 0);
}

static void test_image_of_a_module_that_is_gone_is_not_looked_at(void **state)
{
    (void)state;
    new_runtime();
    check_name(0x06000001, "Space.Empty..ctor");
    names_forget();
    fake.image = NULL;
    check_name(FAKE_METHOD_TOKEN, FAKE_METHOD_NAME);
}

static void walk(const struct metadata_tables *tables)
{
    struct metadata_text space, name;
    uint32_t other;
    bool nested;

    for (uint32_t row = 0; row < 20; row++) {
        (void)metadata_tables_type(tables, row, &nested, &space, &name);
        (void)metadata_tables_method(tables, row, &other, &name);
        (void)metadata_tables_field(tables, row, &name);
        (void)metadata_tables_enclosing(tables, row, &other);
        (void)metadata_tables_has_method(tables, row, "SetStateMachine");
        (void)metadata_tables_parameter(tables, row & 1, row, 0, &name);
    }
}

static size_t find_metadata(const uint8_t **out)
{
    size_t cor, root, size;

    assert_true(metadata_image_cor(image, true, &cor));
    assert_true(metadata_image_root(image, true, image + cor, &root, &size));
    assert_true(root + size <= image_size);
    *out = image + root;
    return size;
}

/* Each in memory of its own size, so that a sanitizer sees a step over the end. */
static void test_every_cut_and_every_changed_byte_is_survived(void **state)
{
    struct metadata_tables tables;
    const uint8_t *metadata;
    size_t size = find_metadata(&metadata), refused = 0;

    (void)state;
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *bytes = malloc(cut + 1);

        memcpy(bytes, metadata, cut);
        if (metadata_tables_parse(bytes, cut, &tables))
            walk(&tables);
        else
            refused++;
        free(bytes);
    }
    assert_true(refused > 100);
    for (size_t at = 0; at < size; at++) {
        uint8_t *bytes = malloc(size);

        memcpy(bytes, metadata, size);
        bytes[at] ^= 0xff;
        if (metadata_tables_parse(bytes, size, &tables))
            walk(&tables);
        free(bytes);
    }
}

static void test_headers_with_a_changed_byte_lead_nowhere_else(void **state)
{
    uint8_t head[METADATA_IMAGE_HEAD];
    size_t cor, root, size;

    (void)state;
    for (size_t at = 0; at < 0x200; at++) {
        memcpy(head, image, sizeof(head));
        head[at] ^= 0xff;
        if (metadata_image_cor(head, false, &cor))
            (void)metadata_image_root(head, false, head + 0x100, &root, &size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_in_an_image_are_read_without_opening_its_metadata),
        cmocka_unit_test(test_method_that_was_added_later_is_asked_for),
        cmocka_unit_test(test_memory_that_is_no_image_is_not_read),
        cmocka_unit_test(test_image_of_a_module_that_is_gone_is_not_looked_at),
        cmocka_unit_test(test_every_cut_and_every_changed_byte_is_survived),
        cmocka_unit_test(test_headers_with_a_changed_byte_lead_nowhere_else),
    };

    return cmocka_run_group_tests(tests, read_image, NULL);
}
