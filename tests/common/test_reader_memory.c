/*
 * A file of 1 GiB must not take more memory than a small one: mapped pages count as well. The file
 * is sparse: pages of zeros, which hold no events, between two that do.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dat_maker.h"
#include "tracerd/reader.h"

#define CPUS 2u
#define CPU_SIZE (UINT64_C(512) << 20)
#define TICKS 100u
#define PEAK_KIB 65536 /* 64 MiB */

/* Each CPU: its one page, then nothing, then its one page again with later times. */
static void make_file(const char *path)
{
    struct dat_maker maker;
    struct dat_maker_buffer *top;
    const struct dat_maker_bytes *file;
    size_t table;
    FILE *out = fopen(path, "w");

    assert_non_null(out);
    dat_maker_init(&maker, 6, "none");
    top = dat_maker_buffer(&maker, "", "mono", 4096, CPUS);
    for (uint32_t i = 0; i < TICKS; i++)
        for (uint32_t cpu = 0; cpu < CPUS; cpu++)
            dat_maker_tick(&maker, top, cpu, 1000 + i, 1, i);
    file = dat_maker_write(&maker);
    /* The table of CPUs ends where the first one's pages' padding begins. */
    table =
        (size_t)((uint8_t *)memmem(file->bytes, file->size, "flyrecord", 10) - file->bytes) + 10;
    for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
        uint64_t offset = maker.data_begin + cpu * CPU_SIZE;

        page_maker_put(file->bytes + table + 16 * cpu, offset, 8, false);
        page_maker_put(file->bytes + table + 16 * cpu + 8, CPU_SIZE, 8, false);
    }
    assert_int_equal(fwrite(file->bytes, 1, maker.data_begin, out), maker.data_begin);
    for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
        uint8_t *page = file->bytes + maker.data_begin + 4096 * cpu;
        uint64_t offset = maker.data_begin + cpu * CPU_SIZE;

        assert_int_equal(fseek(out, (long)offset, SEEK_SET), 0);
        assert_int_equal(fwrite(page, 1, 4096, out), 4096);
        page_maker_put(page, 5000, 8, false);
        assert_int_equal(fseek(out, (long)(offset + CPU_SIZE - 4096), SEEK_SET), 0);
        assert_int_equal(fwrite(page, 1, 4096, out), 4096);
    }
    assert_int_equal(fclose(out), 0);
    dat_maker_finish(&maker);
}

/* In a process of its own, since a peak never falls. */
static int read_all(const char *path)
{
    struct trd_reader *reader;
    struct trd_record record;
    struct rusage usage;
    char error[256];
    uint32_t events = 0;

    if (trd_reader_open(&reader, path, error, sizeof(error)) != 0)
        return 1;
    while (trd_reader_next(reader, &record) == 1)
        events++;
    trd_reader_destroy(reader);
    (void)getrusage(RUSAGE_SELF, &usage);
    printf("%u events, peak %ld KiB\n", events, usage.ru_maxrss);
    if (events != 2 * TICKS * CPUS)
        return 2;
    return usage.ru_maxrss <= PEAK_KIB ? 0 : 3;
}

static void test_reader_of_one_gibibyte_stays_below_64_mebibytes(void **state)
{
    char path[] = "/tmp/tracerd-test-XXXXXX";
    int fd = mkstemp(path);
    int status;
    pid_t child;

    (void)state;
    assert_true(fd >= 0);
    (void)close(fd);
    make_file(path);
    (void)fflush(stdout);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int result = read_all(path);

        (void)fflush(stdout);
        _exit(result);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    (void)unlink(path);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reader_of_one_gibibyte_stays_below_64_mebibytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
