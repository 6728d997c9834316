/* One ring of a traced process: what goes in as bytes, what comes out as records. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "clr_ring.h"
#include "ring_maker.h"

struct fixture {
    struct clr_ring ring;
    struct clr_totals totals;
    struct clr_tids tids;
    struct clr_clock clock;
    unsigned dry;
    _Alignas(TRD_EVENT_ALIGN) uint8_t bytes[4096];
};

static void on_drained(void *context)
{
    ((struct fixture *)context)->dry++;
}

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    clr_tids_init(&fixture->tids, getpid(), (uint32_t)getpid());
    fixture->totals = (struct clr_totals){ .pid = 42,
                                           .tids = &fixture->tids,
                                           .clock = &fixture->clock,
                                           .events_revision = TRD_EVENTS_REVISION,
                                           .drained = on_drained,
                                           .context = fixture };
    clr_ring_init(&fixture->ring, &fixture->totals);
    fixture->ring.host_tid = 4242;
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    clr_ring_finish(&fixture->ring);
    assert_int_equal(fixture->totals.queued_bytes, 0);
    clr_tids_finish(&fixture->tids);
    free(fixture);
    return 0;
}

static int next(struct fixture *fixture, struct trd_record *out)
{
    return fixture->ring.input.next(&fixture->ring.input, out);
}

static void expect_gc_end(struct fixture *fixture, uint64_t ts_ns, uint32_t number)
{
    struct trd_record record;

    assert_int_equal(next(fixture, &record), 1);
    assert_int_equal(record.kind, TRD_KIND_EVENT);
    assert_string_equal(record.schema->full_name, "clr:gc_end");
    assert_int_equal(record.ts_ns, ts_ns);
    assert_int_equal(record.pid, 42);
    assert_int_equal(record.tid, 4242);
    assert_int_equal(((const struct trd_ev_gc_end *)(const void *)record.data)->number, number);
}

static void expect_lost(struct fixture *fixture, uint64_t from_ns, uint64_t ts_ns, uint64_t count)
{
    struct trd_record record;

    assert_int_equal(next(fixture, &record), 1);
    assert_int_equal(record.kind, TRD_KIND_LOST);
    assert_int_equal(record.lost_from_ns, from_ns);
    assert_int_equal(record.ts_ns, ts_ns);
    assert_int_equal(record.lost, count);
}

static void expect_nothing(struct fixture *fixture)
{
    struct trd_record record;

    assert_int_equal(next(fixture, &record), -EAGAIN);
}

static void test_batch_comes_out_record_by_record(void **state)
{
    struct fixture *fixture = *state;
    size_t size = make_gc_end(fixture->bytes, 100, 1);

    size += make_padding(fixture->bytes + size, 64);
    size += make_gc_end(fixture->bytes + size, 200, 2);
    assert_int_equal(clr_ring_put(&fixture->ring, 0, fixture->bytes, size), 0);
    memset(fixture->bytes, 0xff, sizeof(fixture->bytes)); /* it was copied */
    expect_gc_end(fixture, 100, 1);
    expect_gc_end(fixture, 200, 2);
    expect_nothing(fixture);
    assert_int_equal(fixture->totals.delivered, 2);
    assert_int_equal(fixture->dry, 1);
}

/* A stamp that was taken over is the only one that may be older than what was promised. */
static void test_record_of_the_same_time_is_raised_to_the_mark_before_it(void **state)
{
    struct fixture *fixture = *state;
    struct trd_event_head *head = (struct trd_event_head *)(void *)fixture->bytes;
    size_t size = make_gc_end(fixture->bytes, 100, 1);

    head->flags = TRD_EVENT_F_SAME_TIME;
    assert_int_equal(clr_ring_put(&fixture->ring, 0, fixture->bytes, size), 0);
    fixture->ring.input.watermark_ns = 150;
    assert_int_equal(clr_ring_put(&fixture->ring, size, fixture->bytes, size), 0);
    head->ts_ns = 160;
    assert_int_equal(clr_ring_put(&fixture->ring, 2 * size, fixture->bytes, size), 0);
    fixture->ring.input.watermark_ns = 200;
    expect_gc_end(fixture, 100, 1);
    expect_gc_end(fixture, 150, 1);
    expect_gc_end(fixture, 160, 1);
}

/* What follows an old record is found behind its own size, not behind that of ours. */
static void test_records_of_an_older_profiler_come_out_as_ours(void **state)
{
    struct fixture *fixture = *state;
    struct trd_event_head head = { .size = 32, .id = TRD_EV_method_enter, .ts_ns = 150 };
    uint64_t method = 77;
    size_t size = make_gc_end(fixture->bytes, 100, 1);
    const struct trd_ev_method_enter *event;
    struct trd_record record;

    fixture->totals.events_revision = 0;
    memset(fixture->bytes + size, 0xee, head.size);
    memcpy(fixture->bytes + size, &head, sizeof(head));
    memcpy(fixture->bytes + size + sizeof(head), &method, sizeof(method));
    size += head.size;
    size += make_gc_end(fixture->bytes + size, 200, 2);
    assert_int_equal(clr_ring_put(&fixture->ring, 0, fixture->bytes, size), 0);
    expect_gc_end(fixture, 100, 1);
    assert_int_equal(next(fixture, &record), 1);
    assert_string_equal(record.schema->full_name, "clr:method_enter");
    event = (const void *)record.data;
    assert_int_equal(event->method, 77);
    assert_int_equal(event->arguments.size, 0);
    expect_gc_end(fixture, 200, 2);
    expect_nothing(fixture);
    assert_int_equal(fixture->totals.bad_records, 0);
}

static void test_overlap_is_delivered_once_and_a_gap_refused(void **state)
{
    struct fixture *fixture = *state;
    size_t one = make_gc_end(fixture->bytes, 100, 1);
    size_t two = one + make_gc_end(fixture->bytes + one, 200, 2);

    assert_int_equal(clr_ring_put(&fixture->ring, 0, fixture->bytes, one), 0);
    assert_int_equal(clr_ring_put(&fixture->ring, 0, fixture->bytes, two), 0);
    assert_int_equal(clr_ring_put(&fixture->ring, 0, fixture->bytes, two), 0);
    assert_int_equal(clr_ring_put(&fixture->ring, two + 16, fixture->bytes, one), -EBADMSG);
    expect_gc_end(fixture, 100, 1);
    expect_gc_end(fixture, 200, 2);
    expect_nothing(fixture);
}

static void test_loss_in_band_stands_at_its_place(void **state)
{
    struct fixture *fixture = *state;
    size_t size = make_gc_end(fixture->bytes, 100, 1);

    size += make_lost(fixture->bytes + size, 300, 150, 250, 7);
    size += make_gc_end(fixture->bytes + size, 310, 2);
    assert_int_equal(clr_ring_put(&fixture->ring, 0, fixture->bytes, size), 0);
    expect_gc_end(fixture, 100, 1);
    expect_lost(fixture, 150, 300, 7);
    expect_gc_end(fixture, 310, 2);
    assert_int_equal(fixture->totals.delivered, 2);
    assert_int_equal(fixture->totals.lost, 7);
}

static void test_loss_told_early_waits_for_the_records_before_it(void **state)
{
    struct fixture *fixture = *state;
    const struct clr_loss loss = { 150, 250, 7 }, more = { 260, 270, 1 };
    size_t one = make_gc_end(fixture->bytes, 100, 1);
    size_t two = make_gc_end(fixture->bytes + one, 300, 2);

    fixture->ring.input.watermark_ns = 90;
    assert_int_equal(clr_ring_put_lost(&fixture->ring, &loss), 0);
    expect_nothing(fixture); /* older records may still come */
    assert_int_equal(clr_ring_put(&fixture->ring, 0, fixture->bytes, one), 0);
    expect_gc_end(fixture, 100, 1);
    expect_nothing(fixture);
    assert_int_equal(clr_ring_put(&fixture->ring, one, fixture->bytes + one, two), 0);
    assert_int_equal(clr_ring_put_lost(&fixture->ring, &more), 0);
    expect_lost(fixture, 150, 270, 8);
    expect_gc_end(fixture, 300, 2);
}

static void test_loss_of_a_quiet_ring_comes_with_the_mark(void **state)
{
    struct fixture *fixture = *state;
    const struct clr_loss loss = { 150, 250, 7 };

    assert_int_equal(clr_ring_put_lost(&fixture->ring, &loss), 0);
    fixture->ring.input.watermark_ns = 249;
    expect_nothing(fixture);
    fixture->ring.input.watermark_ns = 250;
    expect_lost(fixture, 150, 250, 7);
    expect_nothing(fixture);
}

static void test_count_nobody_can_believe_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct clr_loss loss = { 1, 2, CLR_LOST_MAX };
    size_t size = make_lost(fixture->bytes, 300, 150, 250, CLR_LOST_MAX + 1);
    struct trd_record record;

    assert_int_equal(clr_ring_put_lost(&fixture->ring, &loss), 0);
    assert_int_equal(clr_ring_put_lost(&fixture->ring, &loss), -EBADMSG);
    assert_int_equal(clr_ring_put(&fixture->ring, 0, fixture->bytes, size), 0);
    fixture->ring.closing = true;
    expect_lost(fixture, 1, 2, CLR_LOST_MAX);
    assert_int_equal(next(fixture, &record), 0);
    assert_int_equal(fixture->totals.bad_records, 1);
}

static void test_bytes_that_are_no_record_cost_the_rest_of_their_batch_only(void **state)
{
    struct fixture *fixture = *state;
    size_t one = make_gc_end(fixture->bytes, 100, 1);
    size_t two = one + make_gc_end(fixture->bytes + one, 200, 2);

    fixture->bytes[one] = 3; /* its size */
    assert_int_equal(clr_ring_put(&fixture->ring, 0, fixture->bytes, two), 0);
    make_gc_end(fixture->bytes, 300, 3);
    assert_int_equal(clr_ring_put(&fixture->ring, two, fixture->bytes, one), 0);
    expect_gc_end(fixture, 100, 1);
    expect_gc_end(fixture, 300, 3);
    assert_int_equal(fixture->totals.bad_records, 1);
}

static void test_closing_ring_ends_when_it_is_empty(void **state)
{
    struct fixture *fixture = *state;
    size_t size = make_gc_end(fixture->bytes, 100, 1);
    struct trd_record record;

    assert_int_equal(clr_ring_put(&fixture->ring, 0, fixture->bytes, size), 0);
    fixture->ring.closing = true;
    expect_gc_end(fixture, 100, 1);
    assert_int_equal(next(fixture, &record), 0);
    assert_int_equal(fixture->totals.open_inputs, 0);
}

/* Arena */

#define RING_SIZE TRD_RING_SIZE_MIN

static void map(struct clr_arena *arena, int fd)
{
    struct trd_hello hello = { .ring_size = RING_SIZE, .ring_count = 2 };

    assert_int_equal(clr_arena_map(arena, fd, &hello), 0);
}

static void test_arena_of_a_dead_process_is_drained_over_its_end(void **state)
{
    struct fixture *fixture = *state;
    struct clr_arena mapped;
    struct clr_arena_ring left;
    int fd;
    struct trd_arena *arena = make_arena(RING_SIZE, 2, &fd);
    struct trd_ring *ring = trd_arena_ring(arena, RING_SIZE, 1);
    /* More than a piece, beginning in the middle of the ring's third life. */
    uint64_t from = 2 * RING_SIZE + RING_SIZE / 2 + 16;

    ring->head = ring->tail = from;
    for (uint32_t i = 0; i < 500; i++)
        write_gc_end(arena, 1, 4242, 1000 + i, i);
    map(&mapped, fd);
    assert_int_equal(clr_arena_used(&mapped), 2);
    assert_int_equal(clr_arena_produced(&mapped), 500);
    assert_int_equal(clr_arena_ring(&mapped, 1, &left), 0);
    assert_int_equal(left.tid, 4242);
    clr_ring_drain(&fixture->ring, &mapped, 1, left.tail, left.head);
    for (uint32_t i = 0; i < 500; i++)
        expect_gc_end(fixture, 1000 + i, i);
    expect_nothing(fixture);
    assert_int_equal(fixture->totals.bad_records, 0);
    clr_arena_unmap(&mapped);
    free_arena(arena, fd);
}

#define GROWN (8 * RING_SIZE)

/* Each window full to the last byte or not, and one of them left at once. */
static void test_ring_that_grew_is_drained_window_by_window(void **state)
{
    static const uint32_t written[] = { 512, 100, 0, 2048 }; /* in windows of 16, 32, 64, 128 KiB */
    struct trd_hello hello = { .ring_size = GROWN, .ring_count = 2 };
    struct fixture *fixture = *state;
    struct clr_arena mapped;
    struct clr_arena_ring left;
    uint32_t number = 0;
    int fd;
    struct trd_arena *arena = make_arena(GROWN, 2, &fd);
    struct trd_ring *ring = trd_arena_ring(arena, GROWN, 1);

    ring->head = ring->tail = 5 * RING_SIZE + 4096;
    for (size_t window = 0; window < sizeof(written) / sizeof(written[0]); window++) {
        if (window > 0)
            grow_ring(arena, 1);
        for (uint32_t i = 0; i < written[window]; i++, number++)
            write_gc_end(arena, 1, 4242, 1000 + number, number);
    }
    assert_int_equal(clr_arena_map(&mapped, fd, &hello), 0);
    assert_int_equal(clr_arena_ring(&mapped, 1, &left), 0);
    clr_ring_drain(&fixture->ring, &mapped, 1, left.tail, left.head);
    for (uint32_t i = 0; i < number; i++)
        expect_gc_end(fixture, 1000 + i, i);
    expect_nothing(fixture);
    assert_int_equal(fixture->totals.bad_records, 0);
    clr_arena_unmap(&mapped);
    free_arena(arena, fd);
}

/* Whatever the head says of windows: bytes come from within the ring, and it ends. */
static void test_arena_with_impossible_windows_stays_within_the_ring(void **state)
{
    struct trd_hello hello = { .ring_size = GROWN, .ring_count = 1 };
    struct fixture *fixture = *state;
    struct clr_arena mapped;
    int fd;
    struct trd_arena *arena = make_arena(GROWN, 1, &fd);
    struct trd_ring *ring = trd_arena_ring(arena, GROWN, 0);
    uint8_t *copy = malloc(2 * GROWN);

    (void)fixture;
    assert_non_null(copy);
    assert_int_equal(clr_arena_map(&mapped, fd, &hello), 0);
    srandom(11);
    for (int turn = 0; turn < 2000; turn++) {
        uint64_t from = (uint64_t)random() << (random() % 32);

        ring->window = turn % 4 ? (uint32_t)random() % 13 : UINT32_MAX;
        for (int i = 0; i < TRD_RING_WINDOWS_MAX; i++)
            ring->window_from[i] =
                random() % 2 ? from + (uint64_t)random() % GROWN : (uint64_t)random() << 31;
        /* The mapping ends with this ring: beyond it is SIGSEGV or the sanitizer's word. */
        clr_arena_copy(&mapped, 0, from, from + 2 * GROWN, copy);
    }
    free(copy);
    clr_arena_unmap(&mapped);
    free_arena(arena, fd);
}

static void test_arena_with_impossible_positions_is_refused(void **state)
{
    static const uint64_t cases[][2] = {
        { 16, 0 },                 /* tail before head */
        { 0, 2 * RING_SIZE + 16 }, /* more than the ring holds */
        { 0, 8 },                  /* unaligned */
        { UINT64_MAX - 15, 0 },    /* wrapped */
    };
    struct clr_arena mapped;
    struct clr_arena_ring left;
    int fd;
    struct trd_arena *arena = make_arena(RING_SIZE, 2, &fd);
    struct trd_ring *ring = trd_arena_ring(arena, RING_SIZE, 0);

    (void)state;
    map(&mapped, fd);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ring->tail = cases[i][0];
        ring->head = cases[i][1];
        assert_int_equal(clr_arena_ring(&mapped, 0, &left), -EBADMSG);
    }
    arena->ring_used = 1000000;
    assert_int_equal(clr_arena_used(&mapped), 2);
    clr_arena_unmap(&mapped);
    free_arena(arena, fd);
}

static void test_arena_full_of_noise_ends(void **state)
{
    struct fixture *fixture = *state;
    struct clr_arena mapped;
    struct trd_record record;
    int fd, result;
    struct trd_arena *arena = make_arena(RING_SIZE, 2, &fd);
    struct trd_ring *ring = trd_arena_ring(arena, RING_SIZE, 0);

    srandom(7);
    for (size_t i = 0; i < RING_SIZE; i++)
        trd_ring_window(ring, 0)[i] =
            i % 16 < 4 ? (uint8_t[]){ 48, 0, 0, 0 }[i % 4] : (uint8_t)random();
    map(&mapped, fd);
    clr_ring_drain(&fixture->ring, &mapped, 0, 0, RING_SIZE);
    fixture->ring.closing = true;
    while ((result = next(fixture, &record)) == 1)
        ;
    assert_int_equal(result, 0);
    clr_arena_unmap(&mapped);
    free_arena(arena, fd);
}

static void test_file_that_may_shrink_or_is_too_small_is_no_arena(void **state)
{
    struct trd_hello hello = { .ring_size = RING_SIZE, .ring_count = 4 };
    struct clr_arena mapped = { 0 };
    int fd, plain[2];
    struct trd_arena *arena = make_arena(RING_SIZE, 2, &fd);

    (void)state;
    assert_int_equal(clr_arena_map(&mapped, fd, &hello), -EBADMSG); /* four rings promised */
    hello.ring_count = 2;
    arena->magic = 0;
    assert_int_equal(clr_arena_map(&mapped, fd, &hello), -EBADMSG);
    assert_null(mapped.head);
    assert_int_equal(pipe(plain), 0);
    assert_int_equal(clr_arena_map(&mapped, plain[0], &hello), -EBADMSG);
    close(plain[0]);
    close(plain[1]);
    free_arena(arena, fd);
}

static void test_arena_is_quiet_when_nothing_is_begun_unsent_or_untold(void **state)
{
    struct trd_hello hello = { .ring_size = TRD_RING_SIZE_MIN, .ring_count = 2 };
    struct trd_arena *shared;
    struct clr_arena arena;
    struct trd_ring *ring;
    int fd;

    (void)state;
    shared = make_arena(hello.ring_size, hello.ring_count, &fd);
    assert_int_equal(clr_arena_map(&arena, fd, &hello), 0);
    assert_false(clr_arena_is_quiet(&arena)); /* nobody promised that a barrier reaches it */
    shared->has_barrier = 1;
    assert_true(clr_arena_is_quiet(&arena));
    write_gc_end(shared, 1, 7, 100, 1);
    ring = trd_arena_ring(shared, hello.ring_size, 1);
    assert_false(clr_arena_is_quiet(&arena));
    ring->tail = ring->head;
    assert_true(clr_arena_is_quiet(&arena));
    ring->writing = 1;
    assert_false(clr_arena_is_quiet(&arena));
    ring->writing = 0;
    ring->untold = TRD_RING_TELLING;
    assert_false(clr_arena_is_quiet(&arena));
    ring->untold = 0;
    /* What cannot be is not quiet either. */
    ring->tail = ring->head + 64;
    assert_false(clr_arena_is_quiet(&arena));
    clr_arena_unmap(&arena);
    free_arena(shared, fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(test_batch_comes_out_record_by_record),
        TEST(test_record_of_the_same_time_is_raised_to_the_mark_before_it),
        TEST(test_records_of_an_older_profiler_come_out_as_ours),
        TEST(test_overlap_is_delivered_once_and_a_gap_refused),
        TEST(test_loss_in_band_stands_at_its_place),
        TEST(test_loss_told_early_waits_for_the_records_before_it),
        TEST(test_loss_of_a_quiet_ring_comes_with_the_mark),
        TEST(test_count_nobody_can_believe_is_refused),
        TEST(test_bytes_that_are_no_record_cost_the_rest_of_their_batch_only),
        TEST(test_closing_ring_ends_when_it_is_empty),
        TEST(test_arena_of_a_dead_process_is_drained_over_its_end),
        TEST(test_ring_that_grew_is_drained_window_by_window),
        TEST(test_arena_with_impossible_windows_stays_within_the_ring),
        TEST(test_arena_with_impossible_positions_is_refused),
        TEST(test_arena_is_quiet_when_nothing_is_begun_unsent_or_untold),
        TEST(test_arena_full_of_noise_ends),
        TEST(test_file_that_may_shrink_or_is_too_small_is_no_arena),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
