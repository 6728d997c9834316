/* ELF files: this program against what its own loader knows, and every prefix of it against a
 * crash. */
#include <errno.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "elf_file.h"
#include "tracefs_linux.h"

static void test_own_program_is_told_as_the_loader_knows_it(void **state)
{
    struct elf_image image;
    int libc = 0;

    (void)state;
    assert_int_equal(elf_open(&image, "/proc/self/exe"), 0);
    assert_int_equal(image.facts.bits, sizeof(void *) * 8);
#if defined(__x86_64__)
    assert_int_equal(image.facts.machine, EM_X86_64);
#elif defined(__aarch64__)
    assert_int_equal(image.facts.machine, EM_AARCH64);
#endif
    for (size_t i = 0; i < image.facts.needed_count; i++)
        libc += strcmp(image.facts.needed[i], "libc.so.6") == 0;
    assert_int_equal(libc, 1);
    assert_true(image.facts.glibc_major >= 2);
    assert_true(elf_has_name(&image.facts, "__libc_start_main"));
    assert_false(elf_has_name(&image.facts, "no_such_name_anywhere"));
    elf_close(&image);
}

static int find_libc(struct dl_phdr_info *info, size_t size, void *out)
{
    (void)size;
    if (strstr(info->dlpi_name, "/libc.so.6"))
        (void)snprintf(out, 512, "%s", info->dlpi_name);
    return 0;
}

static void test_libc_offers_no_less_than_the_program_needs(void **state)
{
    struct elf_image own, libc;
    char path[512] = "";

    (void)state;
    (void)dl_iterate_phdr(find_libc, path);
    assert_int_equal(elf_open(&own, "/proc/self/exe"), 0);
    assert_int_equal(elf_open(&libc, path), 0);
    assert_int_equal(libc.facts.glibc_major, __GLIBC__);
    assert_int_equal(libc.facts.glibc_minor, __GLIBC_MINOR__);
    assert_true(own.facts.glibc_minor <= libc.facts.glibc_minor);
    elf_close(&own);
    elf_close(&libc);
}

/* Each prefix in memory of exactly its size, for the sanitizer. */
static void test_cut_and_damaged_files_are_refused_or_read_within_bounds(void **state)
{
    size_t size;
    char *whole = read_whole_file("/proc/self/exe", &size);
    struct elf_facts facts;

    (void)state;
    assert_non_null(whole);
    for (size_t cut = 0; cut < size; cut += cut < 1024 ? 1 : 997) {
        char *part = malloc(cut ? cut : 1);

        memcpy(part, whole, cut);
        (void)elf_parse(part, cut, &facts);
        if (cut < sizeof(Elf64_Ehdr))
            assert_int_equal(elf_parse(part, cut, &facts), -EBADMSG);
        free(part);
    }
    for (size_t at = 0; at < 1024; at++)
        for (int bits = 1; bits < 256; bits = bits * 3 + 1) {
            whole[at] ^= (char)bits;
            if (elf_parse(whole, size, &facts) == 0)
                (void)elf_has_name(&facts, "x");
            whole[at] ^= (char)bits;
        }
    free(whole);
}

static void test_what_is_no_file_or_no_elf_is_refused(void **state)
{
    struct elf_image image;

    (void)state;
    assert_int_equal(elf_open(&image, "/nowhere"), -ENOENT);
    assert_int_equal(elf_open(&image, "/tmp"), -EBADMSG);
    assert_int_equal(elf_open(&image, "/dev/null"), -EBADMSG);
    assert_int_equal(elf_open(&image, "/etc/passwd"), -EBADMSG);
    assert_null(image.bytes);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_program_is_told_as_the_loader_knows_it),
        cmocka_unit_test(test_libc_offers_no_less_than_the_program_needs),
        cmocka_unit_test(test_cut_and_damaged_files_are_refused_or_read_within_bounds),
        cmocka_unit_test(test_what_is_no_file_or_no_elf_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
