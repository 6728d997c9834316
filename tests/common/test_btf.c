/* common/btf.c: made BTF of both byte orders, hostile bytes, and this kernel's. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "btf.h"
#include "tracefs_instance.h"

#define BTF_MAX 1024

static bool skipped; /* something this machine lacks */

struct maker {
    uint8_t types[BTF_MAX];
    size_t types_size;
    char strings[BTF_MAX];
    size_t strings_size;
    uint8_t bytes[2 * BTF_MAX + 24];
    size_t size;
    bool big_endian;
};

static void put(struct maker *maker, uint8_t *at, uint32_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        at[maker->big_endian ? size - 1 - i : i] = (uint8_t)(value >> (8 * i));
}

static void word(struct maker *maker, uint32_t value)
{
    put(maker, maker->types + maker->types_size, value, 4);
    maker->types_size += 4;
}

static uint32_t name(struct maker *maker, const char *text)
{
    uint32_t at = (uint32_t)maker->strings_size;

    maker->strings_size += strlen(text) + 1;
    (void)strcpy(maker->strings + at, text);
    return at;
}

static void type(struct maker *maker, const char *text, uint32_t kind, uint32_t vlen, bool flag,
                 uint32_t size_or_type)
{
    word(maker, *text ? name(maker, text) : 0);
    word(maker, kind << 24 | vlen | (uint32_t)flag << 31);
    word(maker, size_or_type);
}

static void finish(struct maker *maker)
{
    const uint32_t header[] = { 24, 0, (uint32_t)maker->types_size, (uint32_t)maker->types_size,
                                (uint32_t)maker->strings_size };

    put(maker, maker->bytes, 0xeb9f, 2);
    maker->bytes[2] = 1;
    for (size_t i = 0; i < 5; i++)
        put(maker, maker->bytes + 4 + 4 * i, header[i], 4);
    memcpy(maker->bytes + 24, maker->types, maker->types_size);
    memcpy(maker->bytes + 24 + maker->types_size, maker->strings, maker->strings_size);
    maker->size = 24 + maker->types_size + maker->strings_size;
}

#define KIND_INT 1
#define KIND_PTR 2
#define KIND_STRUCT 4
#define KIND_ENUM 6
#define KIND_TYPEDEF 8
#define KIND_CONST 10
#define KIND_ENUM64 19

static void make(struct maker *maker, bool big_endian)
{
    memset(maker, 0, sizeof(*maker));
    maker->big_endian = big_endian;
    maker->strings_size = 1;
    type(maker, "int", KIND_INT, 0, false, 4); /* 1 */
    word(maker, 1u << 24 | 32);
    type(maker, "unsigned long", KIND_INT, 0, false, 8); /* 2 */
    word(maker, 64);
    type(maker, "pid_like", KIND_TYPEDEF, 0, false, 4); /* 3 */
    type(maker, "", KIND_CONST, 0, false, 1);           /* 4 */
    type(maker, "pointer_like", KIND_TYPEDEF, 0, false, 6);
    type(maker, "", KIND_PTR, 0, false, 2); /* 6 */
    type(maker, "thing", KIND_STRUCT, 2, false, 16);
    for (int i = 0; i < 6; i++)
        word(maker, 0);
    type(maker, "plain", KIND_ENUM, 3, false, 4);
    word(maker, name(maker, "PLAIN_ONE"));
    word(maker, 1);
    word(maker, name(maker, "PLAIN_TOP"));
    word(maker, 0xffffffff);
    word(maker, name(maker, "TWICE"));
    word(maker, 5);
    type(maker, "with_sign", KIND_ENUM, 1, true, 4);
    word(maker, name(maker, "MINUS_TWO"));
    word(maker, (uint32_t)-2);
    type(maker, "wide", KIND_ENUM64, 2, false, 8);
    word(maker, name(maker, "WIDE_BIT_40"));
    word(maker, 0);
    word(maker, 1u << 8);
    word(maker, name(maker, "TWICE"));
    word(maker, 6);
    word(maker, 0);
    type(maker, "size_like", KIND_TYPEDEF, 0, false, 2);
    type(maker, "loop", KIND_TYPEDEF, 0, false, 12); /* 12: itself */
    finish(maker);
}

static void expect_enumerator(const struct btf *btf, const char *text, int64_t expected)
{
    int64_t value = 0;

    assert_true(btf_enumerator(btf, text, strlen(text), &value));
    assert_int_equal(value, expected);
}

static void test_btf_enumerators_and_typedefs_of_both_byte_orders(void **state)
{
    struct maker maker;
    struct btf *btf;
    uint8_t size;
    bool is_signed;
    int64_t value;

    (void)state;
    for (int big_endian = 0; big_endian < 2; big_endian++) {
        make(&maker, big_endian);
        assert_int_equal(btf_create(&btf, maker.bytes, maker.size), 0);
        expect_enumerator(btf, "PLAIN_ONE", 1);
        expect_enumerator(btf, "PLAIN_TOP", 0xffffffff);
        expect_enumerator(btf, "MINUS_TWO", -2);
        expect_enumerator(btf, "WIDE_BIT_40", 1ll << 40);
        assert_false(btf_enumerator(btf, "PLAIN_ONE_", 10, &value));
        assert_false(btf_enumerator(btf, "PLAIN_ON", 8, &value));
        assert_false(btf_enumerator(btf, "plain", 5, &value));
        assert_true(btf_integer_type(btf, "pid_like", 8, &size, &is_signed));
        assert_int_equal(size, 4);
        assert_true(is_signed);
        assert_true(btf_integer_type(btf, "size_like", 9, &size, &is_signed));
        assert_int_equal(size, 8);
        assert_false(is_signed);
        assert_false(btf_integer_type(btf, "pointer_like", 12, &size, &is_signed));
        assert_false(btf_integer_type(btf, "loop", 4, &size, &is_signed));
        btf_destroy(btf);
    }
}

/* Two files of the kernel may use one name; which one an event means nobody can tell. */
static void test_btf_name_with_two_values_has_none(void **state)
{
    struct maker maker;
    struct btf *btf;
    int64_t value;

    (void)state;
    make(&maker, false);
    assert_int_equal(btf_create(&btf, maker.bytes, maker.size), 0);
    assert_false(btf_enumerator(btf, "TWICE", 5, &value));
    assert_int_equal(btf_enumerator_count(btf), 4);
    btf_destroy(btf);
}

/* Every prefix, and every byte turned: an error or a table, never more. */
static void test_btf_damaged_bytes_do_no_harm(void **state)
{
    struct maker maker;
    struct btf *btf;

    (void)state;
    make(&maker, false);
    for (size_t size = 0; size < maker.size; size++) {
        uint8_t *copy = malloc(size + 1);

        memcpy(copy, maker.bytes, size);
        assert_int_equal(btf_create(&btf, copy, size), -EBADMSG);
        free(copy);
    }
    for (size_t at = 0; at < maker.size; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            maker.bytes[at] ^= (uint8_t)(1u << bit);
            if (btf_create(&btf, maker.bytes, maker.size) == 0) {
                (void)btf_enumerator_count(btf);
                btf_destroy(btf);
            }
            maker.bytes[at] ^= (uint8_t)(1u << bit);
        }
}

/* Values that user space knows as well: TCP states, signals' and clocks' numbers never change. */
static void test_btf_of_this_kernel_knows_what_headers_know(void **state)
{
    size_t size;
    char *bytes = read_whole("/sys/kernel/btf/vmlinux", &size);
    struct btf *btf;
    uint8_t type_size;
    bool is_signed;

    (void)state;
    if (!bytes) {
        printf("SKIP: /sys/kernel/btf/vmlinux\n");
        skipped = true;
        return;
    }
    assert_int_equal(btf_create(&btf, (const uint8_t *)bytes, size), 0);
    assert_true(btf_enumerator_count(btf) > 10000);
    expect_enumerator(btf, "TCP_ESTABLISHED", 1);
    expect_enumerator(btf, "TCP_LISTEN", 10);
    expect_enumerator(btf, "HRTIMER_MODE_ABS", 0);
    expect_enumerator(btf, "HRTIMER_MODE_REL", 1);
    expect_enumerator(btf, "HI_SOFTIRQ", 0);
    expect_enumerator(btf, "TIMER_SOFTIRQ", 1);
    assert_true(btf_integer_type(btf, "pid_t", 5, &type_size, &is_signed));
    assert_int_equal(type_size, 4);
    assert_true(is_signed);
    btf_destroy(btf);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_btf_enumerators_and_typedefs_of_both_byte_orders),
        cmocka_unit_test(test_btf_name_with_two_values_has_none),
        cmocka_unit_test(test_btf_damaged_bytes_do_no_harm),
        cmocka_unit_test(test_btf_of_this_kernel_knows_what_headers_know),
    };

    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    return failed == 0 && skipped ? tracefs_skip_code() : failed;
}
