/* Filters by example: names, texts, flags, what is unknown, and the sentences of refusal. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "event.h"
#include "tracerd/filter.h"

#define COMMON                                                                                     \
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                         \
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char switch_format[] =
    "name: sched_switch\nID: 1\nformat:\n" COMMON
    "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
    "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
    "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
    "\tfield:int next_prio;\toffset:56;\tsize:4;\tsigned:1;\n\n"
    "print fmt: \"%s %d %s %s %d\", REC->prev_comm, REC->prev_pid, __print_flags(REC->prev_state & "
    "0xff, \"|\", { 1, \"S\" }, { 2, \"D\" }, { 4, \"T\" }), REC->next_comm, REC->next_prio\n";

static const char wake_format[] =
    "name: sched_waking\nID: 2\nformat:\n" COMMON
    "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
    "\tfield:__data_loc char[] note;\toffset:28;\tsize:4;\tsigned:0;\n"
    "\tfield:__data_loc u32[] ids;\toffset:32;\tsize:4;\tsigned:0;\n\n"
    "print fmt: \"%s %d\", REC->comm, REC->pid\n";

struct switch_event {
    uint16_t type;
    uint16_t unused;
    int32_t common_pid;
    char prev_comm[16];
    int32_t prev_pid, hole;
    int64_t prev_state;
    char next_comm[16];
    int32_t next_prio;
};

struct wake_event {
    uint16_t type;
    uint16_t unused;
    int32_t common_pid;
    char comm[16];
    int32_t pid;
    uint16_t note_offset, note_size;
    uint16_t ids_offset, ids_size;
    char note[8];
    uint32_t ids[2];
};

static const struct switch_event switched = {
    .type = 1,
    .common_pid = 10,
    .prev_comm = "dotnet",
    .prev_pid = 10,
    .prev_state = 0x102,
    .next_comm = "swapper/1",
    .next_prio = 98,
};

static const struct wake_event woken = {
    .type = 2,
    .common_pid = 11,
    .comm = "sixteen bytes ..", /* no room for a NUL */
    .pid = 10,
    .note_offset = offsetof(struct wake_event, note),
    .note_size = 5,
    .ids_offset = offsetof(struct wake_event, ids),
    .ids_size = 8,
    .note = "late",
    .ids = { 7, 4000000000u },
};

static struct trd_catalog *catalog;

static int make_catalog(void **state)
{
    (void)state;
    if (trd_catalog_create(&catalog, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, 8) != 0)
        return -1;
    return trd_catalog_add_format(catalog, "sched", switch_format, sizeof(switch_format) - 1) |
           trd_catalog_add_format(catalog, "sched", wake_format, sizeof(wake_format) - 1);
}

static int destroy_catalog(void **state)
{
    (void)state;
    trd_catalog_destroy(catalog);
    return 0;
}

static struct trd_record record_of(uint32_t id, const void *data, size_t size)
{
    struct trd_record record;

    trd_record_init(&record);
    record.schema = trd_catalog_find(catalog, id);
    assert_non_null(record.schema);
    record.data = data;
    record.size = (uint32_t)size;
    record.ts_ns = 5000000000u;
    record.cpu = 3;
    record.tid = 10;
    return record;
}

static bool passes(const char *text, const struct trd_record *record)
{
    struct trd_filter *filter;
    char error[256];
    bool first, again;

    if (trd_filter_create(&filter, text, error, sizeof(error)) != 0)
        fail_msg("%s: %s", text, error);
    first = trd_filter_match(filter, record);
    again = trd_filter_match(filter, record);
    assert_int_equal(first, again);
    trd_filter_destroy(filter);
    return first;
}

/* Each row: an expression and whether the record passes. */
struct row {
    const char *text;
    bool passes;
};

static void check_rows(const struct row *rows, size_t count, const struct trd_record *record)
{
    for (size_t i = 0; i < count; i++)
        if (passes(rows[i].text, record) != rows[i].passes)
            fail_msg("%s should %s", rows[i].text, rows[i].passes ? "pass" : "not pass");
}
#define CHECK_ROWS(rows, record) check_rows(rows, sizeof(rows) / sizeof(rows[0]), record)

static void test_fields_and_precedence(void **state)
{
    static const struct row rows[] = {
        { "prev_state & 2 && next_prio < 100", true },
        { "prev_state & 1 && next_prio < 100", false },
        { "prev_state & 1 || next_prio < 100", true },
        { "next_prio < 98", false },
        { "next_prio == 98 && !(prev_pid != 10)", true },
        { "next_prio + 2 * 10 == 118", true },
        { "(next_prio + 2) * 10 == 1000", true },
        { "prev_state == 0x102", true },
        { "(prev_state & 0xff) == 2", true },
        { "prev_pid > -1", true },
        { "common_pid == 10", true },
        { "next_prio", true },
        { "!next_prio", false },
        { "next_prio / (prev_pid - 10) == 0", false },
        { "!(next_prio / (prev_pid - 10) == 0)", false },
        { "1", true },
        { "0", false },
        { "!0 && 2 > 1", true },
        { "50ms == 50000000 && 2s == 2000ms && 3us == 3000ns && 1m == 60s", true },
        { "sched:sched_switch && prev_pid == 10", true },
        { "!sched:sched_switch", false },
        { "sched:sched_waking || next_prio == 98", true },
    };
    struct trd_record record = record_of(1, &switched, sizeof(switched));

    (void)state;
    CHECK_ROWS(rows, &record);
}

static void test_texts_and_globs(void **state)
{
    static const struct row rows[] = {
        { "prev_comm == \"dotnet\"", true },     { "\"dotnet\" == prev_comm", true },
        { "prev_comm == \"dot\"", false },       { "prev_comm != \"dot\"", true },
        { "prev_comm ~ \"dot*\"", true },        { "prev_comm !~ \"dot*\"", false },
        { "!(prev_comm ~ \"*x*\")", true },      { "next_comm ~ \"swapper/[0-9]\"", true },
        { "next_comm ~ \"swapper/?\"", true },   { "next_comm ~ \"swapper\"", false },
        { "prev_comm == \"\\144otnet\"", true },
    };
    static const struct row wake_rows[] = {
        { "comm == \"sixteen bytes ..\"", true },
        { "note == \"late\"", true },
        { "note ~ \"l?te\"", true },
        { "note == \"later\"", false },
    };
    struct trd_record record = record_of(1, &switched, sizeof(switched));

    (void)state;
    CHECK_ROWS(rows, &record);
    record = record_of(2, &woken, sizeof(woken));
    CHECK_ROWS(wake_rows, &record);
}

static void test_names_of_flags_and_enums(void **state)
{
    static const struct row rows[] = {
        { "prev_state & D", true },
        { "prev_state & S", false },
        { "prev_state & (S | D)", true },
        { "prev_state & (S | T)", false },
        { "prev_state & \"D\"", true },
        { "prev_state == \"D\"", true },
        { "prev_state != \"D\"", false },
        { "prev_state == \"S\"", false },
        { "!(prev_state & D)", false },
        { "prev_state & nonsense", false },
        { "!(prev_state & nonsense)", false },
    };
    static const struct row gc_rows[] = {
        { "reason == \"induced\"", true }, { "reason == induced", true },
        { "reason ~ \"ind*\"", true },     { "reason != other", true },
        { "reason == other", false },      { "reason == 1", true },
        { "name ~ \"clr:gc_*\"", true },   { "src == \"clr\"", true },
    };
    struct trd_ev_gc_start gc = { .reason = 1 };
    struct trd_record record = record_of(1, &switched, sizeof(switched));

    (void)state;
    CHECK_ROWS(rows, &record);
    record.schema = trd_clr_schema(TRD_EV_gc_start);
    record.source = TRD_SOURCE_CLR;
    record.data = (const uint8_t *)&gc;
    record.size = sizeof(gc);
    CHECK_ROWS(gc_rows, &record);
}

static void test_names_of_the_line(void **state)
{
    static const struct row rows[] = {
        { "cpu == 3 && tid == 10", true },
        { "ts >= 5000000000", true },
        { "ts < 5000000000", false },
        { "pid == 10", false }, /* the line's, which is not known */
        { "!(pid == 10)", false },
        { "args.pid == 10", true }, /* the event's */
        { "args.cpu == 3", false },
        { "name == \"sched:sched_waking\"", true },
        { "name ~ \"sched:*\" && src == \"ftrace\"", true },
        { "name != \"sched:sched_waking\" || cpu == 3", true },
        { "thread ~ \"wor*\"", true },
        { "thread == \"wor\"", false },
        { "dur > 0", false },
    };
    struct trd_record record = record_of(2, &woken, sizeof(woken));

    (void)state;
    record.thread = "worker-1";
    record.thread_size = 8;
    CHECK_ROWS(rows, &record);
    record.thread_size = 0;
    assert_false(passes("thread != \"x\"", &record));
    record.pid = 10;
    assert_true(passes("pid == 10", &record));
}

static void test_elements_of_arrays(void **state)
{
    static const struct row rows[] = {
        { "ids[0] == 7", true },     { "ids[1] == 4000000000", true },
        { "ids[1] > 0", true },      { "ids[2] == 0", false },
        { "!(ids[2] == 0)", false }, { "args.ids[0] + 1 == 8", true },
        { "pid[0] == 10", false },   { "ids == 7", false },
    };
    struct trd_record record = record_of(2, &woken, sizeof(woken));

    (void)state;
    CHECK_ROWS(rows, &record);
}

static void test_what_an_event_does_not_have_is_unknown(void **state)
{
    static const struct row rows[] = {
        { "comm ~ \"*\"", false },
        { "!(comm ~ \"*\")", false },
        { "comm == \"dotnet\" || prev_comm == \"dotnet\"", true },
        { "!(comm == \"x\" || prev_comm == \"x\")", false },
        { "!(comm == \"x\" && prev_comm == \"x\")", true },
        { "prev_comm == 3", false },
        { "next_prio == \"98\"", false },
    };
    struct trd_record record = record_of(1, &switched, sizeof(switched));

    (void)state;
    CHECK_ROWS(rows, &record);
    record.size = offsetof(struct switch_event, next_prio);
    assert_false(passes("next_prio == 98", &record));
    assert_false(passes("next_prio != 98", &record));
    assert_true(passes("next_prio == 98 || prev_pid == 10", &record));
}

static void test_only_events_and_spans_are_judged(void **state)
{
    struct trd_record record;

    (void)state;
    trd_record_init(&record);
    record.name = "clr:gc_pause";
    record.kind = TRD_KIND_SPAN;
    record.dur_ns = 1000;
    assert_true(passes("dur >= 1000", &record));
    assert_true(passes("name == \"clr:gc_pause\"", &record));
    assert_false(passes("prev_pid == 0", &record));
    record.kind = TRD_KIND_LOST;
    assert_true(passes("prev_pid == 0", &record));
    record.kind = TRD_KIND_DEFINITION;
    assert_true(passes("prev_pid == 0", &record));
    record.kind = TRD_KIND_HEARTBEAT;
    assert_true(passes("prev_pid == 0", &record));
}

/* In memory of its own, exactly as large, so that valgrind sees a byte too many. */
static struct trd_record recorded(const char *args, size_t size)
{
    static char *copy;
    struct trd_record record;

    free(copy);
    copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, args, size);
    trd_record_init(&record);
    record.name = "sched:sched_switch";
    record.tid = 7;
    record.args_json = copy;
    record.args_json_size = (uint32_t)size;
    return record;
}

static const char recorded_args[] =
    "{\"prev_comm\":\"a \\\"b\\\" \\u00e4\\ud83d\\ude00\\uf7ff\",\"prev_pid\":-12,\"wide\":\"18446744073709551615\","
    "\"low\":\"-9223372036854775808\",\"prev_state\":{\"raw\":\"2\",\"names\":[\"D\"]},"
    "\"two\":{\"raw\":3,\"names\":[\"S\",\"D\"]},\"reason\":{\"raw\":1,\"name\":\"induced\"},"
    "\"method\":{\"id\":\"0x7f01\",\"name\":\"App.Program.Main\"},\"ip\":{\"addr\":\"0xffffffff81000010\",\"sym\":\"do_it+0x10\"},"
    "\"args\":[\"1\",\"22\",\"333\"],\"flag\":true,\"nested\":{\"raw\":{\"raw\":1}},\"text\":\"5\"}";

static void test_events_of_a_recording_are_judged_by_their_json(void **state)
{
    static const struct row rows[] = {
        { "prev_pid == -12 && prev_pid < 0", true },
        { "prev_pid + 13 == 1", true },
        { "wide == 0xffffffffffffffff", true },
        { "low == -9223372036854775808", true },
        { "prev_state & 2 && !(prev_state & 1)", true },
        { "prev_state == \"D\"", true },
        { "two == \"D\" || two == \"S\"", false },
        { "two == 3", true },
        { "reason == \"induced\" && reason == 1", true },
        { "method ~ \"App.*.Main\" && method == 0x7f01", true },
        { "ip > 0xffffffff81000000 && ip ~ \"do_it*\"", true },
        { "args[1] == 22 && args[2] == 333", true },
        { "args[3] == 0 || !(args[3] == 0)", false },
        { "flag", true },
        { "nested == 1 || !(nested == 1)", false },
        { "text == 5 && text == \"5\"", true },
        { "prev_comm == \"a \\\"b\\\" \303\244\360\237\230\200\377\"", true },
        { "absent == 1 || !(absent == 1) || absent ~ \"*\"", false },
        { "comm ~ \"*\"", false },
        { "tid == 7 && name ~ \"sched:*\"", true },
    };
    struct trd_record record = recorded(recorded_args, sizeof(recorded_args) - 1);

    (void)state;
    check_rows(rows, sizeof(rows) / sizeof(rows[0]), &record);
}

static void test_json_that_is_cut_or_broken_has_no_such_field(void **state)
{
    const char *text = "absent == 1 || args[900] == 1 || absent ~ \"x\"";
    char broken[sizeof(recorded_args)];
    uint32_t bits = 1;

    (void)state;
    for (size_t size = 0; size < sizeof(recorded_args); size++) {
        struct trd_record record = recorded(recorded_args, size);

        assert_false(passes(text, &record));
        memcpy(broken, recorded_args, sizeof(broken));
        for (int i = 0; i < 5; i++) {
            bits = bits * 1664525 + 1013904223;
            broken[(bits >> 8) % (sizeof(broken) - 1)] = "{}[],:\"\\x"[bits >> 29];
        }
        record = recorded(broken, sizeof(broken) - 1);
        assert_false(passes(text, &record));
    }
}

static const char *resolve(void *context, int32_t pid, enum trd_meaning meaning, uint64_t id,
                           size_t *out_size)
{
    (void)context;
    if (pid != 42 || meaning != TRD_MEANING_METHOD || id != 0x1234)
        return NULL;
    *out_size = 8; /* no NUL behind it */
    return "App.Main!";
}

static void test_an_id_is_compared_by_the_name_it_stands_for(void **state)
{
    static const struct trd_json_names names = { .resolve = resolve };
    const struct trd_ev_jit_start known = { .method = 0x1234 }, unknown = { .method = 1 };
    struct trd_record record;
    struct trd_filter *filter;
    char error[128];

    (void)state;
    assert_int_equal(trd_filter_create(&filter, "method == \"App.Main\"", error, sizeof(error)), 0);
    trd_record_init(&record);
    record.source = TRD_SOURCE_CLR;
    record.schema = trd_clr_schema(TRD_EV_jit_start);
    record.pid = 42;
    record.data = (const uint8_t *)&known;
    record.size = sizeof(known);
    assert_false(trd_filter_match(filter, &record)); /* nobody to ask */
    trd_filter_set_names(filter, &names);
    assert_true(trd_filter_match(filter, &record));
    record.data = (const uint8_t *)&unknown;
    assert_false(trd_filter_match(filter, &record));
    assert_int_equal(trd_filter_check(filter, NULL, 0, error, sizeof(error)), 0);
    trd_filter_destroy(filter);
}

static void test_one_filter_serves_many_schemas_in_turn(void **state)
{
    struct trd_record switch_record = record_of(1, &switched, sizeof(switched));
    struct trd_record wake_record = record_of(2, &woken, sizeof(woken)), span;
    struct trd_filter *filter;
    char error[256];

    (void)state;
    assert_int_equal(
        trd_filter_create(&filter, "prev_pid == 10 || name ~ \"clr:*\"", error, sizeof(error)), 0);
    trd_record_init(&span);
    span.kind = TRD_KIND_SPAN;
    span.name = "clr:jit";
    for (int i = 0; i < 3; i++) {
        assert_true(trd_filter_match(filter, &switch_record));
        assert_false(trd_filter_match(filter, &wake_record));
        assert_true(trd_filter_match(filter, &span));
        span.schema = switch_record.schema; /* a span of a schema keeps its own name */
        assert_true(trd_filter_match(filter, &span));
        span.schema = NULL;
    }
    trd_filter_destroy(filter);
}

static void test_refusals_name_the_place(void **state)
{
    static const struct {
        const char *text, *sentence;
    } rows[] = {
        { "", "position 1: a field, a number, a text or `(` is missing, the expression ends here" },
        { "pid ==", "position 7: a field, a number, a text or `(` is missing, the expression ends "
                    "here" },
        { "pid == 1 )", "position 10: an operator is expected, found `)`" },
        { "(pid == 1", "position 10: `)` is missing, the expression ends here" },
        { "pid = 1", "position 5: an operator is expected, found `=`" },
        { "comm ~ \"dot", "position 8: a text without its closing quote" },
        { "comm ~ dot", "position 6: ~ wants a text in \"…\" on its right" },
        { "comm < \"dot\"", "position 8: a text can only be compared with ==, !=, ~ and !~" },
        { "\"dot\"", "position 1: a text alone is no condition" },
        { "1 == \"dot\"", "position 3: only a field can be compared with a text" },
        { "a[0] == \"x\"", "position 6: an element is a number, it cannot be a text" },
        { "a[x] == 1", "position 3: a number is expected, found `x`" },
        { "args. == 1", "position 7: the name of a field is expected, found `==`" },
        { "pid == 12x",
          "position 8: `12x` is no whole number of 64 bits, nor one with ns, us, ms, s or m behind it" },
        { "pid == 18446744073709551616",
          "position 8: `18446744073709551616` is no whole number of 64 bits, nor one with ns, us, ms, s or m behind it" },
        { "flags & 2 == 2", "position 11: a condition is no number; as in C, == and < bind closer "
                            "than &, ^ and |, and ! closer than all: parentheses may be missing" },
    };
    struct trd_filter *filter = NULL;
    char error[256], deep[200];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(trd_filter_create(&filter, rows[i].text, error, sizeof(error)), -EINVAL);
        assert_string_equal(error, rows[i].sentence);
    }
    memset(deep, '(', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    assert_int_equal(trd_filter_create(&filter, deep, error, sizeof(error)), -EINVAL);
    assert_string_equal(error, "position 49: more than 48 levels of nesting");
    assert_null(filter);
}

static void test_an_expression_has_limits(void **state)
{
    static char text[TRD_FILTER_TEXT_MAX + 10];
    struct trd_filter *filter = NULL;
    char error[256];
    size_t size = 0;

    (void)state;
    while (size < 2000)
        size += (size_t)snprintf(text + size, sizeof(text) - size, "a&&");
    text[size - 2] = '\0';
    assert_int_equal(trd_filter_create(&filter, text, error, sizeof(error)), -EINVAL);
    assert_non_null(strstr(error, "the expression has more than 512 parts"));
    memset(text, ' ', sizeof(text) - 1);
    assert_int_equal(trd_filter_create(&filter, text, error, sizeof(error)), -EINVAL);
    assert_non_null(strstr(error, "the expression is longer than 4096 bytes"));
}

static void test_check_tells_of_names_that_no_event_has(void **state)
{
    static const struct {
        const char *text, *sentence;
    } rows[] = {
        { "prev_pid == 1 && pid == 1 && args.pid == 1 && reason == induced", NULL },
        { "prev_state & D && ids[0] && note ~ \"x\" && common_pid", NULL },
        { "prev_pdi == 1", "position 1: no event has a field `prev_pdi`; near it: `prev_pid`" },
        { "cpu == 1 || next_pri > 3",
          "position 13: no event has a field `next_pri`; near it: `next_prio`" },
        { "zzzzzzzzzzzz", "position 1: no event has a field `zzzzzzzzzzzz`" },
        { "next_comm == 3", "position 1: `next_comm` is no number in any event that has it; texts "
                            "are compared with == \"…\" or ~ \"…\"" },
        { "next_prio == \"x\"", "position 1: `next_prio` is a number in every event that has it, "
                                "it cannot be compared with a text" },
        { "ids == 3", "position 1: `ids` is an array: name an element, [0] is the first" },
        { "next_prio[1] == 3", "position 1: `next_prio` is one number, no array" },
        { "thread == 3", "position 1: `thread` is a text: compare it with == \"…\" or ~ \"…\"" },
        { "cpu == \"3\"", "position 1: `cpu` is a number" },
    };
    const struct trd_catalog *catalogs[] = { catalog };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct trd_filter *filter;
        char error[256] = "";
        int result;

        assert_int_equal(trd_filter_create(&filter, rows[i].text, error, sizeof(error)), 0);
        result = trd_filter_check(filter, catalogs, 1, error, sizeof(error));
        assert_int_equal(result, rows[i].sentence ? -ENOENT : 0);
        assert_string_equal(error, rows[i].sentence ? rows[i].sentence : "");
        trd_filter_destroy(filter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_and_precedence),
        cmocka_unit_test(test_texts_and_globs),
        cmocka_unit_test(test_names_of_flags_and_enums),
        cmocka_unit_test(test_names_of_the_line),
        cmocka_unit_test(test_elements_of_arrays),
        cmocka_unit_test(test_what_an_event_does_not_have_is_unknown),
        cmocka_unit_test(test_only_events_and_spans_are_judged),
        cmocka_unit_test(test_events_of_a_recording_are_judged_by_their_json),
        cmocka_unit_test(test_json_that_is_cut_or_broken_has_no_such_field),
        cmocka_unit_test(test_an_id_is_compared_by_the_name_it_stands_for),
        cmocka_unit_test(test_one_filter_serves_many_schemas_in_turn),
        cmocka_unit_test(test_refusals_name_the_place),
        cmocka_unit_test(test_an_expression_has_limits),
        cmocka_unit_test(test_check_tells_of_names_that_no_event_has),
    };

    return cmocka_run_group_tests(tests, make_catalog, destroy_catalog);
}
