/*
 * What EventPipe delivers, taken apart: captured and made-up bytes with known answers, and every
 * beginning of each of them through what the fuzzer runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventpipe_event.h"
#include "eventpipe_metadata.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

struct bytes {
    uint8_t at[8192];
    size_t size;
};

static void load(const char *name, struct bytes *out)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", TRD_TEST_DATA, name);
    file = fopen(path, "rb");
    assert_non_null(file);
    out->size = fread(out->at, 1, sizeof(out->at), file);
    assert_true(out->size > 0 && out->size < sizeof(out->at));
    fclose(file);
}

/* In a block of just that size, so that whoever reads beyond it is caught. */
static void run_prefixes(const struct bytes *bytes)
{
    for (size_t size = 0; size <= bytes->size; size++) {
        uint8_t *copy = malloc(size ? size : 1);

        assert_non_null(copy);
        memcpy(copy, bytes->at, size);
        assert_int_equal(LLVMFuzzerTestOneInput(copy, size), 0);
        free(copy);
    }
}

static void test_every_beginning_of_every_case_is_survived(void **state)
{
    DIR *folder = opendir(TRD_TEST_DATA);
    struct dirent *entry;
    struct bytes bytes;
    size_t count = 0;

    (void)state;
    assert_non_null(folder);
    while ((entry = readdir(folder))) {
        if (entry->d_name[0] == '.')
            continue;
        load(entry->d_name, &bytes);
        run_prefixes(&bytes);
        count++;
    }
    closedir(folder);
    assert_true(count > 30);
}

/* The runtime's own events */

static struct eventpipe_event event_of(const char *name)
{
    struct eventpipe_event event;
    struct bytes bytes;
    uint16_t id;

    load(name, &bytes);
    memcpy(&id, bytes.at + 1, sizeof(id));
    assert_true(eventpipe_event_of_runtime(id, bytes.at + 3, bytes.size - 3, &event));
    /* Without its last byte it is none. */
    assert_false(eventpipe_event_of_runtime(id, bytes.at + 3, bytes.size - 4, &event) &&
                 event.id == TRD_EV_allocation_sampled);
    assert_true(eventpipe_event_of_runtime(id, bytes.at + 3, bytes.size - 3, &event));
    event.text.bytes = NULL;
    return event;
}

static void test_contention_of_both_versions_is_read(void **state)
{
    struct eventpipe_event event = event_of("event_contention_start_2");

    (void)state;
    assert_int_equal(event.id, TRD_EV_contention_start);
    assert_int_equal(event.category, TRD_CATEGORY_CONTENTION);
    assert_int_equal(event.fixed.contention_start.native, 1);
    assert_int_equal(event.fixed.contention_start.lock, 0x1000);
    assert_int_equal(event.fixed.contention_start.object, 0x2000);
    assert_int_equal(event.fixed.contention_start.owner, 4711);
    event = event_of("event_contention_start_1");
    assert_int_equal(event.fixed.contention_start.lock, 0);
    assert_int_equal(event.fixed.contention_start.owner, 0);
    event = event_of("event_contention_stop");
    assert_int_equal(event.fixed.contention_stop.duration, 1234567);
    event = event_of("event_contention_stop_not_a_number");
    assert_int_equal(event.fixed.contention_stop.duration, 0);
}

static void test_pool_and_allocation_events_are_read(void **state)
{
    struct eventpipe_event event = event_of("event_adjustment");

    (void)state;
    assert_int_equal(event.fixed.pool_adjustment.workers, 7);
    assert_int_equal(event.fixed.pool_adjustment.reason, 6);
    event = event_of("event_limits");
    assert_int_equal(event.fixed.pool_limits.max_workers, 32767);
    assert_int_equal(event.fixed.pool_limits.max_io, 1000);
    event = event_of("event_allocation_tick_3");
    assert_int_equal(event.fixed.allocation_tick.amount, 106496);
    assert_int_equal(event.fixed.allocation_tick.size, 0);
    assert_int_equal(event.text.units, strlen("System.Byte[]"));
    event = event_of("event_allocation_tick_4");
    assert_int_equal(event.fixed.allocation_tick.kind, 1);
    assert_int_equal(event.fixed.allocation_tick.address, 0x4000);
    assert_int_equal(event.fixed.allocation_tick.size, 85024);
    event = event_of("event_allocation_sampled");
    assert_int_equal(event.fixed.allocation_sampled.size, 48);
    assert_int_equal(event.fixed.allocation_sampled.offset, 17);
}

/* Descriptions */

struct told {
    char text[2048]; /* "name type[]; …" */
    size_t used;
};

static void tell(void *context, const struct eventpipe_field *field)
{
    struct told *told = context;

    told->used += (size_t)snprintf(told->text + told->used, sizeof(told->text) - told->used,
                                   "%.*s %d%s;", (int)field->name_size, field->name, field->type,
                                   field->is_array ? "[]" : "");
}

static void expect_fields(const char *name, uint32_t level, uint8_t opcode, const char *expected)
{
    struct eventpipe_metadata metadata;
    struct told told = { .used = 0 };
    struct bytes bytes;

    load(name, &bytes);
    assert_true(eventpipe_metadata_parse(bytes.at + 1, bytes.size - 1, &metadata));
    assert_int_equal(metadata.level, level);
    assert_int_equal(metadata.opcode, opcode);
    (void)eventpipe_metadata_fields(&metadata, tell, &told);
    assert_string_equal(told.text, expected);
}

static void test_descriptions_become_flat_lists_of_fields(void **state)
{
    (void)state;
    expect_fields("description_10.0_numbers", 4, 0,
                  "yes 3;letter 4;i8 5;u8 6;i16 7;u16 8;i32 9;u32 10;i64 11;u64 12;");
    expect_fields("description_10.0_nested", 5, 0, "Inner.Depth 9;Inner.Name 18;Yes 3;Last 14;");
    expect_fields("description_second_form", 4, 1, "a 9[];o.x 18;g 17;");
    expect_fields("description_of_native_event_8.0", 4, 0, "");
    expect_fields("description_10.0_undescribed_array", 4, 0, "");
}

static void test_descriptions_that_cannot_be_read_end_early(void **state)
{
    struct eventpipe_metadata metadata;
    struct bytes bytes;

    (void)state;
    expect_fields("description_array_of_objects", 4, 0, "a 0[];");
    expect_fields("description_nested_too_deep", 4, 0, "");
    load("description_count_without_end", &bytes);
    assert_true(eventpipe_metadata_parse(bytes.at + 1, bytes.size - 1, &metadata));
    assert_int_equal(eventpipe_metadata_fields(&metadata, NULL, NULL), TRD_EVENT_FIELDS_MAX);
    assert_false(eventpipe_metadata_parse(bytes.at + 1, 20, &metadata));
}

/* Packed as the manifest says; each field its own number. .NET Core 3.1's has no fifth generation.
 */
static void test_heap_stats_are_read_to_their_last_byte(void **state)
{
    uint8_t bytes[110];
    struct eventpipe_event event;
    uint64_t number;
    size_t at = 0;

    (void)state;
    for (number = 1; number <= 10; number++, at += 8)
        memcpy(bytes + at, &number, 8);
    for (; number <= 13; number++, at += 4)
        memcpy(bytes + at, &number, 4);
    memset(bytes + at, 0, 2);
    for (at += 2; number <= 15; number++, at += 8)
        memcpy(bytes + at, &number, 8);
    assert_int_equal(at, sizeof(bytes));
    assert_true(eventpipe_event_of_runtime(4, bytes, sizeof(bytes), &event));
    assert_int_equal(event.id, TRD_EV_gc_stats);
    assert_int_equal(event.category, TRD_CATEGORY_GCHEAP);
    assert_int_equal(event.fixed.gc_stats.promoted0, 2);
    assert_int_equal(event.fixed.gc_stats.promoted1, 4);
    assert_int_equal(event.fixed.gc_stats.promoted2, 6);
    assert_int_equal(event.fixed.gc_stats.promoted_large, 8);
    assert_int_equal(event.fixed.gc_stats.finalization_bytes, 9);
    assert_int_equal(event.fixed.gc_stats.finalization_count, 10);
    assert_int_equal(event.fixed.gc_stats.pinned_objects, 11);
    assert_int_equal(event.fixed.gc_stats.sync_blocks, 12);
    assert_int_equal(event.fixed.gc_stats.handles, 13);
    assert_int_equal(event.fixed.gc_stats.promoted_pinned, 15);
    assert_true(eventpipe_event_of_runtime(4, bytes, 94, &event));
    assert_int_equal(event.fixed.gc_stats.promoted_pinned, 0);
    for (size_t size = 0; size < sizeof(bytes); size++)
        assert_int_equal(eventpipe_event_of_runtime(4, bytes, size, &event), size == 94);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heap_stats_are_read_to_their_last_byte),
        cmocka_unit_test(test_every_beginning_of_every_case_is_survived),
        cmocka_unit_test(test_contention_of_both_versions_is_read),
        cmocka_unit_test(test_pool_and_allocation_events_are_read),
        cmocka_unit_test(test_descriptions_become_flat_lists_of_fields),
        cmocka_unit_test(test_descriptions_that_cannot_be_read_end_early),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
