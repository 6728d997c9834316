/* Every record that events.def can describe, and what a hostile writer makes of one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"

#define SAMPLE_TEXT "Tracerd.Stück+Inner.Méthode"

struct sample {
    _Alignas(16) uint8_t bytes[TRD_EVENT_SIZE_MAX];
    uint32_t size;
};

/* The value of a field in the sample, of its width and unlike its neighbours'. */
static uint64_t sample_value(const struct trd_event_field *field, size_t index)
{
    uint64_t value = 0x8182838485868788u + 0x0101010101010101u * index;

    return field->size == 8 ? value : value & ((1ull << field->size * 8) - 1);
}

static void make_sample(const struct trd_event_info *info, struct sample *sample)
{
    struct trd_event_head *head = (struct trd_event_head *)(void *)sample->bytes;
    uint8_t *fixed = sample->bytes + sizeof(*head);
    uint32_t used = info->fixed_size;

    memset(sample, 0, sizeof(*sample));
    for (size_t i = 0; i < info->field_count; i++) {
        const struct trd_event_field *field = &info->fields[i];
        uint64_t value = sample_value(field, i);

        if (field->type == TRD_EVENT_TYPE_text)
            assert_true(trd_event_put_text(fixed, &used, TRD_EVENT_SIZE_MAX - sizeof(*head),
                                           (struct trd_text *)(void *)(fixed + field->offset),
                                           SAMPLE_TEXT, strlen(SAMPLE_TEXT)));
        else
            memcpy(fixed + field->offset, &value, field->size);
    }
    sample->size = trd_event_size(used);
    *head = (struct trd_event_head){ .size = sample->size, .id = info->id, .ts_ns = 42 };
}

static void check_field(const struct trd_event_field *field, size_t index, const uint8_t *fixed)
{
    struct trd_text text;
    uint64_t value = 0;
    size_t size;

    if (field->type != TRD_EVENT_TYPE_text) {
        memcpy(&value, fixed + field->offset, field->size);
        assert_int_equal(value, sample_value(field, index));
        return;
    }
    memcpy(&text, fixed + field->offset, sizeof(text));
    assert_string_equal(trd_event_text(fixed, text, &size), SAMPLE_TEXT);
    assert_int_equal(size, strlen(SAMPLE_TEXT));
}

static void test_event_of_every_kind_comes_back_as_it_was_written(void **state)
{
    const struct trd_event_info *info;
    struct trd_event_head head;
    struct sample sample;

    (void)state;
    for (size_t i = 0; (info = trd_event_get(i)); i++) {
        make_sample(info, &sample);
        assert_int_equal(trd_event_check(sample.bytes, sample.size, &head), 1);
        assert_int_equal(head.id, info->id);
        assert_int_equal(head.ts_ns, 42);
        for (size_t k = 0; k < info->field_count; k++)
            check_field(&info->fields[k], k, sample.bytes + sizeof(head));
    }
}

/* A heap block of exactly the prefix, so that a sanitizer sees a read beyond it. */
static int check_prefix(const uint8_t *bytes, size_t size)
{
    struct trd_event_head head;
    uint8_t *copy = malloc(size ? size : 1);
    int result;

    assert_non_null(copy);
    memcpy(copy, bytes, size);
    result = trd_event_check(copy, size, &head);
    free(copy);
    return result;
}

static void test_event_cut_anywhere_asks_for_more(void **state)
{
    const struct trd_event_info *info;
    struct sample sample;

    (void)state;
    for (size_t i = 0; (info = trd_event_get(i)); i++) {
        make_sample(info, &sample);
        for (size_t size = 0; size < sample.size; size++)
            assert_int_equal(check_prefix(sample.bytes, size), -EAGAIN);
    }
}

static void set_size(struct sample *sample, uint32_t size)
{
    memcpy(sample->bytes, &size, sizeof(size));
}

static void test_event_with_impossible_size_is_refused(void **state)
{
    static const uint32_t sizes[] = {
        0,  1,          8,          15,         17,         24,
        40, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff, TRD_EVENT_SIZE_MAX + 16,
    };
    struct trd_event_head head;
    struct sample sample;

    (void)state;
    make_sample(trd_event_find(TRD_EV_gc_start), &sample);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        set_size(&sample, sizes[i]);
        assert_int_equal(trd_event_check(sample.bytes, sizeof(sample.bytes), &head), -EBADMSG);
    }
}

static void test_event_without_room_for_its_fields_is_refused(void **state)
{
    const struct trd_event_info *info;
    struct trd_event_head head;
    struct sample sample;

    (void)state;
    for (size_t i = 0; (info = trd_event_get(i)); i++) {
        make_sample(info, &sample);
        set_size(&sample, sizeof(head));
        assert_int_equal(trd_event_check(sample.bytes, sample.size, &head), -EBADMSG);
    }
}

static int check_with_text(struct sample *sample, struct trd_text text)
{
    const struct trd_event_info *info = trd_event_find(TRD_EV_thread_name);
    struct trd_event_head head;
    struct trd_ev_thread_name *event = (void *)(sample->bytes + sizeof(head));

    make_sample(info, sample);
    event->name = text;
    return trd_event_check(sample->bytes, sample->size, &head);
}

static void test_event_with_text_outside_itself_is_refused(void **state)
{
    const uint16_t behind = sizeof(struct trd_ev_thread_name);
    struct sample sample;

    (void)state;
    assert_int_equal(check_with_text(&sample, (struct trd_text){ 0, 4 }), -EBADMSG);
    assert_int_equal(check_with_text(&sample, (struct trd_text){ (uint16_t)(behind - 1), 4 }),
                     -EBADMSG);
    assert_int_equal(check_with_text(&sample, (struct trd_text){ behind, 0xffff }), -EBADMSG);
    assert_int_equal(check_with_text(&sample, (struct trd_text){ 0xffff, 1 }), -EBADMSG);
    assert_int_equal(check_with_text(&sample, (struct trd_text){ 0xffff, 0xffff }), -EBADMSG);
}

static void test_event_with_text_without_end_is_refused(void **state)
{
    const uint16_t behind = sizeof(struct trd_ev_thread_name);
    struct sample sample;

    (void)state;
    assert_int_equal(check_with_text(&sample, (struct trd_text){ behind, 3 }), -EBADMSG);
    assert_int_equal(check_with_text(&sample, (struct trd_text){ behind, sizeof(SAMPLE_TEXT) }), 1);
}

static void test_event_with_absent_text_reads_as_empty(void **state)
{
    struct sample sample;
    size_t size = 99;

    (void)state;
    assert_int_equal(check_with_text(&sample, (struct trd_text){ 0xffff, 0 }), 1);
    assert_string_equal(trd_event_text(sample.bytes, (struct trd_text){ 0xffff, 0 }, &size), "");
    assert_int_equal(size, 0);
}

static void test_event_of_unknown_kind_is_skipped_by_its_size(void **state)
{
    struct trd_event_head head = { .size = 48, .id = 0x7777 }, out;
    uint8_t bytes[48] = { 0 };

    (void)state;
    memcpy(bytes, &head, sizeof(head));
    assert_int_equal(trd_event_check(bytes, sizeof(bytes), &out), 0);
    assert_int_equal(out.size, 48);
    head.id = TRD_EVENT_PADDING;
    memcpy(bytes, &head, sizeof(head));
    assert_int_equal(trd_event_check(bytes, sizeof(bytes), &out), 0);
}

/* A later version appends fields: what is known of the event must still be readable. */
static void test_event_that_grew_is_still_read(void **state)
{
    struct trd_event_head head;
    struct sample sample;

    (void)state;
    make_sample(trd_event_find(TRD_EV_gc_end), &sample);
    set_size(&sample, sample.size + 32);
    assert_int_equal(trd_event_check(sample.bytes, sample.size + 32, &head), 1);
}

/* As a client of revision 0 wrote one: its fixed fields, what lay behind them in their padding, and
 * a text. */
static size_t make_old(uint8_t *bytes, uint16_t id, const void *fixed, uint32_t size,
                       const char *text)
{
    struct trd_event_head head = { .size = trd_event_size(size + (uint32_t)strlen(text) + 1),
                                   .id = id,
                                   .ts_ns = 42 };

    memset(bytes, 0xee, head.size);
    memcpy(bytes, &head, sizeof(head));
    memcpy(bytes + sizeof(head), fixed, size);
    memcpy(bytes + sizeof(head) + size, text, strlen(text) + 1);
    return head.size;
}

static const void *widened(const uint8_t *bytes, size_t size, uint8_t *out)
{
    struct trd_event_head head;

    assert_int_equal(trd_event_widen(bytes, size, 0, out), 1);
    assert_int_equal(trd_event_check(out, TRD_EVENT_SIZE_MAX, &head), 1);
    assert_int_equal(head.ts_ns, 42);
    return out + sizeof(head);
}

static void test_event_of_an_older_client_has_nothing_in_fields_that_came_later(void **state)
{
    _Alignas(16) uint8_t bytes[256], out[TRD_EVENT_SIZE_MAX];
    struct trd_ev_exception_thrown thrown = { .object = 7, .type = { 16, 6 }, .message = { 9, 9 } };
    const struct trd_ev_exception_thrown *event;
    struct trd_ev_gc_end end = { .number = 5, .background = 1 };
    struct trd_ev_method_enter enter = { .method = 8 };
    size_t size = make_old(bytes, TRD_EV_exception_thrown, &thrown, 16, "Space"), text_size;

    (void)state;
    event = widened(bytes, size, out);
    assert_int_equal(event->object, 7);
    assert_string_equal(trd_event_text(event, event->type, &text_size), "Space");
    assert_int_equal(event->message.size, 0);
    size = make_old(bytes, TRD_EV_gc_end, &end, 4, "");
    assert_int_equal(((const struct trd_ev_gc_end *)widened(bytes, size, out))->number, 5);
    assert_int_equal(((const struct trd_ev_gc_end *)widened(bytes, size, out))->background, 0);
    size = make_old(bytes, TRD_EV_method_enter, &enter, 8, "");
    assert_int_equal(((const struct trd_ev_method_enter *)widened(bytes, size, out))->method, 8);
    assert_int_equal(
        ((const struct trd_ev_method_enter *)widened(bytes, size, out))->arguments.size, 0);
}

static void test_event_that_has_not_grown_since_is_left_as_it_is(void **state)
{
    uint8_t out[TRD_EVENT_SIZE_MAX];
    struct sample sample;

    (void)state;
    make_sample(trd_event_find(TRD_EV_gc_start), &sample);
    assert_int_equal(trd_event_widen(sample.bytes, sample.size, 0, out), 0);
    make_sample(trd_event_find(TRD_EV_gc_end), &sample);
    assert_int_equal(trd_event_widen(sample.bytes, sample.size, TRD_EVENTS_REVISION, out), 0);
}

/* Whatever a client of an earlier revision makes of one, what comes out is a record or none. */
static void test_event_of_an_older_client_that_lies_is_refused_or_bounded(void **state)
{
    _Alignas(16) uint8_t bytes[TRD_EVENT_SIZE_MAX], out[TRD_EVENT_SIZE_MAX];
    struct trd_ev_exception_thrown thrown = { .type = { 15, 6 } };
    struct trd_event_head head;
    size_t size = make_old(bytes, TRD_EV_exception_thrown, &thrown, 16, "Space");

    (void)state;
    assert_int_equal(trd_event_widen(bytes, size, 0, out), -EBADMSG);
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal(trd_event_widen(bytes, cut, 0, out), -EAGAIN);
    head = (struct trd_event_head){ .size = 16, .id = TRD_EV_exception_thrown };
    memcpy(bytes, &head, sizeof(head));
    assert_int_equal(trd_event_widen(bytes, sizeof(bytes), 0, out), -EBADMSG);
    srand(1);
    for (int i = 0; i < 100000; i++) {
        struct trd_event_head widened_head;

        for (size_t k = 0; k < 64; k++)
            bytes[k] = (uint8_t)rand();
        head =
            (struct trd_event_head){ .size = (uint32_t)(rand() % 257) * 16,
                                     .id = i % 2 ? TRD_EV_exception_thrown : TRD_EV_module_load };
        memcpy(bytes, &head, sizeof(head));
        if (trd_event_widen(bytes, sizeof(bytes), 0, out) == 1)
            assert_true(trd_event_check(out, sizeof(out), &widened_head) != -EAGAIN);
    }
}

static void put(const char *bytes, size_t length, uint32_t capacity, bool whole,
                const char *expected)
{
    uint8_t fixed[TRD_EVENT_SIZE_MAX];
    struct trd_text text;
    uint32_t used = 8;
    size_t size;

    assert_int_equal(trd_event_put_text(fixed, &used, capacity, &text, bytes, length), whole);
    assert_true(used <= capacity);
    assert_string_equal(trd_event_text(fixed, text, &size), expected);
    assert_int_equal(size, strlen(expected));
}

static void test_text_that_does_not_fit_is_cut_between_characters(void **state)
{
    (void)state;
    put("abc", 3, 12, true, "abc");
    put("abc", 3, 11, false, "ab");
    put("a\xc3\xbc", 3, 11, false, "a");
    put("\xf0\x9f\x98\x80", 4, 13, true, "\xf0\x9f\x98\x80");
    put("\xf0\x9f\x98\x80", 4, 12, false, "");
    put("x\xe4\xb8\x96y", 5, 12, false, "x");
    put("x\xe4\xb8\x96y", 5, 13, false, "x\xe4\xb8\x96");
    put("abc", 3, 9, false, "");
}

static void test_text_without_any_room_is_absent(void **state)
{
    struct trd_text text = { 1, 1 };
    uint8_t fixed[16];
    uint32_t used = 8;

    (void)state;
    assert_false(trd_event_put_text(fixed, &used, 8, &text, "a", 1));
    assert_int_equal(text.size, 0);
    assert_int_equal(used, 8);
}

static void test_text_never_exceeds_its_limit(void **state)
{
    static char text_bytes[3 * TRD_TEXT_MAX];
    static uint8_t fixed[4 * TRD_TEXT_MAX];
    struct trd_text text;
    uint32_t used = 8;

    (void)state;
    memset(text_bytes, 'x', sizeof(text_bytes));
    assert_false(
        trd_event_put_text(fixed, &used, sizeof(fixed), &text, text_bytes, sizeof(text_bytes)));
    assert_int_equal(text.size, TRD_TEXT_MAX);
    assert_int_equal(used, 8 + TRD_TEXT_MAX);
}

/* The lists of events by index, id and name are one list. */
static void test_table_gives_the_same_event_each_way(void **state)
{
    const struct trd_event_info *info;
    size_t count = 0;

    (void)state;
    while ((info = trd_event_get(count))) {
        assert_ptr_equal(trd_event_find(info->id), info);
        assert_ptr_equal(trd_event_find_name(info->name), info);
        assert_true(info->id != TRD_EVENT_PADDING);
        assert_non_null(trd_category_name(info->category));
        count++;
    }
    assert_true(count > 20);
    assert_null(trd_event_find(TRD_EVENT_PADDING));
    assert_null(trd_event_find(0xffff));
    assert_null(trd_event_find_name("clr:nothing"));
}

static void test_category_is_found_by_its_whole_name(void **state)
{
    (void)state;
    for (int i = 0; i < TRD_CATEGORY_COUNT; i++) {
        const char *name = trd_category_name(i);

        assert_int_equal(name != NULL, TRD_CATEGORIES_ALL >> i & 1);
        if (!name)
            continue;
        assert_int_equal(trd_categories_find(name, strlen(name)), 1u << i);
        assert_int_equal(trd_category_find(name, strlen(name)), i);
    }
    assert_true(trd_category_find("g", 1) < 0);
    assert_true(trd_category_find("gcx", 3) < 0);
    assert_int_equal(trd_category_find("gc,jit", 2), TRD_CATEGORY_GC);
    assert_null(trd_category_name(TRD_CATEGORY_COUNT));
    assert_int_equal(trd_categories_find("default", 7), TRD_CATEGORIES_DEFAULT);
    assert_int_equal(trd_categories_find("defaul", 6), 0);
    assert_int_equal(TRD_CATEGORIES_DEFAULT & ~TRD_CATEGORIES_ALL, 0);
    assert_int_equal(TRD_CATEGORIES_DEFAULT & TRD_CATEGORY_BIT(UNWIND), 0);
}

/* What was shipped: an id keeps its event, and an event its fields in their places. */
static void test_ids_and_fields_are_those_that_were_shipped(void **state)
{
    FILE *file = fopen(TRD_TEST_DATA "/event-ids.txt", "r");
    char name[64], field[64], type[8];
    unsigned id, offset, lines = 0;

    (void)state;
    assert_non_null(file);
    while (fscanf(file, "%x %63s %63s %7s %u", &id, name, field, type, &offset) == 5) {
        const struct trd_event_info *info = trd_event_find((uint16_t)id);
        size_t i = 0;

        assert_non_null(info);
        assert_string_equal(info->name, name);
        while (i < info->field_count && strcmp(info->fields[i].name, field) != 0)
            i++;
        assert_true(i < info->field_count);
        assert_int_equal(info->fields[i].offset, offset);
        lines++;
    }
    assert_true(feof(file));
    assert_true(lines >= 50);
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_event_of_every_kind_comes_back_as_it_was_written),
        cmocka_unit_test(test_event_cut_anywhere_asks_for_more),
        cmocka_unit_test(test_event_with_impossible_size_is_refused),
        cmocka_unit_test(test_event_without_room_for_its_fields_is_refused),
        cmocka_unit_test(test_event_with_text_outside_itself_is_refused),
        cmocka_unit_test(test_event_with_text_without_end_is_refused),
        cmocka_unit_test(test_event_with_absent_text_reads_as_empty),
        cmocka_unit_test(test_event_of_unknown_kind_is_skipped_by_its_size),
        cmocka_unit_test(test_event_that_grew_is_still_read),
        cmocka_unit_test(test_event_of_an_older_client_has_nothing_in_fields_that_came_later),
        cmocka_unit_test(test_event_that_has_not_grown_since_is_left_as_it_is),
        cmocka_unit_test(test_event_of_an_older_client_that_lies_is_refused_or_bounded),
        cmocka_unit_test(test_text_that_does_not_fit_is_cut_between_characters),
        cmocka_unit_test(test_text_without_any_room_is_absent),
        cmocka_unit_test(test_text_never_exceeds_its_limit),
        cmocka_unit_test(test_table_gives_the_same_event_each_way),
        cmocka_unit_test(test_category_is_found_by_its_whole_name),
        cmocka_unit_test(test_ids_and_fields_are_those_that_were_shipped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
