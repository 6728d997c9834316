/* What doctor decides from text: paths of runtimes and C libraries, mappings, status lines. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "doctor_dotnet.h"
#include "dotnet_ipc.h"
#include "target_linux.h"

static void test_version_is_the_last_part_that_looks_like_one(void **state)
{
    static const struct {
        const char *path, *version;
    } cases[] = {
        { "/usr/share/dotnet/shared/Microsoft.NETCore.App/8.0.34", "8.0.34" },
        { "/p/microsoft.netcore.app.runtime.linux-x64/9.0.23/runtimes/linux-x64/native", "9.0.23" },
        { "/1.2.3/shared/10.0.0-rc.1.25451.107/x", "10.0.0-rc.1.25451.107" },
        { "/opt/app", NULL },
        { "/opt/net8.0/app", NULL },
        { "", NULL },
        { "/", NULL },
        { "/99999999999.99999999999.99999999999/", NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char version[64] = "";

        assert_int_equal(doctor_version_in(cases[i].path, version, sizeof(version)),
                         cases[i].version != NULL);
        assert_string_equal(version, cases[i].version ? cases[i].version : "");
    }
}

static void test_c_libraries_are_told_by_their_names(void **state)
{
    (void)state;
    assert_int_equal(doctor_libc_of("/lib/x86_64-linux-gnu/libc.so.6"), DOCTOR_GLIBC);
    assert_int_equal(doctor_libc_of("/lib/x86_64-linux-gnu/libc-2.31.so"), DOCTOR_GLIBC);
    assert_int_equal(doctor_libc_of("/lib/ld-musl-x86_64.so.1"), DOCTOR_MUSL);
    assert_int_equal(doctor_libc_of("/lib/libc.musl-x86_64.so.1"), DOCTOR_MUSL);
    assert_int_equal(doctor_libc_of("/usr/lib/libcoreclr.so"), DOCTOR_LIBC_NONE);
    assert_int_equal(doctor_libc_of("libc"), DOCTOR_LIBC_NONE);
}

static void test_code_of_a_map_is_what_is_executed_from_files(void **state)
{
    static const char maps[] = "7f00-7f10 r--p 00000000 08:01 12   /lib/a.so\n"
                               "7f10-7f20 r-xp 00001000 08:01 12   /lib/a.so\n"
                               "7f20-7f30 rwxp 00000000 00:00 0 \n"
                               "7f30-7f40 r-xp 00000000 00:00 0    [vdso]\n"
                               "nonsense r-xp /x\n"
                               "7f40-7f50 r-xs 00000000 00:05 99   /memfd:doublemapper (deleted)\n"
                               "7f50-7f60 r-xp 00000000 08:01 13   /with blanks/b.so";
    static const char *const expected[] = { "/lib/a.so", "/memfd:doublemapper (deleted)",
                                            "/with blanks/b.so" };
    const char *at = maps;
    char path[64], small[8];

    (void)state;
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        assert_true(target_next_code(&at, path, sizeof(path)));
        assert_string_equal(path, expected[i]);
    }
    assert_false(target_next_code(&at, path, sizeof(path)));
    at = maps;
    assert_false(target_next_code(&at, small, sizeof(small)));
}

static void test_status_lines_are_found_by_their_whole_key(void **state)
{
    char text[64], pid[16];

    (void)state;
    (void)snprintf(pid, sizeof(pid), "%d", getpid());
    assert_int_equal(target_status(getpid(), "Name", text, sizeof(text)), 0);
    assert_string_equal(text, "test_doctor");
    assert_int_equal(target_status(getpid(), "Pid", text, sizeof(text)), 0); /* not TracerPid */
    assert_string_equal(text, pid);
    assert_int_equal(target_status(getpid(), "State", text, sizeof(text)), 0);
    assert_string_equal(text, "R (running)");
    assert_int_equal(target_status(getpid(), "NoSuchKey", text, sizeof(text)), -ENOENT);
    assert_int_equal(target_status(0x7ffffff0, "Name", text, sizeof(text)), -ENOENT);
    assert_false(target_is_frozen(getpid()));
}

static size_t put_string(uint8_t *out, const char *text)
{
    uint32_t count = (uint32_t)strlen(text) + 1;

    memcpy(out, &count, sizeof(count));
    for (uint32_t i = 0; i < count; i++) {
        out[4 + 2 * i] = (uint8_t)text[i];
        out[5 + 2 * i] = 0;
    }
    return 4 + 2 * (size_t)count;
}

/* As 8.0.34 sends it. */
static size_t make_answer(uint8_t *out)
{
    static const char *const strings[] = { "dotnet app.dll", "Linux", "x64", "app", "8.0.34" };
    const uint64_t pid = 7;
    size_t size = DOTNET_IPC_HEADER_SIZE + sizeof(pid) + 16;
    uint16_t total;

    memset(out, 0, size);
    memcpy(out, "DOTNET_IPC_V1", 14);
    out[16] = 0xff;
    memcpy(out + DOTNET_IPC_HEADER_SIZE, &pid, sizeof(pid));
    for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
        size += put_string(out + size, strings[i]);
    total = (uint16_t)size;
    memcpy(out + 14, &total, sizeof(total));
    return size;
}

static void test_process_info_is_read_and_each_prefix_of_it_refused(void **state)
{
    uint8_t answer[512], *part;
    size_t size = make_answer(answer);
    struct dotnet_process_info info;

    (void)state;
    assert_int_equal(dotnet_ipc_parse_process_info(answer, size, &info), 0);
    assert_int_equal(info.pid, 7);
    assert_string_equal(info.architecture, "x64");
    assert_string_equal(info.version, "8.0.34");
    for (size_t cut = 0; cut < size; cut++) {
        part = malloc(cut ? cut : 1); /* of exactly this size, for the sanitizer */
        memcpy(part, answer, cut);
        assert_int_equal(dotnet_ipc_parse_process_info(part, cut, &info), -EBADMSG);
        free(part);
    }
    memset(answer + DOTNET_IPC_HEADER_SIZE + 24, 0xff, 4);
    assert_int_equal(dotnet_ipc_parse_process_info(answer, size, &info), -EBADMSG);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version_is_the_last_part_that_looks_like_one),
        cmocka_unit_test(test_c_libraries_are_told_by_their_names),
        cmocka_unit_test(test_code_of_a_map_is_what_is_executed_from_files),
        cmocka_unit_test(test_status_lines_are_found_by_their_whole_key),
        cmocka_unit_test(test_process_info_is_read_and_each_prefix_of_it_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
