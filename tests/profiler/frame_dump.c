/*
 * frame_dump SOCKET [CATEGORIES]: listens on SOCKET, welcomes one profiler, prints what it sends as
 * one line per event, and after the process died what its rings still held. For looking at the
 * profiler without the daemon. Ends with 0 when the events produced are those seen and told lost.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

#define WAIT_MS 60000

struct sums {
    uint64_t seen; /* events, without `lost` */
    uint64_t told; /* as lost */
};

static void print_field(const struct reader_event *event, const struct trd_event_field *field)
{
    uint64_t value = 0;

    if (field->type == TRD_EVENT_TYPE_text) {
        struct trd_text text;
        size_t size;

        memcpy(&text, event->fixed + field->offset, sizeof(text));
        printf(" %s=\"%s\"", field->name, trd_event_text(event->fixed, text, &size));
        return;
    }
    memcpy(&value, event->fixed + field->offset, field->size);
    for (size_t i = 0; i < field->name_count; i++)
        if (field->names[i].value == value) {
            printf(" %s=%s", field->name, field->names[i].name);
            return;
        }
    printf(field->size == 8 ? " %s=0x%" PRIx64 : " %s=%" PRIu64, field->name, value);
}

static void print_event(void *context, uint32_t tid, const struct reader_event *event)
{
    struct sums *sums = context;

    if (!event->info)
        return;
    printf("%" PRIu64 " %u %s%s", event->head.ts_ns, tid, event->info->name,
           event->head.flags & TRD_EVENT_F_CATCH_UP ? " (catch-up)" : "");
    for (size_t i = 0; i < event->info->field_count; i++)
        print_field(event, &event->info->fields[i]);
    putchar('\n');
    if (event->head.id == TRD_EV_lost)
        sums->told += ((const struct trd_ev_lost *)(const void *)event->fixed)->count;
    else
        sums->seen++;
}

static int print_batch(struct sums *sums, const struct reader_frame *frame)
{
    struct reader_event event;
    struct trd_batch batch;
    const uint8_t *at;
    size_t left;
    int result = trd_frame_batch(frame->payload, frame->head.size, &batch, &at, &left);

    if (result == 0)
        while ((result = reader_event_next(&at, &left, &event)) == 1)
            print_event(sums, batch.tid, &event);
    return result;
}

static int print_frame(struct sums *sums, const struct reader_frame *frame)
{
    struct trd_ring_lost lost;
    struct trd_goodbye bye;

    switch (frame->head.type) {
    case TRD_FRAME_BATCH:
        return print_batch(sums, frame);
    case TRD_FRAME_LOST:
        if (trd_frame_ring_lost(frame->payload, frame->head.size, &lost) != 0)
            return -1;
        sums->told += lost.count;
        printf("# %" PRIu64 " lost by thread %u\n", lost.count, lost.tid);
        return 0;
    case TRD_FRAME_BYE:
        if (trd_frame_goodbye(frame->payload, frame->head.size, &bye) != 0)
            return -1;
        printf("# bye: produced %" PRIu64 ", dropped %" PRIu64 "\n", bye.produced, bye.dropped);
        return 0;
    default:
        return 0;
    }
}

static uint64_t produced(const struct reader *reader)
{
    uint64_t sum = reader->arena->orphan_dropped;

    for (uint32_t i = 0; i < reader->arena->ring_used; i++)
        sum += trd_arena_ring(reader->arena, reader->hello.ring_size, i)->produced;
    return sum - reader->hello.accounted;
}

static int dump(struct reader *reader, uint32_t categories)
{
    struct sums sums = { 0 };
    struct reader_frame frame;
    int result = reader_welcome(reader, categories, 10);

    while (result == 0 && (result = reader_next(reader, &frame, WAIT_MS)) == 1)
        result = print_frame(&sums, &frame);
    printf("# connection ended: %d\n", result);
    (void)reader_drain(reader, print_event, &sums);
    printf("# produced %" PRIu64 ", seen %" PRIu64 ", told lost %" PRIu64 "\n", produced(reader),
           sums.seen, sums.told);
    return produced(reader) == sums.seen + sums.told + reader->arena->orphan_dropped ? 0 : 1;
}

int main(int argc, char **argv)
{
    uint32_t categories = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : TRD_CATEGORIES_ALL;
    int listener = argc > 1 ? reader_listen(argv[1]) : -1;
    struct reader reader;
    int result;

    if (listener < 0) {
        fprintf(stderr, "usage: frame_dump SOCKET [CATEGORIES]\n");
        return 2;
    }
    result = reader_accept(&reader, listener, WAIT_MS);
    if (result != 0) {
        fprintf(stderr, "no profiler came: %s\n", strerror(-result));
        return 3;
    }
    printf("# pid %d, runtime %u.%u.%u, flags 0x%x\n", reader.peer, reader.hello.runtime[0],
           reader.hello.runtime[1], reader.hello.runtime[2], reader.hello.flags);
    result = dump(&reader, categories);
    reader_finish(&reader);
    return result;
}
