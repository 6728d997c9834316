/* Lines as the kernel writes them, and this very process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "clr_maps.h"

static void
test_maps_managed_code_lies_in_anonymous_memory_the_double_mapping_and_images(void **state)
{
    static const char *const managed[] = {
        "7f0000001000-7f0000002000 r-xp 00000000 00:00 0 \n",
        "7f0000001000-7f0000002000 rwxp 00000000 00:00 0 \n",
        "7f0000001000-7f0000002000 r-xs 00010000 00:01 2052   /memfd:doublemapper (deleted)\n",
        "7f0000001000-7f0000002000 r-xp 00001000 fe:00 77     /usr/lib/my app/System.Private.CoreLib.dll\n",
    };
    struct clr_range range;

    (void)state;
    for (size_t i = 0; i < sizeof(managed) / sizeof(managed[0]); i++) {
        assert_true(clr_maps_parse(managed[i], &range));
        assert_int_equal(range.from, 0x7f0000001000);
        assert_int_equal(range.to, 0x7f0000002000);
    }
}

static void test_maps_native_code_and_data_are_left_out(void **state)
{
    static const char *const others[] = {
        "7f0000001000-7f0000002000 r-xp 00001000 fe:00 77     /usr/lib/libc.so.6\n",
        "7f0000001000-7f0000002000 r--p 00001000 fe:00 77     /usr/lib/System.Private.CoreLib.dll\n",
        "7f0000001000-7f0000002000 rw-p 00000000 00:00 0 \n",
        "7fff00001000-7fff00002000 r-xp 00000000 00:00 0      [vdso]\n",
        "7f0000001000-7f0000002000 rw-s 00010000 00:01 2052   /memfd:doublemapper (deleted)\n",
        "7f0000001000 r-xp\n",
        "",
        "\n",
    };
    struct clr_range range;

    (void)state;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(clr_maps_parse(others[i], &range));
}

static void test_maps_of_a_process_hold_what_it_maps(void **state)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *code = mmap(NULL, 4 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct clr_maps maps = { 0 };
    uint64_t at = (uintptr_t)code;

    (void)state;
    assert_true(code != MAP_FAILED);
    assert_int_equal(mprotect(code + page, page, PROT_READ | PROT_EXEC), 0);
    clr_maps_read(&maps, getpid(), 5);
    assert_int_equal(maps.read_ns, 5);
    assert_false(clr_maps_has(&maps, at + page - 1));
    assert_true(clr_maps_has(&maps, at + page));
    assert_true(clr_maps_has(&maps, at + 2 * page - 1));
    assert_false(clr_maps_has(&maps, at + 2 * page));
    assert_false(clr_maps_has(&maps, (uintptr_t)clr_maps_read)); /* of a program */
    assert_false(clr_maps_has(&maps, 0));
    assert_false(clr_maps_has(&maps, UINT64_MAX));
    clr_maps_read(&maps, -1, 6); /* nobody */
    assert_false(clr_maps_has(&maps, at + page));
    clr_maps_finish(&maps);
    munmap(code, 4 * page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_maps_managed_code_lies_in_anonymous_memory_the_double_mapping_and_images),
        cmocka_unit_test(test_maps_native_code_and_data_are_left_out),
        cmocka_unit_test(test_maps_of_a_process_hold_what_it_maps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
