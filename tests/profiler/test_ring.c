/*
 * Writers, arena and sweep together: what threads write, what a sweep takes, what is counted when
 * there is no room, and what a mark promises. `--without-membarrier` runs the same where the kernel
 * refuses that call, so that writers fence for themselves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arena.h"
#include "collector.h"
#include "sweep.h"
#include "writer.h"

#define RINGS 80
#define RING_SIZE TRD_RING_SIZE_MIN
#define TOTAL (8 << 20)

static _Atomic int no_wish;
static _Atomic unsigned wakes;

static void on_wake(void)
{
    wakes++;
}

static bool write_text(const char *text)
{
    struct writer writer;
    size_t size = strlen(text);
    struct trd_ev_thread_name *event = WRITER_BEGIN(&writer, thread_name, THREAD, size + 1);

    if (!event)
        return false;
    event->thread = 1;
    writer_text(&writer, &event->name, text, size);
    writer_commit(&writer);
    return true;
}

static bool write_number(uint64_t number)
{
    struct writer writer;
    struct trd_ev_thread_destroyed *event = WRITER_BEGIN(&writer, thread_destroyed, THREAD, 0);

    if (!event)
        return false;
    event->thread = number;
    writer_commit(&writer);
    return true;
}

static void run_thread(void *(*body)(void *), void *argument)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, body, argument), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* Takes what earlier tests left, so that each starts with empty rings. */
static struct sweep_sums settle(struct collector *collector, struct connection *connection)
{
    struct sweep_sums sums;

    collector_start(collector, connection, &no_wish);
    assert_int_equal(sweep(connection), 0);
    assert_int_equal(sweep(connection), 0);
    collector_sync(collector, connection);
    collector->events = collector->lost = collector->idle_lost = 0;
    sweep_sum(&sums);
    return sums;
}

static struct sweep_sums stop(struct collector *collector, struct connection *connection)
{
    struct sweep_sums sums;

    assert_int_equal(sweep(connection), 0);
    collector_stop(collector, connection);
    collector_finish(collector);
    sweep_sum(&sums);
    return sums;
}

static void *write_a_few(void *argument)
{
    (void)argument;
    for (uint64_t i = 0; i < 10; i++)
        if (!write_number(i))
            return NULL;
    return NULL;
}

static void test_ring_events_arrive_and_are_accounted_for(void **state)
{
    struct collector collector;
    struct connection connection;
    struct sweep_sums before = settle(&collector, &connection), after;

    (void)state;
    run_thread(write_a_few, NULL);
    after = stop(&collector, &connection);
    assert_int_equal(collector.events, 10);
    assert_int_equal(after.produced - before.produced, 10);
    assert_int_equal(after.taken - before.taken, 10);
    assert_int_equal(after.dropped, before.dropped);
}

static void *fill(void *argument)
{
    unsigned *written = argument;

    while (write_text("a text of some length to fill the ring with"))
        ++*written;
    return NULL;
}

static void test_ring_that_is_full_drops_counts_and_tells_once(void **state)
{
    struct collector collector;
    struct connection connection;
    struct sweep_sums before = settle(&collector, &connection), after;
    unsigned written = 0, wakes_before = wakes;

    (void)state;
    run_thread(fill, &written);
    assert_true(written > 100 && written < RING_SIZE / 32);
    assert_int_equal(wakes - wakes_before, 1);
    after = stop(&collector, &connection);
    assert_int_equal(collector.events, written);
    assert_int_equal(collector.idle_lost + collector.lost, 1);
    assert_int_equal(after.dropped - before.dropped, 1);
    assert_int_equal(after.produced - before.produced, written + 1);
    assert_int_equal(after.taken - before.taken, written + 1);
}

struct two_steps {
    sem_t go, done;
    unsigned written;
};

static void *fill_twice(void *argument)
{
    struct two_steps *steps = argument;

    (void)fill(&steps->written);
    for (int i = 0; i < 4; i++)
        (void)write_text("a text of some length to fill the ring with");
    sem_post(&steps->done);
    sem_wait(&steps->go);
    steps->written += write_text("the first one that fits again");
    return NULL;
}

/* The reader takes the records and leaves the drops to the writer, which tells them in-band. */
static void test_ring_with_room_again_tells_its_drops_before_the_next_event(void **state)
{
    struct two_steps steps = { .written = 0 };
    struct collector collector;
    struct connection connection;
    struct trd_ring *ring = NULL;
    pthread_t thread;

    (void)state;
    (void)settle(&collector, &connection);
    sem_init(&steps.go, 0, 0);
    sem_init(&steps.done, 0, 0);
    assert_int_equal(pthread_create(&thread, NULL, fill_twice, &steps), 0);
    sem_wait(&steps.done);
    for (uint32_t i = 0; i < arena_get()->ring_used; i++)
        if (trd_arena_ring(arena_get(), RING_SIZE, i)->untold > 0)
            ring = trd_arena_ring(arena_get(), RING_SIZE, i);
    assert_non_null(ring);
    assert_int_equal(ring->untold, 5);
    assert_int_equal(ring->dropped_by_category[TRD_CATEGORY_THREAD], ring->dropped);

    /* As a sender that is slower than the writer: half of the ring comes free. */
    ring->untold = 0;
    assert_int_equal(sweep(&connection), 0);
    ring->untold = 5;
    sem_post(&steps.go);
    pthread_join(thread, NULL);
    (void)stop(&collector, &connection);
    assert_int_equal(collector.lost, 5);
    assert_int_equal(collector.idle_lost, 0);
    assert_int_equal(collector.events, steps.written);
}

static void *write_all_sizes(void *argument)
{
    static const char text[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    struct connection *connection = argument;

    for (unsigned i = 0; i < 3000; i++) {
        while (!write_text(text + i % sizeof(text)))
            ;
        if (i % 50 == 0)
            (void)sweep(connection);
    }
    return NULL;
}

/* Records of every length against the end of the ring: padding must fit whatever is left. */
static void test_ring_end_is_padded_whatever_is_left(void **state)
{
    struct collector collector;
    struct connection connection;

    (void)state;
    (void)settle(&collector, &connection);
    run_thread(write_all_sizes, &connection);
    (void)stop(&collector, &connection);
    assert_int_equal(collector.events, 3000);
    assert_int_equal(collector.lost + collector.idle_lost, 0);
}

static void test_ring_of_an_ended_thread_is_used_again(void **state)
{
    struct collector collector;
    struct connection connection;
    uint32_t used;

    (void)state;
    (void)settle(&collector, &connection);
    run_thread(write_a_few, NULL);
    assert_int_equal(sweep(&connection), 0);
    used = arena_get()->ring_used;
    for (int i = 0; i < 200; i++) {
        run_thread(write_a_few, NULL);
        assert_int_equal(sweep(&connection), 0);
    }
    assert_int_equal(arena_get()->ring_used, used);
    (void)stop(&collector, &connection);
    assert_int_equal(collector.events, 2010);
}

/* Nobody reads: an ended thread's events stay, and its ring is not given away. */
static void test_ring_of_an_ended_thread_is_kept_until_it_is_drained(void **state)
{
    struct collector collector;
    struct connection connection;
    uint32_t used;

    (void)state;
    (void)settle(&collector, &connection);
    run_thread(write_a_few, NULL);
    used = arena_get()->ring_used;
    for (int i = 0; i < 5; i++)
        run_thread(write_a_few, NULL);
    assert_true(arena_get()->ring_used >= 6 && arena_get()->ring_used >= used);
    (void)stop(&collector, &connection);
    assert_int_equal(collector.events, 60);
}

struct crowd {
    pthread_barrier_t met, leave;
};

static void *write_and_stay(void *argument)
{
    struct crowd *crowd = argument;

    (void)write_number(1);
    pthread_barrier_wait(&crowd->met);
    pthread_barrier_wait(&crowd->leave);
    return NULL;
}

static void test_thread_that_finds_no_ring_is_counted(void **state)
{
    pthread_t threads[RINGS + 5];
    struct collector collector;
    struct connection connection;
    struct sweep_sums before = settle(&collector, &connection), after;
    struct crowd crowd;

    (void)state;
    pthread_barrier_init(&crowd.met, NULL, RINGS + 6);
    pthread_barrier_init(&crowd.leave, NULL, RINGS + 6);
    for (int i = 0; i < RINGS + 5; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_and_stay, &crowd), 0);
    pthread_barrier_wait(&crowd.met);
    pthread_barrier_wait(&crowd.leave);
    for (int i = 0; i < RINGS + 5; i++)
        pthread_join(threads[i], NULL);
    after = stop(&collector, &connection);
    assert_int_equal(after.orphans - before.orphans, 5);
    assert_int_equal(after.produced - before.produced, RINGS + 5);
    assert_int_equal(collector.events, RINGS);
    assert_int_equal(after.produced, after.taken + after.orphans);
}

static void *write_many(void *argument)
{
    uint64_t *dropped = argument;

    for (uint64_t i = 0; i < 40000; i++) {
        if (i % 3 ? write_number(i) : write_text("something longer than a number"))
            continue;
        ++*dropped;
        sched_yield(); /* let the sweep come in between, also where there are few processors */
    }
    return NULL;
}

/* Threads as fast as they can, a sweep as fast as it can: every event is delivered or told lost,
 * and the collector holds each against the marks before it. */
static void test_many_threads_lose_nothing_uncounted(void **state)
{
    enum {
        THREADS = 6
    };
    uint64_t dropped[THREADS] = { 0 }, all_dropped = 0;
    pthread_t threads[THREADS];
    struct collector collector;
    struct connection connection;
    struct sweep_sums before = settle(&collector, &connection), after;

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_many, &dropped[i]), 0);
    do {
        assert_int_equal(sweep(&connection), 0);
        sweep_sum(&after);
    } while (after.produced - before.produced < THREADS * 40000);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        all_dropped += dropped[i];
    }
    after = stop(&collector, &connection);
    assert_int_equal(after.dropped - before.dropped, all_dropped);
    assert_int_equal(collector.events, THREADS * 40000 - all_dropped);
    assert_int_equal(collector.lost + collector.idle_lost, all_dropped);
    assert_int_equal(after.taken - before.taken, THREADS * 40000);
    assert_true(collector.marks > 2);
}

static void *write_in_two_steps(void *argument)
{
    struct two_steps *steps = argument;
    struct writer writer;
    struct trd_ev_thread_destroyed *event = WRITER_BEGIN(&writer, thread_destroyed, THREAD, 0);

    event->thread = 1;
    sem_post(&steps->done);
    sem_wait(&steps->go);
    writer_commit(&writer);
    return NULL;
}

static void test_mark_waits_for_a_writer_between_clock_and_publishing(void **state)
{
    struct two_steps steps = { .written = 0 };
    struct collector collector;
    struct connection connection;
    pthread_t thread;
    uint64_t marks;

    (void)state;
    (void)settle(&collector, &connection);
    sem_init(&steps.go, 0, 0);
    sem_init(&steps.done, 0, 0);
    assert_int_equal(pthread_create(&thread, NULL, write_in_two_steps, &steps), 0);
    sem_wait(&steps.done);
    marks = collector.marks;
    run_thread(write_a_few, NULL);
    for (int i = 0; i < 3; i++)
        assert_int_equal(sweep(&connection), 0);
    collector_sync(&collector, &connection);
    assert_int_equal(collector.marks, marks);
    assert_int_equal(collector.events, 10);

    sem_post(&steps.go);
    pthread_join(thread, NULL);
    assert_int_equal(sweep(&connection), 0);
    collector_sync(&collector, &connection);
    assert_int_equal(collector.marks, marks + 1);
    assert_int_equal(collector.events, 11);
    (void)stop(&collector, &connection);
}

static struct writer_place write_and_keep(void)
{
    struct writer writer;
    struct trd_ev_thread_destroyed *event = WRITER_BEGIN(&writer, thread_destroyed, THREAD, 0);

    assert_non_null(event);
    event->thread = 1;
    return writer_commit(&writer);
}

/* Its time and flags; `place` is where the event before it ended. */
static struct trd_event_head write_after(struct writer_place place)
{
    struct trd_ev_exception_from *event;
    struct writer writer;

    event = writer_begin_after(&writer, place, TRD_EV_exception_from, TRD_CATEGORY_EXCEPTION,
                               sizeof(*event));
    assert_non_null(event);
    event->method = 1;
    writer_commit(&writer);
    return *writer.head;
}

static void *write_in_one_instant(void *argument)
{
    struct writer_place place;

    assert_int_equal(writer_kept().position, 0);
    /* Often enough to come past the end of the ring. */
    for (int i = 0; i < 1000; i++) {
        struct trd_event_head head;

        place = write_and_keep();
        writer_keep(place);
        assert_int_equal(writer_kept().position, place.position);
        head = write_after(place);
        assert_int_equal(head.id, TRD_EV_exception_from);
        if (head.flags & TRD_EVENT_F_SAME_TIME)
            assert_int_equal(head.ts_ns, place.ts_ns);
        else
            assert_int_not_equal(i, 0);
        if (i % 50 == 0)
            assert_int_equal(sweep(argument), 0);
    }
    /* Something came in between. */
    place = write_and_keep();
    assert_true(write_number(1));
    assert_int_equal(write_after(place).flags, 0);
    /* It was dropped, or there was none. */
    assert_int_equal(write_after((struct writer_place){ .position = UINT64_MAX }).flags, 0);
    assert_int_equal(write_after((struct writer_place){ 0 }).flags, 0);
    return NULL;
}

static void test_ring_event_of_the_same_instant_has_the_time_of_the_one_before(void **state)
{
    struct collector collector;
    struct connection connection;

    (void)state;
    settle(&collector, &connection);
    run_thread(write_in_one_instant, &connection);
    stop(&collector, &connection);
    assert_int_equal(collector.events, 2005);
    assert_int_equal(collector.lost + collector.idle_lost, 0);
}

static void refuse_membarrier(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { .len = sizeof(filter) / sizeof(filter[0]), .filter = filter };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        printf("SKIP: seccomp filters, to refuse membarrier with\n");
        exit(getenv("CI") && strcmp(getenv("CI"), "true") == 0 ? 1 : 77);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring_events_arrive_and_are_accounted_for),
        cmocka_unit_test(test_ring_that_is_full_drops_counts_and_tells_once),
        cmocka_unit_test(test_ring_with_room_again_tells_its_drops_before_the_next_event),
        cmocka_unit_test(test_ring_end_is_padded_whatever_is_left),
        cmocka_unit_test(test_ring_of_an_ended_thread_is_used_again),
        cmocka_unit_test(test_ring_of_an_ended_thread_is_kept_until_it_is_drained),
        cmocka_unit_test(test_thread_that_finds_no_ring_is_counted),
        cmocka_unit_test(test_many_threads_lose_nothing_uncounted),
        cmocka_unit_test(test_mark_waits_for_a_writer_between_clock_and_publishing),
        cmocka_unit_test(test_ring_event_of_the_same_instant_has_the_time_of_the_one_before),
    };
    bool refuse = argc > 1 && strcmp(argv[1], "--without-membarrier") == 0;

    if (refuse)
        refuse_membarrier();
    if (arena_create(TOTAL, RING_SIZE, RINGS) != 0 || writer_init(on_wake) != 0)
        return 1;
    if (refuse != arena_writers_fence()) {
        printf("SKIP: membarrier\n");
        return getenv("CI") && strcmp(getenv("CI"), "true") == 0 ? 1 : 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
