/* Thousands of generated expressions on random records: the compiler and the filter agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "filter_cases.h"
#include "tracerd/filter.h"

#define RECORDS 64

static const char format[] =
    "name: mixed\nID: 77\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:s8 s8;\toffset:8;\tsize:1;\tsigned:1;\n"
    "\tfield:u8 u8;\toffset:9;\tsize:1;\tsigned:0;\n"
    "\tfield:s16 s16;\toffset:10;\tsize:2;\tsigned:1;\n"
    "\tfield:u16 u16;\toffset:12;\tsize:2;\tsigned:0;\n"
    "\tfield:s32 s32;\toffset:16;\tsize:4;\tsigned:1;\n"
    "\tfield:u32 u32;\toffset:20;\tsize:4;\tsigned:0;\n"
    "\tfield:s64 s64;\toffset:24;\tsize:8;\tsigned:1;\n"
    "\tfield:u64 u64;\toffset:32;\tsize:8;\tsigned:0;\n"
    "\tfield:s16 array[4];\toffset:40;\tsize:8;\tsigned:1;\n"
    "\tfield:char comm[16];\toffset:48;\tsize:16;\tsigned:0;\n\n"
    "print fmt: \"%d\", REC->s8\n";

static uint64_t random_bits(void)
{
    static uint64_t state = 88172645463325252u;

    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* Edges of all widths come often, so that comparisons are decided by sign and width. */
static uint64_t random_value(void)
{
    static const uint64_t edges[] = { 0,
                                      1,
                                      2,
                                      7,
                                      127,
                                      128,
                                      255,
                                      32767,
                                      32768,
                                      65535,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff,
                                      INT64_MAX,
                                      UINT64_C(1) << 63,
                                      UINT64_MAX,
                                      UINT64_MAX - 1 };

    return random_bits() % 3 ? edges[random_bits() % (sizeof(edges) / sizeof(edges[0]))]
                             : random_bits();
}

static void fill(struct filter_record *record)
{
    static const char *const comms[] = { "dotnet",          "dot",   "",      "dpkg",
                                         "a.b.c",           "abc",   "*star", "]x",
                                         "exactly15chars!", "netdot" };

    memset(record, 0, sizeof(*record));
    record->common_type = 77;
    record->s8 = (int8_t)random_value();
    record->u8 = (uint8_t)random_value();
    record->s16 = (int16_t)random_value();
    record->u16 = (uint16_t)random_value();
    record->s32 = (int32_t)random_value();
    record->u32 = (uint32_t)random_value();
    record->s64 = (int64_t)random_value();
    record->u64 = random_value();
    for (int i = 0; i < 4; i++)
        record->array[i] = (int16_t)random_value();
    (void)snprintf(record->comm, sizeof(record->comm), "%s",
                   comms[random_bits() % (sizeof(comms) / sizeof(comms[0]))]);
}

static void run_case(const struct filter_case *the_case, const struct trd_schema *schema,
                     const struct filter_record *records, size_t *outcomes)
{
    struct trd_filter *filter;
    struct trd_record record;
    char error[256];

    if (trd_filter_create(&filter, the_case->text, error, sizeof(error)) != 0)
        fail_msg("%s: %s", the_case->text, error);
    trd_record_init(&record);
    record.schema = schema;
    record.size = sizeof(*records);
    for (int i = 0; i < RECORDS; i++) {
        int truth = the_case->truth(&records[i]);

        record.data = (const uint8_t *)&records[i];
        outcomes[truth]++;
        if (trd_filter_match(filter, &record) != (truth == FILTER_TRUE))
            fail_msg("record %d: %s is %d in C", i, the_case->text, truth);
    }
    trd_filter_destroy(filter);
}

static void test_generated_expressions_give_what_c_gives(void **state)
{
    static struct filter_record records[RECORDS];
    const struct trd_schema *schema;
    struct trd_catalog *catalog;
    size_t outcomes[3] = { 0 };

    (void)state;
    assert_int_equal(sizeof(records[0]), 64);
    assert_int_equal(trd_catalog_create(&catalog, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, 8), 0);
    assert_int_equal(trd_catalog_add_format(catalog, "test", format, sizeof(format) - 1), 0);
    schema = trd_catalog_find(catalog, 77);
    assert_non_null(schema);
    for (int i = 0; i < RECORDS; i++)
        fill(&records[i]);
    for (size_t i = 0; i < filter_case_count; i++)
        run_case(&filter_cases[i], schema, records, outcomes);
    printf("%zu expressions: %zu true, %zu false, %zu unknown\n", filter_case_count,
           outcomes[FILTER_TRUE], outcomes[FILTER_FALSE], outcomes[FILTER_UNKNOWN]);
    /* A generator of foregone conclusions would prove nothing. */
    assert_true(outcomes[FILTER_TRUE] > filter_case_count * RECORDS / 10);
    assert_true(outcomes[FILTER_FALSE] > filter_case_count * RECORDS / 10);
    assert_true(outcomes[FILTER_UNKNOWN] > filter_case_count * RECORDS / 50);
    trd_catalog_destroy(catalog);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generated_expressions_give_what_c_gives),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
