/*
 * The merge against a plain sort of everything its inputs hold. Inputs are arrays that are revealed
 * bit by bit, as live sources do; a record's tid and cpu say which input it came from and its
 * number there.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tracerd/merge.h"

#define INPUTS_MAX 40
#define RECORDS_MAX 64
#define FOREVER 0

struct fake {
    struct trd_merge_input input;
    uint64_t times[RECORDS_MAX];
    int count;
    int shown; /* of count: later ones have not happened yet */
    int next;
    int number;
    bool ends; /* after what is shown, if that is all */
    int calls;
};

static int fake_next(struct trd_merge_input *input, struct trd_record *out)
{
    struct fake *fake = (struct fake *)input;

    fake->calls++;
    if (fake->next < fake->shown) {
        trd_record_init(out);
        out->ts_ns = fake->times[fake->next];
        out->tid = fake->number;
        out->cpu = fake->next++;
        return 1;
    }
    return fake->ends && fake->shown == fake->count ? 0 : -EAGAIN;
}

static void fake_init(struct fake *fake, int number, const uint64_t *times, int count)
{
    *fake = (struct fake){ .input = { .next = fake_next }, .count = count, .shown = count };
    fake->number = number;
    fake->ends = true;
    memcpy(fake->times, times, (size_t)count * sizeof(*times));
}
#define FAKE_INIT(fake, number, ...)                                                               \
    fake_init(fake, number, (const uint64_t[]){ __VA_ARGS__ },                                     \
              sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static struct trd_merge *merge;

static int set_up(void **state)
{
    (void)state;
    return trd_merge_create(&merge, FOREVER);
}

static int set_up_patient(void **state)
{
    (void)state;
    return trd_merge_create(&merge, 100);
}

static int tear_down(void **state)
{
    (void)state;
    trd_merge_destroy(merge);
    return 0;
}

static void expect(uint64_t now_ns, uint64_t ts_ns, int number, bool late)
{
    struct trd_record record;

    assert_int_equal(trd_merge_next(merge, now_ns, &record), 1);
    assert_int_equal(record.ts_ns, ts_ns);
    assert_int_equal(record.tid, number);
    assert_int_equal((record.flags & TRD_RECORD_F_LATE) != 0, late);
}

static void expect_nothing(uint64_t now_ns, int result)
{
    struct trd_record record;

    assert_int_equal(trd_merge_next(merge, now_ns, &record), result);
}

static void test_merge_of_nothing_has_ended(void **state)
{
    (void)state;
    expect_nothing(0, 0);
    assert_int_equal(trd_merge_watermark(merge), 0);
}

static void test_merge_equal_timestamps_keep_source_order(void **state)
{
    struct fake fakes[3];

    (void)state;
    FAKE_INIT(&fakes[0], 0, 5, 5, 7);
    FAKE_INIT(&fakes[1], 1, 5, 6, 7);
    FAKE_INIT(&fakes[2], 2, 4, 5, 7);
    for (int i = 0; i < 3; i++)
        assert_int_equal(trd_merge_add(merge, &fakes[i].input), 0);
    expect(0, 4, 2, false);
    expect(0, 5, 0, false);
    expect(0, 5, 0, false);
    expect(0, 5, 1, false);
    expect(0, 5, 2, false);
    expect(0, 6, 1, false);
    expect(0, 7, 0, false);
    expect(0, 7, 1, false);
    expect(0, 7, 2, false);
    expect_nothing(0, 0);
    assert_int_equal(trd_merge_watermark(merge), 7);
    assert_int_equal(trd_merge_late(merge), 0);
}

static void test_merge_hands_out_nothing_above_the_lowest_watermark(void **state)
{
    struct fake busy, slow;

    (void)state;
    FAKE_INIT(&busy, 0, 10, 20, 30);
    FAKE_INIT(&slow, 1, 25);
    slow.shown = 0;
    assert_int_equal(trd_merge_add(merge, &busy.input), 0);
    assert_int_equal(trd_merge_add(merge, &slow.input), 0);
    expect_nothing(0, -EAGAIN);
    slow.input.watermark_ns = 9;
    expect_nothing(0, -EAGAIN);
    assert_int_equal(trd_merge_watermark(merge), 9);
    slow.input.watermark_ns = 20;
    expect(0, 10, 0, false);
    expect(0, 20, 0, false);
    expect_nothing(0, -EAGAIN);
    slow.shown = 1;
    expect(0, 25, 1, false);
    expect(0, 30, 0, false);
    expect_nothing(0, 0);
}

/* The lower promise of an input that just ran empty counts at once. */
static void test_merge_input_that_runs_empty_holds_the_others_back(void **state)
{
    struct fake a, b;

    (void)state;
    FAKE_INIT(&a, 0, 10, 50);
    FAKE_INIT(&b, 1, 20, 40);
    a.shown = 1;
    a.input.watermark_ns = 15;
    assert_int_equal(trd_merge_add(merge, &a.input), 0);
    assert_int_equal(trd_merge_add(merge, &b.input), 0);
    expect(0, 10, 0, false);
    expect_nothing(0, -EAGAIN);
    a.input.watermark_ns = 30;
    expect(0, 20, 1, false);
    expect_nothing(0, -EAGAIN);
    a.shown = 2;
    expect(0, 40, 1, false);
    expect(0, 50, 0, false);
    expect_nothing(0, 0);
}

static void count_stalled(void *context, const struct trd_merge_input *input)
{
    assert_ptr_equal(input->owner, context);
    ((struct fake *)context)->calls++;
}

static int count_stalls(struct fake *owner, uint64_t now_ns)
{
    owner->calls = 0;
    trd_merge_stalled(merge, now_ns, count_stalled, owner);
    return owner->calls;
}

static void test_merge_stalled_inputs_are_those_not_waited_for(void **state)
{
    struct fake live, stuck;

    (void)state;
    FAKE_INIT(&live, 0, 1000, 1050);
    FAKE_INIT(&stuck, 1, 1010);
    stuck.shown = 0;
    stuck.input.watermark_ns = 900;
    assert_int_equal(trd_merge_add(merge, &live.input), 0);
    assert_int_equal(trd_merge_add(merge, &stuck.input), 0);
    assert_int_equal(count_stalls(&stuck, 5000), 0); /* nobody's */
    stuck.input.owner = &stuck;
    assert_false(trd_merge_is_holding(merge));
    expect_nothing(1000, -EAGAIN);
    assert_true(trd_merge_is_holding(merge));
    assert_int_equal(count_stalls(&stuck, 1000), 0);
    assert_int_equal(count_stalls(&stuck, 1001), 1);
    stuck.input.watermark_ns = 1005;
    assert_int_equal(count_stalls(&stuck, 1001), 0);
    stuck.shown = 1;
    expect(1170, 1000, 0, false);
    assert_int_equal(count_stalls(&stuck, 5000), 0); /* it has something to show */
}

static void test_merge_stalled_input_is_passed_and_its_records_are_marked_late(void **state)
{
    struct fake live, stuck;

    (void)state;
    FAKE_INIT(&live, 0, 1000, 1050, 1200);
    FAKE_INIT(&stuck, 1, 1010, 1060, 1300);
    stuck.shown = 0;
    stuck.input.watermark_ns = 900;
    assert_int_equal(trd_merge_add(merge, &live.input), 0);
    assert_int_equal(trd_merge_add(merge, &stuck.input), 0);
    expect_nothing(1000, -EAGAIN);
    expect_nothing(1099, -EAGAIN);
    expect(1100, 1000, 0, false);
    expect_nothing(1100, -EAGAIN);
    expect(1170, 1050, 0, false);
    /* What was promised counts, not only what was handed out: the merge has reached 1070. */
    expect_nothing(1170, -EAGAIN);
    assert_int_equal(trd_merge_watermark(merge), 1070);
    stuck.shown = 3;
    expect(1170, 1010, 1, true);
    expect(1170, 1060, 1, true);
    assert_int_equal(trd_merge_watermark(merge), 1070);
    expect(1170, 1200, 0, false);
    expect(1170, 1300, 1, false);
    expect_nothing(1170, 0);
    assert_int_equal(trd_merge_late(merge), 2);
}

static void test_merge_input_added_later_takes_its_place(void **state)
{
    struct fake first, second;

    (void)state;
    FAKE_INIT(&first, 0, 10, 30);
    FAKE_INIT(&second, 1, 5, 20);
    assert_int_equal(trd_merge_add(merge, &first.input), 0);
    expect(0, 10, 0, false);
    assert_int_equal(trd_merge_add(merge, &second.input), 0);
    expect(0, 5, 1, true);
    expect(0, 20, 1, false);
    expect(0, 30, 0, false);
    expect_nothing(0, 0);
}

static void test_merge_input_can_be_removed_at_any_time(void **state)
{
    struct fake fakes[4];

    (void)state;
    FAKE_INIT(&fakes[0], 0, 10, 20);
    FAKE_INIT(&fakes[1], 1, 11, 21);
    FAKE_INIT(&fakes[2], 2, 12, 22);
    FAKE_INIT(&fakes[3], 3, 13);
    fakes[3].shown = 0;
    for (int i = 0; i < 4; i++)
        assert_int_equal(trd_merge_add(merge, &fakes[i].input), 0);
    expect_nothing(0, -EAGAIN);
    trd_merge_remove(merge, &fakes[3].input); /* empty, and in the way */
    expect(0, 10, 0, false);
    trd_merge_remove(merge, &fakes[0].input); /* the one whose record is out */
    expect(0, 11, 1, false);
    trd_merge_remove(merge, &fakes[2].input); /* one that waits in the heap */
    expect(0, 21, 1, false);
    expect_nothing(0, 0);
    trd_merge_remove(merge, &fakes[1].input); /* ended already */
    expect_nothing(0, 0);
}

/* A source that finds another one while it is asked, as a connection finds rings. */
struct parent {
    struct fake fake;
    struct fake children[20];
};

static int parent_next(struct trd_merge_input *input, struct trd_record *out)
{
    struct parent *parent = (struct parent *)input;

    if (parent->fake.next == 1 && parent->fake.calls < 100) {
        parent->fake.calls = 100;
        for (int i = 0; i < 20; i++) {
            FAKE_INIT(&parent->children[i], i + 1, 100 + (uint64_t)i);
            assert_int_equal(trd_merge_add(merge, &parent->children[i].input), 0);
        }
    }
    return fake_next(input, out);
}

static void test_merge_inputs_added_from_within_next_are_merged(void **state)
{
    struct parent parent;

    (void)state;
    FAKE_INIT(&parent.fake, 0, 90, 110);
    parent.fake.input.next = parent_next;
    assert_int_equal(trd_merge_add(merge, &parent.fake.input), 0);
    expect(0, 90, 0, false);
    for (int i = 0; i < 11; i++)
        expect(0, 100 + (uint64_t)i, i + 1 - (i == 10) * 11, false);
    expect(0, 110, 11, false);
}

/* Random inputs */

struct truth {
    uint64_t ts_ns;
    int input;
    int index;
};

static int compare_truth(const void *a, const void *b)
{
    const struct truth *x = a, *y = b;

    if (x->ts_ns != y->ts_ns)
        return x->ts_ns < y->ts_ns ? -1 : 1;
    return x->input != y->input ? x->input - y->input : x->index - y->index;
}

static struct fake fakes[INPUTS_MAX];
static struct truth truth[INPUTS_MAX * RECORDS_MAX];

/* Sorted times with many equals; returns how many records there are in all. */
static int make_random(int inputs)
{
    int total = 0;

    for (int i = 0; i < inputs; i++) {
        uint64_t times[RECORDS_MAX], at = 1 + (uint64_t)(rand() % 50);
        int count = rand() % RECORDS_MAX;

        for (int k = 0; k < count; k++) {
            times[k] = at += (uint64_t)(rand() % 4);
            truth[total++] = (struct truth){ at, i, k };
        }
        fake_init(&fakes[i], i, times, count);
    }
    qsort(truth, (size_t)total, sizeof(truth[0]), compare_truth);
    return total;
}

static void test_merge_of_whole_inputs_equals_a_stable_sort(void **state)
{
    (void)state;
    srand(1);
    for (int round = 0; round < 300; round++) {
        int inputs = 1 + rand() % INPUTS_MAX, total = make_random(inputs);
        struct trd_record record;

        assert_int_equal(set_up(NULL), 0);
        for (int i = 0; i < inputs; i++)
            assert_int_equal(trd_merge_add(merge, &fakes[i].input), 0);
        for (int i = 0; i < total; i++) {
            assert_int_equal(trd_merge_next(merge, 0, &record), 1);
            assert_int_equal(record.ts_ns, truth[i].ts_ns);
            assert_int_equal(record.tid, truth[i].input);
            assert_int_equal(record.cpu, truth[i].index);
        }
        expect_nothing(0, 0);
        (void)tear_down(NULL);
    }
}

/* The promise an input could make at best: its next record's time, once that is decided. */
static void reveal(struct fake *fake)
{
    int more = rand() % 4;

    if (rand() % 3 == 0)
        return;
    fake->shown = fake->shown + more > fake->count ? fake->count : fake->shown + more;
    if (fake->shown < fake->count)
        fake->input.watermark_ns = fake->times[fake->shown] - (uint64_t)(rand() % 2);
}

/* Of the inputs that have nothing in the merge: out[i] of their records were handed out. */
static uint64_t lowest_promise(int inputs, const int *out)
{
    uint64_t lowest = UINT64_MAX;

    for (int i = 0; i < inputs; i++)
        if (fakes[i].shown == out[i] && fakes[i].shown < fakes[i].count &&
            fakes[i].input.watermark_ns < lowest)
            lowest = fakes[i].input.watermark_ns;
    return lowest;
}

static void test_merge_of_growing_inputs_is_in_order_and_within_the_promises(void **state)
{
    (void)state;
    srand(2);
    for (int round = 0; round < 300; round++) {
        int inputs = 1 + rand() % INPUTS_MAX, total = make_random(inputs), seen = 0, result;
        int index[INPUTS_MAX] = { 0 };
        uint64_t last = 0;

        assert_int_equal(set_up(NULL), 0);
        for (int i = 0; i < inputs; i++) {
            fakes[i].shown = 0;
            assert_int_equal(trd_merge_add(merge, &fakes[i].input), 0);
        }
        do {
            struct trd_record record;

            for (int i = 0; i < inputs; i++)
                reveal(&fakes[i]);
            while ((result = trd_merge_next(merge, 0, &record)) == 1) {
                assert_true(record.ts_ns >= last);
                assert_true(record.ts_ns <= lowest_promise(inputs, index));
                assert_int_equal(record.flags, 0);
                assert_int_equal(record.cpu, index[record.tid]++);
                last = record.ts_ns;
                seen++;
            }
            assert_true(trd_merge_watermark(merge) >= last);
        } while (result == -EAGAIN);
        assert_int_equal(seen, total);
        assert_int_equal(trd_merge_late(merge), 0);
        (void)tear_down(NULL);
    }
}

/* Late, never lost: with impatience everything still comes out, what is out of order is marked. */
static void test_merge_with_a_limit_marks_exactly_what_is_out_of_order(void **state)
{
    (void)state;
    srand(3);
    for (int round = 0; round < 300; round++) {
        int inputs = 1 + rand() % INPUTS_MAX, total = make_random(inputs), seen = 0, result;
        uint64_t now = 0, late = 0, promised = 0;

        assert_int_equal(trd_merge_create(&merge, 10), 0);
        for (int i = 0; i < inputs; i++) {
            fakes[i].shown = 0;
            assert_int_equal(trd_merge_add(merge, &fakes[i].input), 0);
        }
        do {
            struct trd_record record;

            now += 7;
            for (int i = 0; i < inputs; i++)
                reveal(&fakes[i]);
            while ((result = trd_merge_next(merge, now, &record)) == 1) {
                bool marked = (record.flags & TRD_RECORD_F_LATE) != 0;

                assert_int_equal(marked, record.ts_ns < promised);
                promised = trd_merge_watermark(merge);
                late += marked;
                seen++;
            }
            promised = trd_merge_watermark(merge);
        } while (result == -EAGAIN);
        assert_int_equal(seen, total);
        assert_int_equal(trd_merge_late(merge), late);
        (void)tear_down(NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_merge_of_nothing_has_ended, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_merge_equal_timestamps_keep_source_order, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_merge_hands_out_nothing_above_the_lowest_watermark,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_merge_input_that_runs_empty_holds_the_others_back,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_merge_stalled_inputs_are_those_not_waited_for,
                                        set_up_patient, tear_down),
        cmocka_unit_test_setup_teardown(
            test_merge_stalled_input_is_passed_and_its_records_are_marked_late, set_up_patient,
            tear_down),
        cmocka_unit_test_setup_teardown(test_merge_input_added_later_takes_its_place, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_merge_input_can_be_removed_at_any_time, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_merge_inputs_added_from_within_next_are_merged, set_up,
                                        tear_down),
        cmocka_unit_test(test_merge_of_whole_inputs_equals_a_stable_sort),
        cmocka_unit_test(test_merge_of_growing_inputs_is_in_order_and_within_the_promises),
        cmocka_unit_test(test_merge_with_a_limit_marks_exactly_what_is_out_of_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
