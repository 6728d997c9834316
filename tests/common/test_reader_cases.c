/*
 * Every folder of tests/data/trace_dat is a case: `input` a file, `expected` the records it gives,
 * `error` what is said about it: the sentence of a refusal, or one of damage a line. Adding a case
 * needs no code.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <dirent.h>

#include "reader_check.h"

#define TEXT_MAX 65536

static size_t read_text(const char *folder, const char *name, char *out)
{
    char path[512];
    size_t size = 0;
    FILE *file;

    (void)snprintf(path, sizeof(path), TRACERD_CASES "/%s/%s", folder, name);
    file = fopen(path, "r");
    if (file) {
        size = fread(out, 1, TEXT_MAX - 1, file);
        (void)fclose(file);
    }
    out[size] = '\0';
    return size;
}

static void print_records(const struct reading *reading, char *out)
{
    size_t at = 0;

    out[0] = '\0';
    for (size_t i = 0; i < reading->count; i++) {
        const struct seen *seen = &reading->records[i];
        const char *stream = *seen->stream ? seen->stream : "-";

        if (!seen->is_loss)
            at += (size_t)snprintf(out + at, TEXT_MAX - at, "%llu %s cpu=%d tid=%d tick %llu\n",
                                   (unsigned long long)seen->ts_ns, stream, seen->cpu, seen->tid,
                                   (unsigned long long)seen->number);
        else if (seen->lost == UINT64_MAX)
            at += (size_t)snprintf(out + at, TEXT_MAX - at, "%llu %s cpu=%d lost some since %llu\n",
                                   (unsigned long long)seen->ts_ns, stream, seen->cpu,
                                   (unsigned long long)seen->from_ns);
        else
            at +=
                (size_t)snprintf(out + at, TEXT_MAX - at, "%llu %s cpu=%d lost %llu since %llu\n",
                                 (unsigned long long)seen->ts_ns, stream, seen->cpu,
                                 (unsigned long long)seen->lost, (unsigned long long)seen->from_ns);
    }
}

static void check_case(const char *folder)
{
    static char input[TEXT_MAX], expected[TEXT_MAX], error[TEXT_MAX], got[TEXT_MAX];
    size_t size = read_text(folder, "input", input);
    struct reading reading;

    print_message("%s\n", folder);
    assert_true(size > 0);
    (void)read_text(folder, "expected", expected);
    (void)read_text(folder, "error", error);
    assert_true(*expected || *error);
    reading_init(&reading, (const uint8_t *)input, size);
    print_records(&reading, got);
    assert_string_equal(got, expected);
    (void)snprintf(got, sizeof(got), "%s%s%s", reading.error, *reading.error ? "\n" : "",
                   reading.damage);
    assert_string_equal(got, error);
    reading_finish(&reading);
}

static void test_reader_every_case_gives_what_stands_beside_it(void **state)
{
    DIR *folder = opendir(TRACERD_CASES);
    struct dirent *entry;
    int cases = 0;

    (void)state;
    assert_non_null(folder);
    while ((entry = readdir(folder)))
        if (entry->d_name[0] != '.') {
            check_case(entry->d_name);
            cases++;
        }
    (void)closedir(folder);
    assert_true(cases >= 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reader_every_case_gives_what_stands_beside_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
