/* Client data of the attach command: unaligned, of any claimed length, from anybody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach.h"

static const struct trd_buffer buffer = { 8 << 20, 1 << 20 };

static void test_attach_data_comes_back_from_any_alignment(void **state)
{
    uint8_t bytes[TRD_ATTACH_SIZE_MAX + 8];
    char path[TRD_SOCKET_PATH_MAX];
    struct trd_attach read;

    (void)state;
    for (size_t shift = 0; shift < 8; shift++) {
        int size = trd_attach_encode("/run/x/profiler.sock", 0x15, &buffer, bytes + shift);

        assert_true(size > 0);
        assert_int_equal(trd_attach_decode(bytes + shift, (size_t)size, &read, path), 0);
        assert_string_equal(path, "/run/x/profiler.sock");
        assert_int_equal(read.categories, 0x15);
        assert_memory_equal(&read.buffer, &buffer, sizeof(buffer));
    }
}

/* The runtime may claim more than was sent: the length inside decides. */
static void test_attach_data_with_more_behind_it_is_read(void **state)
{
    uint8_t bytes[2 * TRD_ATTACH_SIZE_MAX] = { 0 };
    char path[TRD_SOCKET_PATH_MAX];
    struct trd_attach read;

    (void)state;
    assert_true(trd_attach_encode("/s", 1, &buffer, bytes) > 0);
    assert_int_equal(trd_attach_decode(bytes, sizeof(bytes), &read, path), 0);
    assert_string_equal(path, "/s");
}

static void test_attach_data_cut_anywhere_is_refused(void **state)
{
    uint8_t bytes[TRD_ATTACH_SIZE_MAX];
    int size = trd_attach_encode("/run/tracerd/profiler.sock", 1, &buffer, bytes);
    char path[TRD_SOCKET_PATH_MAX];
    struct trd_attach read;

    (void)state;
    for (int cut = 0; cut < size; cut++) {
        uint8_t *copy = malloc(cut ? (size_t)cut : 1);

        assert_non_null(copy);
        memcpy(copy, bytes, (size_t)cut);
        assert_int_equal(trd_attach_decode(copy, (size_t)cut, &read, path), -EBADMSG);
        free(copy);
    }
}

static int decode_with(void (*change)(struct trd_attach *attach, char *path))
{
    uint8_t bytes[TRD_ATTACH_SIZE_MAX + 64] = { 0 };
    char path[TRD_SOCKET_PATH_MAX];
    struct trd_attach attach;
    struct trd_attach read;

    assert_true(trd_attach_encode("/run/tracerd/profiler.sock", 1, &buffer, bytes) > 0);
    memcpy(&attach, bytes, sizeof(attach));
    change(&attach, (char *)bytes + sizeof(attach));
    memcpy(bytes, &attach, sizeof(attach));
    return trd_attach_decode(bytes, sizeof(bytes), &read, path);
}

static void leave(struct trd_attach *attach, char *path)
{
    (void)attach;
    (void)path;
}

static void change_magic(struct trd_attach *attach, char *path)
{
    (void)path;
    attach->magic ^= 1;
}

static void change_version(struct trd_attach *attach, char *path)
{
    (void)path;
    attach->version++;
}

static void ask_for_a_small_ring(struct trd_attach *attach, char *path)
{
    (void)path;
    attach->buffer.ring_bytes = TRD_RING_SIZE_MIN / 2;
}

static void have_no_path(struct trd_attach *attach, char *path)
{
    (void)path;
    attach->size = sizeof(*attach);
}

static void claim_everything(struct trd_attach *attach, char *path)
{
    (void)path;
    attach->size = 0xffff;
}

static void end_early(struct trd_attach *attach, char *path)
{
    (void)attach;
    path[4] = '\0';
}

static void never_end(struct trd_attach *attach, char *path)
{
    memset(path, 'x', TRD_SOCKET_PATH_MAX);
    attach->size = TRD_ATTACH_SIZE_MAX;
}

static void test_attach_data_that_nobody_encodes_is_refused(void **state)
{
    (void)state;
    assert_int_equal(decode_with(leave), 0);
    assert_int_equal(decode_with(change_magic), -EBADMSG);
    assert_int_equal(decode_with(change_version), -EBADMSG);
    assert_int_equal(decode_with(ask_for_a_small_ring), -EBADMSG);
    assert_int_equal(decode_with(have_no_path), -EBADMSG);
    assert_int_equal(decode_with(claim_everything), -EBADMSG);
    assert_int_equal(decode_with(end_early), -EBADMSG);
    assert_int_equal(decode_with(never_end), -EBADMSG);
}

static void test_attach_path_fits_exactly_or_is_refused(void **state)
{
    uint8_t bytes[TRD_ATTACH_SIZE_MAX];
    char longest[TRD_SOCKET_PATH_MAX + 1], path[TRD_SOCKET_PATH_MAX];
    struct trd_attach read;
    int size;

    (void)state;
    memset(longest, 'p', sizeof(longest));
    longest[TRD_SOCKET_PATH_MAX] = '\0';
    assert_int_equal(trd_attach_encode(longest, 1, &buffer, bytes), -ENAMETOOLONG);
    longest[TRD_SOCKET_PATH_MAX - 1] = '\0';
    size = trd_attach_encode(longest, 1, &buffer, bytes);
    assert_int_equal(size, (int)TRD_ATTACH_SIZE_MAX);
    assert_int_equal(trd_attach_decode(bytes, (size_t)size, &read, path), 0);
    assert_string_equal(path, longest);
}

static void check_class(const uint8_t *bytes, const char *text)
{
    char made[64];

    /* A GUID's first three parts are little-endian numbers, the rest are bytes. */
    snprintf(made, sizeof(made),
             "{%02X%02X%02X%02X-%02X%02X-%02X%02X-%02X%02X-%02X%02X%02X%02X%02X%02X}", bytes[3],
             bytes[2], bytes[1], bytes[0], bytes[5], bytes[4], bytes[7], bytes[6], bytes[8],
             bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]);
    assert_string_equal(made, text);
}

static void test_class_ids_are_the_same_as_text_and_bytes(void **state)
{
    static const uint8_t main_class[] = TRD_CLSID_MAIN_BYTES;
    static const uint8_t notification_class[] = TRD_CLSID_NOTIFICATION_BYTES;

    (void)state;
    check_class(main_class, TRD_CLSID_MAIN_TEXT);
    check_class(notification_class, TRD_CLSID_NOTIFICATION_TEXT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attach_data_comes_back_from_any_alignment),
        cmocka_unit_test(test_attach_data_with_more_behind_it_is_read),
        cmocka_unit_test(test_attach_data_cut_anywhere_is_refused),
        cmocka_unit_test(test_attach_data_that_nobody_encodes_is_refused),
        cmocka_unit_test(test_attach_path_fits_exactly_or_is_refused),
        cmocka_unit_test(test_class_ids_are_the_same_as_text_and_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
