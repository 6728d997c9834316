/*
 * Whole lines: every kind of record, the marks, hostile sizes, and records of random bytes under
 * random schemas. Each line must be valid under a strict parser and the published schema.
 */
#include <errno.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event.h"
#include "line_check.h"
#include "tracerd/json.h"

#define ROUNDS 5000
#define FIELDS_MAX 12
#define DATA_MAX 192

static struct trd_json *json;
static char *buffer; /* TRD_JSON_LINE_MAX */

static int set_up(void **state)
{
    (void)state;
    buffer = malloc(TRD_JSON_LINE_MAX);
    return buffer && trd_json_create(&json, NULL) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    trd_json_destroy(json);
    free(buffer);
    return 0;
}

/* Written to memory of exactly the line's size, then checked; the text stays in `buffer`. */
static json_t *write_line(const struct trd_record *record, uint64_t seq)
{
    int64_t size = trd_json_line(json, record, seq, buffer, TRD_JSON_LINE_MAX);
    json_t *line;

    assert_true(size > 0 && size <= TRD_JSON_LINE_MAX);
    line = line_check(buffer, (size_t)size);
    buffer[size] = '\0';
    return line;
}

static void check_line(const struct trd_record *record, uint64_t seq, const char *expected)
{
    json_decref(write_line(record, seq));
    assert_string_equal(buffer, expected);
}

static void test_line_of_each_kind_has_its_form(void **state)
{
    static const char args[] = "{\"number\":3}", named[] = "{\"id\":\"0x1\",\"name\":\"a\"}";
    struct trd_record record;

    (void)state;
    trd_record_init(&record);
    record.kind = TRD_KIND_SPAN;
    record.source = TRD_SOURCE_CLR;
    record.ts_ns = 1764540000123400000;
    record.dur_ns = 412000;
    record.pid = 4242;
    record.tid = 4250;
    record.name = "clr:gc_pause";
    record.args_json = args;
    record.args_json_size = sizeof(args) - 1;
    check_line(&record, 19,
               "{\"v\":1,\"k\":\"span\",\"seq\":19,\"ts\":\"1764540000123400000\",\"dur\":412000,"
               "\"src\":\"clr\",\"pid\":4242,\"tid\":4250,\"name\":\"clr:gc_pause\","
               "\"args\":{\"number\":3}}\n");
    record.flags = TRD_RECORD_F_INCOMPLETE;
    record.stream = "a\"b";
    json_decref(write_line(&record, 20));
    assert_non_null(strstr(buffer, ",\"stream\":\"a\\\"b\",\"incomplete\":true,\"name\""));

    trd_record_init(&record);
    record.kind = TRD_KIND_LOST;
    record.cpu = 0;
    record.lost_from_ns = 1764540000100000000;
    record.ts_ns = 1764540000100900000;
    record.lost = 4416;
    check_line(&record, 20,
               "{\"v\":1,\"k\":\"lost\",\"seq\":20,\"src\":\"ftrace\",\"cpu\":0,"
               "\"from\":\"1764540000100000000\",\"to\":\"1764540000100900000\","
               "\"n\":4416}\n");
    record.lost = TRD_LOST_UNKNOWN;
    json_decref(write_line(&record, 21));
    assert_non_null(strstr(buffer, ",\"n\":null}\n"));

    trd_record_init(&record);
    record.kind = TRD_KIND_DEFINITION;
    record.source = TRD_SOURCE_CLR;
    record.ts_ns = 5;
    record.pid = 7;
    record.name = "method";
    record.args_json = named;
    record.args_json_size = sizeof(named) - 1;
    check_line(&record, 9007199254740991,
               "{\"v\":1,\"k\":\"def\",\"seq\":9007199254740991,\"ts\":\"5\",\"src\":\"clr\","
               "\"pid\":7,\"name\":\"method\",\"args\":{\"id\":\"0x1\",\"name\":\"a\"}}\n");
    record.kind = TRD_KIND_COUNTER;
    json_decref(write_line(&record, 1));

    trd_record_init(&record);
    record.kind = TRD_KIND_HEARTBEAT;
    record.ts_ns = 1000000000;
    check_line(&record, 22, "{\"v\":1,\"k\":\"hb\",\"seq\":22,\"ts\":\"1000000000\"}\n");
}

static void test_event_carries_thread_and_marks_only_when_set(void **state)
{
    const struct trd_ev_gc_start event = { .number = 3, .generations = 1, .reason = 1 };
    struct trd_record record;

    (void)state;
    trd_record_init(&record);
    record.source = TRD_SOURCE_CLR;
    record.schema = trd_clr_schema(TRD_EV_gc_start);
    record.data = (const uint8_t *)&event;
    record.size = sizeof(event);
    record.ts_ns = 1764540000123456789;
    record.pid = 4242;
    record.tid = 4250;
    check_line(&record, 17,
               "{\"v\":1,\"k\":\"ev\",\"seq\":17,\"ts\":\"1764540000123456789\",\"src\":\"clr\","
               "\"pid\":4242,\"tid\":4250,\"name\":\"clr:gc_start\",\"args\":{\"number\":3,"
               "\"generations\":[0],\"reason\":{\"raw\":1,\"name\":\"induced\"}}}\n");
    record.thread = "w\xff-1 and more";
    record.thread_size = 4;
    record.flags = TRD_RECORD_F_LATE | TRD_RECORD_F_UNALIGNED | TRD_RECORD_F_CATCH_UP;
    json_decref(write_line(&record, 18));
    assert_non_null(strstr(buffer, "\"tid\":4250,\"thread\":\"w\\uf7ff-1\",\"late\":true,"
                                   "\"unaligned\":true,\"catch_up\":true,\"name\""));
}

static void test_timestamps_keep_all_digits_whatever_came_before(void **state)
{
    static const uint64_t stamps[] = { 0,           999999999,  1000000000,
                                       1000000001,  5,          1999999999,
                                       2000000000,  UINT64_MAX, UINT64_MAX - 1,
                                       10000000000, 123,        9999999999 };
    struct trd_record record;

    (void)state;
    trd_record_init(&record);
    record.kind = TRD_KIND_HEARTBEAT;
    for (size_t i = 0; i < 200; i++) {
        char expected[32];
        json_t *line;

        record.ts_ns = stamps[i * 7 % 12];
        line = write_line(&record, i);
        (void)snprintf(expected, sizeof(expected), "%llu", (unsigned long long)record.ts_ns);
        assert_string_equal(json_string_value(json_object_get(line, "ts")), expected);
        json_decref(line);
    }
}

/* A gc_start as it is, but cut short: what is there is written, the rest is absent. */
static void test_record_shorter_than_its_schema_omits_what_is_not_there(void **state)
{
    const struct trd_ev_gc_start event = { .number = 3, .generations = 5, .reason = 1 };
    static const size_t members[] = { 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3 };
    struct trd_record record;

    (void)state;
    trd_record_init(&record);
    record.schema = trd_clr_schema(TRD_EV_gc_start);
    for (uint32_t size = 0; size <= sizeof(event); size++) {
        uint8_t *exact = malloc(size ? size : 1);
        json_t *line;

        memcpy(exact, &event, size);
        record.data = exact;
        record.size = size;
        line = write_line(&record, size);
        assert_int_equal(json_object_size(json_object_get(line, "args")), members[size]);
        json_decref(line);
        free(exact);
    }
}

static const struct trd_name some_names[] = {
    { 1, "one" }, { 2, "t\"w\\o" }, { 0x80, "bad\xffutf" }, { UINT64_MAX, "all" }, { 0, "zero" }
};
static const struct trd_names random_names = { some_names, 5, 0xff };

/* Any storage at any place with any meaning that a schema could give it. */
static void make_field(struct trd_field *field, char *name)
{
    static const uint8_t widths[] = { 1, 2, 4, 8 };

    (void)sprintf(name, "f%d\"\\", rand());
    *field = (struct trd_field){ .name = name, .declaration = "", .count = 1 };
    field->storage = (uint8_t)(rand() % (TRD_STORAGE_TAIL_CHARS + 1));
    field->meaning = (uint8_t)(rand() % (TRD_MEANING_FLOAT + 1));
    field->elem_size = widths[rand() % 4];
    field->is_signed = rand() & 1;
    field->is_relative = rand() & 1;
    field->offset = (uint16_t)(rand() % DATA_MAX);
    field->names = rand() & 1 ? &random_names : NULL;
    switch (field->storage) {
    case TRD_STORAGE_INT:
        field->size = field->elem_size;
        break;
    case TRD_STORAGE_INTS:
        field->count = (uint16_t)(rand() % 9);
        field->size = (uint16_t)(field->count * field->elem_size);
        break;
    case TRD_STORAGE_CHARS:
    case TRD_STORAGE_BYTES:
        field->size = (uint16_t)(rand() % 40);
        field->elem_size = 1;
        break;
    case TRD_STORAGE_TAIL_INTS:
    case TRD_STORAGE_TAIL_CHARS:
        field->size = 0;
        break;
    default:
        field->size = 4;
        break;
    }
}

static void test_any_bytes_under_any_schema_give_a_valid_line(void **state)
{
    static char names[FIELDS_MAX][32];
    struct trd_field fields[FIELDS_MAX];

    (void)state;
    srand(11);
    for (int round = 0; round < ROUNDS; round++) {
        struct trd_schema schema = { .system = "a", .name = "b", .full_name = "a:b\x01", .id = 1 };
        uint32_t size = (uint32_t)(rand() % DATA_MAX);
        uint8_t *data = malloc(size ? size : 1);
        struct trd_record record;

        schema.big_endian = rand() & 1;
        schema.long_size = rand() & 1 ? 8 : 4;
        schema.fields = fields;
        schema.field_count = (uint32_t)(rand() % FIELDS_MAX);
        for (uint32_t i = 0; i < schema.field_count; i++)
            make_field(&fields[i], names[i]);
        for (uint32_t i = 0; i < size; i++)
            data[i] = (uint8_t)(rand() & 3 ? rand() % 64 : rand());
        trd_record_init(&record);
        record.schema = &schema;
        record.data = data;
        record.size = size;
        record.ts_ns = (uint64_t)rand() << rand() % 32;
        json_decref(write_line(&record, (uint64_t)round));
        free(data);
        /* Plans are kept by the address of their schema: each round takes a new writer. */
        trd_json_destroy(json);
        assert_int_equal(trd_json_create(&json, NULL), 0);
    }
}

/* 64 KiB that a thousand dynamic words all point to: only some fields can be in the line. */
static void test_record_that_wants_more_than_a_line_is_marked_cut(void **state)
{
    enum {
        COUNT = 1000,
        SIZE = 65532
    };
    struct trd_field *fields = calloc(COUNT, sizeof(*fields));
    const struct trd_schema schema = {
        .full_name = "a:b", .fields = fields, .field_count = COUNT, .long_size = 8
    };
    uint8_t *data = malloc(SIZE);
    struct trd_record record;
    json_t *line;
    size_t count;

    (void)state;
    memset(data, 0x01, SIZE);
    for (int i = 0; i < COUNT; i++) {
        uint32_t word = 60000u << 16 | 4000;

        memcpy(data + 4 * i, &word, sizeof(word));
        fields[i] = (struct trd_field){ .name = i == COUNT - 1 ? "last" : "x",
                                        .offset = (uint16_t)(4 * i),
                                        .size = 4,
                                        .elem_size = i == COUNT - 1 ? 4 : 1,
                                        .storage = i == COUNT - 1 ? TRD_STORAGE_INT
                                                                  : TRD_STORAGE_DYN_CHARS };
    }
    trd_record_init(&record);
    record.schema = &schema;
    record.data = data;
    record.size = SIZE;
    assert_int_equal(trd_json_line(json, &record, 1, buffer, TRD_JSON_LINE_MAX - 1), -ENOSPC);
    assert_true(trd_json_line(json, &record, 1, buffer, TRD_JSON_LINE_MAX) > 0);
    /* Same names many times over, so this line goes past the strict check of members. */
    line = json_loads(strtok(buffer, "\n"), 0, NULL);
    assert_non_null(line);
    assert_true(json_is_true(json_object_get(line, "cut")));
    count = json_object_size(json_object_get(line, "args"));
    assert_int_equal(count, 2);
    assert_non_null(json_object_get(json_object_get(line, "args"), "last"));
    json_decref(line);
    free(data);
    free(fields);
}

/* Whatever the capacity: either the whole line or a refusal, and never a byte beyond. */
static void test_every_capacity_gives_the_line_or_a_refusal(void **state)
{
    static const char text[] = "\x01\x02 a text\xff with escapes \"\"\"";
    uint8_t data[4 + sizeof(text)];
    const struct trd_field fields[] = {
        { .name = "dyn", .size = 4, .elem_size = 1, .storage = TRD_STORAGE_DYN_CHARS },
        { .name = "raw", .size = 4, .elem_size = 4, .storage = TRD_STORAGE_INT },
        { .name = "in",
          .offset = 4,
          .size = sizeof(text),
          .elem_size = 1,
          .storage = TRD_STORAGE_CHARS },
        { .name = "tail", .offset = 4, .elem_size = 1, .storage = TRD_STORAGE_TAIL_INTS }
    };
    const struct trd_schema schema = {
        .full_name = "a:b", .fields = fields, .field_count = 4, .long_size = 8
    };
    uint32_t word = (uint32_t)sizeof(text) << 16 | 4;
    struct trd_record record;
    int64_t whole;
    int fitted = 0;

    (void)state;
    memcpy(data, &word, sizeof(word));
    memcpy(data + 4, text, sizeof(text));
    trd_record_init(&record);
    record.schema = &schema;
    record.data = data;
    record.size = sizeof(data);
    whole = trd_json_line(json, &record, 1, buffer, TRD_JSON_LINE_MAX);
    assert_true(whole > 0);
    for (size_t capacity = 0; capacity < 2500; capacity++) {
        char *exact = malloc(capacity ? capacity : 1);
        int64_t size = trd_json_line(json, &record, 1, exact, capacity);

        if (size != -ENOSPC) {
            assert_int_equal(size, whole);
            assert_memory_equal(exact, buffer, (size_t)size);
            fitted++;
        }
        free(exact);
    }
    assert_true(fitted > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_line_of_each_kind_has_its_form, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_event_carries_thread_and_marks_only_when_set, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_timestamps_keep_all_digits_whatever_came_before,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_record_shorter_than_its_schema_omits_what_is_not_there,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_any_bytes_under_any_schema_give_a_valid_line, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_record_that_wants_more_than_a_line_is_marked_cut,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_every_capacity_gives_the_line_or_a_refusal, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
