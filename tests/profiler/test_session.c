/*
 * The EventPipe session as a runtime sees it: what it is asked for, when it is made anew and when
 * it ends; and events delivered through it, which reach the daemon.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "attach.h"
#include "event.h"
#include "fake_info.h"
#include "traced.h"

#define RUNTIME "Microsoft-Windows-DotNETRuntime"
#define CONTENTION UINT64_C(0x4000)
#define SAMPLING UINT64_C(0x80000000000)
#define HIGH_EVENT_PIPE 0x80u

static bool is_config(uint32_t at, const char *name, uint64_t keywords, uint32_t level)
{
    return at < fake.config_count && strcmp(fake.configs[at].name, name) == 0 &&
           fake.configs[at].keywords == keywords && fake.configs[at].level == level;
}

/* ContentionStart, version 2. */
static void deliver_contention(struct traced_object *object)
{
    static const uint8_t payload[27] = { 0 };

    TRACED_EXPECT(object->vtbl->EventPipeEventDelivered(object, FAKE_RUNTIME_PROVIDER, 81, 2, 0,
                                                        NULL, sizeof(payload), payload, NULL, NULL,
                                                        0, 0, NULL) == S_OK);
}

/* One u32 called x. */
static void deliver_from_source(struct traced_object *object)
{
    static const uint8_t metadata[] = { 7, 0, 0, 0, 'E', 0, 0, 0, 0, 0, 0,  0, 0, 0, 0,   0, 1, 0,
                                        0, 0, 4, 0, 0,   0, 1, 0, 0, 0, 10, 0, 0, 0, 'x', 0, 0, 0 };
    static const uint8_t payload[4] = { 42 };

    TRACED_EXPECT(object->vtbl->EventPipeEventDelivered(object, FAKE_OTHER_PROVIDER, 7, 1,
                                                        sizeof(metadata), metadata, sizeof(payload),
                                                        payload, NULL, NULL, 0, 0, NULL) == S_OK);
}

/* No daemon listens, so nothing changes behind the story's back. */
static int start_with_contention(struct traced *traced)
{
    struct traced_object *object;

    setenv(TRD_ENV_CATEGORIES, "contention", 1);
    object = traced_initialize(traced);
    TRACED_EXPECT(fake.sessions_started == 1 && fake.config_count == 1);
    TRACED_EXPECT(is_config(0, RUNTIME, CONTENTION, 4));
    TRACED_EXPECT(fake.mask_high & HIGH_EVENT_PIPE);
    TRACED_EXPECT(object->vtbl->Shutdown(object) == S_OK);
    return 0;
}

static void test_session_starts_with_what_the_environment_wants(void **state)
{
    struct traced traced;

    (void)state;
    traced_prepare(&traced);
    traced_start(&traced, start_with_contention);
    assert_int_equal(traced_wait(&traced), 0);
    traced_finish(&traced);
}

static int follow_what_is_wanted(struct traced *traced)
{
    struct traced_object *object;

    setenv(TRD_ENV_CATEGORIES, "contention", 1);
    object = traced_initialize(traced);

    /* WELCOME, which may be here already: allocation too. */
    TRACED_UNTIL(fake.sessions_started == 2);
    TRACED_EXPECT(fake.sessions_stopped == 1);
    TRACED_UNTIL(is_config(0, RUNTIME, CONTENTION | SAMPLING, 4));
    deliver_contention(object);

    /* CATEGORIES: provider instead; nobody is named yet, so there is nothing to listen to. */
    TRACED_UNTIL(fake.sessions_stopped == 2);
    deliver_contention(object); /* late; nobody wants it */
    traced_round(object, 0x40);

    /* PROVIDERS, and the same again, which changes nothing. */
    TRACED_UNTIL(fake.sessions_started == 3);
    TRACED_UNTIL(is_config(0, "Some-Source", 5, 3) && is_config(1, "Other", UINT64_MAX, 5));
    deliver_from_source(object);
    deliver_from_source(object);

    TRACED_UNTIL(fake.detaches == 1);
    TRACED_EXPECT(fake.sessions_started == 3 && fake.sessions_stopped == 3);
    return 0;
}

static void send_categories(struct reader *reader, uint32_t categories)
{
    struct trd_categories frame = { .categories = categories };

    assert_int_equal(reader_send(reader, TRD_FRAME_CATEGORIES, &frame, sizeof(frame)), 0);
}

static void test_session_follows_what_is_wanted(void **state)
{
    static const char providers[] = "Some-Source:5:3,Other";
    struct traced_sums sums = { 0 };
    struct reader reader;
    struct traced traced;

    (void)state;
    traced_prepare(&traced);
    traced_listen(&traced);
    traced_start(&traced, follow_what_is_wanted);
    traced_welcome(&traced, &reader, TRD_CATEGORY_BIT(CONTENTION) | TRD_CATEGORY_BIT(ALLOCATION));
    assert_int_equal(traced_collect(&reader, &sums, 2), 1);
    assert_int_equal(sums.by_id[TRD_EV_contention_start], 1);

    send_categories(&reader, TRD_CATEGORY_BIT(PROVIDER) | TRD_CATEGORY_BIT(EXCEPTION));
    while (sums.by_id[TRD_EV_exception_caught] == 0)
        assert_int_equal(traced_collect(&reader, &sums, sums.events + 1), 1);
    assert_int_equal(sums.by_id[TRD_EV_contention_start], 1);

    assert_int_equal(reader_send(&reader, TRD_FRAME_PROVIDERS, providers, strlen(providers)), 0);
    assert_int_equal(reader_send(&reader, TRD_FRAME_PROVIDERS, providers, strlen(providers)), 0);
    while (sums.by_id[TRD_EV_event] < 2)
        assert_int_equal(traced_collect(&reader, &sums, sums.events + 1), 1);
    assert_int_equal(sums.by_id[TRD_EV_event_schema], 1);
    assert_int_equal(sums.by_id[TRD_EV_event_field], 1);

    assert_int_equal(reader_send(&reader, TRD_FRAME_DETACH, NULL, 0), 0);
    assert_int_equal(traced_collect(&reader, &sums, TRACED_FOREVER), 0);
    assert_true(sums.has_bye);
    assert_int_equal(traced_wait(&traced), 0);
    assert_int_equal(sums.by_id[TRD_EV_unavailable], 0);
    reader_finish(&reader);
    traced_finish(&traced);
}

/* A runtime that has no EventPipe. */
static int ask_one_without(struct traced *traced)
{
    struct traced_object *object;

    setenv(TRD_ENV_CATEGORIES, "contention,provider", 1);
    fake.newest = 11;
    object = traced_initialize(traced);
    TRACED_EXPECT(fake.sessions_started == 0 && !(fake.mask_high & HIGH_EVENT_PIPE));
    traced_wait_for_parent(traced);
    TRACED_EXPECT(object->vtbl->Shutdown(object) == S_OK);
    return 0;
}

static void test_session_that_cannot_be_is_told_once(void **state)
{
    struct traced_sums sums = { 0 };
    struct reader reader;
    struct traced traced;

    (void)state;
    traced_prepare(&traced);
    traced_listen(&traced);
    traced_start(&traced, ask_one_without);
    traced_welcome(&traced, &reader, TRD_CATEGORY_BIT(CONTENTION) | TRD_CATEGORY_BIT(THREADPOOL));
    /* clr:runtime_info and the one: they are sent behind WELCOME, which has been read then. */
    assert_int_equal(traced_collect(&reader, &sums, 2), 1);
    traced_let_go_on(&traced);
    assert_int_equal(traced_collect(&reader, &sums, TRACED_FOREVER), 0);
    assert_int_equal(traced_wait(&traced), 0);
    traced_drain(&reader, &sums);
    assert_int_equal(sums.by_id[TRD_EV_unavailable], 1);
    reader_finish(&reader);
    traced_finish(&traced);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_session_starts_with_what_the_environment_wants),
        cmocka_unit_test(test_session_follows_what_is_wanted),
        cmocka_unit_test(test_session_that_cannot_be_is_told_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
