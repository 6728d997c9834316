/* Spans of threads that do not run, told switch by switch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tracerd/catalog.h"
#include "tracerd/enrich.h"
#include "tracerd/filter.h"

#define COMMON                                                                                     \
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                         \
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                         \
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char switch_format[] =
    "name: sched_switch\nID: 1\nformat:\n" COMMON
    "\tfield:pid_t prev_pid;\toffset:8;\tsize:4;\tsigned:1;\n"
    "\tfield:pid_t next_pid;\toffset:12;\tsize:4;\tsigned:1;\n"
    "\tfield:long prev_state;\toffset:16;\tsize:8;\tsigned:1;\n\n"
    "print fmt: \"%d %s\", REC->prev_pid, __print_flags(REC->prev_state & 0xff, \"|\", "
    "{ 1, \"S\" }, { 2, \"D\" }, { 0x10, \"X\" }, { 0x20, \"Z\" })\n";

static const char waking_format[] = "name: sched_waking\nID: 2\nformat:\n" COMMON
                                    "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n\n"
                                    "print fmt: \"%d\", REC->pid\n";

struct event {
    uint16_t type;
    uint8_t flags, unused;
    int32_t common_pid, pid, next;
    int64_t state;
};

static struct trd_catalog *catalog;
static struct trd_enrich *enrich;
static char told[1024]; /* what was derived since the last look: "tid begin-end args flags;" */

static int set_up(void **state)
{
    (void)state;
    told[0] = '\0';
    if (trd_catalog_create(&catalog, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, 8) != 0 ||
        trd_enrich_create(&enrich) != 0)
        return -1;
    return trd_catalog_add_format(catalog, "sched", switch_format, sizeof(switch_format) - 1) |
           trd_catalog_add_format(catalog, "sched", waking_format, sizeof(waking_format) - 1);
}

static int tear_down(void **state)
{
    (void)state;
    trd_enrich_destroy(enrich);
    trd_catalog_destroy(catalog);
    return 0;
}

static void fetch(void)
{
    struct trd_record record;
    size_t used = strlen(told);

    while (trd_enrich_derived(enrich, &record) == 1) {
        assert_int_equal(record.kind, TRD_KIND_SPAN);
        assert_int_equal(record.source, TRD_SOURCE_FTRACE);
        assert_string_equal(record.name, "sched:offcpu");
        used += (size_t)snprintf(told + used, sizeof(told) - used, "%d %llu-%llu %.*s%s;",
                                 record.tid, (unsigned long long)record.ts_ns,
                                 (unsigned long long)(record.ts_ns + record.dur_ns),
                                 (int)record.args_json_size, record.args_json,
                                 record.flags & TRD_RECORD_F_INCOMPLETE ? " incomplete" : "");
    }
}

static void tell(uint64_t ts_ns, int32_t cpu, const struct event *event)
{
    struct trd_record record;

    trd_record_init(&record);
    record.source = TRD_SOURCE_FTRACE;
    record.ts_ns = ts_ns;
    record.cpu = cpu;
    record.tid = event->common_pid;
    record.schema = trd_catalog_find(catalog, event->type);
    record.data = (const uint8_t *)event;
    record.size = sizeof(*event);
    (void)trd_enrich_record(enrich, &record);
    fetch();
}

static void tell_switch(uint64_t ts_ns, int32_t cpu, int32_t prev, int64_t state, int32_t next)
{
    tell(ts_ns, cpu,
         &(struct event){
             .type = 1, .common_pid = prev, .pid = prev, .next = next, .state = state });
}

static void tell_waking(uint64_t ts_ns, uint8_t flags, int32_t waker, int32_t tid)
{
    tell(ts_ns, 0, &(struct event){ .type = 2, .flags = flags, .common_pid = waker, .pid = tid });
}

static void expect(const char *text)
{
    assert_string_equal(told, text);
    told[0] = '\0';
}

static void test_offcpu_tells_state_waker_and_cpus(void **state)
{
    (void)state;
    trd_enrich_derive_offcpu(enrich, 0, false);
    tell_switch(100, 1, 10, 2, 0);
    tell_waking(140, 0, 20, 10);
    tell_waking(141, 0, 21, 10); /* it is woken already */
    tell_switch(150, 3, 0, 0, 10);
    expect("10 100-150 {\"state\":\"D\",\"from_cpu\":1,\"to_cpu\":3,\"runnable_ns\":10,"
           "\"waker\":20};");
    tell_switch(200, 0, 10, 1, 0);
    tell_waking(230, 0x08, 20, 10);
    tell_switch(240, 0, 0, 0, 10);
    expect("10 200-240 {\"state\":\"S\",\"from_cpu\":0,\"to_cpu\":0,\"runnable_ns\":10,"
           "\"by_interrupt\":true};");
}

static void test_offcpu_ends_where_the_thread_is_seen_if_no_switch_tells(void **state)
{
    (void)state;
    trd_enrich_derive_offcpu(enrich, 0, false);
    tell_switch(100, 1, 10, 1, 0);
    tell_waking(101, 0, 10, 30); /* its way out */
    tell_waking(140, 0, 20, 10);
    tell_waking(150, 0, 10, 30);
    expect("10 100-150 {\"state\":\"S\",\"from_cpu\":1,\"to_cpu\":0,\"runnable_ns\":10,"
           "\"waker\":20,\"seen\":true};");
    tell_switch(160, 0, 10, 1, 0);
    tell_waking(170, 0, 20, 10);
    tell_switch(180, 0, 10, 1, 0);
    expect("10 160-180 {\"state\":\"S\",\"from_cpu\":0,\"to_cpu\":0,\"runnable_ns\":10,"
           "\"waker\":20,\"seen\":true};");
    /* Nor who woke it. */
    tell_switch(1000180, 0, 10, 0x10, 0);
    expect("");
    tell_switch(2000000, 0, 11, 1, 0);
    tell_switch(3000001, 0, 11, 0x10, 0);
    expect("11 2000000-3000001 {\"state\":\"S\",\"from_cpu\":0,\"to_cpu\":0,\"seen\":true};");
    tell_switch(200, 0, 10, 0x100, 11);
    tell_waking(201, 0, 10, 30);
    tell_switch(230, 0, 11, 1, 10);
    expect("10 200-230 {\"state\":\"R\",\"from_cpu\":0,\"to_cpu\":0,\"runnable_ns\":30};");
}

static void test_offcpu_who_was_pushed_aside_could_run_all_the_while(void **state)
{
    (void)state;
    trd_enrich_derive_offcpu(enrich, 0, false);
    tell_switch(100, 0, 10, 0x100, 11);
    tell_switch(130, 0, 11, 1, 10);
    expect("10 100-130 {\"state\":\"R\",\"from_cpu\":0,\"to_cpu\":0,\"runnable_ns\":30};");
}

static void test_offcpu_short_ones_ended_ones_and_the_idle_task_have_none(void **state)
{
    (void)state;
    trd_enrich_derive_offcpu(enrich, 50, false);
    tell_switch(100, 0, 10, 1, 0);
    tell_switch(149, 0, 0, 0, 10);
    tell_switch(200, 0, 10, 0x10, 0); /* dead: its id may come back */
    tell_switch(900, 0, 0, 0, 10);
    expect("");
    tell_switch(1000, 0, 10, 1, 0);
    tell_switch(1050, 0, 0, 0, 10);
    expect("10 1000-1050 {\"state\":\"S\",\"from_cpu\":0,\"to_cpu\":0};");
}

static void test_offcpu_where_targets_are_known_only_theirs_are_told(void **state)
{
    (void)state;
    trd_enrich_derive_offcpu(enrich, 0, false);
    (void)trd_enrich_set_thread(enrich, 10, 9);
    tell_switch(100, 0, 10, 1, 11);
    tell_switch(110, 0, 11, 1, 10);
    tell_switch(120, 0, 10, 1, 11);
    expect("10 100-110 {\"state\":\"S\",\"from_cpu\":0,\"to_cpu\":0};");
    trd_enrich_derive_offcpu(enrich, 0, true);
    tell_switch(130, 0, 11, 1, 10);
    tell_switch(140, 0, 10, 1, 11);
    expect("10 120-130 {\"state\":\"S\",\"from_cpu\":0,\"to_cpu\":0};"
           "11 130-140 {\"state\":\"S\",\"from_cpu\":0,\"to_cpu\":0};");
}

static void test_offcpu_ends_where_events_were_lost_and_at_the_end(void **state)
{
    struct trd_record lost;

    (void)state;
    trd_enrich_derive_offcpu(enrich, 0, false);
    tell_switch(100, 0, 10, 1, 0);
    trd_record_init(&lost);
    lost.kind = TRD_KIND_LOST;
    lost.source = TRD_SOURCE_FTRACE;
    lost.lost_from_ns = 120;
    lost.ts_ns = 180;
    lost.lost = 3;
    (void)trd_enrich_record(enrich, &lost);
    fetch();
    expect("10 100-120 {\"state\":\"S\",\"from_cpu\":0} incomplete;");
    tell_switch(200, 0, 0, 0, 10); /* what it did between is not known */
    tell_switch(210, 0, 10, 1, 0);
    expect("");
    trd_enrich_finish(enrich, 300);
    fetch();
    expect("10 210-300 {\"state\":\"S\",\"from_cpu\":0} incomplete;");
}

static void test_offcpu_is_made_when_asked_for_only(void **state)
{
    (void)state;
    tell_switch(100, 1, 10, 1, 0);
    tell_switch(150, 1, 0, 0, 10);
    expect("");
}

static bool may_match(const char *text, const struct trd_schema *schema, const char *name)
{
    struct trd_filter *filter;
    char error[256];
    bool may;

    assert_int_equal(trd_filter_create(&filter, text, error, sizeof(error)), 0);
    may = trd_filter_may_match(filter, schema, name);
    trd_filter_destroy(filter);
    return may;
}

static void test_filter_knows_what_it_can_never_let_pass(void **state)
{
    const struct trd_schema *schema = trd_catalog_find(catalog, 1);

    (void)state;
    assert_true(may_match("sched:sched_switch", schema, NULL));
    assert_true(may_match("prev_pid == 1 || clr:gc_pause", schema, NULL));
    assert_true(may_match("cpu == 1", schema, NULL));
    assert_false(may_match("clr:gc_pause && dur > 50ms", schema, NULL));
    assert_false(may_match("dur > 50ms", schema, NULL)); /* no event lasts */
    assert_false(may_match("sched:sched_waking && prev_pid == 1", schema, NULL));
    assert_false(may_match("type == \"A.B\"", schema, NULL));
    assert_true(may_match("dur > 50ms", NULL, "sched:offcpu"));
    assert_true(may_match("sched:offcpu && state == \"D\"", NULL, "sched:offcpu"));
    assert_false(may_match("clr:gc_pause && dur > 50ms", NULL, "sched:offcpu"));
    assert_false(may_match("!sched:offcpu", NULL, "sched:offcpu"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_offcpu_tells_state_waker_and_cpus),
        TEST(test_offcpu_ends_where_the_thread_is_seen_if_no_switch_tells),
        TEST(test_offcpu_who_was_pushed_aside_could_run_all_the_while),
        TEST(test_offcpu_short_ones_ended_ones_and_the_idle_task_have_none),
        TEST(test_offcpu_where_targets_are_known_only_theirs_are_told),
        TEST(test_offcpu_ends_where_events_were_lost_and_at_the_end),
        TEST(test_offcpu_is_made_when_asked_for_only),
        TEST(test_filter_knows_what_it_can_never_let_pass),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
