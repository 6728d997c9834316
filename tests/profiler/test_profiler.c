/* The profiler as a runtime sees it: loaded, refused, loaded again, detached, forked, shut down. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arena.h"
#include "attach.h"
#include "fake_info.h"
#include "gate.h"
#include "traced.h"

static const uint8_t main_class[] = TRD_CLSID_MAIN_BYTES;
static const uint8_t notification_class[] = TRD_CLSID_NOTIFICATION_BYTES;

/* What the environment says */

static int start_with_everything(struct traced *traced)
{
    struct traced_object *object = traced_initialize(traced);

    TRACED_EXPECT(fake.mask_low == 0x1027c && fake.mask_high == 0x14);
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

static bool log_has(const char *path, const char *text)
{
    char content[4096] = "";
    FILE *file = fopen(path, "r");
    size_t size = file ? fread(content, 1, sizeof(content) - 1, file) : 0;

    if (file)
        fclose(file);
    return size > 0 && strstr(content, text);
}

static const char *buffer; /* what the environment says */

static int start_with_buffer(struct traced *traced)
{
    char log[128];

    snprintf(log, sizeof(log), "%s/log", traced->directory);
    setenv(TRD_ENV_LOG, log, 1);
    setenv(TRD_ENV_BUFFER, buffer, 1);
    (void)traced_initialize(traced);
    TRACED_EXPECT(!getenv(TRD_ENV_BUFFER)); /* read, and not for the children */
    if (log_has(log, TRD_ENV_BUFFER))
        TRACED_EXPECT(arena_get()->ring_size == TRD_RING_SIZE_DEFAULT);
    _exit(log_has(log, buffer) ? 1 : arena_get()->ring_size == 64 * 1024 ? 0 : 2);
}

static void test_buffer_that_cannot_be_is_said_in_the_log(void **state)
{
    static const struct {
        const char *text;
        int status;
    } cases[] = { { "1M/64K", 0 },   { "524288", 0 }, { "1M/64k", 1 },
                  { "nonsense", 1 }, { "0", 1 },      { " ", 1 } };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct traced traced;
        char log[128];

        buffer = cases[i].text;
        traced_prepare(&traced);
        traced_start(&traced, start_with_buffer);
        assert_int_equal(traced_wait(&traced), cases[i].status << 8);
        snprintf(log, sizeof(log), "%s/log", traced.directory);
        (void)unlink(log);
        traced_finish(&traced);
    }
}

/* Detach, and attach again */

static int leave_and_come_back(struct traced *traced)
{
    struct traced_object *object = traced_initialize(traced);
    uint8_t data[1 + TRD_ATTACH_SIZE_MAX];
    const struct trd_buffer not_said = { 0 };
    bool notification_only;
    int size = trd_attach_encode(traced->path, TRACED_CATEGORIES, &not_said, data + 1);

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
    traced_welcome(&traced, &reader, TRACED_CATEGORIES);
    assert_int_equal(traced_collect(&reader, &first, TRACED_ROUND_EVENTS + 2), 1);
    assert_int_equal(reader_send(&reader, TRD_FRAME_DETACH, NULL, 0), 0);
    assert_int_equal(traced_collect(&reader, &first, TRACED_FOREVER), 0);
    assert_true(first.has_bye);
    assert_int_equal(first.bye.produced, first.events);
    assert_int_equal(first.events, TRACED_ROUND_EVENTS + 2);
    instance = reader.hello.instance;
    reader_finish(&reader);

    traced_welcome(&traced, &reader, TRACED_CATEGORIES);
    traced_let_go_on(&traced);
    assert_int_equal(reader.hello.flags,
                     TRD_HELLO_F_ATTACHED | TRD_HELLO_F_NOTIFICATION_ONLY | TRD_HELLO_F_SWEEPS);
    assert_true(reader.hello.instance != instance);
    assert_int_equal(reader.hello.accounted, first.events);
    assert_int_equal(traced_collect(&reader, &second, TRACED_FOREVER), 0);
    assert_int_equal(traced_wait(&traced), 0);
    traced_drain(&reader, &second);
    assert_int_equal(TRACED_SUM(&reader, produced) - first.events, second.events);
    reader_finish(&reader);
    traced_finish(&traced);
}

/* The runtime lets no profiler go whose flags are for good. */
static int be_refused_and_stay(struct traced *traced)
{
    struct traced_object *object = traced_initialize(traced);

    fake.staying = true;
    traced_round(object, 0x40);
    TRACED_UNTIL(fake.detaches_refused == 1);
    TRACED_EXPECT(!gate_is_open());
    traced_round(object, 0x48); /* nobody wants it */
    traced_let_go_on(traced);
    TRACED_UNTIL(gate_is_open());
    traced_round(object, 0x50);
    fake.staying = false;
    TRACED_UNTIL(fake.detaches == 1);
    return 0;
}

static void test_profiler_that_may_not_detach_is_there_for_the_next_daemon(void **state)
{
    struct traced_sums first = { 0 }, second = { 0 };
    struct reader reader;
    struct traced traced;

    (void)state;
    traced_prepare(&traced);
    traced_listen(&traced);
    traced_start(&traced, be_refused_and_stay);
    traced_welcome(&traced, &reader, TRACED_CATEGORIES);
    assert_int_equal(traced_collect(&reader, &first, TRACED_ROUND_EVENTS + 2), 1);
    assert_int_equal(reader_send(&reader, TRD_FRAME_DETACH, NULL, 0), 0);
    assert_int_equal(traced_collect(&reader, &first, TRACED_FOREVER), 0);
    assert_true(first.has_bye);
    assert_int_equal(first.events, TRACED_ROUND_EVENTS + 2);
    reader_finish(&reader);

    traced_wait_for_parent(&traced);
    traced_welcome(&traced, &reader, TRACED_CATEGORIES);
    assert_int_equal(reader.hello.flags, TRD_HELLO_F_RECONNECT | TRD_HELLO_F_SWEEPS);
    assert_int_equal(reader.hello.accounted, first.events);
    assert_int_equal(traced_collect(&reader, &second, TRACED_ROUND_EVENTS), 1);
    assert_int_equal(reader_send(&reader, TRD_FRAME_DETACH, NULL, 0), 0);
    assert_int_equal(traced_collect(&reader, &second, TRACED_FOREVER), 0);
    assert_int_equal(second.bye.produced - first.events, second.events);
    assert_int_equal(traced_wait(&traced), 0);
    reader_finish(&reader);
    traced_finish(&traced);
}

static void *throw_one(void *argument)
{
    struct traced_object *object = argument;

    object->vtbl->ExceptionThrown(object, 0x100);
    return NULL;
}

/* A callback that passed the gate takes its time, and detach comes meanwhile. */
static int be_under_way_when_detached(struct traced *traced)
{
    struct traced_object *object = traced_initialize(traced);
    pthread_t thread;

    fake.holding = true;
    TRACED_EXPECT(pthread_create(&thread, NULL, throw_one, object) == 0);
    TRACED_UNTIL(fake.held == 1);
    object->vtbl->ThreadCreated(object, 0x700);
    TRACED_UNTIL(!gate_is_open());
    object->vtbl->ExceptionThrown(object, 0x100); /* comes too late */
    for (int i = 0; i < 20; i++)
        traced_pause(fake.detaches == 0, "no detach while a callback is under way");
    fake.holding = false;
    pthread_join(thread, NULL);
    TRACED_UNTIL(fake.detaches == 1);
    return 0;
}

static void test_detach_waits_for_the_callback_that_is_under_way(void **state)
{
    struct traced_sums sums = { 0 };
    struct reader reader;
    struct traced traced;

    (void)state;
    traced_prepare(&traced);
    traced_listen(&traced);
    traced_start(&traced, be_under_way_when_detached);
    traced_welcome(&traced, &reader, TRACED_CATEGORIES);
    assert_int_equal(traced_collect(&reader, &sums, 2), 1);
    assert_int_equal(reader_send(&reader, TRD_FRAME_DETACH, NULL, 0), 0);
    assert_int_equal(traced_collect(&reader, &sums, TRACED_FOREVER), 0);
    assert_int_equal(traced_wait(&traced), 0);
    assert_true(sums.has_bye);
    assert_int_equal(sums.events, 3);
    assert_int_equal(sums.by_id[TRD_EV_exception_thrown], 1);
    assert_int_equal(sums.bye.produced, 3);
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
    traced_welcome(&traced, &reader, TRACED_CATEGORIES);
    traced_let_go_on(&traced);
    assert_int_equal(reader.hello.flags, TRD_HELLO_F_SWEEPS);
    assert_int_equal(traced_collect(&reader, &sums, TRACED_FOREVER), 0);
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

/* Fork */

static struct trd_ring *own_ring(void)
{
    for (uint32_t i = 0; i < arena_get()->ring_used; i++) {
        struct trd_ring *ring = trd_arena_ring(arena_get(), arena_get()->ring_size, i);

        if (ring->tid == (uint32_t)syscall(SYS_gettid))
            return ring;
    }
    return NULL;
}

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
    TRACED_EXPECT(own_ring()->state == TRD_RING_OWNED);
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
    traced_welcome(&traced, &reader, TRACED_CATEGORIES);
    traced_let_go_on(&traced);
    assert_int_equal(traced_collect(&reader, &sums, TRACED_FOREVER), 0);
    assert_int_equal(traced_wait(&traced), 0);
    traced_drain(&reader, &sums);
    assert_int_equal(sums.by_id[TRD_EV_gc_start], 3);
    assert_int_equal(sums.events, 3 * (TRACED_ROUND_EVENTS + 1) + 2);
    assert_int_equal(TRACED_SUM(&reader, produced), sums.events);
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
    assert_int_equal(reader_accept(&reader, traced.listener, TRACED_WAIT_MS), 0);
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
        cmocka_unit_test(test_profiler_obeys_its_environment_until_it_is_told),
        cmocka_unit_test(test_buffer_that_cannot_be_is_said_in_the_log),
        cmocka_unit_test(test_profiler_detaches_and_can_be_attached_again),
        cmocka_unit_test(test_profiler_that_may_not_detach_is_there_for_the_next_daemon),
        cmocka_unit_test(test_detach_waits_for_the_callback_that_is_under_way),
        cmocka_unit_test(test_profiler_that_is_loaded_again_goes_on_undisturbed),
        cmocka_unit_test(test_profiler_refuses_what_it_cannot_work_with),
        cmocka_unit_test(test_every_slot_of_the_callback_is_filled),
        cmocka_unit_test(test_forked_child_leaves_its_parents_events_alone),
        cmocka_unit_test(test_collections_that_nest_end_with_their_own_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
