/*
 * Alignment from evidence, on made recordings whose true times are known: every time comes out
 * within the stated bound, the bound is of use, and what is no evidence gives none.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tracerd/align.h"

#define SWITCHES 40000
#define STEP_NS 50000 /* between switches, on average */
#define TASKS 40

struct made {
    uint64_t true_ns; /* CLOCK_MONOTONIC */
    int32_t cpu;
    unsigned prev, next;
};

static struct made made[SWITCHES];
static uint64_t seed;

static uint64_t draw(uint64_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
}

static void make_load(uint64_t with_seed)
{
    unsigned current[4] = { 0 };
    uint64_t now = 5000000000000;

    seed = with_seed;
    for (size_t i = 0; i < SWITCHES; i++) {
        int cpu = (int)draw(4);
        unsigned next = (unsigned)draw(TASKS);

        now += draw(2 * STEP_NS);
        made[i] = (struct made){ now, cpu, current[cpu], next };
        current[cpu] = next;
    }
}

/* As a recording has it: name and args only. */
static void add_switch(struct trd_evidence *evidence, uint64_t ts, int32_t cpu, unsigned prev,
                       unsigned next)
{
    struct trd_record record;
    char args[128];

    trd_record_init(&record);
    record.ts_ns = ts;
    record.source = TRD_SOURCE_FTRACE;
    record.cpu = cpu;
    record.name = "sched:sched_switch";
    record.args_json = args;
    record.args_json_size = (uint32_t)snprintf(
        args, sizeof(args), "{\"prev_pid\":%u,\"prev_prio\":120,\"next_pid\":%u,\"next_prio\":120}",
        prev, next);
    trd_evidence_add(evidence, &record);
}

static void add_mark(struct trd_evidence *evidence, uint64_t ts, uint64_t mono_ns)
{
    struct trd_record record;
    char args[128];

    trd_record_init(&record);
    record.ts_ns = ts;
    record.source = TRD_SOURCE_FTRACE;
    record.cpu = 0;
    record.name = "ftrace:print";
    record.args_json = args;
    record.args_json_size = (uint32_t)snprintf(
        args, sizeof(args), "{\"buf\":\"trace_event_clock_sync: parent_ts=%llu.%09llu\\n\"}",
        (unsigned long long)(mono_ns / 1000000000), (unsigned long long)(mono_ns % 1000000000));
    trd_evidence_add(evidence, &record);
}

static struct trd_evidence *new_evidence(void)
{
    struct trd_evidence *evidence;

    assert_int_equal(trd_evidence_create(&evidence), 0);
    return evidence;
}

/* How the other clock shows a moment. */
struct clock {
    double rate;
    double wander_ns; /* slow swing around the line */
    int64_t offset;
    uint64_t tick; /* 0, or it stands still for so long */
};

static uint64_t show(const struct clock *clock, uint64_t true_ns)
{
    double since = (double)(int64_t)(true_ns - made[0].true_ns), span = SWITCHES * (double)STEP_NS;
    double phase = 4 * since / span; /* triangles: 0 1 0 -1 0 */
    double swing = phase < 1 ? phase : phase < 3 ? 2 - phase : phase - 4;
    uint64_t ts = (uint64_t)(7000000000000 + clock->offset) +
                  (uint64_t)(since * clock->rate + swing * clock->wander_ns);

    return clock->tick ? ts - ts % clock->tick : ts;
}

static bool keep_all(const struct made *one)
{
    return one != NULL;
}

static bool keep_target(const struct made *one)
{
    return one->prev < 3 || one->next < 3;
}

/* Half a second in the middle is gone, on one CPU. */
static bool keep_unlost(const struct made *one)
{
    return one->cpu != 1 || one < made + 15000 || one > made + 25000;
}

static struct trd_evidence *record_made(const struct clock *clock,
                                        bool (*keep)(const struct made *))
{
    struct trd_evidence *evidence = new_evidence();

    for (size_t i = 0; i < SWITCHES; i++)
        if (keep(&made[i]))
            /* The other instance's stamp is some moments later. */
            add_switch(evidence, show(clock, made[i].true_ns + draw(1500)), made[i].cpu,
                       made[i].prev, made[i].next);
    return evidence;
}

static const struct clock mono = { 1, 0, -2000000000000, 0 };

static void expect_aligned(const struct clock *clock, bool (*keep)(const struct made *),
                           uint64_t granularity, bool same_unit, uint64_t bound_max)
{
    struct trd_evidence *to = record_made(&mono, keep_unlost);
    struct trd_evidence *from = record_made(clock, keep);
    struct trd_alignment *alignment;
    uint64_t bound, worst = 0, last = 0;

    assert_int_equal(trd_align_switches(&alignment, from, to, granularity, same_unit), 0);
    bound = trd_alignment_error_ns(alignment);
    for (size_t i = 0; i < SWITCHES; i++) {
        uint64_t truth = show(&mono, made[i].true_ns);
        uint64_t got = trd_alignment_time(alignment, show(clock, made[i].true_ns));
        uint64_t off = got > truth ? got - truth : truth - got;

        worst = off > worst ? off : worst;
        assert_true(got >= last);
        last = got;
    }
    printf("off by at most %llu ns, stated %llu ns, of %zu pairs\n", (unsigned long long)worst,
           (unsigned long long)bound, trd_alignment_pairs(alignment));
    assert_true(worst <= bound);
    assert_true(bound <= bound_max);
    trd_alignment_destroy(alignment);
    trd_evidence_destroy(from);
    trd_evidence_destroy(to);
}

static void test_align_offset_and_drift(void **state)
{
    (void)state;
    make_load(1);
    expect_aligned(&(struct clock){ 1, 0, 26070000, 0 }, keep_all, 0, true, 20000);
    expect_aligned(&(struct clock){ 1.00004, 0, -26070000, 0 }, keep_all, 0, true, 20000);
    expect_aligned(&(struct clock){ 1.00004, 30000, 5, 0 }, keep_all, 0, true, 30000);
}

static void test_align_recording_limited_to_some_threads(void **state)
{
    (void)state;
    make_load(2);
    expect_aligned(&(struct clock){ 0.99996, 0, 12345678, 0 }, keep_target, 0, true, 50000);
}

static void test_align_counter_of_another_rate(void **state)
{
    (void)state;
    make_load(3);
    expect_aligned(&(struct clock){ 2.9999, 0, 99, 0 }, keep_all, 0, false, 20000);
}

static void test_align_clock_that_ticks(void **state)
{
    (void)state;
    make_load(4);
    expect_aligned(&(struct clock){ 1, 0, 0, 4000000 }, keep_all, 4000000, true, 8000000);
}

static void expect_refused(struct trd_evidence *from, struct trd_evidence *to, bool same_unit,
                           int error)
{
    struct trd_alignment *alignment;

    assert_int_equal(trd_align_switches(&alignment, from, to, 0, same_unit), error);
    trd_evidence_destroy(from);
    trd_evidence_destroy(to);
}

static void test_align_another_load_of_the_same_tasks_is_refused(void **state)
{
    struct trd_evidence *to;
    struct trd_alignment *alignment = NULL;

    (void)state;
    for (uint64_t other = 10; other < 20; other++) {
        struct trd_evidence *from;

        make_load(5);
        to = record_made(&mono, keep_all);
        make_load(other);
        from = record_made(&mono, keep_all);
        assert_true(trd_align_switches(&alignment, from, to, 0, true) < 0);
        assert_true(trd_align_switches(&alignment, from, to, 0, false) < 0);
        trd_evidence_destroy(from);
        trd_evidence_destroy(to);
    }
}

/* The same switches in the same order, at other times: a load that was repeated. */
static void test_align_same_order_at_other_times_is_refused(void **state)
{
    struct trd_evidence *from = new_evidence(), *to;
    uint64_t now = 1000;

    (void)state;
    make_load(6);
    to = record_made(&mono, keep_all);
    for (size_t i = 0; i < SWITCHES; i++) {
        now += draw(2 * STEP_NS);
        add_switch(from, now, made[i].cpu, made[i].prev, made[i].next);
    }
    expect_refused(from, to, true, -EBADMSG);
}

/* One switch of ten stands some milliseconds from where the others would have it. */
static void test_align_evidence_that_disagrees_is_refused(void **state)
{
    struct trd_evidence *from = new_evidence(), *to;

    (void)state;
    make_load(10);
    to = record_made(&mono, keep_all);
    for (size_t i = 0; i < SWITCHES; i++)
        add_switch(from, made[i].true_ns + (i % 10 == 0 ? 3000000 + draw(9000000) : 0), made[i].cpu,
                   made[i].prev, made[i].next);
    expect_refused(from, to, true, -EBADMSG);
}

/* Two threads that take turns for ever: every place looks like every other. */
static void test_align_repetitive_load_is_refused(void **state)
{
    struct trd_evidence *from = new_evidence(), *to = new_evidence();

    (void)state;
    for (uint64_t i = 0; i < 5000; i++) {
        add_switch(to, 1000000 + i * 1000, 0, i % 2, (i + 1) % 2);
        if (i >= 100)
            add_switch(from, 5000000 + i * 1000, 0, i % 2, (i + 1) % 2);
    }
    expect_refused(from, to, true, -ENOENT);
}

static void test_align_rate_that_is_no_nanosecond_is_refused(void **state)
{
    struct trd_evidence *from, *to;
    const struct clock fast = { 1.01, 0, 0, 0 };

    (void)state;
    make_load(7);
    to = record_made(&mono, keep_all);
    from = record_made(&fast, keep_all);
    expect_refused(from, to, true, -EBADMSG);
}

static void test_align_nothing_shared_is_refused(void **state)
{
    (void)state;
    make_load(8);
    expect_refused(new_evidence(), record_made(&mono, keep_all), true, -ENOENT);
    expect_refused(record_made(&mono, keep_all), new_evidence(), true, -ENOENT);
    expect_refused(new_evidence(), new_evidence(), true, -ENOENT);
}

/* Marks */

static void add_burst(struct trd_evidence *evidence, uint64_t mono_ns, int64_t offset)
{
    for (int i = 0; i < 8; i++) {
        uint64_t written = mono_ns + 200 + draw(3000); /* between reading the clock and the stamp */

        add_mark(evidence, written + (uint64_t)offset, mono_ns);
        mono_ns = written + 100 + draw(500);
    }
}

static void test_align_marks_bound_from_both_sides(void **state)
{
    struct trd_evidence *evidence = new_evidence();
    struct trd_alignment *alignment;
    const int64_t offset = -4000000000;

    (void)state;
    add_burst(evidence, 9000000000, offset);
    add_burst(evidence, 10000000000, offset);
    assert_int_equal(trd_align_marks(&alignment, evidence), 0);
    for (uint64_t at = 9000000000; at < 10000000000; at += 1000000) {
        int64_t off = (int64_t)(trd_alignment_time(alignment, at + (uint64_t)offset) - at);

        assert_true((uint64_t)llabs(off) <= trd_alignment_error_ns(alignment));
    }
    assert_true(trd_alignment_error_ns(alignment) < 60000);
    assert_int_equal(trd_alignment_pairs(alignment), 2);
    trd_alignment_destroy(alignment);
    trd_evidence_destroy(evidence);
}

static void test_align_marks_that_do_not_bound_are_refused(void **state)
{
    struct trd_evidence *evidence = new_evidence();
    struct trd_alignment *alignment;

    (void)state;
    assert_int_equal(trd_align_marks(&alignment, evidence), -ENOENT);
    /* Alone: it may have been written any time after its clock was read. */
    add_mark(evidence, 1000, 9000000000);
    assert_int_equal(trd_align_marks(&alignment, evidence), -EBADMSG);
    /* Against the order of time: one of another clock. */
    add_mark(evidence, 2000, 8000000000);
    assert_int_equal(trd_align_marks(&alignment, evidence), -EBADMSG);
    trd_evidence_destroy(evidence);
}

/* Times as a hostile file may have them; the sanitizers look on. */
static void test_align_wild_times_end_somewhere(void **state)
{
    static const uint64_t wild[] = { 0, 1, UINT64_MAX, (uint64_t)INT64_MAX, UINT64_C(1) << 63 };

    (void)state;
    make_load(9);
    for (size_t i = 0; i < 5; i++) {
        struct trd_evidence *from = record_made(&mono, keep_all),
                            *to = record_made(&mono, keep_all);
        struct trd_alignment *alignment = NULL;

        add_switch(from, wild[i], 0, 1, 2);
        add_switch(to, wild[4 - i], 0, 1, 2);
        for (size_t k = 0; k < 5; k++) {
            add_mark(from, wild[i], wild[k]);
            add_mark(from, wild[i] + 1, wild[k]);
        }
        assert_int_equal(trd_align_switches(&alignment, from, to, 0, false), 0);
        for (size_t k = 0; k < 5; k++)
            (void)trd_alignment_time(alignment, wild[k]);
        assert_true(trd_alignment_error_ns(alignment) > 0);
        trd_alignment_destroy(alignment);
        alignment = NULL;
        (void)trd_align_marks(&alignment, from);
        trd_alignment_destroy(alignment);
        trd_evidence_destroy(from);
        trd_evidence_destroy(to);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_align_offset_and_drift),
        cmocka_unit_test(test_align_recording_limited_to_some_threads),
        cmocka_unit_test(test_align_counter_of_another_rate),
        cmocka_unit_test(test_align_clock_that_ticks),
        cmocka_unit_test(test_align_another_load_of_the_same_tasks_is_refused),
        cmocka_unit_test(test_align_same_order_at_other_times_is_refused),
        cmocka_unit_test(test_align_evidence_that_disagrees_is_refused),
        cmocka_unit_test(test_align_repetitive_load_is_refused),
        cmocka_unit_test(test_align_rate_that_is_no_nanosecond_is_refused),
        cmocka_unit_test(test_align_nothing_shared_is_refused),
        cmocka_unit_test(test_align_marks_bound_from_both_sides),
        cmocka_unit_test(test_align_marks_that_do_not_bound_are_refused),
        cmocka_unit_test(test_align_wild_times_end_somewhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
