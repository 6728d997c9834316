#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "ndjson_line.h"
#include "tracerd/json.h"

static struct ndjson_line line;
static struct trd_record record;

static int parse(const char *text)
{
    return ndjson_line_parse(&line, text, strlen(text), &record);
}

static void args_are(const char *expected)
{
    assert_int_equal(record.args_json_size, strlen(expected));
    assert_memory_equal(record.args_json, expected, strlen(expected));
}

static void test_event_comes_back_with_every_member(void **state)
{
    (void)state;
    assert_int_equal(
        parse("{\"v\":1,\"k\":\"ev\",\"seq\":4,\"ts\":\"18446744073709551615\",\"src\":\"clr\","
              "\"cpu\":3,\"pid\":4,\"tid\":5,\"thread\":\"a\\u0000b\",\"stream\":\"s\","
              "\"late\":true,\"cut\":true,\"name\":\"clr:x\",\"args\":{\"a\":1}}\r\n"),
        1);
    assert_int_equal(record.kind, TRD_KIND_EVENT);
    assert_true(record.ts_ns == UINT64_MAX);
    assert_int_equal(record.source, TRD_SOURCE_CLR);
    assert_int_equal(record.cpu, 3);
    assert_int_equal(record.pid, 4);
    assert_int_equal(record.tid, 5);
    assert_int_equal(record.thread_size, 3);
    assert_memory_equal(record.thread, "a\0b", 3);
    assert_string_equal(record.stream, "s");
    assert_int_equal(record.flags, TRD_RECORD_F_LATE | TRD_RECORD_F_CUT);
    assert_string_equal(record.name, "clr:x");
    args_are("{\"a\":1}");
    ndjson_line_finish(&line);
}

/* Twice repaired would be another text. */
static void test_bad_bytes_come_back_as_they_were_written(void **state)
{
    static const char text[] =
        "{\"v\":1,\"k\":\"ev\",\"seq\":1,\"ts\":\"1\",\"src\":\"clr\",\"thread\":"
        "\"w\\uf7ff \\uf7ef\\uf79f\\uf7bf\",\"name\":\"n\\uf7ff\","
        "\"args\":{}}\n";
    static char out[TRD_JSON_LINE_MAX];
    struct trd_json *json;

    (void)state;
    assert_int_equal(trd_json_create(&json, NULL), 0);
    assert_int_equal(parse(text), 1);
    assert_memory_equal(record.thread, "w\xff ", 3);
    assert_int_equal(trd_json_line(json, &record, 1, out, sizeof(out)), strlen(text));
    assert_memory_equal(out, text, strlen(text));
    trd_json_destroy(json);
    ndjson_line_finish(&line);
}

static void test_absent_members_are_unknown(void **state)
{
    (void)state;
    assert_int_equal(parse("{\"k\":\"ev\",\"name\":\"x\"}"), 1);
    assert_int_equal(record.cpu, -1);
    assert_int_equal(record.pid, -1);
    assert_int_equal(record.tid, -1);
    assert_int_equal(record.thread_size, 0);
    assert_null(record.stream);
    args_are("{}");
    ndjson_line_finish(&line);
}

static void test_args_end_where_their_object_ends(void **state)
{
    (void)state;
    assert_int_equal(
        parse("{\"k\":\"ev\",\"args\":{\"a\":\"}\\\"{\",\"b\":{\"c\":[{}]}},\"name\":\"x\"}"), 1);
    args_are("{\"a\":\"}\\\"{\",\"b\":{\"c\":[{}]}}");
    /* What looks like args in a text is text. */
    assert_int_equal(parse("{\"k\":\"ev\",\"name\":\"\\\"args\\\":{\",\"args\":{\"a\":2}}"), 1);
    args_are("{\"a\":2}");
    ndjson_line_finish(&line);
}

static void test_args_spaced_by_another_program_keep_their_values(void **state)
{
    (void)state;
    assert_int_equal(
        parse("{ \"k\": \"ev\", \"name\": \"x\", \"args\" : { \"a\" : [ 1, \"2\" ] } }"), 1);
    args_are("{\"a\":[1,\"2\"]}");
    ndjson_line_finish(&line);
}

static void test_span_is_placed_at_its_end(void **state)
{
    (void)state;
    assert_int_equal(parse("{\"k\":\"span\",\"ts\":\"10\",\"dur\":5,\"name\":\"x\",\"args\":{}}"),
                     1);
    assert_int_equal(record.ts_ns, 15);
    assert_int_equal(record.dur_ns, 5);
    ndjson_line_finish(&line);
}

static void test_lines_of_the_recording_itself_are_passed_over(void **state)
{
    (void)state;
    assert_int_equal(parse("{\"k\":\"hello\"}"), 0);
    assert_false(line.is_bye);
    assert_int_equal(parse("{\"k\":\"hb\",\"ts\":\"1\"}"), 0);
    assert_int_equal(parse("{\"k\":\"of a later version\"}"), 0);
    assert_int_equal(parse("{\"k\":\"bye\"}"), 0);
    assert_true(line.is_bye);
    ndjson_line_finish(&line);
}

static void test_damaged_lines_are_refused(void **state)
{
    static const char *const cases[] = {
        "",
        "x",
        "{",
        "[]",
        "1",
        "{\"k\":1}",
        "{\"k\":\"ev\"}",
        "{\"k\":\"ev\",\"name\":1}",
        "{\"k\":\"ev\",\"name\":\"a\\u0000b\"}",
        "{\"k\":\"span\",\"name\":\"x\",\"dur\":-1}",
        "{\"k\":\"lost\",\"n\":-2}",
        "{\"k\":\"lost\",\"n\":9007199254740992}",
        "{\"k\":\"ev\",\"name\":\"x\",\"args\":{\"a\":1\n}}",
        "{\"k\":\"ev\",\"name\":\"x\",\"args\":{\"a\":1\r}}",
        "{\"k\":\"ev\",\"name\":\"x\",\"args\":[]}",
        "{\"k\":\"ev\",\"name\":\"x\"} {}",
        "{\"k\":\"ev\",\"name\":\"\xff\"}",
        "{\"k\":\"span\",\"name\":\"x\",\"ts\":\"18446744073709551615\",\"dur\":1}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (parse(cases[i]) != -EBADMSG)
            fail_msg("accepted: %s", cases[i]);
    ndjson_line_finish(&line);
}

static void test_line_over_the_limit_is_refused_and_one_at_it_is_not(void **state)
{
    static const char head[] = "{\"k\":\"ev\",\"name\":\"x\",\"args\":{\"a\":\"";
    size_t size = NDJSON_LINE_MAX;
    char *text = malloc(size + 1);
    char *out = malloc(TRD_JSON_LINE_MAX);
    struct trd_json *json;

    (void)state;
    assert_true(text && out);
    memset(text, 'a', size + 1);
    memcpy(text, head, sizeof(head) - 1);
    memcpy(text + size - 3, "\"}}", 3);
    assert_int_equal(ndjson_line_parse(&line, text, size, &record), 1);
    assert_int_equal(trd_json_create(&json, NULL), 0);
    assert_true(trd_json_line(json, &record, 1, out, TRD_JSON_LINE_MAX) > 0);
    memcpy(text + size - 3, "aa\"}}", 4);
    assert_int_equal(ndjson_line_parse(&line, text, size + 1, &record), -EBADMSG);
    trd_json_destroy(json);
    ndjson_line_finish(&line);
    free(text);
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_event_comes_back_with_every_member),
        cmocka_unit_test(test_bad_bytes_come_back_as_they_were_written),
        cmocka_unit_test(test_absent_members_are_unknown),
        cmocka_unit_test(test_args_end_where_their_object_ends),
        cmocka_unit_test(test_args_spaced_by_another_program_keep_their_values),
        cmocka_unit_test(test_span_is_placed_at_its_end),
        cmocka_unit_test(test_lines_of_the_recording_itself_are_passed_over),
        cmocka_unit_test(test_damaged_lines_are_refused),
        cmocka_unit_test(test_line_over_the_limit_is_refused_and_one_at_it_is_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
