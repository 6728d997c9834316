#include "collector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "arena.h"

#define WAIT_MS 20000

static void take_event(struct collector *collector, uint32_t ring, const struct reader_event *event)
{
    if (!event->info)
        return;
    if (event->head.ts_ns < collector->mark_ns && !(event->head.flags & TRD_EVENT_F_SAME_TIME))
        collector->broken = "an event came that is earlier than a mark before it";
    if (event->head.ts_ns < collector->last_ns[ring])
        collector->broken = "events of a ring are out of order";
    collector->last_ns[ring] = event->head.ts_ns;
    if (event->head.id == TRD_EV_lost)
        collector->lost += ((const struct trd_ev_lost *)(const void *)event->fixed)->count;
    else
        collector->events++;
}

static void take_batch(struct collector *collector, const struct reader_frame *frame)
{
    struct reader_event event;
    struct trd_batch batch;
    const uint8_t *at;
    size_t left;
    int result = trd_frame_batch(frame->payload, frame->head.size, &batch, &at, &left);

    while (result == 0 && (result = reader_event_next(&at, &left, &event)) == 1) {
        take_event(collector, batch.ring, &event);
        result = 0;
    }
    if (result < 0)
        collector->broken = "a batch is broken";
}

static void take_frame(struct collector *collector, const struct reader_frame *frame)
{
    struct trd_ring_lost lost;
    struct trd_mark mark;

    switch (frame->head.type) {
    case TRD_FRAME_BATCH:
        take_batch(collector, frame);
        break;
    case TRD_FRAME_MARK:
        (void)trd_frame_mark(frame->payload, frame->head.size, &mark);
        if (mark.ts_ns < collector->mark_ns)
            collector->broken = "a mark went back";
        collector->mark_ns = mark.ts_ns;
        collector->marks++;
        break;
    case TRD_FRAME_LOST:
        (void)trd_frame_ring_lost(frame->payload, frame->head.size, &lost);
        if (lost.count == 0 || lost.from_ns > lost.to_ns || lost.told < lost.count)
            collector->broken = "a loss without a count or an interval";
        collector->idle_lost += lost.count;
        break;
    case TRD_FRAME_PONG:
        collector->pongs++;
        break;
    default:
        collector->broken = "a frame of an unexpected type";
    }
}

static void *collect(void *argument)
{
    struct collector *collector = argument;
    struct reader_frame frame;
    int result = reader_greet(&collector->reader, collector->fd, WAIT_MS);

    if (result == 0)
        result = reader_welcome(&collector->reader, TRD_CATEGORIES_ALL, 10);
    if (result != 0) {
        collector->broken = "no greeting";
        return NULL;
    }
    collector->last_ns = calloc(collector->reader.hello.ring_count, sizeof(uint64_t));
    while ((result = reader_next(&collector->reader, &frame, WAIT_MS)) == 1)
        take_frame(collector, &frame);
    if (result < 0 && !collector->broken)
        collector->broken = "the stream broke off";
    return NULL;
}

void collector_start(struct collector *collector, struct connection *connection,
                     const _Atomic int *wish)
{
    struct trd_hello hello = { .magic = TRD_PROTOCOL_MAGIC,
                               .version = TRD_PROTOCOL_VERSION,
                               .clock = TRD_CLOCK_MONOTONIC,
                               .ring_size = arena_get()->ring_size,
                               .ring_count = arena_get()->ring_count };
    struct trd_welcome welcome;
    int ends[2];

    memset(collector, 0, sizeof(*collector));
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    collector->fd = ends[0];
    *connection = (struct connection){ .fd = ends[1], .wish = wish };
    assert_int_equal(pthread_create(&collector->thread, NULL, collect, collector), 0);
    assert_int_equal(connection_greet(connection, &hello, arena_fd(), &welcome), 0);
}

void collector_sync(struct collector *collector, struct connection *connection)
{
    const struct timespec pause = { .tv_nsec = 1000000 };
    struct trd_ping token = { 0 };
    uint64_t before = collector->pongs;

    assert_int_equal(connection_send(connection, TRD_FRAME_PONG, &token, sizeof(token), NULL, 0),
                     0);
    for (int waited = 0; collector->pongs == before; waited++) {
        if (waited > WAIT_MS || collector->broken)
            fail_msg("%s", collector->broken ? collector->broken : "the collector is stuck");
        nanosleep(&pause, NULL);
    }
}

void collector_stop(struct collector *collector, struct connection *connection)
{
    connection_close(connection);
    assert_int_equal(pthread_join(collector->thread, NULL), 0);
    if (collector->broken)
        fail_msg("%s", collector->broken);
}

void collector_finish(struct collector *collector)
{
    reader_finish(&collector->reader);
    free(collector->last_ns);
}
