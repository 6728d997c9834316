/*
 * Addresses of a traced process in kernel events: named by the code the process told of, at the
 * time of the event, and put down to be asked about where it told of none.
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
#define WORKER 4250
#define METHOD 0xa0
#define MODULE 0x70

static struct trd_enrich *enrich;
static struct trd_json *json;

static int set_up(void **state)
{
    (void)state;
    if (trd_enrich_create(&enrich) != 0 || trd_json_create(&json, trd_enrich_names(enrich)) != 0)
        return -1;
    return trd_enrich_set_thread(enrich, WORKER, PID);
}

static int tear_down(void **state)
{
    (void)state;
    trd_json_destroy(json);
    trd_enrich_destroy(enrich);
    return 0;
}

static void note(struct trd_record *record)
{
    struct trd_record derived;

    if (trd_enrich_record(enrich, record) == 1)
        while (trd_enrich_derived(enrich, &derived) == 1)
            ;
}

static void tell(uint16_t id, uint64_t ts_ns, uint16_t flags, const void *fixed, size_t fixed_size,
                 size_t text_at, const char *name)
{
    _Alignas(8) uint8_t data[TRD_EVENT_SIZE_MAX];
    uint32_t used = (uint32_t)fixed_size;
    struct trd_record record;

    memcpy(data, fixed, fixed_size);
    if (name)
        (void)trd_event_put_text(data, &used, sizeof(data), (struct trd_text *)(data + text_at),
                                 name, strlen(name));
    trd_record_init(&record);
    record.source = TRD_SOURCE_CLR;
    record.ts_ns = ts_ns;
    record.flags = flags;
    record.pid = PID;
    record.tid = WORKER;
    record.schema = trd_clr_schema(id);
    record.data = data;
    record.size = used;
    note(&record);
}
#define TELL(ident, ts, flags, ...)                                                                \
    tell(TRD_EV_##ident, ts, flags, &(const struct trd_ev_##ident){ __VA_ARGS__ },                 \
         sizeof(struct trd_ev_##ident), 0, NULL)

static void tell_method(uint64_t method, const char *name, uint64_t ts_ns)
{
    tell(TRD_EV_method, ts_ns, 0,
         &(const struct trd_ev_method){ .method = method, .module = MODULE },
         sizeof(struct trd_ev_method), offsetof(struct trd_ev_method, name), name);
}

/* As the kernel has it: caller is declared with 8 entries. */
static const struct trd_field stack_fields[] = {
    { .name = "caller",
      .storage = TRD_STORAGE_INTS,
      .meaning = TRD_MEANING_STACK,
      .offset = 16,
      .size = 64,
      .elem_size = 8,
      .count = 8 },
};
static const struct trd_schema stack_schema = {
    .system = "ftrace",
    .name = "user_stack",
    .full_name = "ftrace:user_stack",
    .long_size = 8,
    .fixed_size = 80,
    .fields = stack_fields,
    .field_count = 1,
};

/* Passes a stack of two frames through and compares its args. */
static void expect_stack(uint64_t ts_ns, uint64_t first, uint64_t second, const char *expected)
{
    static char line[TRD_JSON_LINE_MAX];
    uint64_t words[10] = { 0, 0, first, second };
    struct trd_record record;
    int64_t size;
    const char *args;

    trd_record_init(&record);
    record.ts_ns = ts_ns;
    record.tid = WORKER;
    record.schema = &stack_schema;
    record.data = (const uint8_t *)words;
    record.size = sizeof(words);
    note(&record);
    size = trd_json_line(json, &record, 1, line, sizeof(line));
    assert_true(size > 0);
    json_decref(line_check(line, (size_t)size));
    line[size - 2] = '\0'; /* the line's own brace */
    args = strstr(line, "\"args\":");
    assert_non_null(args);
    assert_string_equal(args + strlen("\"args\":"), expected);
}

static void test_frames_of_a_traced_process_are_named_by_its_code(void **state)
{
    (void)state;
    tell_method(METHOD, "Space.Type.Run", 100);
    TELL(code, 110, 0, .method = METHOD, .address = 0x7f0000001000, .size = 0x100);
    expect_stack(120, 0x7f0000001010, 0x7f0000001100,
                 "{\"caller\":[{\"addr\":\"0x7f0000001010\",\"sym\":\"Space.Type.Run+0x10\"},"
                 "{\"addr\":\"0x7f0000001100\"}]}");
}

static void test_code_holds_from_the_begin_of_its_compilation(void **state)
{
    (void)state;
    tell_method(METHOD, "Run", 100);
    TELL(jit_start, 100, 0, .method = METHOD);
    TELL(jit_end, 109, 0, .method = METHOD);
    TELL(code, 110, 0, .method = METHOD, .address = 0x1000, .size = 0x100);
    expect_stack(105, 0x1000, 0, "{\"caller\":[{\"addr\":\"0x1000\",\"sym\":\"Run+0x0\"}]}");
    expect_stack(99, 0x1000, 0, "{\"caller\":[{\"addr\":\"0x1000\"}]}");
}

static void test_code_that_is_caught_up_with_was_always_there(void **state)
{
    (void)state;
    tell_method(METHOD, "Run", 100);
    TELL(code, 110, TRD_RECORD_F_CATCH_UP, .method = METHOD, .address = 0x1000, .size = 0x100);
    expect_stack(1, 0x10ff, 0, "{\"caller\":[{\"addr\":\"0x10ff\",\"sym\":\"Run+0xff\"}]}");
}

static void test_code_ends_with_its_method_and_with_its_module(void **state)
{
    (void)state;
    tell_method(METHOD, "One", 100);
    tell_method(METHOD + 8, "Other", 100);
    TELL(code, 110, 0, .method = METHOD, .address = 0x1000, .size = 0x100);
    TELL(code, 110, 0, .method = METHOD + 8, .address = 0x2000, .size = 0x100);
    TELL(method_unload, 200, 0, .method = METHOD);
    expect_stack(
        200, 0x1000, 0x2000,
        "{\"caller\":[{\"addr\":\"0x1000\"},{\"addr\":\"0x2000\",\"sym\":\"Other+0x0\"}]}");
    TELL(module_unload, 300, 0, .module = MODULE);
    expect_stack(300, 0x2000, 0, "{\"caller\":[{\"addr\":\"0x2000\"}]}");
    expect_stack(299, 0x2000, 0, "{\"caller\":[{\"addr\":\"0x2000\",\"sym\":\"Other+0x0\"}]}");
}

static void test_unknown_address_is_wanted_once_and_known_ones_never(void **state)
{
    uint64_t wanted[8];

    (void)state;
    assert_int_equal(trd_enrich_wanted(enrich, PID, wanted, 8), 0);
    tell_method(METHOD, "Run", 100);
    TELL(code, 110, 0, .method = METHOD, .address = 0x1000, .size = 0x100);
    expect_stack(120, 0x1010, 0x5000,
                 "{\"caller\":[{\"addr\":\"0x1010\",\"sym\":\"Run+0x10\"},{\"addr\":\"0x5000\"}]}");
    expect_stack(121, 0x5000, 0xffffffff81000000,
                 "{\"caller\":[{\"addr\":\"0x5000\"},{\"addr\":\"0xffffffff81000000\"}]}");
    assert_int_equal(trd_enrich_wanted(enrich, PID, wanted, 8), 1);
    assert_int_equal(wanted[0], 0x5000);
    TELL(code, 130, TRD_RECORD_F_CATCH_UP, .address = 0x5000); /* nobody's */
    expect_stack(140, 0x5000, 0, "{\"caller\":[{\"addr\":\"0x5000\"}]}");
    assert_int_equal(trd_enrich_wanted(enrich, PID, wanted, 8), 0);
}

static void test_another_process_at_the_same_address_is_not_named(void **state)
{
    (void)state;
    tell_method(METHOD, "Run", 100);
    TELL(code, 110, 0, .method = METHOD, .address = 0x1000, .size = 0x100);
    assert_int_equal(trd_enrich_set_thread(enrich, WORKER, PID + 1), 0);
    expect_stack(120, 0x1000, 0, "{\"caller\":[{\"addr\":\"0x1000\"}]}");
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_frames_of_a_traced_process_are_named_by_its_code),
        CASE(test_code_holds_from_the_begin_of_its_compilation),
        CASE(test_code_that_is_caught_up_with_was_always_there),
        CASE(test_code_ends_with_its_method_and_with_its_module),
        CASE(test_unknown_address_is_wanted_once_and_known_ones_never),
        CASE(test_another_process_at_the_same_address_is_not_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
