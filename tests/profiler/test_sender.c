/* The profiler as a daemon sees it, and a daemon that behaves, is late, hangs, dies or lies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arena.h"
#include "fake_info.h"
#include "traced.h"

/* A daemon that is there from the start */

static int tell_a_round(struct traced *traced)
{
    struct traced_object *object = traced_initialize(traced);

    traced_round(object, 0x40);
    traced_wait_for_parent(traced);
    TRACED_EXPECT(object->vtbl->Shutdown(object) == S_OK);
    traced_round(object, 0x48); /* other threads may still call in */
    return 0;
}

static void test_profiler_tells_everything_and_says_goodbye(void **state)
{
    struct traced_sums sums = { 0 };
    struct reader reader;
    struct traced traced;

    (void)state;
    traced_prepare(&traced);
    traced_listen(&traced);
    traced_start(&traced, tell_a_round);
    traced_welcome(&traced, &reader, TRACED_CATEGORIES);
    traced_let_go_on(&traced);
    assert_int_equal(reader.hello.flags, TRD_HELLO_F_SWEEPS);
    assert_int_equal(reader.hello.pid, traced.pid);
    assert_int_equal(reader.peer, traced.pid);
    assert_int_equal(reader.hello.runtime[0], 10);
    assert_int_equal(reader.hello.accounted, 0);
    assert_true(reader.hello.start_time > 0);
    assert_int_equal(traced_collect(&reader, &sums, TRACED_FOREVER), 0);
    assert_int_equal(traced_wait(&traced), 0);
    traced_drain(&reader, &sums);

    /* The method's definition, runtime_info and shutdown besides the round. */
    assert_int_equal(sums.events, TRACED_ROUND_EVENTS + 3);
    assert_int_equal(sums.first_id, TRD_EV_runtime_info);
    assert_int_equal(sums.by_id[TRD_EV_method], 1);
    assert_int_equal(sums.by_id[TRD_EV_shutdown], 1);
    assert_int_equal(sums.caught_up, 0);
    assert_true(!sums.has_bye || sums.bye.produced == sums.events);
    assert_int_equal(TRACED_SUM(&reader, produced), sums.events);
    reader_finish(&reader);
    traced_finish(&traced);
}

static int tell_rounds(struct traced *traced)
{
    struct traced_object *object = traced_initialize(traced);

    for (FunctionID function = 0x40; !traced_may_go_on(traced); function += 8) {
        traced_round(object, function);
        traced_pause(true, NULL);
    }
    TRACED_EXPECT(object->vtbl->Shutdown(object) == S_OK);
    return 0;
}

static void test_profiler_answers_ping_and_marks_while_it_is_quiet(void **state)
{
    struct trd_ping ping = { .token = 0x1234567890 };
    struct traced_sums sums = { 0 };
    struct reader_frame frame;
    struct reader reader;
    struct traced traced;
    int marks = 0;

    (void)state;
    traced_prepare(&traced);
    traced_listen(&traced);
    traced_start(&traced, tell_rounds);
    traced_welcome(&traced, &reader, TRD_CATEGORY_BIT(RUNTIME));
    while (marks < 3) {
        assert_int_equal(reader_next(&reader, &frame, TRACED_WAIT_MS), 1);
        marks += frame.head.type == TRD_FRAME_MARK;
    }
    assert_int_equal(reader_send(&reader, TRD_FRAME_PING, &ping, sizeof(ping)), 0);
    do
        assert_int_equal(reader_next(&reader, &frame, TRACED_WAIT_MS), 1);
    while (frame.head.type != TRD_FRAME_PONG);
    assert_memory_equal(frame.payload, &ping, sizeof(ping));
    traced_let_go_on(&traced);
    assert_int_equal(traced_collect(&reader, &sums, TRACED_FOREVER), 0);
    assert_int_equal(traced_wait(&traced), 0);
    reader_finish(&reader);
    traced_finish(&traced);
}

/* Told on, the process raises one event and then waits for the next word. */
static int tell_one_by_one(struct traced *traced)
{
    struct traced_object *object = traced_initialize(traced);

    for (ThreadID thread = 0x700; thread < 0x700 + 3; thread++) {
        traced_wait_for_parent(traced);
        object->vtbl->ThreadDestroyed(object, thread);
    }
    traced_wait_for_parent(traced);
    TRACED_EXPECT(object->vtbl->Shutdown(object) == S_OK);
    return 0;
}

/* Frames until the mark; how many of them carried events. */
static unsigned swept(struct reader *reader)
{
    struct reader_frame frame;
    unsigned batches = 0;

    assert_int_equal(reader_send(reader, TRD_FRAME_SWEEP, NULL, 0), 0);
    do {
        assert_int_equal(reader_next(reader, &frame, TRACED_WAIT_MS), 1);
        batches += frame.head.type == TRD_FRAME_BATCH;
    } while (frame.head.type != TRD_FRAME_MARK);
    return batches;
}

static int tell_until_detached(struct traced *traced)
{
    struct traced_object *object = traced_initialize(traced);

    object->vtbl->ThreadDestroyed(object, 0x700);
    TRACED_UNTIL(fake.detaches == 1);
    return 0;
}

/* Runs `tell`, welcomed by a daemon that looks into the arena. */
static void start_looked_into(struct traced *traced, struct reader *reader,
                              int (*tell)(struct traced *traced))
{
    traced_prepare(traced);
    traced_listen(traced);
    traced_start(traced, tell);
    assert_int_equal(reader_accept(reader, traced->listener, TRACED_WAIT_MS), 0);
    assert_true(reader->hello.flags & TRD_HELLO_F_SWEEPS);
    assert_int_equal(reader_welcome_looking(reader, TRD_CATEGORIES_DEFAULT), 0);
}

/* It sleeps until it is woken; being told to leave is a reason. */
static void test_profiler_whose_daemon_looks_leaves_when_it_is_told(void **state)
{
    struct traced_sums sums = { 0 };
    struct reader_frame frame;
    struct reader reader;
    struct traced traced;

    (void)state;
    start_looked_into(&traced, &reader, tell_until_detached);
    do
        assert_int_equal(reader_next(&reader, &frame, TRACED_WAIT_MS), 1);
    while (frame.head.type != TRD_FRAME_MARK);
    assert_int_equal(reader_send(&reader, TRD_FRAME_DETACH, NULL, 0), 0);
    assert_int_equal(traced_collect(&reader, &sums, TRACED_FOREVER), 0);
    assert_true(sums.has_bye);
    assert_int_equal(traced_wait(&traced), 0);
    reader_finish(&reader);
    traced_finish(&traced);
}

/* What the writer published shows in the arena; nothing comes by itself. */
static void test_profiler_whose_daemon_looks_speaks_when_it_is_asked(void **state)
{
    struct traced_sums sums = { 0 };
    struct reader_frame frame;
    struct reader reader;
    struct traced traced;

    (void)state;
    start_looked_into(&traced, &reader, tell_one_by_one);
    while (!reader.arena->has_barrier)
        traced_pause(true, NULL);
    /* Whatever belonged to the start. */
    while (reader_next(&reader, &frame, 100) == 1)
        ;
    for (int i = 0; i < 3; i++) {
        uint64_t head = traced_sum(&reader, offsetof(struct trd_ring, head));

        traced_let_go_on(&traced);
        while (traced_sum(&reader, offsetof(struct trd_ring, head)) == head)
            traced_pause(true, NULL);
        assert_int_equal(reader_next(&reader, &frame, 100), -ETIMEDOUT);
        assert_int_equal(swept(&reader), 1);
        assert_int_equal(swept(&reader), 0);
    }
    traced_let_go_on(&traced);
    assert_int_equal(traced_collect(&reader, &sums, TRACED_FOREVER), 0);
    assert_int_equal(traced_wait(&traced), 0);
    reader_finish(&reader);
    traced_finish(&traced);
}

/* A daemon that is late */

static void test_profiler_keeps_what_happened_before_the_daemon_came(void **state)
{
    struct traced_sums sums = { 0 };
    struct reader reader;
    struct traced traced;

    (void)state;
    traced_prepare(&traced);
    traced_start(&traced, tell_a_round);
    usleep(50000); /* some tries that fail; if there were none, that is no failure */
    traced_listen(&traced);
    traced_welcome(&traced, &reader, TRACED_CATEGORIES);
    assert_int_equal(traced_collect(&reader, &sums, TRACED_ROUND_EVENTS + 2), 1);
    assert_int_equal(sums.first_id, TRD_EV_runtime_info);
    assert_int_equal(sums.caught_up, 0);
    traced_let_go_on(&traced);
    assert_int_equal(traced_collect(&reader, &sums, TRACED_FOREVER), 0);
    assert_int_equal(traced_wait(&traced), 0);
    reader_finish(&reader);
    traced_finish(&traced);
}

/* A daemon that goes and comes again */

static void test_profiler_connects_again_and_catches_up(void **state)
{
    struct traced_sums first = { 0 }, second = { 0 };
    struct reader reader;
    struct traced traced;

    (void)state;
    traced_prepare(&traced);
    traced_listen(&traced);
    traced_start(&traced, tell_rounds);
    traced_welcome(&traced, &reader, TRACED_CATEGORIES);
    assert_int_equal(traced_collect(&reader, &first, 50), 1);
    reader_finish(&reader);

    traced_welcome(&traced, &reader, TRACED_CATEGORIES);
    assert_int_equal(reader.hello.flags, TRD_HELLO_F_RECONNECT | TRD_HELLO_F_SWEEPS);
    assert_true(reader.hello.accounted >= first.events);
    assert_int_equal(traced_collect(&reader, &second, 200), 1);
    traced_let_go_on(&traced);
    assert_int_equal(traced_collect(&reader, &second, TRACED_FOREVER), 0);
    assert_int_equal(traced_wait(&traced), 0);
    traced_drain(&reader, &second);
    assert_true(second.caught_up >= 1);
    assert_int_equal(second.by_id[TRD_EV_runtime_info], 1);
    assert_int_equal(TRACED_SUM(&reader, produced) - reader.hello.accounted,
                     second.events + second.lost);
    assert_true(!second.has_bye ||
                second.bye.produced - reader.hello.accounted == second.events + second.lost);
    reader_finish(&reader);
    traced_finish(&traced);
}

/* A daemon that hangs: it takes the connection and never reads */

static int storm(struct traced *traced)
{
    struct traced_object *object = traced_initialize(traced);
    struct timespec before, after;

    TRACED_UNTIL(fake.masks_set >= 1);
    for (int i = 0; i < 100000; i++)
        traced_round(object, 0x40);
    clock_gettime(CLOCK_MONOTONIC, &before);
    TRACED_EXPECT(object->vtbl->Shutdown(object) == S_OK);
    clock_gettime(CLOCK_MONOTONIC, &after);
    /* For people: no test depends on how fast this machine is today. */
    printf("shutdown held the process up for %.2f ms\n",
           (double)(after.tv_sec - before.tv_sec) * 1e3 +
               (double)(after.tv_nsec - before.tv_nsec) / 1e6);
    fflush(stdout);
    return 0;
}

static void test_profiler_never_waits_for_a_daemon_that_hangs(void **state)
{
    struct traced_sums sums = { 0 };
    struct reader reader;
    struct traced traced;

    (void)state;
    traced_prepare(&traced);
    traced_listen(&traced);
    traced_start(&traced, storm);
    traced_welcome(&traced, &reader, TRACED_CATEGORIES);
    assert_int_equal(traced_wait(&traced), 0); /* it ends, though nobody has read a byte */

    (void)traced_collect(&reader, &sums, TRACED_FOREVER); /* may end within a frame */
    traced_drain(&reader, &sums);
    /* A definition that found no room is tried again with each event that needs it. */
    assert_true(TRACED_SUM(&reader, produced) >= 100000ull * TRACED_ROUND_EVENTS + 3);
    assert_true(TRACED_SUM(&reader, dropped) > 0);
    assert_int_equal(TRACED_SUM(&reader, produced) - TRACED_SUM(&reader, dropped), sums.events);
    /* The process has ended while its sender waited, perhaps with a count in hand. */
    assert_int_equal(TRACED_SUM(&reader, produced),
                     sums.events + sums.lost + reader_untold(&reader));
    reader_finish(&reader);
    traced_finish(&traced);
}

static uint64_t dropped_so_far(void)
{
    return trd_arena_ring(arena_get(), arena_get()->ring_size, 0)->dropped;
}

/* More in a row than socket and ring could hold: the daemon does not read, and nothing fits. */
static void fill_up(struct traced_object *object)
{
    uint64_t before;

    do {
        before = dropped_so_far();
        for (int i = 0; i < 20000; i++)
            object->vtbl->ThreadCreated(object, 1);
    } while (dropped_so_far() - before < 20000);
}

/* Compiles a method while nothing fits, and again once something does. */
static int compile_in_a_full_ring(struct traced *traced)
{
    struct traced_object *object = traced_initialize(traced);
    const struct corprof_callback_vtbl *vtbl = object->vtbl;

    traced_wait_for_parent(traced);
    fill_up(object);
    vtbl->JITCompilationStarted(object, 0x9990, 1);
    traced_wait_for_parent(traced);
    for (int i = 0; i < 50; i++) {
        vtbl->JITCompilationStarted(object, 0x9990, 1);
        traced_pause(true, NULL);
    }
    TRACED_EXPECT(vtbl->Shutdown(object) == S_OK);
    return 0;
}

/* Like TRACED_UNTIL, for parents. */
#define UNTIL(condition)                                                                           \
    for (int waited_ = 0; !(condition); waited_++) {                                               \
        assert_true(waited_ < TRACED_WAIT_MS);                                                     \
        usleep(1000);                                                                              \
    }

static void test_definition_that_was_dropped_is_given_again(void **state)
{
    struct traced_sums sums = { 0 };
    struct reader reader;
    struct traced traced;

    (void)state;
    traced_prepare(&traced);
    traced_listen(&traced);
    traced_start(&traced, compile_in_a_full_ring);
    traced_welcome(&traced, &reader, TRACED_CATEGORIES);
    traced_let_go_on(&traced);
    /* Nobody reads: the socket fills up, then the ring. */
    UNTIL(traced_sum(&reader, offsetof(struct trd_ring, dropped_by_category) +
                                  TRD_CATEGORY_JIT * sizeof(uint64_t)) == 2);
    traced_let_go_on(&traced);
    assert_int_equal(traced_collect(&reader, &sums, TRACED_FOREVER), 0);
    assert_int_equal(traced_wait(&traced), 0);
    assert_int_equal(sums.by_id[TRD_EV_method], 1);
    reader_finish(&reader);
    traced_finish(&traced);
}

/* An application that is killed */

static void *run_rounds(void *object)
{
    for (FunctionID function = 0x40;; function += 8)
        traced_round(object, function);
    return NULL;
}

static int storm_until_killed(struct traced *traced)
{
    struct traced_object *object = traced_initialize(traced);
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        TRACED_EXPECT(pthread_create(&threads[i], NULL, run_rounds, object) == 0);
    pthread_join(threads[0], NULL);
    return 0;
}

static void test_events_of_a_killed_process_are_found_in_its_arena(void **state)
{
    struct traced_sums sums = { 0 };
    struct reader reader;
    struct traced traced;
    uint64_t begun = 0, known;

    (void)state;
    traced_prepare(&traced);
    traced_listen(&traced);
    traced_start(&traced, storm_until_killed);
    traced_welcome(&traced, &reader, TRACED_CATEGORIES);
    assert_int_equal(traced_collect(&reader, &sums, 20000), 1);
    assert_int_equal(kill(traced.pid, SIGKILL), 0);
    assert_int_equal(traced_wait(&traced), SIGKILL);
    (void)traced_collect(&reader, &sums, TRACED_FOREVER);
    traced_drain(&reader, &sums);

    /* A thread may have died between beginning an event and publishing it, with the drops that the
     * event would have told. */
    for (uint32_t i = 0; i < reader.arena->ring_used; i++)
        begun += trd_arena_ring(reader.arena, reader.hello.ring_size, i)->writing;
    known = sums.events + sums.lost + reader_untold(&reader);
    assert_true(TRACED_SUM(&reader, produced) >= known);
    assert_true(TRACED_SUM(&reader, produced) == known || begun > 0);
    reader_finish(&reader);
    traced_finish(&traced);
}

/* What is wanted */

static int change_what_is_wanted(struct traced *traced)
{
    struct traced_object *object;

    fake.items = 3;
    object = traced_initialize(traced);
    TRACED_UNTIL(fake.mask_low == 0x10000 && fake.mask_high == 0x10); /* gc */
    traced_round(object, 0x40);
    traced_wait_for_parent(traced);
    TRACED_EXPECT(fake.mask_low == 0x1021c && fake.mask_high == 0x10); /* and thread, loader */
    TRACED_EXPECT(object->vtbl->Shutdown(object) == S_OK);
    return 0;
}

static int be_asked(struct traced *traced)
{
    struct traced_object *object = traced_initialize(traced);

    traced_wait_for_parent(traced);
    TRACED_EXPECT(object->vtbl->Shutdown(object) == S_OK);
    return 0;
}

static void test_profiler_that_is_asked_tells_whose_code_and_which_il(void **state)
{
    struct {
        struct trd_resolve head;
        uint64_t addresses[3];
    } request = { .head = { .count = 3 },
                  .addresses = { FAKE_CODE, FAKE_CODE + 1, FAKE_CODE + 2 } };
    struct traced_sums sums = { 0 };
    struct reader reader;
    struct traced traced;

    (void)state;
    traced_prepare(&traced);
    traced_listen(&traced);
    traced_start(&traced, be_asked);
    traced_welcome(&traced, &reader, TRD_CATEGORIES_ALL);
    assert_int_equal(traced_collect(&reader, &sums, 1), 1);
    assert_int_equal(reader_send(&reader, TRD_FRAME_RESOLVE, &request, sizeof(request)), 0);
    assert_int_equal(traced_collect(&reader, &sums, 3), 1);
    assert_int_equal(sums.by_id[TRD_EV_method], 1);
    assert_int_equal(sums.by_id[TRD_EV_code], 1); /* of one method, so once */
    assert_int_equal(sums.caught_up, 2);
    request.head.flags = TRD_RESOLVE_F_IL;
    assert_int_equal(reader_send(&reader, TRD_FRAME_RESOLVE, &request, sizeof(request)), 0);
    assert_int_equal(traced_collect(&reader, &sums, 3 + 1 + 3), 1);
    assert_int_equal(sums.by_id[TRD_EV_method], 1);
    assert_int_equal(sums.by_id[TRD_EV_il_offset], 3);
    traced_let_go_on(&traced);
    assert_int_equal(traced_collect(&reader, &sums, TRACED_FOREVER), 0);
    assert_int_equal(traced_wait(&traced), 0);
    reader_finish(&reader);
    traced_finish(&traced);
}

static void test_profiler_sends_what_is_wanted_and_tells_what_was_missed(void **state)
{
    struct trd_categories more = { .categories = TRD_CATEGORY_BIT(GC) | TRD_CATEGORY_BIT(THREAD) |
                                                 TRD_CATEGORY_BIT(LOADER) };
    struct traced_sums sums = { 0 };
    struct reader reader;
    struct traced traced;

    (void)state;
    traced_prepare(&traced);
    traced_listen(&traced);
    traced_start(&traced, change_what_is_wanted);
    traced_welcome(&traced, &reader, TRD_CATEGORY_BIT(GC));
    /* runtime_info, and of the round the collection with its suspension */
    assert_int_equal(traced_collect(&reader, &sums, 7), 1);
    assert_int_equal(sums.by_id[TRD_EV_runtime_info], 1);
    assert_int_equal(sums.by_id[TRD_EV_gc_start] + sums.by_id[TRD_EV_gc_end], 2);
    assert_int_equal(sums.by_id[TRD_EV_jit_start] + sums.by_id[TRD_EV_thread_created], 0);

    assert_int_equal(reader_send(&reader, TRD_FRAME_CATEGORIES, &more, sizeof(more)), 0);
    /* three threads with their OS threads, three modules with their assemblies */
    assert_int_equal(traced_collect(&reader, &sums, 7 + 12), 1);
    assert_int_equal(sums.caught_up, 12);
    assert_int_equal(sums.by_id[TRD_EV_thread_assigned], 3);
    assert_int_equal(sums.by_id[TRD_EV_module_load], 3);
    traced_let_go_on(&traced);
    assert_int_equal(traced_collect(&reader, &sums, TRACED_FOREVER), 0);
    assert_int_equal(traced_wait(&traced), 0);
    reader_finish(&reader);
    traced_finish(&traced);
}

/* A daemon that must be left */

static void expect_new_connection(struct traced *traced)
{
    struct reader reader;

    traced_welcome(traced, &reader, TRACED_CATEGORIES);
    reader_finish(&reader);
}

static void test_profiler_leaves_a_daemon_that_breaks_the_protocol(void **state)
{
    struct trd_welcome welcome = { .magic = 1, .version = TRD_PROTOCOL_VERSION };
    struct trd_mark mark = { .ts_ns = 1 };
    struct reader_frame frame;
    struct reader reader;
    struct traced traced;

    (void)state;
    traced_prepare(&traced);
    traced_listen(&traced);
    traced_start(&traced, tell_rounds);

    assert_int_equal(reader_accept(&reader, traced.listener, TRACED_WAIT_MS), 0);
    assert_int_equal(reader_send(&reader, TRD_FRAME_WELCOME, &welcome, sizeof(welcome)), 0);
    assert_int_equal(reader_next(&reader, &frame, TRACED_WAIT_MS), 0);
    reader_finish(&reader);

    assert_int_equal(reader_accept(&reader, traced.listener, TRACED_WAIT_MS), 0);
    assert_int_equal(reader_send(&reader, TRD_FRAME_PING, &mark, sizeof(mark)), 0);
    assert_int_equal(reader_next(&reader, &frame, TRACED_WAIT_MS), 0);
    reader_finish(&reader);

    traced_welcome(&traced, &reader, TRACED_CATEGORIES);
    assert_int_equal(reader_send(&reader, TRD_FRAME_MARK, &mark, sizeof(mark)), 0);
    assert_int_not_equal(traced_collect(&reader, &(struct traced_sums){ 0 }, TRACED_FOREVER), 1);
    reader_finish(&reader);

    expect_new_connection(&traced);
    traced_let_go_on(&traced);
    assert_int_equal(traced_wait(&traced), 0);
    traced_finish(&traced);
}

static void test_profiler_gives_up_on_a_daemon_that_does_not_answer(void **state)
{
    struct reader_frame frame;
    struct reader reader;
    struct traced traced;

    (void)state;
    traced_prepare(&traced);
    traced_listen(&traced);
    traced_start(&traced, tell_rounds);
    assert_int_equal(reader_accept(&reader, traced.listener, TRACED_WAIT_MS), 0);
    assert_int_equal(reader_next(&reader, &frame, TRACED_WAIT_MS), 0);
    reader_finish(&reader);
    expect_new_connection(&traced);
    traced_let_go_on(&traced);
    assert_int_equal(traced_wait(&traced), 0);
    traced_finish(&traced);
}

#define NOBODY 65534

static void test_profiler_does_not_talk_to_another_users_daemon(void **state)
{
    struct reader reader;
    struct traced traced;

    (void)state;
    if (geteuid() != 0) {
        printf("SKIP: root, to listen as another user\n");
        if (getenv("CI") && strcmp(getenv("CI"), "true") == 0)
            fail();
        skip();
    }
    traced_prepare(&traced);
    assert_int_equal(chown(traced.directory, NOBODY, NOBODY), 0);
    assert_int_equal(seteuid(NOBODY), 0);
    traced_listen(&traced);
    assert_int_equal(seteuid(0), 0);
    traced_start(&traced, tell_rounds);
    assert_int_equal(reader_accept(&reader, traced.listener, TRACED_WAIT_MS), -ECONNRESET);
    reader_finish(&reader);
    traced_let_go_on(&traced);
    assert_int_equal(traced_wait(&traced), 0);
    traced_finish(&traced);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_profiler_tells_everything_and_says_goodbye),
        cmocka_unit_test(test_profiler_answers_ping_and_marks_while_it_is_quiet),
        cmocka_unit_test(test_profiler_whose_daemon_looks_speaks_when_it_is_asked),
        cmocka_unit_test(test_profiler_whose_daemon_looks_leaves_when_it_is_told),
        cmocka_unit_test(test_profiler_keeps_what_happened_before_the_daemon_came),
        cmocka_unit_test(test_profiler_connects_again_and_catches_up),
        cmocka_unit_test(test_profiler_never_waits_for_a_daemon_that_hangs),
        cmocka_unit_test(test_definition_that_was_dropped_is_given_again),
        cmocka_unit_test(test_events_of_a_killed_process_are_found_in_its_arena),
        cmocka_unit_test(test_profiler_that_is_asked_tells_whose_code_and_which_il),
        cmocka_unit_test(test_profiler_sends_what_is_wanted_and_tells_what_was_missed),
        cmocka_unit_test(test_profiler_leaves_a_daemon_that_breaks_the_protocol),
        cmocka_unit_test(test_profiler_gives_up_on_a_daemon_that_does_not_answer),
        cmocka_unit_test(test_profiler_does_not_talk_to_another_users_daemon),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
