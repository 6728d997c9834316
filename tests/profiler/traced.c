#include "traced.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach.h"
#include "fake_info.h"

HRESULT DllGetClassObject(const GUID *clsid, const GUID *iid, void **out);

/* Processes */

void traced_prepare(struct traced *traced)
{
    *traced = (struct traced){ .listener = -1 };
    strcpy(traced->directory, "/tmp/tracerd-test-XXXXXX");
    assert_non_null(mkdtemp(traced->directory));
    snprintf(traced->path, sizeof(traced->path), "%s/socket", traced->directory);
}

void traced_listen(struct traced *traced)
{
    traced->listener = reader_listen(traced->path);
    assert_true(traced->listener >= 0);
}

void traced_start(struct traced *traced, traced_story story)
{
    fflush(NULL);
    traced->pid = fork();
    assert_true(traced->pid >= 0);
    if (traced->pid > 0)
        return;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (traced->listener >= 0)
        close(traced->listener);
    (void)fake_reset();
    setenv(TRD_ENV_SOCKET, traced->path, 1);
    _exit(story(traced));
}

int traced_wait(struct traced *traced)
{
    int status = -1;

    assert_int_equal(waitpid(traced->pid, &status, 0), traced->pid);
    return status;
}

void traced_finish(struct traced *traced)
{
    if (traced->listener >= 0)
        close(traced->listener);
    (void)unlink(traced->path);
    assert_int_equal(rmdir(traced->directory), 0);
}

/* Stories */

void traced_expect(bool condition, const char *text, const char *file, int line)
{
    if (condition)
        return;
    fprintf(stderr, "%s:%d: in the traced process: %s does not hold\n", file, line, text);
    _exit(99);
}

void traced_pause(bool expected, const char *text)
{
    const struct timespec pause = { .tv_nsec = 1000000 };

    traced_expect(expected, text, "waiting", 0);
    nanosleep(&pause, NULL);
}

static const char *permission(const struct traced *traced)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/go-on", traced->directory);
    return path;
}

void traced_wait_for_parent(struct traced *traced)
{
    TRACED_UNTIL(unlink(permission(traced)) == 0);
}

bool traced_may_go_on(struct traced *traced)
{
    return unlink(permission(traced)) == 0;
}

void traced_let_go_on(struct traced *traced)
{
    FILE *file = fopen(permission(traced), "w");

    assert_non_null(file);
    fclose(file);
}

struct traced_object *traced_load(const uint8_t *class_id, bool *out_notification_only)
{
    static const GUID factory_id = IID_ICLASSFACTORY;
    static const GUID callback2 = {
        0x8a8cc829, 0xccf2, 0x49fe, { 0xbb, 0xae, 0x0f, 0x02, 0x22, 0x28, 0x07, 0x1a }
    };
    static const GUID callback11 = {
        0x42350846, 0xaaed, 0x47f7, { 0xb1, 0x28, 0xfd, 0x0c, 0x98, 0x88, 0x1c, 0xde }
    };
    struct {
        const struct corprof_class_factory_vtbl *vtbl;
    } *factory = NULL;
    struct traced_object *object = NULL;
    void *newest = NULL;
    BOOL notification_only = 0;

    if (DllGetClassObject((const GUID *)(const void *)class_id, &factory_id, (void **)&factory) !=
        S_OK)
        return NULL;
    TRACED_EXPECT(factory->vtbl->CreateInstance(factory, NULL, &callback2, (void **)&object) ==
                  S_OK);
    factory->vtbl->Release(factory);
    TRACED_EXPECT(object->vtbl->QueryInterface(object, &callback11, &newest) == S_OK);
    TRACED_EXPECT(newest == object);
    TRACED_EXPECT(object->vtbl->LoadAsNotificationOnly(object, &notification_only) == S_OK);
    *out_notification_only = notification_only;
    return object;
}

struct traced_object *traced_initialize(struct traced *traced)
{
    static const uint8_t main_class[] = TRD_CLSID_MAIN_BYTES;
    bool notification_only;
    struct traced_object *object = traced_load(main_class, &notification_only);

    (void)traced;
    TRACED_EXPECT(object && !notification_only);
    TRACED_EXPECT(object->vtbl->Initialize(object, fake_info()) == S_OK);
    return object;
}

void traced_round(struct traced_object *object, FunctionID function)
{
    const struct corprof_callback_vtbl *vtbl = object->vtbl;
    BOOL generations[5] = { 1, 1, 0, 0, 0 };

    vtbl->JITCompilationStarted(object, function, 1);
    vtbl->JITCompilationFinished(object, function, S_OK, 1);
    vtbl->ExceptionThrown(object, 0x100);
    vtbl->ExceptionCatcherEnter(object, function, 0x100);
    vtbl->RuntimeSuspendStarted(object, 1);
    vtbl->RuntimeSuspendFinished(object);
    vtbl->GarbageCollectionStarted(object, 5, generations, 1);
    vtbl->GarbageCollectionFinished(object);
    vtbl->RuntimeResumeStarted(object);
    vtbl->RuntimeResumeFinished(object);
    vtbl->ThreadCreated(object, 0x700);
    vtbl->ThreadDestroyed(object, 0x700);
}

/* Parents */

void traced_welcome(struct traced *traced, struct reader *reader, uint32_t categories)
{
    assert_int_equal(reader_accept(reader, traced->listener, TRACED_WAIT_MS), 0);
    assert_int_equal(reader_welcome(reader, categories, 10), 0);
}

uint64_t traced_sum(struct reader *reader, size_t member)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < reader->arena->ring_used; i++)
        sum += *(_Atomic uint64_t *)(void *)((uint8_t *)trd_arena_ring(reader->arena,
                                                                       reader->hello.ring_size, i) +
                                             member);
    return sum;
}

static void add_event(void *context, uint32_t tid, const struct reader_event *event)
{
    struct traced_sums *sums = context;

    (void)tid;
    if (!event->info)
        return;
    if (event->head.id == TRD_EV_lost) {
        sums->lost += ((const struct trd_ev_lost *)(const void *)event->fixed)->count;
        return;
    }
    if (sums->events++ == 0)
        sums->first_id = event->head.id;
    sums->caught_up += event->head.flags & TRD_EVENT_F_CATCH_UP;
    sums->by_id[event->head.id & 0xff]++;
}

static int add_frame(struct traced_sums *sums, const struct reader_frame *frame)
{
    struct reader_event event;
    struct trd_ring_lost lost;
    struct trd_batch batch;
    const uint8_t *at;
    size_t left;
    int result = 0;

    if (frame->head.type == TRD_FRAME_MARK)
        sums->marks++;
    if (frame->head.type == TRD_FRAME_LOST &&
        (result = trd_frame_ring_lost(frame->payload, frame->head.size, &lost)) == 0)
        sums->lost += lost.count;
    if (frame->head.type == TRD_FRAME_BYE) {
        result = trd_frame_goodbye(frame->payload, frame->head.size, &sums->bye);
        sums->has_bye = result == 0;
    }
    if (frame->head.type != TRD_FRAME_BATCH || result != 0)
        return result;
    result = trd_frame_batch(frame->payload, frame->head.size, &batch, &at, &left);
    if (result != 0)
        return result;
    while ((result = reader_event_next(&at, &left, &event)) == 1)
        add_event(sums, batch.tid, &event);
    return result;
}

int traced_collect(struct reader *reader, struct traced_sums *sums, uint64_t events_max)
{
    struct reader_frame frame;
    int result;

    while ((result = reader_next(reader, &frame, TRACED_WAIT_MS)) == 1) {
        result = add_frame(sums, &frame);
        if (result < 0)
            return result;
        if (sums->events >= events_max)
            return 1;
    }
    return result;
}

void traced_drain(struct reader *reader, struct traced_sums *sums)
{
    assert_int_equal(reader_drain(reader, add_event, sums), 0);
}
