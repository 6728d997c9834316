#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "ftrace_buffer.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

static void test_default_is_a_part_of_the_memory_within_bounds(void **state)
{
    (void)state;
    assert_int_equal(ftrace_buffer_default(24 * GIB, 2), 12 * MIB);
    assert_int_equal(ftrace_buffer_default(1 * GIB, 4), 4 * MIB);
    assert_int_equal(ftrace_buffer_default(1024 * GIB, 2), 64 * MIB);
    assert_int_equal(ftrace_buffer_default(512 * GIB, 256), 4 * MIB);
    assert_int_equal(ftrace_buffer_default(0, 0), 4 * MIB);
}

static void test_small_rings_have_several_sub_buffers(void **state)
{
    (void)state;
    assert_int_equal(ftrace_buffer_page_size(4 * MIB, 4096), 65536);
    assert_int_equal(ftrace_buffer_page_size(64 * MIB, 4096), 65536);
    assert_int_equal(ftrace_buffer_page_size(MIB, 4096), 65536);
    assert_int_equal(ftrace_buffer_page_size(MIB - 1, 4096), 32768);
    assert_int_equal(ftrace_buffer_page_size(128 * 1024, 4096), 8192);
    assert_int_equal(ftrace_buffer_page_size(4096, 4096), 4096);
    assert_int_equal(ftrace_buffer_page_size(4096, 65536), 65536);
}

static void make(const struct tracefs_instance *instance, const char *name, bool is_folder)
{
    char path[2 * TRACEFS_PATH_MAX];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s", instance->path, name);
    if (is_folder) {
        assert_int_equal(mkdir(path, 0700), 0);
        return;
    }
    file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

/* The folder of a kernel of before 5.0, with CPUs of which some are missing. */
static void test_old_kernel_is_gone_along_with_and_said_in_one_line(void **state)
{
    static const char *const files[] = { "tracing_on", "trace_clock", "buffer_size_kb" };
    const struct options options = { .kernel_buffer_bytes = 8 * MIB, .user_stacks = true };
    struct tracefs_instance instance = { .path = "/tmp/test_ftrace_buffer.XXXXXX" };
    char command[2 * TRACEFS_PATH_MAX];
    struct ftrace_buffer buffer;
    uint32_t *cpus = NULL;
    size_t count;
    char *text;

    (void)state;
    assert_non_null(mkdtemp(instance.path));
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        make(&instance, files[i], false);
    assert_int_equal(ftrace_buffer_set_up(&buffer, &instance, &options), 0);
    assert_int_equal(buffer.ring_bytes, 8 * MIB);
    assert_int_equal(buffer.page_size, 4096);
    assert_non_null(strstr(buffer.missing, "pieces of one page"));
    assert_non_null(strstr(buffer.missing, "looked at by time"));
    assert_non_null(strstr(buffer.missing, "no stacks of user space"));
    assert_null(strchr(buffer.missing, '\n'));
    text = tracefs_read(&instance, "buffer_size_kb", NULL);
    assert_string_equal(text, "8192");
    free(text);
    assert_int_not_equal(ftrace_buffer_cpus(&instance, &cpus, &count), 0);
    make(&instance, "per_cpu", true);
    make(&instance, "per_cpu/cpu10", true);
    make(&instance, "per_cpu/cpu2", true);
    make(&instance, "per_cpu/cpu0", true);
    assert_int_equal(ftrace_buffer_cpus(&instance, &cpus, &count), 0);
    assert_int_equal(count, 3);
    assert_int_equal(cpus[0], 0);
    assert_int_equal(cpus[1], 2);
    assert_int_equal(cpus[2], 10);
    free(cpus);
    (void)snprintf(command, sizeof(command), "rm -r %s", instance.path);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_is_a_part_of_the_memory_within_bounds),
        cmocka_unit_test(test_small_rings_have_several_sub_buffers),
        cmocka_unit_test(test_old_kernel_is_gone_along_with_and_said_in_one_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
