/* The profiler's life as a whole, against a daemon that behaves, is late, hangs, dies or lies. */
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
#include <sys/wait.h>
#include <unistd.h>

#include "arena.h"
#include "attach.h"
#include "fake_info.h"
#include "traced.h"

#define WAIT_MS 20000
#define FOREVER UINT64_MAX

static const uint8_t main_class[] = TRD_CLSID_MAIN_BYTES;
static const uint8_t notification_class[] = TRD_CLSID_NOTIFICATION_BYTES;

static void accept_and_welcome(struct traced *traced, struct reader *reader, uint32_t categories)
{
    assert_int_equal(reader_accept(reader, traced->listener, WAIT_MS), 0);
    assert_int_equal(reader_welcome(reader, categories, 10), 0);
}

static uint64_t arena_sum(struct reader *reader, size_t member)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < reader->arena->ring_used; i++)
        sum += *(_Atomic uint64_t *)(void *)((uint8_t *)trd_arena_ring(reader->arena,
                                                                       reader->hello.ring_size, i) +
                                             member);
    return sum;
}

#define ARENA_SUM(reader, member) arena_sum(reader, offsetof(struct trd_ring, member))

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
    accept_and_welcome(&traced, &reader, TRD_CATEGORIES_ALL);
    traced_let_go_on(&traced);
    assert_int_equal(reader.hello.flags, 0);
    assert_int_equal(reader.hello.pid, traced.pid);
    assert_int_equal(reader.peer, traced.pid);
    assert_int_equal(reader.hello.runtime[0], 10);
    assert_int_equal(reader.hello.accounted, 0);
    assert_true(reader.hello.start_time > 0);
    assert_int_equal(traced_collect(&reader, &sums, FOREVER), 0);
    assert_int_equal(traced_wait(&traced), 0);
    traced_drain(&reader, &sums);

    /* The method's definition, runtime_info and shutdown besides the round. */
    assert_int_equal(sums.events, TRACED_ROUND_EVENTS + 3);
    assert_int_equal(sums.first_id, TRD_EV_runtime_info);
    assert_int_equal(sums.by_id[TRD_EV_method], 1);
    assert_int_equal(sums.by_id[TRD_EV_shutdown], 1);
    assert_int_equal(sums.caught_up, 0);
    assert_true(!sums.has_bye || sums.bye.produced == sums.events);
    assert_int_equal(ARENA_SUM(&reader, produced), sums.events);
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
    accept_and_welcome(&traced, &reader, TRD_CATEGORY_BIT(RUNTIME));
    while (marks < 3) {
        assert_int_equal(reader_next(&reader, &frame, WAIT_MS), 1);
        marks += frame.head.type == TRD_FRAME_MARK;
    }
    assert_int_equal(reader_send(&reader, TRD_FRAME_PING, &ping, sizeof(ping)), 0);
    do
        assert_int_equal(reader_next(&reader, &frame, WAIT_MS), 1);
    while (frame.head.type != TRD_FRAME_PONG);
    assert_memory_equal(frame.payload, &ping, sizeof(ping));
    traced_let_go_on(&traced);
    assert_int_equal(traced_collect(&reader, &sums, FOREVER), 0);
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
    accept_and_welcome(&traced, &reader, TRD_CATEGORIES_ALL);
    assert_int_equal(traced_collect(&reader, &sums, TRACED_ROUND_EVENTS + 2), 1);
    assert_int_equal(sums.first_id, TRD_EV_runtime_info);
    assert_int_equal(sums.caught_up, 0);
    traced_let_go_on(&traced);
    assert_int_equal(traced_collect(&reader, &sums, FOREVER), 0);
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
    accept_and_welcome(&traced, &reader, TRD_CATEGORIES_ALL);
    assert_int_equal(traced_collect(&reader, &first, 50), 1);
    reader_finish(&reader);

    accept_and_welcome(&traced, &reader, TRD_CATEGORIES_ALL);
    assert_int_equal(reader.hello.flags, TRD_HELLO_F_RECONNECT);
    assert_true(reader.hello.accounted >= first.events);
    assert_int_equal(traced_collect(&reader, &second, 200), 1);
    traced_let_go_on(&traced);
    assert_int_equal(traced_collect(&reader, &second, FOREVER), 0);
    assert_int_equal(traced_wait(&traced), 0);
    traced_drain(&reader, &second);
    assert_true(second.caught_up >= 1);
    assert_int_equal(second.by_id[TRD_EV_runtime_info], 1);
    assert_int_equal(ARENA_SUM(&reader, produced) - reader.hello.accounted,
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

    TRACED_UNTIL(fake.masks_set >= 1);
    for (int i = 0; i < 100000; i++)
        traced_round(object, 0x40);
    TRACED_EXPECT(object->vtbl->Shutdown(object) == S_OK);
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
    accept_and_welcome(&traced, &reader, TRD_CATEGORIES_ALL);
    assert_int_equal(traced_wait(&traced), 0); /* it ends, though nobody has read a byte */

    (void)traced_collect(&reader, &sums, FOREVER); /* may end within a frame */
    traced_drain(&reader, &sums);
    /* A definition that found no room is tried again with each event that needs it. */
    assert_true(ARENA_SUM(&reader, produced) >= 100000ull * TRACED_ROUND_EVENTS + 3);
    assert_true(ARENA_SUM(&reader, dropped) > 0);
    assert_int_equal(ARENA_SUM(&reader, produced),
                     sums.events + sums.lost + ARENA_SUM(&reader, untold));
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
    accept_and_welcome(&traced, &reader, TRD_CATEGORIES_ALL);
    assert_int_equal(traced_collect(&reader, &sums, 20000), 1);
    assert_int_equal(kill(traced.pid, SIGKILL), 0);
    assert_int_equal(traced_wait(&traced), SIGKILL);
    (void)traced_collect(&reader, &sums, FOREVER);
    traced_drain(&reader, &sums);

    /* A thread may have died between beginning an event and publishing it. */
    for (uint32_t i = 0; i < reader.arena->ring_used; i++)
        begun += trd_arena_ring(reader.arena, reader.hello.ring_size, i)->writing;
    known = sums.events + sums.lost + ARENA_SUM(&reader, untold);
    assert_true(ARENA_SUM(&reader, produced) >= known);
    assert_true(ARENA_SUM(&reader, produced) - known <= begun);
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
    TRACED_EXPECT(fake.mask_low == 0x1020c && fake.mask_high == 0x10); /* and thread, loader */
    TRACED_EXPECT(object->vtbl->Shutdown(object) == S_OK);
    return 0;
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
    accept_and_welcome(&traced, &reader, TRD_CATEGORY_BIT(GC));
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
    assert_int_equal(traced_collect(&reader, &sums, FOREVER), 0);
    assert_int_equal(traced_wait(&traced), 0);
    reader_finish(&reader);
    traced_finish(&traced);
}

static int start_with_everything(struct traced *traced)
{
    struct traced_object *object = traced_initialize(traced);

    TRACED_EXPECT(fake.mask_low == 0x1026c && fake.mask_high == 0x10);
    TRACED_EXPECT(object->vtbl->Shutdown(object) == S_OK);
    return 0;
}

static int start_with_gc_only(struct traced *traced)
{
    struct traced_object *object;

    setenv(TRD_ENV_CATEGORIES, "gc,nonsense", 1);
    object = traced_initialize(traced);
    TRACED_EXPECT(fake.mask_low == 0x10000 && fake.mask_high == 0x10);
    traced_round(object, 0x40);
    TRACED_EXPECT(object->vtbl->Shutdown(object) == S_OK);
    return 0;
}

static void test_profiler_obeys_its_environment_until_it_is_told(void **state)
{
    struct traced traced;

    (void)state;
    traced_prepare(&traced);
    traced_start(&traced, start_with_gc_only);
    assert_int_equal(traced_wait(&traced), 0);
    traced_start(&traced, start_with_everything);
    assert_int_equal(traced_wait(&traced), 0);
    traced_finish(&traced);
}

/* Detach, and attach again */

static int leave_and_come_back(struct traced *traced)
{
    struct traced_object *object = traced_initialize(traced);
    uint8_t data[1 + TRD_ATTACH_SIZE_MAX];
    bool notification_only;
    int size = trd_attach_encode(traced->path, TRD_CATEGORIES_ALL, data + 1);

    traced_round(object, 0x40);
    TRACED_UNTIL(fake.detaches == 1);
    TRACED_EXPECT(fake.mask_low == 0 && fake.mask_high == 0);
    traced_round(object, 0x48);
    TRACED_EXPECT(object->vtbl->ProfilerDetachSucceeded(object) == S_OK);

    object = traced_load(notification_class, &notification_only);
    TRACED_EXPECT(notification_only);
    TRACED_EXPECT(object->vtbl->InitializeForAttach(object, fake_info(), data + 1, (UINT)size) ==
                  S_OK);
    traced_round(object, 0x50);
    traced_wait_for_parent(traced);
    TRACED_EXPECT(object->vtbl->Shutdown(object) == S_OK);
    return 0;
}

static void test_profiler_detaches_and_can_be_attached_again(void **state)
{
    struct traced_sums first = { 0 }, second = { 0 };
    uint64_t instance;
    struct reader reader;
    struct traced traced;

    (void)state;
    traced_prepare(&traced);
    traced_listen(&traced);
    traced_start(&traced, leave_and_come_back);
    accept_and_welcome(&traced, &reader, TRD_CATEGORIES_ALL);
    assert_int_equal(traced_collect(&reader, &first, TRACED_ROUND_EVENTS + 2), 1);
    assert_int_equal(reader_send(&reader, TRD_FRAME_DETACH, NULL, 0), 0);
    assert_int_equal(traced_collect(&reader, &first, FOREVER), 0);
    assert_true(first.has_bye);
    assert_int_equal(first.bye.produced, first.events);
    assert_int_equal(first.events, TRACED_ROUND_EVENTS + 2);
    instance = reader.hello.instance;
    reader_finish(&reader);

    accept_and_welcome(&traced, &reader, TRD_CATEGORIES_ALL);
    traced_let_go_on(&traced);
    assert_int_equal(reader.hello.flags, TRD_HELLO_F_ATTACHED | TRD_HELLO_F_NOTIFICATION_ONLY);
    assert_true(reader.hello.instance != instance);
    assert_int_equal(reader.hello.accounted, first.events);
    assert_int_equal(traced_collect(&reader, &second, FOREVER), 0);
    assert_int_equal(traced_wait(&traced), 0);
    traced_drain(&reader, &second);
    assert_int_equal(ARENA_SUM(&reader, produced) - first.events, second.events);
    reader_finish(&reader);
    traced_finish(&traced);
}

/* A second load while the first one lives */

static int load_twice(struct traced *traced)
{
    struct traced_object *object = traced_initialize(traced), *second;
    bool notification_only;

    second = traced_load(notification_class, &notification_only);
    TRACED_EXPECT(second == object && !notification_only);
    TRACED_EXPECT(second->vtbl->InitializeForAttach(second, fake_info(), NULL, 0) ==
                  CORPROF_E_PROFILER_CANCEL_ACTIVATION);
    TRACED_EXPECT(second->vtbl->Initialize(second, fake_info()) ==
                  CORPROF_E_PROFILER_CANCEL_ACTIVATION);
    traced_round(object, 0x40);
    traced_wait_for_parent(traced);
    TRACED_EXPECT(object->vtbl->Shutdown(object) == S_OK);
    return 0;
}

static void test_profiler_that_is_loaded_again_goes_on_undisturbed(void **state)
{
    struct traced_sums sums = { 0 };
    struct reader reader;
    struct traced traced;

    (void)state;
    traced_prepare(&traced);
    traced_listen(&traced);
    traced_start(&traced, load_twice);
    accept_and_welcome(&traced, &reader, TRD_CATEGORIES_ALL);
    traced_let_go_on(&traced);
    assert_int_equal(reader.hello.flags, 0);
    assert_int_equal(traced_collect(&reader, &sums, FOREVER), 0);
    assert_int_equal(traced_wait(&traced), 0);
    traced_drain(&reader, &sums);
    assert_int_equal(sums.events, TRACED_ROUND_EVENTS + 3);
    reader_finish(&reader);
    traced_finish(&traced);
}

/* What must be refused */

static int be_refused(struct traced *traced)
{
    static const uint8_t other_class[16] = { 1 };
    static const GUID other_interface = { 1, 2, 3, { 4 } };
    struct traced_object *object;
    bool notification_only;
    void *out = traced;

    TRACED_EXPECT(traced_load(other_class, &notification_only) == NULL);
    object = traced_load(main_class, &notification_only);
    TRACED_EXPECT(object->vtbl->QueryInterface(object, &other_interface, &out) == E_NOINTERFACE);
    TRACED_EXPECT(out == NULL);

    TRACED_EXPECT(object->vtbl->InitializeForAttach(object, fake_info(), "nonsense", 8) == E_FAIL);
    fake.newest = 7;
    TRACED_EXPECT(object->vtbl->Initialize(object, fake_info()) == E_FAIL);
    TRACED_EXPECT(object->vtbl->Initialize(object, NULL) == E_FAIL);
    TRACED_EXPECT(fake.masks_set == 0);
    traced_round(object, 0x40); /* nothing is open: nothing happens */
    return 0;
}

static void test_profiler_refuses_what_it_cannot_work_with(void **state)
{
    struct traced traced;

    (void)state;
    traced_prepare(&traced);
    traced_start(&traced, be_refused);
    assert_int_equal(traced_wait(&traced), 0);
    traced_finish(&traced);
}

static void test_every_slot_of_the_callback_is_filled(void **state)
{
    bool notification_only;
    struct traced_object *object = traced_load(main_class, &notification_only);
    void *const *slots = (void *const *)(const void *)object->vtbl;

    (void)state;
    for (int slot = 0; slot < 98; slot++)
        assert_non_null(slots[slot]);
}

static void expect_new_connection(struct traced *traced)
{
    struct reader reader;

    accept_and_welcome(traced, &reader, TRD_CATEGORIES_ALL);
    reader_finish(&reader);
}

static void test_profiler_leaves_a_daemon_that_breaks_the_protocol(void **state)
{
    struct trd_welcome welcome = { .magic = 1, .version = TRD_PROTOCOL_VERSION };
    struct trd_mark mark = { 1 };
    struct reader_frame frame;
    struct reader reader;
    struct traced traced;

    (void)state;
    traced_prepare(&traced);
    traced_listen(&traced);
    traced_start(&traced, tell_rounds);

    assert_int_equal(reader_accept(&reader, traced.listener, WAIT_MS), 0);
    assert_int_equal(reader_send(&reader, TRD_FRAME_WELCOME, &welcome, sizeof(welcome)), 0);
    assert_int_equal(reader_next(&reader, &frame, WAIT_MS), 0);
    reader_finish(&reader);

    assert_int_equal(reader_accept(&reader, traced.listener, WAIT_MS), 0);
    assert_int_equal(reader_send(&reader, TRD_FRAME_PING, &mark, sizeof(mark)), 0);
    assert_int_equal(reader_next(&reader, &frame, WAIT_MS), 0);
    reader_finish(&reader);

    accept_and_welcome(&traced, &reader, TRD_CATEGORIES_ALL);
    assert_int_equal(reader_send(&reader, TRD_FRAME_MARK, &mark, sizeof(mark)), 0);
    assert_int_not_equal(traced_collect(&reader, &(struct traced_sums){ 0 }, FOREVER), 1);
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
    assert_int_equal(reader_accept(&reader, traced.listener, WAIT_MS), 0);
    assert_int_equal(reader_next(&reader, &frame, WAIT_MS), 0);
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
    assert_int_equal(reader_accept(&reader, traced.listener, WAIT_MS), -ECONNRESET);
    reader_finish(&reader);
    traced_let_go_on(&traced);
    assert_int_equal(traced_wait(&traced), 0);
    traced_finish(&traced);
}

/* Fork */

static void *end_behind(void *thread)
{
    pthread_join(*(pthread_t *)thread, NULL);
    _exit(0);
}

/* The child's one thread ends as threads do, with a ring that seems to be its own. */
static void raise_events_in_child(struct traced_object *object)
{
    static pthread_t self;
    pthread_t other;

    for (int i = 0; i < 1000; i++)
        traced_round(object, 0x50);
    (void)object->vtbl->ThreadNameChanged(object, 1, 2, (WCHAR[]){ 'a', 'b' });
    (void)object->vtbl->Shutdown(object);
#ifdef __SANITIZE_THREAD__
    _exit(0); /* it allows no thread in a forked child */
#endif
    self = pthread_self();
    TRACED_EXPECT(pthread_create(&other, NULL, end_behind, &self) == 0);
    pthread_exit(NULL);
}

static void *fork_in_thread(void *argument)
{
    struct traced_object *object = argument;
    pid_t child;
    int status;

    traced_round(object, 0x48);
    child = fork();
    if (child == 0)
        raise_events_in_child(object);
    TRACED_EXPECT(waitpid(child, &status, 0) == child && status == 0);
    return NULL;
}

static int fork_and_go_on(struct traced *traced)
{
    struct traced_object *object = traced_initialize(traced);
    pthread_t thread;

    traced_round(object, 0x40);
    TRACED_EXPECT(pthread_create(&thread, NULL, fork_in_thread, object) == 0);
    pthread_join(thread, NULL);
    traced_round(object, 0x58);
    traced_wait_for_parent(traced);
    TRACED_EXPECT(object->vtbl->Shutdown(object) == S_OK);
    return 0;
}

static void test_forked_child_leaves_its_parents_events_alone(void **state)
{
    struct traced_sums sums = { 0 };
    struct reader reader;
    struct traced traced;

    (void)state;
    traced_prepare(&traced);
    traced_listen(&traced);
    traced_start(&traced, fork_and_go_on);
    accept_and_welcome(&traced, &reader, TRD_CATEGORIES_ALL);
    traced_let_go_on(&traced);
    assert_int_equal(traced_collect(&reader, &sums, FOREVER), 0);
    assert_int_equal(traced_wait(&traced), 0);
    traced_drain(&reader, &sums);
    assert_int_equal(sums.by_id[TRD_EV_gc_start], 3);
    assert_int_equal(sums.events, 3 * (TRACED_ROUND_EVENTS + 1) + 2);
    assert_int_equal(ARENA_SUM(&reader, produced), sums.events);
    reader_finish(&reader);
    traced_finish(&traced);
}

/* Collections */

static int nest_collections(struct traced *traced)
{
    struct traced_object *object = traced_initialize(traced);
    const struct corprof_callback_vtbl *vtbl = object->vtbl;
    BOOL generations[5] = { 1, 1, 1, 1, 1 };

    vtbl->GarbageCollectionFinished(object); /* began before the profiler came */
    vtbl->GarbageCollectionStarted(object, 5, generations, 0);
    vtbl->GarbageCollectionStarted(object, 5, generations, 1);
    vtbl->GarbageCollectionFinished(object);
    vtbl->GarbageCollectionStarted(object, 2, generations, 1);
    vtbl->GarbageCollectionFinished(object);
    vtbl->GarbageCollectionFinished(object);
    /* A younger one before a background one, announced as one; another within it. */
    vtbl->GarbageCollectionStarted(object, 5, generations, 1);
    vtbl->GarbageCollectionFinished(object);
    vtbl->GarbageCollectionStarted(object, 2, generations, 1);
    vtbl->GarbageCollectionFinished(object);
    vtbl->GarbageCollectionFinished(object);
    vtbl->GarbageCollectionFinished(object); /* nothing that could have ended */
    traced_wait_for_parent(traced);
    TRACED_EXPECT(vtbl->Shutdown(object) == S_OK);
    return 0;
}

struct numbers {
    char text[64];
};

static void note_collection(void *context, uint32_t tid, const struct reader_event *event)
{
    struct numbers *numbers = context;
    size_t used = strlen(numbers->text);

    (void)tid;
    if (event->head.id == TRD_EV_gc_start)
        snprintf(numbers->text + used, sizeof(numbers->text) - used, "+%u:%x ",
                 ((const struct trd_ev_gc_start *)(const void *)event->fixed)->number,
                 ((const struct trd_ev_gc_start *)(const void *)event->fixed)->generations);
    if (event->head.id == TRD_EV_gc_end)
        snprintf(numbers->text + used, sizeof(numbers->text) - used, "-%u ",
                 ((const struct trd_ev_gc_end *)(const void *)event->fixed)->number);
}

static void test_collections_that_nest_end_with_their_own_numbers(void **state)
{
    struct numbers numbers = { "" };
    struct reader reader;
    struct traced traced;

    (void)state;
    traced_prepare(&traced);
    traced_listen(&traced);
    traced_start(&traced, nest_collections);
    assert_int_equal(reader_accept(&reader, traced.listener, WAIT_MS), 0);
    traced_let_go_on(&traced);
    assert_int_equal(traced_wait(&traced), 0); /* not welcomed: all is left in the arena */
    assert_int_equal(reader_drain(&reader, note_collection, &numbers), 0);
    assert_string_equal(numbers.text, "+1:1f +2:1f -2 +3:3 -3 -1 +4:1f -4 +5:3 -5 +6:1f -6 ");
    reader_finish(&reader);
    traced_finish(&traced);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_profiler_tells_everything_and_says_goodbye),
        cmocka_unit_test(test_profiler_answers_ping_and_marks_while_it_is_quiet),
        cmocka_unit_test(test_profiler_keeps_what_happened_before_the_daemon_came),
        cmocka_unit_test(test_profiler_connects_again_and_catches_up),
        cmocka_unit_test(test_profiler_never_waits_for_a_daemon_that_hangs),
        cmocka_unit_test(test_events_of_a_killed_process_are_found_in_its_arena),
        cmocka_unit_test(test_profiler_sends_what_is_wanted_and_tells_what_was_missed),
        cmocka_unit_test(test_profiler_obeys_its_environment_until_it_is_told),
        cmocka_unit_test(test_profiler_detaches_and_can_be_attached_again),
        cmocka_unit_test(test_profiler_that_is_loaded_again_goes_on_undisturbed),
        cmocka_unit_test(test_profiler_refuses_what_it_cannot_work_with),
        cmocka_unit_test(test_every_slot_of_the_callback_is_filled),
        cmocka_unit_test(test_profiler_leaves_a_daemon_that_breaks_the_protocol),
        cmocka_unit_test(test_profiler_gives_up_on_a_daemon_that_does_not_answer),
        cmocka_unit_test(test_profiler_does_not_talk_to_another_users_daemon),
        cmocka_unit_test(test_forked_child_leaves_its_parents_events_alone),
        cmocka_unit_test(test_collections_that_nest_end_with_their_own_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
