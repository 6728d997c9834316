/* What the rings may take, as people say it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>

#include "buffer.h"

#define K (1u << 10)
#define M (1u << 20)

static void test_buffer_is_total_and_what_a_thread_may_take_of_it(void **state)
{
    static const struct {
        const char *text;
        uint32_t total_bytes, ring_bytes;
    } cases[] = {
        { "8M/1M", 8 * M, 1 * M },
        { "8M", 8 * M, 1 * M },
        { "64M/16M", 64 * M, 16 * M },
        { "1G", 1u << 30, 16 * M },
        { "64K", 64 * K, 16 * K },
        { "65536/16384", 64 * K, 16 * K },
        { "100M/64K", 100 * M, 64 * K },
        { "7M", 7 * M, 512 * K },
        { "1024M/16384K", 1u << 30, 16 * M },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct trd_buffer buffer = { 0 };

        if (trd_buffer_parse(cases[i].text, &buffer) != 0)
            fail_msg("refused: %s", cases[i].text);
        assert_int_equal(buffer.total_bytes, cases[i].total_bytes);
        assert_int_equal(buffer.ring_bytes, cases[i].ring_bytes);
        assert_true(trd_buffer_is_sound(&buffer));
    }
}

static void test_buffer_that_cannot_be_is_refused(void **state)
{
    static const char *const cases[] = {
        "",
        "0",
        "/",
        "8M/",
        "8M/0",
        "8M/1M/1M",
        "8m",
        "8MB",
        "8M/64k",
        "8M 1M",
        " 8M",
        "-8M",
        "+8M",
        "8M/-1M",
        "8M/4M",
        "63K",
        "63K/16K",
        "8M/8K",
        "8M/100K",
        "1G/32M",
        "2G",
        "1025M",
        "4294967296/16K",
        "18446744073709551616/16K",
        "8T",
        "0x800000",
    };
    struct trd_buffer buffer = { 1, 2 };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (trd_buffer_parse(cases[i], &buffer) != -EINVAL)
            fail_msg("accepted: \"%s\"", cases[i]);
    assert_int_equal(buffer.total_bytes, 1);
    assert_int_equal(buffer.ring_bytes, 2);
}

static void test_buffer_on_the_wire_says_all_or_nothing(void **state)
{
    const struct trd_buffer nothing = { 0 }, no_ring = { 8 * M, 0 }, no_total = { 0, 1 * M };

    (void)state;
    assert_true(trd_buffer_is_sound(&nothing));
    assert_false(trd_buffer_is_sound(&no_ring));
    assert_false(trd_buffer_is_sound(&no_total));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buffer_is_total_and_what_a_thread_may_take_of_it),
        cmocka_unit_test(test_buffer_that_cannot_be_is_refused),
        cmocka_unit_test(test_buffer_on_the_wire_says_all_or_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
