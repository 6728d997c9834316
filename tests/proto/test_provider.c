/* Lists of providers as people write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "provider.h"

static const struct {
    const char *text;
    const char *name; /* NULL: refused */
    uint64_t keywords;
    uint32_t level;
} cases[] = {
    { "System.Net.Http", "System.Net.Http", UINT64_MAX, 5 },
    { "A:", "A", UINT64_MAX, 5 },
    { "A:8", "A", 8, 5 },
    { "A:0x4C14fcCBD:5", "A", 0x4c14fccbd, 5 },
    { "A::4", "A", UINT64_MAX, 4 },
    { "A:0:0", "A", 0, 0 },
    { "A:ffffffffffffffff:1", "A", UINT64_MAX, 1 },
    { "\xc3\xa4", "\xc3\xa4", UINT64_MAX, 5 },
    { ":1:2", NULL, 0, 0 },
    { ",A", NULL, 0, 0 },
    { "A:g", NULL, 0, 0 },
    { "A:0x", NULL, 0, 0 },
    { "A:1:6", NULL, 0, 0 },
    { "A:1:", NULL, 0, 0 },
    { "A:1:44", NULL, 0, 0 },
    { "A:1:4:filter", NULL, 0, 0 },
    { "A:1ffffffffffffffff", NULL, 0, 0 },
};

static void test_provider_is_taken_or_refused_as_a_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct trd_provider provider = { 0 };
        const char *list = cases[i].text;
        size_t size = strlen(list);
        int result = trd_provider_next(&list, &size, &provider);

        if (result != (cases[i].name ? 1 : -EINVAL))
            fail_msg("%s: %d", cases[i].text, result);
        if (result != 1) {
            assert_ptr_equal(list, cases[i].text);
            assert_null(provider.name);
            continue;
        }
        assert_int_equal(provider.name_size, strlen(cases[i].name));
        assert_memory_equal(provider.name, cases[i].name, provider.name_size);
        assert_true(provider.keywords == cases[i].keywords);
        assert_int_equal(provider.level, cases[i].level);
        assert_int_equal(trd_provider_next(&list, &size, &provider), 0);
    }
}

static void test_list_gives_its_providers_in_order(void **state)
{
    const char *list = "One,Two:2,Three:3:3";
    size_t size = strlen(list);
    struct trd_provider provider;

    (void)state;
    for (uint64_t i = 1; i <= 3; i++) {
        assert_int_equal(trd_provider_next(&list, &size, &provider), 1);
        assert_true(provider.keywords == (i == 1 ? UINT64_MAX : i));
    }
    assert_int_equal(provider.level, 3);
    assert_int_equal(trd_provider_next(&list, &size, &provider), 0);
}

static void test_name_longer_than_the_limit_is_refused(void **state)
{
    char text[TRD_PROVIDER_NAME_MAX + 1];
    const char *list = text;
    struct trd_provider provider;
    size_t size = sizeof(text);

    (void)state;
    memset(text, 'n', sizeof(text));
    assert_int_equal(trd_provider_next(&list, &size, &provider), -EINVAL);
    size--;
    assert_int_equal(trd_provider_next(&list, &size, &provider), 1);
    assert_int_equal(provider.name_size, TRD_PROVIDER_NAME_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_provider_is_taken_or_refused_as_a_whole),
        cmocka_unit_test(test_list_gives_its_providers_in_order),
        cmocka_unit_test(test_name_longer_than_the_limit_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
