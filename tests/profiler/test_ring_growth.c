/*
 * Rings that grow while they are written and read: what was written before, on the border and after
 * comes out whole and in order; the memory they take stays within what the process may take, and
 * comes back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "arena.h"
#include "collector.h"
#include "sweep.h"
#include "writer.h"

#define RINGS 128
#define RING_SIZE (512 * 1024)
#define TOTAL (8 << 20)
#define RECORD trd_event_size(sizeof(struct trd_ev_thread_destroyed))

static _Atomic int no_wish;

static void on_wake(void)
{
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

static bool write_text(uint64_t number, size_t size)
{
    static const char text[1024];
    struct writer writer;
    struct trd_ev_thread_name *event = WRITER_BEGIN(&writer, thread_name, THREAD, size + 1);

    if (!event)
        return false;
    event->thread = number;
    writer_text(&writer, &event->name, text, size);
    writer_commit(&writer);
    return true;
}

static uint64_t memory_bytes(void)
{
    struct stat status;

    assert_int_equal(fstat(arena_fd(), &status), 0);
    return (uint64_t)status.st_blocks * 512;
}

static struct trd_ring *ring_at(uint32_t index)
{
    return trd_arena_ring(arena_get(), RING_SIZE, index);
}

/* Of the thread that runs now; in these tests nobody else has one. */
static struct trd_ring *owned_ring(void)
{
    for (uint32_t i = 0; i < arena_get()->ring_used; i++)
        if (ring_at(i)->state == TRD_RING_OWNED)
            return ring_at(i);
    fail_msg("no thread has a ring");
    return NULL;
}

static void drain(struct connection *connection)
{
    assert_int_equal(sweep(connection), 0);
    assert_int_equal(sweep(connection), 0);
}

static void on_own_thread(void *(*body)(void *), void *argument)
{
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, body, argument), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void begin(struct collector *collector, struct connection *connection)
{
    collector_start(collector, connection, &no_wish);
    drain(connection);
    collector_sync(collector, connection);
}

static void end(struct collector *collector, struct connection *connection)
{
    drain(connection);
    collector_stop(collector, connection);
    collector_finish(collector);
}

struct burst {
    struct connection *connection;
    unsigned before;  /* written and taken first: where in a window it begins */
    unsigned kept;    /* written next, and not taken */
    unsigned written; /* without a reader, until something is dropped */
    uint32_t window;
};

static void *burst(void *argument)
{
    struct burst *burst = argument;

    for (unsigned i = 0; i < burst->before; i++) {
        (void)write_number(i);
        if (i % 256 == 0) /* within the first window */
            (void)sweep(burst->connection);
    }
    (void)sweep(burst->connection);
    for (unsigned i = 0; i < burst->kept; i++)
        (void)write_number(i);
    while (write_number(burst->written))
        burst->written++;
    burst->window = owned_ring()->window;
    return NULL;
}

/* From every place of the first window and every level of it: all windows are filled one after the
 * other, and what the sweep finds is what was written, in order and without a gap. */
static void test_ring_grows_from_every_place_and_level(void **state)
{
    struct collector collector;
    struct connection connection;
    uint64_t bytes = 2 * RING_SIZE - TRD_RING_SIZE_MIN, expected = 0;

    (void)state;
    begin(&collector, &connection);
    for (unsigned before = 0; before < 2 * TRD_RING_SIZE_MIN / RECORD; before += 61) {
        struct burst one = { &connection, before, before % 512, 0, 0 };

        on_own_thread(burst, &one);
        drain(&connection);
        assert_int_equal(one.window, 5); /* 16 KiB << 5 */
        /* Every byte of every window was used. */
        assert_int_equal((one.kept + one.written) * RECORD, bytes);
        expected += one.before + one.kept + one.written;
    }
    end(&collector, &connection);
    assert_int_equal(collector.events, expected);
    assert_int_equal(collector.lost + collector.idle_lost, 17);
}

static void *write_odd_sizes(void *argument)
{
    struct connection *connection = argument;

    for (unsigned i = 0; i < 20000; i++) {
        if (!write_text(i, i * 7 % 1000))
            abort();
        /* Ever less often, so that it grows to the end, at whatever place that is. */
        if (i % 64 == 0 && i % (64 + i / 40) < 64)
            (void)sweep(connection);
        if (i % 500 == 0)
            (void)sweep(connection);
    }
    return NULL;
}

static void test_ring_grows_between_records_of_every_size(void **state)
{
    struct collector collector;
    struct connection connection;

    (void)state;
    begin(&collector, &connection);
    on_own_thread(write_odd_sizes, &connection);
    end(&collector, &connection);
    assert_int_equal(collector.events, 20000);
    assert_int_equal(collector.lost + collector.idle_lost, 0);
}

/* Nothing but the heads, once all threads are gone and everything was taken. */
static void test_ring_of_an_ended_thread_gives_its_memory_back(void **state)
{
    struct collector collector;
    struct connection connection;
    struct burst one = { &connection, 0, 0, 0, 0 };

    (void)state;
    begin(&collector, &connection);
    on_own_thread(burst, &one);
    assert_true(memory_bytes() >= 2 * RING_SIZE - TRD_RING_SIZE_MIN);
    end(&collector, &connection);
    assert_int_equal(memory_bytes(),
                     TRD_ARENA_HEAD_SIZE + arena_get()->ring_used * TRD_RING_HEAD_SIZE);
}

struct pause {
    sem_t go, done;
    struct trd_ring *ring;
};

static void *grow_and_wait(void *argument)
{
    struct pause *pause = argument;

    while (write_number(1))
        ;
    pause->ring = owned_ring();
    sem_post(&pause->done);
    sem_wait(&pause->go);
    for (unsigned i = 0; i < 100; i++)
        if (!write_number(i))
            abort();
    sem_post(&pause->done);
    sem_wait(&pause->go);
    return NULL;
}

/* While its thread lives a ring keeps the largest window only, and that goes on to be written. */
static void test_windows_that_were_left_and_taken_give_their_memory_back(void **state)
{
    struct collector collector;
    struct connection connection;
    struct pause pause;
    pthread_t thread;
    uint64_t before;

    (void)state;
    begin(&collector, &connection);
    before = memory_bytes();
    sem_init(&pause.go, 0, 0);
    sem_init(&pause.done, 0, 0);
    assert_int_equal(pthread_create(&thread, NULL, grow_and_wait, &pause), 0);
    sem_wait(&pause.done);
    drain(&connection);
    assert_in_range(memory_bytes() - before, RING_SIZE, RING_SIZE + TRD_RING_HEAD_SIZE);
    sem_post(&pause.go);
    sem_wait(&pause.done);
    assert_int_equal(pause.ring->window, 5);
    sem_post(&pause.go);
    pthread_join(thread, NULL);
    end(&collector, &connection);
}

struct crowd {
    pthread_barrier_t met, leave;
    _Atomic uint64_t written, dropped;
};

static void *write_one_and_stay(void *argument)
{
    struct crowd *crowd = argument;

    crowd->written += write_number(1);
    pthread_barrier_wait(&crowd->met);
    pthread_barrier_wait(&crowd->leave);
    return NULL;
}

#define WRITTEN 40000 /* more than all windows of a ring hold */

static void *overflow(void *argument)
{
    struct crowd *crowd = argument;

    for (unsigned i = 0; i < WRITTEN; i++)
        if (write_number(i))
            crowd->written++;
        else
            crowd->dropped++;
    pthread_barrier_wait(&crowd->met);
    pthread_barrier_wait(&crowd->leave);
    return NULL;
}

/* The busy ones came first and have taken what there is to grow; those that come later have a ring
 * each, and the total holds. */
static void test_threads_that_come_late_find_room_within_the_total(void **state)
{
    enum {
        BUSY = 10,
        LATE = 54
    };
    pthread_t threads[BUSY + LATE];
    struct collector collector;
    struct connection connection;
    struct crowd busy = { .written = 0 }, late = { .written = 0 };

    (void)state;
    begin(&collector, &connection);
    pthread_barrier_init(&busy.met, NULL, BUSY + 1);
    pthread_barrier_init(&busy.leave, NULL, BUSY + 1);
    pthread_barrier_init(&late.met, NULL, LATE + 1);
    pthread_barrier_init(&late.leave, NULL, LATE + 1);
    for (int i = 0; i < BUSY; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, overflow, &busy), 0);
    pthread_barrier_wait(&busy.met);
    for (int i = BUSY; i < BUSY + LATE; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_one_and_stay, &late), 0);
    pthread_barrier_wait(&late.met);
    assert_int_equal(late.written, LATE);
    assert_in_range(memory_bytes(), TOTAL / 2, TOTAL);
    pthread_barrier_wait(&busy.leave);
    pthread_barrier_wait(&late.leave);
    for (int i = 0; i < BUSY + LATE; i++)
        pthread_join(threads[i], NULL);
    end(&collector, &connection);
    assert_int_equal(collector.events, busy.written + late.written);
}

/* Nobody reads, and each of them writes 1.3 MB: together they take what they may, and no thread
 * finds nothing. */
static void test_many_busy_threads_take_no_more_than_the_total(void **state)
{
    enum {
        THREADS = 64
    };
    pthread_t threads[THREADS];
    struct collector collector;
    struct connection connection;
    struct crowd crowd = { .written = 0 };
    uint32_t smallest = UINT32_MAX, largest = 0;

    (void)state;
    begin(&collector, &connection);
    pthread_barrier_init(&crowd.met, NULL, THREADS + 1);
    pthread_barrier_init(&crowd.leave, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, overflow, &crowd), 0);
    pthread_barrier_wait(&crowd.met);
    assert_in_range(memory_bytes(), TOTAL / 2, TOTAL);
    for (uint32_t i = 0; i < arena_get()->ring_used; i++)
        if (ring_at(i)->state == TRD_RING_OWNED) {
            smallest = ring_at(i)->window < smallest ? ring_at(i)->window : smallest;
            largest = ring_at(i)->window > largest ? ring_at(i)->window : largest;
        }
    print_message("%lu KiB, windows of %u to %u KiB\n", (unsigned long)memory_bytes() >> 10,
                  16u << smallest, 16u << largest);
    pthread_barrier_wait(&crowd.leave);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    end(&collector, &connection);
    assert_int_equal(collector.events, crowd.written);
    assert_int_equal(collector.lost + collector.idle_lost, crowd.dropped);
    assert_int_equal(crowd.written + crowd.dropped, THREADS * WRITTEN);
}

static void *write_many(void *argument)
{
    struct crowd *crowd = argument;

    for (unsigned i = 0; i < 60000; i++) {
        if (i % 5 ? write_number(i) : write_text(i, i % 300))
            crowd->written++;
        else
            crowd->dropped++;
        if (i % 20000 == 0)
            sched_yield();
    }
    return NULL;
}

/* Writers that grow, end and come again, and a reader all the while: nothing comes twice, out of
 * order or not at all without being told. */
static void test_reader_beside_rings_that_grow_and_are_given_on(void **state)
{
    enum {
        THREADS = 4,
        ROUNDS = 5
    };
    struct collector collector;
    struct connection connection;
    struct crowd crowd = { .written = 0 };
    struct sweep_sums before, after;

    (void)state;
    begin(&collector, &connection);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[THREADS];

        sweep_sum(&before);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, write_many, &crowd), 0);
        do {
            assert_int_equal(sweep(&connection), 0);
            sched_yield();
            sweep_sum(&after);
        } while (after.produced - before.produced < THREADS * 60000);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    end(&collector, &connection);
    assert_int_equal(collector.events, crowd.written);
    assert_int_equal(collector.lost + collector.idle_lost, crowd.dropped);
    assert_int_equal(crowd.written + crowd.dropped, ROUNDS * THREADS * 60000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring_grows_from_every_place_and_level),
        cmocka_unit_test(test_ring_grows_between_records_of_every_size),
        cmocka_unit_test(test_ring_of_an_ended_thread_gives_its_memory_back),
        cmocka_unit_test(test_windows_that_were_left_and_taken_give_their_memory_back),
        cmocka_unit_test(test_threads_that_come_late_find_room_within_the_total),
        cmocka_unit_test(test_many_busy_threads_take_no_more_than_the_total),
        cmocka_unit_test(test_reader_beside_rings_that_grow_and_are_given_on),
    };

    if (arena_create(TOTAL, RING_SIZE, RINGS) != 0 || writer_init(on_wake) != 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
