/*
 * A server that says anything at all to the profiler of a running process: frames of every type
 * with bytes changed, cut, stretched, and noise. Whatever it says, the connection ends or goes on;
 * the process does, and the next server that behaves is told everything.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "traced.h"

#define CONNECTIONS 150
#define NOISE_MAX 6000 /* more than the profiler's input holds */

static uint64_t seed;

static uint32_t any(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % below;
}

/* A frame as a server might send it, of any type, known or not. */
static size_t make_frame(uint8_t *bytes)
{
    static const uint32_t sizes[] = { 0, 1, 8, 16, 24, 24, 24, 64, 255, 4096, 5000 };
    uint32_t size = sizes[any(sizeof(sizes) / sizeof(sizes[0]))];
    struct trd_frame_head head;

    trd_frame_head_init(&head, (enum trd_frame_type)(any(4) ? 0x41 + any(8) : any(256)), size);
    memcpy(bytes, &head, sizeof(head));
    for (uint32_t i = 0; i < size; i++)
        bytes[sizeof(head) + i] = any(2) ? 0 : (uint8_t)any(256);
    return sizeof(head) + size;
}

static size_t change(uint8_t *bytes, size_t size)
{
    switch (any(5)) {
    case 0: /* noise */
        size = any(NOISE_MAX);
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)any(256);
        return size;
    case 1: /* cut */
        return any((uint32_t)size + 1);
    case 2: /* one bit */
        bytes[any((uint32_t)size)] ^= (uint8_t)(1u << any(8));
        return size;
    case 3: /* another size than there is */
        memset(bytes, (int)any(256), 1 + any(4));
        return size;
    default:
        return size;
    }
}

/* The one thing that must not be said here: it is obeyed. */
static bool is_detach(const uint8_t *bytes, size_t size)
{
    return size > 4 && bytes[4] == TRD_FRAME_DETACH;
}

static void say_anything(struct reader *reader)
{
    uint8_t bytes[NOISE_MAX + sizeof(struct trd_frame_head)];

    for (uint32_t i = 0, count = 1 + any(4); i < count; i++) {
        size_t size = change(bytes, make_frame(bytes));

        if (!is_detach(bytes, size))
            (void)send(reader->fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
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

static void be_hostile(struct traced *traced)
{
    struct reader_frame frame;
    struct reader reader;

    assert_int_equal(reader_accept(&reader, traced->listener, TRACED_WAIT_MS), 0);
    /* Now and then before it has said WELCOME: then the profiler waits longer before it comes
     * again. */
    if (any(30) != 0)
        assert_int_equal(
            reader_welcome(&reader, any(2) ? TRD_CATEGORIES_ALL : any(256), 1 + any(20)), 0);
    say_anything(&reader);
    for (uint32_t i = any(5); i > 0 && reader_next(&reader, &frame, 20) == 1; i--)
        ;
    reader_finish(&reader);
}

static void test_profiler_survives_whatever_a_server_says(void **state)
{
    const char *chosen = getenv("TRACERD_TEST_SEED");
    struct traced_sums sums = { 0 };
    struct reader reader;
    struct traced traced;

    (void)state;
    seed = chosen ? strtoull(chosen, NULL, 10) : 1;
    traced_prepare(&traced);
    traced_listen(&traced);
    traced_start(&traced, tell_rounds);
    for (int i = 0; i < CONNECTIONS; i++)
        be_hostile(&traced);

    traced_welcome(&traced, &reader, TRD_CATEGORIES_ALL);
    assert_int_equal(traced_collect(&reader, &sums, 100), 1);
    traced_let_go_on(&traced);
    assert_int_equal(traced_collect(&reader, &sums, TRACED_FOREVER), 0);
    assert_int_equal(traced_wait(&traced), 0);
    traced_drain(&reader, &sums);
    assert_int_equal(TRACED_SUM(&reader, produced) - reader.hello.accounted,
                     sums.events + sums.lost + reader_untold(&reader));
    reader_finish(&reader);
    traced_finish(&traced);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_profiler_survives_whatever_a_server_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
