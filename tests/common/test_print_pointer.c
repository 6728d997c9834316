/* common/print_pointer.c, print_bytes.c: `%p` and its extensions, with the C library as oracle. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format_maker.h"

static struct made made;

/* `extension` of bytes that the record holds as an array. */
static void expect_bytes(const char *extension, const void *bytes, size_t size, const char *text)
{
    char fields[128], print[128];

    (void)snprintf(fields, sizeof(fields), "u8 x[%zu];offset:8;size:%zu;signed:0;", size, size);
    (void)snprintf(print, sizeof(print), "\"%%%s\", %sREC->x", extension,
                   *extension == '*' ? "(int)sizeof(REC->x), " : "");
    made_init(&made, false, 8);
    made_add(&made, fields, print);
    assert_null(made.schema->print_error);
    made_put(&made, bytes, size);
    assert_string_equal(made_text(&made), text);
    made_finish(&made);
}

static void test_pointer_hardware_addresses(void **state)
{
    static const uint8_t mac[] = { 0x00, 0x1b, 0x21, 0xab, 0xcd, 0xef };

    (void)state;
    expect_bytes("pM", mac, 6, "00:1b:21:ab:cd:ef");
    expect_bytes("pMF", mac, 6, "00-1b-21-ab-cd-ef");
    expect_bytes("pMR", mac, 6, "ef:cd:ab:21:1b:00");
    expect_bytes("pm", mac, 6, "001b21abcdef");
}

static void test_pointer_ipv4_addresses(void **state)
{
    static const uint8_t address[] = { 127, 0, 10, 1 };

    (void)state;
    expect_bytes("pI4", address, 4, "127.0.10.1");
    expect_bytes("pi4", address, 4, "127.000.010.001");
    expect_bytes("pI4l", address, 4, "1.10.0.127");
}

/* inet_ntop shortens by the same rules, RFC 5952. */
static void test_pointer_ipv6_addresses_as_inet_ntop_writes_them(void **state)
{
    static const uint8_t mapped[16] = { [10] = 0xff, [11] = 0xff, 192, 168, 1, 2 };
    uint8_t address[16];
    char expected[INET6_ADDRSTRLEN];

    (void)state;
    srand(7);
    for (int round = 0; round < 2000; round++) {
        for (int i = 0; i < 16; i += 2) {
            address[i] = rand() % 3 ? 0 : (uint8_t)rand();
            address[i + 1] = rand() % 2 ? 0 : (uint8_t)rand();
        }
        address[0] |= 0x20; /* neither ::1.2.3.4 nor mapped, which C writes as IPv4 */
        assert_non_null(inet_ntop(AF_INET6, address, expected, sizeof(expected)));
        expect_bytes("pI6c", address, 16, expected);
    }
    expect_bytes("pI6c", mapped, 16, "::ffff:192.168.1.2");
    memset(address, 0, sizeof(address));
    expect_bytes("pI6c", address, 16, "::");
    address[15] = 1;
    expect_bytes("pI6", address, 16, "0000:0000:0000:0000:0000:0000:0000:0001");
    expect_bytes("pi6", address, 16, "00000000000000000000000000000001");
}

static void test_pointer_socket_addresses_by_family(void **state)
{
    static const uint8_t four[16] = { 2, 0, 0x1f, 0x90, 10, 0, 0, 1 };
    static const uint8_t six[28] = { 10, 0, 0x01, 0xbb, [8] = 0x20, 0x01, [23] = 1, [24] = 3 };
    static const uint8_t other[16] = { 1, 0, '/', 't' };

    (void)state;
    expect_bytes("pIS", four, 16, "10.0.0.1");
    expect_bytes("pISp", four, 16, "10.0.0.1:8080");
    expect_bytes("pISpc", six, 28, "[2001::1]:443");
    expect_bytes("pISc", six, 28, "2001::1");
    expect_bytes("pISpsc", six, 28, "[2001::1]:443%3");
    expect_bytes("pISpc", other, 16, "(einval)");
    expect_bytes("pISpc", four, 4, "(einval)"); /* too short for its family */
}

static void test_pointer_uuids_in_both_orders_and_cases(void **state)
{
    static const uint8_t id[16] = { 0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                                    0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff };

    (void)state;
    expect_bytes("pU", id, 16, "00112233-4455-6677-8899-aabbccddeeff");
    expect_bytes("pUb", id, 16, "00112233-4455-6677-8899-aabbccddeeff");
    expect_bytes("pUB", id, 16, "00112233-4455-6677-8899-AABBCCDDEEFF");
    expect_bytes("pUl", id, 16, "33221100-5544-7766-8899-aabbccddeeff");
    expect_bytes("pUL", id, 16, "33221100-5544-7766-8899-AABBCCDDEEFF");
}

static void test_pointer_hex_strings(void **state)
{
    (void)state;
    expect_bytes("*ph", "\x01\xab\xff", 3, "01 ab ff");
    expect_bytes("*phC", "\x01\xab\xff", 3, "01:ab:ff");
    expect_bytes("*phD", "\x01\xab\xff", 3, "01-ab-ff");
    expect_bytes("*phN", "\x01\xab\xff", 3, "01abff");
}

static void expect_bits(bool big_endian, uint8_t long_size, const char *print, const char *text)
{
    made_init(&made, big_endian, long_size);
    made_add(&made, "unsigned long x[2];offset:8;size:16;signed:0;", print);
    made_put_int(&made, 0x13, long_size); /* bits 0, 1, 4 */
    made_put_int(&made, 0x5, long_size);
    made_put_int(&made, 0, 16);
    assert_string_equal(made_text(&made), text);
    made_finish(&made);
}

static void test_pointer_bitmaps_are_longs_of_the_recording_machine(void **state)
{
    (void)state;
    expect_bits(false, 8, "\"%*pb\", 40, REC->x", "00,00000013");
    expect_bits(true, 8, "\"%*pb\", 40, REC->x", "00,00000013");
    expect_bits(false, 4, "\"%*pb\", 36, REC->x", "5,00000013");
    expect_bits(true, 4, "\"%*pb\", 36, REC->x", "5,00000013");
    expect_bits(true, 8, "\"%*pbl\", 128, REC->x", "0-1,4,64,66");
    expect_bits(false, 4, "\"%*pbl\", 64, REC->x", "0-1,4,32,34");
    expect_bits(false, 8, "\"%*pb|%*pbl\", 0, REC->x, 0, REC->x", "|");
    expect_bits(false, 8, "\"%*pbl\", 4096, REC->x", "<record too short>");
}

static void test_pointer_symbols_with_offset_size_and_module(void **state)
{
    static const char symbols[] = "ffffffff81000000 T first\nffffffff81000010 t second\n"
                                  "ffffffffc0000000 t in_module\t[mod]\n"
                                  "ffffffffc0000040 t behind\t[mod]\n";
    static const struct {
        const char *extension;
        uint64_t address;
        const char *text;
    } cases[] = {
        { "pS", 0xffffffff81000004, "first+0x4/0x10" },
        { "ps", 0xffffffff81000004, "first" },
        { "pF", 0xffffffff81000000, "first+0x0/0x10" },
        { "pS", 0xffffffffc0000008, "in_module+0x8/0x40 [mod]" },
        { "ps", 0xffffffffc0000008, "in_module [mod]" },
        { "pB", 0xffffffff81000010, "first+0x10/0x10" },
        { "pS", 0x1234, "0x1234" },
        { "p", 0xffff888100001000, "ffff888100001000" },
        { "px", 0x1234, "0000000000001234" },
        { "pK", 0, "0000000000000000" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char print[64];

        (void)snprintf(print, sizeof(print), "\"%%%s\", (void *)REC->x", cases[i].extension);
        made_init(&made, false, 8);
        assert_int_equal(trd_catalog_add_kallsyms(made.catalog, symbols, strlen(symbols)), 0);
        made_add(&made, "u64 x;offset:8;size:8;signed:0;", print);
        made_put_int(&made, cases[i].address, 8);
        assert_string_equal(made_text(&made), cases[i].text);
        made_finish(&made);
    }
}

static void test_pointer_to_memory_that_is_not_recorded(void **state)
{
    (void)state;
    assert_string_equal(made_print(&made, "\"%pM %pI4\", (void *)REC->b, (void *)0", 0, 0x1234),
                        "<known to the kernel only> (null)");
    expect_bytes("pI6c", "\x20\x01\x0d\xb8", 4, "<record too short>");
}

static void test_pointer_is_as_wide_as_the_recording_machines(void **state)
{
    (void)state;
    made_init(&made, false, 4);
    made_add(&made, "void * x;offset:8;size:4;signed:0;", "\"%p\", REC->x");
    made_put_int(&made, 0xc0001000, 4);
    assert_string_equal(made_text(&made), "c0001000");
    made_finish(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pointer_hardware_addresses),
        cmocka_unit_test(test_pointer_ipv4_addresses),
        cmocka_unit_test(test_pointer_ipv6_addresses_as_inet_ntop_writes_them),
        cmocka_unit_test(test_pointer_socket_addresses_by_family),
        cmocka_unit_test(test_pointer_uuids_in_both_orders_and_cases),
        cmocka_unit_test(test_pointer_hex_strings),
        cmocka_unit_test(test_pointer_bitmaps_are_longs_of_the_recording_machine),
        cmocka_unit_test(test_pointer_symbols_with_offset_size_and_module),
        cmocka_unit_test(test_pointer_to_memory_that_is_not_recorded),
        cmocka_unit_test(test_pointer_is_as_wide_as_the_recording_machines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
