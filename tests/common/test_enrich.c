/*
 * Enrich told little stories, record by record; what it derives is compared as JSON lines that are
 * written down here.
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
#define MAIN 4242
#define WORKER 4250
#define BACKGROUND 4251
#define GC 1
#define GC_PREP 7

static struct trd_enrich *enrich;
static struct trd_json *json;
static char buffer[TRD_JSON_LINE_MAX];

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

/* The line of a record; valid until the next one. */
static const char *line_of(const struct trd_record *record)
{
    int64_t size = trd_json_line(json, record, 1, buffer, sizeof(buffer));

    assert_true(size > 0);
    json_decref(line_check(buffer, (size_t)size));
    buffer[size] = '\0';
    return buffer;
}

/* Did the last record say that there is something to be fetched? */
static bool promised;

static void note(struct trd_record *record)
{
    int result = trd_enrich_record(enrich, record);

    assert_in_range(result, 0, 1);
    promised = result == 1;
}

static void fetch(struct trd_record *out)
{
    assert_int_equal(trd_enrich_derived(enrich, out), 1);
    promised = false;
}

/* An event of events.def, with a text behind its fixed fields where one is given. */
static struct trd_record tell(uint16_t id, uint64_t ts_ns, int32_t tid, const void *fixed,
                              size_t fixed_size, size_t text_at, const char *name)
{
    static _Alignas(8) uint8_t data[TRD_EVENT_SIZE_MAX];
    uint32_t used = (uint32_t)fixed_size;
    struct trd_record record;

    memcpy(data, fixed, fixed_size);
    if (name)
        (void)trd_event_put_text(data, &used, sizeof(data), (struct trd_text *)(data + text_at),
                                 name, strlen(name));
    trd_record_init(&record);
    record.source = TRD_SOURCE_CLR;
    record.ts_ns = ts_ns;
    record.pid = PID;
    record.tid = tid;
    record.schema = trd_clr_schema(id);
    record.data = data;
    record.size = used;
    note(&record);
    return record;
}
#define TELL(ident, ts, tid, ...)                                                                  \
    tell(TRD_EV_##ident, ts, tid, &(const struct trd_ev_##ident){ __VA_ARGS__ },                   \
         sizeof(struct trd_ev_##ident), 0, NULL)
#define TELL_NAME(ident, ts, tid, member, text, ...)                                               \
    tell(TRD_EV_##ident, ts, tid, &(const struct trd_ev_##ident){ __VA_ARGS__ },                   \
         sizeof(struct trd_ev_##ident), offsetof(struct trd_ev_##ident, member), text)

static void tell_loss(int32_t tid, uint64_t from_ns, uint64_t to_ns)
{
    struct trd_record record;

    trd_record_init(&record);
    record.kind = TRD_KIND_LOST;
    record.source = TRD_SOURCE_CLR;
    record.pid = PID;
    record.tid = tid;
    record.lost_from_ns = from_ns;
    record.ts_ns = to_ns;
    record.lost = 1;
    note(&record);
}

static void expect(const char *expected)
{
    struct trd_record record;

    fetch(&record);
    assert_string_equal(strchr(line_of(&record), 'k') - 1, expected);
}

static void expect_nothing(void)
{
    struct trd_record record;

    assert_int_equal(trd_enrich_derived(enrich, &record), 0);
    assert_false(promised);
}

static void expect_definition(void)
{
    struct trd_record record;

    fetch(&record);
    assert_int_equal(record.kind, TRD_KIND_DEFINITION);
}

#define SPAN(name, ts, dur, tid, marks, args)                                                      \
    "\"k\":\"span\",\"seq\":1,\"ts\":\"" #ts "\",\"dur\":" #dur                                    \
    ",\"src\":\"clr\",\"pid\":4242,\"tid\":" #tid marks ",\"name\":\"" name "\",\"args\":" args    \
    "}\n"
#define INCOMPLETE ",\"incomplete\":true"
#define FOR_GC "\"reason\":{\"raw\":1,\"name\":\"gc\"}"

static void test_blocking_collection_gives_gc_pause_and_suspension(void **state)
{
    (void)state;
    (void)TELL(suspend_begin, 100, MAIN, .reason = GC);
    (void)TELL(suspend_end, 130, MAIN, .reason = GC);
    (void)TELL(gc_start, 140, MAIN, .number = 3);
    expect_nothing();
    (void)TELL(gc_end, 180, MAIN, .number = 3);
    expect(SPAN("clr:gc", 140, 40, 4242, "", "{\"number\":3}"));
    (void)TELL(resume_begin, 190, MAIN, .reason = GC);
    expect_nothing();
    (void)TELL(resume_end, 200, MAIN, .reason = GC);
    expect(SPAN("clr:gc_pause", 100, 100, 4242, "", "{\"number\":3}"));
    expect(SPAN("clr:suspension", 100, 100, 4242, "", "{" FOR_GC ",\"stop_ns\":30}"));
    expect_nothing();
    trd_enrich_finish(enrich, 300);
    expect_nothing();
}

/* The second pause has no collection of its own; a foreground one runs in between. */
static void test_background_collection_owns_its_later_pauses(void **state)
{
    (void)state;
    (void)TELL(suspend_begin, 100, MAIN, .reason = GC);
    (void)TELL(gc_start, 110, MAIN, .number = 7);
    (void)TELL(resume_end, 120, MAIN, .reason = GC);
    expect(SPAN("clr:gc_pause", 100, 20, 4242, "", "{\"number\":7}"));
    expect(SPAN("clr:suspension", 100, 20, 4242, "", "{" FOR_GC "}"));
    (void)TELL(gc_start, 130, WORKER, .number = 8);
    (void)TELL(gc_end, 140, WORKER, .number = 8);
    expect(SPAN("clr:gc", 130, 10, 4250, "", "{\"number\":8}"));
    (void)TELL(suspend_begin, 200, BACKGROUND, .reason = GC_PREP);
    (void)TELL(resume_end, 230, BACKGROUND, .reason = GC_PREP);
    expect(SPAN("clr:gc_pause", 200, 30, 4251, "", "{\"number\":7}"));
    expect(
        SPAN("clr:suspension", 200, 30, 4251, "", "{\"reason\":{\"raw\":7,\"name\":\"gc_prep\"}}"));
    (void)TELL(gc_end, 300, BACKGROUND, .number = 7);
    expect(SPAN("clr:gc", 110, 190, 4242, "", "{\"number\":7}"));
    expect_nothing();
}

static void test_suspension_for_other_reasons_is_no_gc_pause(void **state)
{
    (void)state;
    (void)TELL(suspend_begin, 100, MAIN, .reason = 9);
    (void)TELL(resume_end, 110, MAIN, .reason = 9);
    expect(SPAN("clr:suspension", 100, 10, 4242, "",
                "{\"reason\":{\"raw\":9,\"name\":\"profiler\"}}"));
    (void)TELL(suspend_begin, 200, MAIN, .reason = GC);
    (void)TELL(suspend_aborted, 220, MAIN, .reason = GC);
    expect(SPAN("clr:suspension", 200, 20, 4242, "", "{" FOR_GC ",\"aborted\":true}"));
    (void)TELL(suspend_begin, 300, MAIN, .reason = 77);
    (void)TELL(resume_end, 310, MAIN, .reason = 77);
    expect(SPAN("clr:suspension", 300, 10, 4242, "", "{\"reason\":{\"raw\":77}}"));
    expect_nothing();
}

static void test_end_without_begin_gives_nothing(void **state)
{
    (void)state;
    (void)TELL(resume_end, 100, MAIN, .reason = GC);
    (void)TELL(gc_end, 110, MAIN, .number = 1);
    (void)TELL(jit_end, 120, MAIN, .method = 5);
    expect_nothing();
}

static void test_contention_spans_tell_lock_and_owner(void **state)
{
    (void)state;
    (void)TELL(thread_assigned, 10, MAIN, .thread = 0x77, .os_tid = MAIN);
    (void)TELL_NAME(thread_name, 11, MAIN, name, "Main", .thread = 0x77);
    expect_definition();
    (void)TELL(contention_start, 100, WORKER, .lock = 0x7f10, .owner = MAIN);
    (void)TELL(contention_start, 105, WORKER, .native = 1);
    (void)TELL(contention_stop, 110, WORKER, .native = 1);
    expect(SPAN("clr:contention", 105, 5, 4250, "", "{\"native\":true}"));
    (void)TELL(contention_start, 120, WORKER, .native = 1);
    (void)TELL(contention_stop, 150, WORKER, .duration = 50);
    expect(SPAN("clr:contention", 120, 30, 4250, INCOMPLETE, "{\"native\":true}"));
    expect(SPAN("clr:contention", 100, 50, 4250, "",
                "{\"lock\":\"0x7f10\",\"owner\":4242,\"owner_thread\":\"Main\"}"));
    (void)TELL(contention_stop, 160, WORKER, .duration = 5);
    (void)TELL(contention_start, 170, WORKER, .lock = 0x7f10, .owner = 9999);
    trd_enrich_finish(enrich, 200);
    expect(
        SPAN("clr:contention", 170, 30, 4250, INCOMPLETE, "{\"lock\":\"0x7f10\",\"owner\":9999}"));
}

static void test_jit_spans_nest_by_thread_and_carry_the_method(void **state)
{
    (void)state;
    (void)TELL_NAME(method, 90, WORKER, name, "App.Main\"", .method = 0x7f10);
    expect("\"k\":\"def\",\"seq\":1,\"ts\":\"90\",\"src\":\"clr\",\"pid\":4242,"
           "\"name\":\"method\",\"args\":{\"id\":\"0x7f10\",\"name\":\"App.Main\\\"\"}}\n");
    (void)TELL(jit_start, 100, WORKER, .method = 0x7f10);
    (void)TELL(jit_start, 105, MAIN, .method = 0x7f10);
    (void)TELL(jit_start, 110, WORKER, .method = 0x7f20);
    (void)TELL(jit_end, 120, WORKER, .method = 0x7f20);
    expect(SPAN("clr:jit", 110, 10, 4250, "", "{\"method\":{\"id\":\"0x7f20\"}}"));
    (void)TELL(jit_start, 130, WORKER, .method = 0x7f30);
    (void)TELL(jit_end, 150, WORKER, .method = 0x7f10);
    expect(SPAN("clr:jit", 130, 20, 4250, INCOMPLETE, "{\"method\":{\"id\":\"0x7f30\"}}"));
    expect(SPAN("clr:jit", 100, 50, 4250, "",
                "{\"method\":{\"id\":\"0x7f10\",\"name\":\"App.Main\\\"\"}}"));
    trd_enrich_finish(enrich, 200);
    expect(SPAN("clr:jit", 105, 95, 4242, INCOMPLETE,
                "{\"method\":{\"id\":\"0x7f10\",\"name\":\"App.Main\\\"\"}}"));
    expect_nothing();
}

/* Case C20. */
static void test_loss_on_the_thread_that_began_closes_at_the_loss(void **state)
{
    (void)state;
    (void)TELL(suspend_begin, 100, MAIN, .reason = GC);
    (void)TELL(gc_start, 110, MAIN, .number = 1);
    (void)TELL(jit_start, 115, MAIN, .method = 5);
    (void)TELL(jit_start, 116, WORKER, .method = 6);
    tell_loss(MAIN, 120, 500);
    expect(SPAN("clr:jit", 115, 5, 4242, INCOMPLETE, "{\"method\":{\"id\":\"0x5\"}}"));
    expect(SPAN("clr:gc_pause", 100, 20, 4242, INCOMPLETE, "{\"number\":1}"));
    expect(SPAN("clr:suspension", 100, 20, 4242, INCOMPLETE, "{" FOR_GC "}"));
    expect(SPAN("clr:gc", 110, 10, 4242, INCOMPLETE, "{\"number\":1}"));
    expect_nothing();
    (void)TELL(resume_end, 600, MAIN, .reason = GC);
    (void)TELL(gc_end, 600, MAIN, .number = 1);
    expect_nothing();
    (void)TELL(jit_end, 700, WORKER, .method = 6);
    expect(SPAN("clr:jit", 116, 584, 4250, "", "{\"method\":{\"id\":\"0x6\"}}"));
}

/* Somebody else lost events: the end may still come, and if it does the span is whole. */
static void test_loss_on_another_thread_leaves_a_doubt_that_the_end_resolves(void **state)
{
    (void)state;
    (void)TELL(suspend_begin, 100, MAIN, .reason = GC);
    tell_loss(WORKER, 120, 130);
    expect_nothing();
    (void)TELL(resume_end, 150, MAIN, .reason = GC);
    expect(SPAN("clr:gc_pause", 100, 50, 4242, "", "{}"));
    expect(SPAN("clr:suspension", 100, 50, 4242, "", "{" FOR_GC "}"));

    (void)TELL(suspend_begin, 200, MAIN, .reason = GC);
    tell_loss(WORKER, 220, 230);
    tell_loss(WORKER, 240, 250);
    (void)TELL(suspend_begin, 900, MAIN, .reason = 9);
    expect(SPAN("clr:gc_pause", 200, 20, 4242, INCOMPLETE, "{}"));
    expect(SPAN("clr:suspension", 200, 20, 4242, INCOMPLETE, "{" FOR_GC "}"));
    trd_enrich_finish(enrich, 1000);
    expect(SPAN("clr:suspension", 900, 100, 4242, INCOMPLETE,
                "{\"reason\":{\"raw\":9,\"name\":\"profiler\"}}"));
    expect_nothing();
}

static void test_loss_of_a_whole_process_closes_everything_in_it(void **state)
{
    (void)state;
    (void)TELL(jit_start, 100, WORKER, .method = 6);
    (void)TELL(gc_start, 110, MAIN, .number = 1);
    tell_loss(-1, 0, 300);
    expect(SPAN("clr:jit", 100, 200, 4250, INCOMPLETE, "{\"method\":{\"id\":\"0x6\"}}"));
    expect(SPAN("clr:gc", 110, 190, 4242, INCOMPLETE, "{\"number\":1}"));
    expect_nothing();
}

/* Kernel side */

static const struct trd_field fork_fields[] = {
    { .name = "pid", .size = 4, .elem_size = 4, .is_signed = true },
    { .name = "clone_flags", .offset = 8, .size = 8, .elem_size = 8 }
};
static const struct trd_schema switch_schema = { .full_name = "sched:sched_switch",
                                                 .long_size = 8 };
static const struct trd_schema newtask_schema = {
    .full_name = "task:task_newtask", .fields = fork_fields, .field_count = 2, .long_size = 8
};
static const struct trd_schema exit_schema = {
    .full_name = "sched:sched_process_exit", .fields = fork_fields, .field_count = 1, .long_size = 8
};

static struct trd_record tell_kernel(const struct trd_schema *schema, uint64_t ts_ns, int32_t tid,
                                     int32_t other, uint64_t clone_flags)
{
    static struct {
        int32_t pid, unused;
        uint64_t clone_flags;
    } data;
    struct trd_record record;

    data.pid = other;
    data.clone_flags = clone_flags;
    trd_record_init(&record);
    record.ts_ns = ts_ns;
    record.tid = tid;
    record.schema = schema;
    record.data = (const uint8_t *)&data;
    record.size = sizeof(data);
    note(&record);
    return record;
}

static void check_switch(int32_t tid, int32_t pid, const char *name)
{
    struct trd_record record = tell_kernel(&switch_schema, 1, tid, 0, 0);

    assert_int_equal(record.pid, pid);
    assert_int_equal(record.thread_size, name ? strlen(name) : 0);
    if (name)
        assert_memory_equal(record.thread, name, strlen(name));
}

static void test_kernel_event_of_a_managed_thread_carries_its_name_and_process(void **state)
{
    (void)state;
    check_switch(WORKER, -1, NULL);
    (void)TELL(thread_created, 10, MAIN, .thread = 0x55);
    (void)TELL(thread_assigned, 20, WORKER, .thread = 0x55, .os_tid = WORKER);
    check_switch(WORKER, PID, NULL);
    (void)TELL_NAME(thread_name, 30, MAIN, name, "a worker with a long name", .thread = 0x55);
    expect("\"k\":\"def\",\"seq\":1,\"ts\":\"30\",\"src\":\"clr\",\"pid\":4242,\"tid\":4250,"
           "\"thread\":\"a worker with a long name\",\"name\":\"thread\","
           "\"args\":{\"id\":\"0x55\",\"name\":\"a worker with a long name\"}}\n");
    check_switch(WORKER, PID, "a worker with a long name");
    check_switch(MAIN, -1, NULL);
    (void)TELL_NAME(thread_name, 40, MAIN, name, "renamed", .thread = 0x55);
    check_switch(WORKER, PID, "renamed");
    (void)TELL_NAME(thread_name, 50, MAIN, name, "", .thread = 0x55);
    check_switch(WORKER, PID, NULL);
}

/* Named before it started: the name waits for the OS thread. */
static void test_name_given_before_the_thread_runs_is_kept_for_it(void **state)
{
    (void)state;
    (void)TELL_NAME(thread_name, 10, MAIN, name, "early", .thread = 0x55);
    check_switch(WORKER, -1, NULL);
    (void)TELL(thread_assigned, 20, WORKER, .thread = 0x55, .os_tid = WORKER);
    check_switch(WORKER, PID, "early");
}

static void test_os_thread_that_changes_its_managed_thread_changes_its_name(void **state)
{
    (void)state;
    (void)TELL_NAME(thread_name, 10, MAIN, name, "one", .thread = 0x55);
    (void)TELL(thread_assigned, 20, WORKER, .thread = 0x55, .os_tid = WORKER);
    (void)TELL(thread_assigned, 30, WORKER, .thread = 0x66, .os_tid = WORKER);
    check_switch(WORKER, PID, NULL);
    (void)TELL(thread_destroyed, 40, MAIN, .thread = 0x55);
    (void)TELL_NAME(thread_name, 50, MAIN, name, "two", .thread = 0x66);
    check_switch(WORKER, PID, "two");
}

static void test_destroyed_thread_is_named_in_its_last_event_and_not_after(void **state)
{
    struct trd_record record;

    (void)state;
    (void)TELL_NAME(thread_name, 10, MAIN, name, "gone", .thread = 0x55);
    (void)TELL(thread_assigned, 20, WORKER, .thread = 0x55, .os_tid = WORKER);
    record = TELL(thread_destroyed, 30, WORKER, .thread = 0x55);
    assert_non_null(strstr(line_of(&record),
                           "\"thread\":\"gone\",\"name\":\"clr:thread_destroyed\","
                           "\"args\":{\"thread\":{\"id\":\"0x55\","
                           "\"name\":\"gone\"}}"));
    check_switch(WORKER, PID, NULL);
    record = TELL(thread_created, 40, MAIN, .thread = 0x55);
    assert_non_null(strstr(line_of(&record), "\"args\":{\"thread\":{\"id\":\"0x55\"}}"));
}

static void test_thread_id_that_exited_and_comes_back_brings_no_old_name(void **state)
{
    (void)state;
    (void)TELL_NAME(thread_name, 10, MAIN, name, "old", .thread = 0x55);
    (void)TELL(thread_assigned, 20, WORKER, .thread = 0x55, .os_tid = WORKER);
    (void)tell_kernel(&exit_schema, 30, WORKER, WORKER, 0);
    check_switch(WORKER, PID, "old"); /* its last switch */
    (void)tell_kernel(&newtask_schema, 40, 77, WORKER, 0);
    check_switch(WORKER, -1, NULL);
}

static void test_new_thread_belongs_to_its_parents_process_and_a_new_process_does_not(void **state)
{
    (void)state;
    assert_int_equal(trd_enrich_set_thread(enrich, MAIN, PID), 0);
    (void)tell_kernel(&newtask_schema, 10, MAIN, WORKER, 0x3d0f00);
    check_switch(WORKER, PID, NULL);
    (void)tell_kernel(&newtask_schema, 20, MAIN, BACKGROUND, 0x1200011 & ~0x10000);
    check_switch(BACKGROUND, -1, NULL);
    assert_int_equal(trd_enrich_set_thread(enrich, WORKER, 99), 0);
    check_switch(WORKER, 99, NULL);
}

static void test_threads_that_exit_are_forgotten_after_others_did(void **state)
{
    (void)state;
    for (int32_t tid = 1; tid <= 300; tid++) {
        assert_int_equal(trd_enrich_set_thread(enrich, tid, PID), 0);
        (void)tell_kernel(&exit_schema, 10, tid, tid, 0);
    }
    check_switch(300, PID, NULL);
    check_switch(1, -1, NULL);
}

static void test_ended_process_is_closed_at_once_and_forgotten_a_second_later(void **state)
{
    struct trd_record record;

    (void)state;
    (void)TELL_NAME(thread_name, 10, MAIN, name, "main", .thread = 0x55);
    (void)TELL(thread_assigned, 20, WORKER, .thread = 0x55, .os_tid = WORKER);
    expect_definition();
    (void)TELL(gc_start, 25, WORKER, .number = 1);
    trd_enrich_end_process(enrich, PID, 30);
    expect(SPAN("clr:gc", 25, 5, 4250, ",\"thread\":\"main\"" INCOMPLETE, "{\"number\":1}"));
    record = tell_kernel(&switch_schema, 1000000000, WORKER, 0, 0);
    assert_int_equal(record.thread_size, 4);
    record = tell_kernel(&switch_schema, 1000000030, WORKER, 0, 0);
    assert_int_equal(record.thread_size, 0);
    assert_int_equal(record.pid, -1);
    record = TELL(thread_created, 1000000040, MAIN, .thread = 0x55);
    assert_null(strstr(line_of(&record), "\"name\":\"main\""));
}

static void test_process_that_speaks_again_is_not_forgotten(void **state)
{
    struct trd_record record;

    (void)state;
    (void)TELL_NAME(thread_name, 10, MAIN, name, "main", .thread = 0x55);
    (void)TELL(thread_assigned, 20, WORKER, .thread = 0x55, .os_tid = WORKER);
    trd_enrich_end_process(enrich, PID, 30);
    (void)TELL(gc_start, 40, WORKER, .number = 1);
    record = tell_kernel(&switch_schema, 5000000000, WORKER, 0, 0);
    assert_int_equal(record.thread_size, 4);
}

static void test_name_told_again_is_defined_once_and_an_unloaded_one_is_forgotten(void **state)
{
    struct trd_record record;

    (void)state;
    (void)TELL_NAME(module_load, 10, MAIN, path, "/a.dll", .module = 8);
    (void)TELL_NAME(module_load, 11, MAIN, path, "/a.dll", .module = 8);
    expect("\"k\":\"def\",\"seq\":1,\"ts\":\"10\",\"src\":\"clr\",\"pid\":4242,"
           "\"name\":\"module\",\"args\":{\"id\":\"0x8\",\"name\":\"/a.dll\"}}\n");
    expect_nothing();
    record = TELL(module_unload, 20, MAIN, .module = 8);
    assert_non_null(strstr(line_of(&record), "\"name\":\"/a.dll\""));
    record = TELL(module_unload, 30, MAIN, .module = 8);
    assert_null(strstr(line_of(&record), "/a.dll"));
}

/* What was not fetched is kept, whatever comes in between. */
static void test_derived_records_wait_until_they_are_fetched(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        (void)TELL(gc_start, 10 + (uint64_t)i, MAIN, .number = (uint32_t)i + 1);
        (void)TELL(gc_end, 20 + (uint64_t)i, MAIN, .number = (uint32_t)i + 1);
    }
    for (int i = 0; i < 1000; i++) {
        struct trd_record record;
        char args[32];

        (void)snprintf(args, sizeof(args), "{\"number\":%d}", i + 1);
        fetch(&record);
        assert_int_equal(record.args_json_size, strlen(args));
        assert_memory_equal(record.args_json, args, strlen(args));
    }
    expect_nothing();
}

/* Records cut short or with texts that point outside: nothing is read beyond, nothing is told. */
static void test_short_or_lying_records_are_passed_over(void **state)
{
    struct trd_ev_thread_name *event = malloc(sizeof(*event));
    struct trd_record record;

    (void)state;
    *event = (struct trd_ev_thread_name){ 0x55, { sizeof(*event), 200 } };
    trd_record_init(&record);
    record.source = TRD_SOURCE_CLR;
    record.pid = PID;
    record.tid = WORKER;
    record.schema = trd_clr_schema(TRD_EV_thread_name);
    record.data = (const uint8_t *)event;
    for (record.size = 0; record.size <= sizeof(*event); record.size++) {
        note(&record);
        expect_nothing();
    }
    free(event);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_blocking_collection_gives_gc_pause_and_suspension),
        TEST(test_background_collection_owns_its_later_pauses),
        TEST(test_suspension_for_other_reasons_is_no_gc_pause),
        TEST(test_end_without_begin_gives_nothing),
        TEST(test_contention_spans_tell_lock_and_owner),
        TEST(test_jit_spans_nest_by_thread_and_carry_the_method),
        TEST(test_loss_on_the_thread_that_began_closes_at_the_loss),
        TEST(test_loss_on_another_thread_leaves_a_doubt_that_the_end_resolves),
        TEST(test_loss_of_a_whole_process_closes_everything_in_it),
        TEST(test_kernel_event_of_a_managed_thread_carries_its_name_and_process),
        TEST(test_name_given_before_the_thread_runs_is_kept_for_it),
        TEST(test_os_thread_that_changes_its_managed_thread_changes_its_name),
        TEST(test_destroyed_thread_is_named_in_its_last_event_and_not_after),
        TEST(test_thread_id_that_exited_and_comes_back_brings_no_old_name),
        TEST(test_new_thread_belongs_to_its_parents_process_and_a_new_process_does_not),
        TEST(test_threads_that_exit_are_forgotten_after_others_did),
        TEST(test_ended_process_is_closed_at_once_and_forgotten_a_second_later),
        TEST(test_process_that_speaks_again_is_not_forgotten),
        TEST(test_name_told_again_is_defined_once_and_an_unloaded_one_is_forgotten),
        TEST(test_derived_records_wait_until_they_are_fetched),
        TEST(test_short_or_lying_records_are_passed_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
