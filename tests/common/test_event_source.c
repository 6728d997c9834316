/* Events of EventSources as enrich reads them: a process describes, and its lines carry the fields.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event.h"
#include "line_check.h"
#include "tracerd/enrich.h"

#define PID 4242

static struct trd_enrich *enrich;
static struct trd_json *json;
static char buffer[TRD_JSON_LINE_MAX];
static struct trd_record last;
static _Alignas(8) uint8_t data[TRD_EVENT_SIZE_MAX];

static int set_up(void **state)
{
    (void)state;
    return trd_enrich_create(&enrich) == 0 ? trd_json_create(&json, trd_enrich_names(enrich)) : -1;
}

static int tear_down(void **state)
{
    (void)state;
    trd_json_destroy(json);
    trd_enrich_destroy(enrich);
    return 0;
}

static void tell(int32_t pid, uint16_t id, uint32_t size, uint16_t flags)
{
    trd_record_init(&last);
    last.source = TRD_SOURCE_CLR;
    last.ts_ns = 100;
    last.pid = pid;
    last.tid = pid;
    last.flags = flags;
    last.schema = trd_clr_schema(id);
    last.data = data;
    last.size = size;
    (void)trd_enrich_record(enrich, &last);
}

static void describe(int32_t pid, uint32_t number, uint16_t fields, const char *provider,
                     const char *name)
{
    struct trd_ev_event_schema *event = (void *)data;
    uint32_t used = sizeof(*event);

    memset(data, 0, sizeof(data));
    *event = (struct trd_ev_event_schema){ .schema = number, .event_id = 7, .fields = fields };
    trd_event_put_text(data, &used, sizeof(data), &event->provider, provider, strlen(provider));
    if (name)
        trd_event_put_text(data, &used, sizeof(data), &event->event, name, strlen(name));
    tell(pid, TRD_EV_event_schema, used, 0);
}

static void add_field(int32_t pid, uint32_t number, uint16_t index, uint8_t type, bool is_array,
                      const char *name)
{
    struct trd_ev_event_field *event = (void *)data;
    uint32_t used = sizeof(*event);

    memset(data, 0, sizeof(data));
    *event = (struct trd_ev_event_field){
        .schema = number, .index = index, .type = type, .array = is_array
    };
    trd_event_put_text(data, &used, sizeof(data), &event->name, name, strlen(name));
    tell(pid, TRD_EV_event_field, used, 0);
}

/* `whole` bytes were written, of which `size` travelled. */
static void happen(int32_t pid, uint32_t number, const void *payload, uint32_t size, uint32_t whole,
                   uint64_t activity)
{
    struct trd_ev_event *event = (void *)data;

    memset(data, 0, sizeof(data));
    *event =
        (struct trd_ev_event){ .schema = number, .payload_size = whole, .activity_low = activity };
    memcpy(data + sizeof(*event), payload, size);
    tell(pid, TRD_EV_event, (uint32_t)sizeof(*event) + size, size < whole ? TRD_RECORD_F_CUT : 0);
}

static void expect(const char *expected)
{
    int64_t size = trd_json_line(json, &last, 1, buffer, sizeof(buffer));

    assert_true(size > 0);
    json_decref(line_check(buffer, (size_t)size));
    buffer[size - 2] = '\0';
    assert_string_equal(strstr(buffer, ",\"name\":") + 1, expected);
}

static void describe_pair(int32_t pid, uint32_t number)
{
    describe(pid, number, 2, "My-Source", "Pair");
    add_field(pid, number, 0, TRD_FIELD_I32, false, "left");
    add_field(pid, number, 1, TRD_FIELD_TEXT, false, "right");
}

static void test_event_gets_name_and_fields_of_its_description(void **state)
{
    (void)state;
    describe_pair(PID, 5);
    happen(PID, 5,
           "\xfe\xff\xff\xff"
           "a\0b\0\0",
           10, 10, 0);
    expect("\"name\":\"My-Source:Pair\",\"args\":{\"left\":-2,\"right\":\"ab\"}");
    describe(PID, 6, 0, "My-Source", NULL);
    happen(PID, 6, "", 0, 0, 0);
    expect("\"name\":\"My-Source:event_7\",\"args\":{}");
}

static void test_event_without_a_whole_description_stays_as_it_is(void **state)
{
    static const char plain[] = "\"name\":\"clr:event\",\"args\":{\"activity_low\":\"0\","
                                "\"activity_high\":\"0\",\"schema\":5,\"payload_size\":4}";

    (void)state;
    happen(PID, 5, "\1\0\0", 4, 4, 0);
    expect(plain);
    describe(PID, 5, 2, "My-Source", "Pair");
    add_field(PID, 5, 0, TRD_FIELD_I32, false, "left");
    add_field(PID, 5, 0, TRD_FIELD_I32, false, "left");
    add_field(PID, 5, 7, TRD_FIELD_I32, false, "beyond");
    happen(PID, 5, "\1\0\0", 4, 4, 0);
    expect(plain);
    /* Another process may say something else under the number. */
    describe_pair(PID + 1, 5);
    happen(PID, 5, "\1\0\0", 4, 4, 0);
    expect(plain);
}

static void test_descriptions_that_interleave_are_whole_in_the_end(void **state)
{
    (void)state;
    describe(PID, 5, 2, "My-Source", "Pair");
    add_field(PID, 5, 0, TRD_FIELD_I32, false, "left");
    describe(PID, 5, 2, "My-Source", "Pair");
    add_field(PID, 5, 1, TRD_FIELD_TEXT, false, "right");
    add_field(PID, 5, 0, TRD_FIELD_I32, false, "left");
    add_field(PID, 5, 1, TRD_FIELD_TEXT, false, "right");
    happen(PID, 5, "\1\0\0\0\0", 6, 6, 0);
    expect("\"name\":\"My-Source:Pair\",\"args\":{\"left\":1,\"right\":\"\"}");
}

static void test_description_told_again_is_known_all_the_while(void **state)
{
    (void)state;
    describe_pair(PID, 5);
    describe(PID, 5, 2, "My-Source", "Pair");
    happen(PID, 5, "\1\0\0\0\0", 6, 6, 0);
    expect("\"name\":\"My-Source:Pair\",\"args\":{\"left\":1,\"right\":\"\"}");
    describe(PID, 5, 2, "My-Source", "Other");
    happen(PID, 5, "\1\0\0\0\0", 6, 6, 0);
    expect("\"name\":\"clr:event\",\"args\":{\"activity_low\":\"0\",\"activity_high\":\"0\","
           "\"schema\":5,\"payload_size\":6}");
}

static void test_cut_payload_has_what_came_whole_and_one_cut_text(void **state)
{
    (void)state;
    describe_pair(PID, 5);
    happen(PID, 5,
           "\1\0\0\0"
           "a\0b",
           8, 100, 0);
    expect("\"name\":\"My-Source:Pair\",\"args\":{\"left\":1,\"right\":\"ab\"}");
    assert_non_null(strstr(buffer, "\"cut\":true"));
    happen(PID, 5, "\1\0\0\0", 4, 100, 0);
    expect("\"name\":\"My-Source:Pair\",\"args\":{\"left\":1}");
    happen(PID, 5, "\1\0", 2, 100, 0);
    expect("\"name\":\"My-Source:Pair\",\"args\":{}");
}

static void test_bytes_without_a_field_and_the_activity_come_last(void **state)
{
    (void)state;
    describe(PID, 5, 1, "My-Source", "One");
    add_field(PID, 5, 0, TRD_FIELD_U8, false, "payload");
    happen(PID, 5, "\1\2\3", 3, 3, 0x1122334455667788);
    expect("\"name\":\"My-Source:One\",\"args\":{\"payload\":1,\"payload_\":\"0203\","
           "\"activity_id\":\"55667788-3344-1122-0000-000000000000\"}");
    happen(PID, 5, "\1", 1, 1, 0);
    expect("\"name\":\"My-Source:One\",\"args\":{\"payload\":1}");
}

static void test_arrays_keep_their_elements_types(void **state)
{
    (void)state;
    describe(PID, 5, 4, "My-Source", "Arrays");
    add_field(PID, 5, 0, TRD_FIELD_I32, true, "ints");
    add_field(PID, 5, 1, TRD_FIELD_F64, true, "halves");
    add_field(PID, 5, 2, TRD_FIELD_BOOL, true, "bools");
    add_field(PID, 5, 3, TRD_FIELD_U8, true, "none");
    happen(PID, 5,
           "\2\0\1\0\0\0\xfe\xff\xff\xff"
           "\1\0\0\0\0\0\0\0\xe0\x3f"
           "\2\0\1\0"
           "\0\0",
           26, 26, 0);
    expect("\"name\":\"My-Source:Arrays\",\"args\":{\"ints\":[1,-2],\"halves\":[0.5],"
           "\"bools\":[true,false],\"none\":[]}");
}

static void test_same_description_in_another_process_shares_the_schema(void **state)
{
    const struct trd_schema *first;

    (void)state;
    describe_pair(PID, 5);
    happen(PID, 5, "\1\0\0\0\0", 6, 6, 0);
    first = last.schema;
    describe_pair(PID + 1, 9);
    happen(PID + 1, 9, "\1\0\0\0\0", 6, 6, 0);
    assert_ptr_equal(last.schema, first);
    describe(PID, 6, 2, "My-Source", "Pair");
    add_field(PID, 6, 0, TRD_FIELD_U32, false, "left");
    add_field(PID, 6, 1, TRD_FIELD_TEXT, false, "right");
    happen(PID, 6, "\1\0\0\0\0", 6, 6, 0);
    assert_ptr_not_equal(last.schema, first);
}

static void test_times_are_written_as_people_do(void **state)
{
    static const struct {
        uint64_t filetime;
        const char *text;
    } cases[] = {
        { 0, "1601-01-01T00:00:00.0000000Z" },
        { 116444736000000000, "1970-01-01T00:00:00.0000000Z" },
        { 125963423990000000, "2000-02-29T23:59:59.0000000Z" },
        { 132274532961234567, "2020-02-29T12:34:56.1234567Z" },
        { 2650467743999999999, "9999-12-31T23:59:59.9999999Z" },
        { UINT64_MAX, "18446744073709551615" },
    };
    char expected[128];

    (void)state;
    describe(PID, 5, 1, "My-Source", "When");
    add_field(PID, 5, 0, TRD_FIELD_TIME, false, "when");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        happen(PID, 5, &cases[i].filetime, 8, 8, 0);
        snprintf(expected, sizeof(expected),
                 "\"name\":\"My-Source:When\",\"args\":{\"when\":\"%s\"}", cases[i].text);
        expect(expected);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_event_gets_name_and_fields_of_its_description),
        TEST(test_event_without_a_whole_description_stays_as_it_is),
        TEST(test_descriptions_that_interleave_are_whole_in_the_end),
        TEST(test_description_told_again_is_known_all_the_while),
        TEST(test_cut_payload_has_what_came_whole_and_one_cut_text),
        TEST(test_bytes_without_a_field_and_the_activity_come_last),
        TEST(test_arrays_keep_their_elements_types),
        TEST(test_same_description_in_another_process_shares_the_schema),
        TEST(test_times_are_written_as_people_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
