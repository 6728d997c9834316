/*
 * What an event costs the thread that writes it: nanoseconds per event of the path from callback to
 * ring, and as a multiple of the clock read in it. The ring is emptied between slices, unmeasured,
 * as the sender would; nothing is dropped. One line of JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "arena.h"
#include "buffer.h"
#include "in_flight.h"
#include "writer.h"

#define SLICES 2000
#define SLICE 256 /* events that fit the ring */

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void wake(void)
{
}

static void write_number(uint64_t number)
{
    struct writer writer;
    struct trd_ev_thread_destroyed *event = WRITER_BEGIN(&writer, thread_destroyed, THREAD, 0);

    if (!event)
        return;
    event->thread = number;
    writer_commit(&writer);
}

static void write_type(uint64_t number)
{
    static const char type[] = "Tracerd.Managed.PlannedFailure";
    struct writer writer;
    struct trd_ev_exception_thrown *event =
        WRITER_BEGIN(&writer, exception_thrown, EXCEPTION, sizeof(type));

    if (!event)
        return;
    event->object = number;
    writer_text(&writer, &event->type, type, sizeof(type) - 1);
    writer_commit(&writer);
}

/* As the runtime comes to it: counted as under way. */
static void write_number_counted(uint64_t number)
{
    struct in_flight *in_flight = in_flight_enter();

    write_number(number);
    in_flight_leave(in_flight);
}

static void read_clock(uint64_t number)
{
    struct timespec now;

    (void)number;
    clock_gettime(CLOCK_MONOTONIC, &now); /* a call into libc and vdso: not optimized away */
}

/* The best slice: what the path costs, without what else the machine did. */
static double measure(void (*body)(uint64_t number))
{
    struct trd_ring *ring = trd_arena_ring(arena_get(), arena_get()->ring_size, 0);
    uint64_t best = UINT64_MAX;

    for (int slice = 0; slice < SLICES; slice++) {
        uint64_t start = now_ns(), taken;

        for (uint64_t i = 0; i < SLICE; i++)
            body(i);
        taken = now_ns() - start;
        if (taken < best)
            best = taken;
        ring->tail = ring->head;
    }
    return (double)best / SLICE;
}

int main(void)
{
    double clock_ns, number_ns, counted_ns, text_ns;

    if (arena_create(TRD_BUFFER_TOTAL_DEFAULT, TRD_RING_SIZE_DEFAULT, 4) != 0 ||
        writer_init(wake) != 0 || in_flight_init() != 0)
        return 1;
    clock_ns = measure(read_clock);
    number_ns = measure(write_number);
    counted_ns = measure(write_number_counted);
    text_ns = measure(write_type);
    if (trd_arena_ring(arena_get(), arena_get()->ring_size, 0)->dropped > 0)
        return 1;
    printf("{\"bench\":\"ring\",\"clock_ns\":%.1f,\"event_ns\":%.1f,\"event_per_clock\":%.2f,"
           "\"counted_event_ns\":%.1f,\"text_event_ns\":%.1f,\"text_event_per_clock\":%.2f}\n",
           clock_ns, number_ns, number_ns / clock_ns, counted_ns, text_ns, text_ns / clock_ns);
    return 0;
}
