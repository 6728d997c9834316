#include "outlet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_FLUSH (256 * 1024)
#define BUFFER_SIZE (BUFFER_FLUSH + TRD_JSON_LINE_MAX)

int outlet_init(struct outlet *outlet, const struct trd_json_names *names)
{
    outlet->buffer = malloc(BUFFER_SIZE);
    outlet->batch.bytes = outlet->buffer;
    return outlet->buffer ? trd_json_create(&outlet->json, names) : -ENOMEM;
}

void outlet_finish(struct outlet *outlet)
{
    outlet_end(outlet);
    trd_json_destroy(outlet->json);
    free(outlet->buffer);
}

static void hand_over(struct outlet *outlet, const struct line_batch *batch)
{
    struct sink *next;

    for (struct sink *sink = outlet->sinks; sink; sink = next) {
        next = sink->next; /* a sink may take itself out */
        sink->lines(sink, batch);
    }
}

void outlet_flush(struct outlet *outlet)
{
    if (outlet->batch.size > 0)
        hand_over(outlet, &outlet->batch);
    outlet->batch = (struct line_batch){ .bytes = outlet->buffer };
}

static void count_line(struct outlet *outlet, size_t size, uint64_t ts_ns)
{
    struct line_batch *batch = &outlet->batch;

    if (batch->count == 0)
        batch->first_ns = ts_ns;
    outlet->last_ns = ts_ns;
    batch->last_ns = ts_ns;
    batch->last_seq = outlet->seq++;
    batch->size += size;
    batch->count++;
    outlet->lines++;
}

static int64_t put_record(struct outlet *outlet, const struct trd_record *record)
{
    int64_t size =
        trd_json_line(outlet->json, record, outlet->seq, outlet->buffer + outlet->batch.size,
                      BUFFER_SIZE - outlet->batch.size);

    if (size > 0)
        count_line(outlet, (size_t)size, record->ts_ns);
    return size;
}

static __attribute__((cold, noinline)) int put_loss(struct outlet *outlet,
                                                    const struct trd_record *record, int error)
{
    struct trd_record lost;

    trd_record_init(&lost);
    lost.kind = TRD_KIND_LOST;
    lost.source = record->source;
    lost.pid = record->pid;
    lost.tid = record->tid;
    lost.ts_ns = lost.lost_from_ns = record->ts_ns;
    lost.lost = 1;
    (void)put_record(outlet, &lost);
    return error;
}

int outlet_record(struct outlet *outlet, const struct trd_record *record)
{
    int64_t size;

    if (outlet->batch.size >= BUFFER_FLUSH)
        outlet_flush(outlet);
    size = put_record(outlet, record);
    return size < 0 ? put_loss(outlet, record, (int)size) : 0;
}

void outlet_text(struct outlet *outlet, const char *line)
{
    const struct line_batch batch = { .bytes = line,
                                      .size = strlen(line),
                                      .count = 1,
                                      .last_seq = outlet->seq++,
                                      .first_ns = outlet->last_ns,
                                      .last_ns = outlet->last_ns };

    outlet_flush(outlet);
    outlet->lines++;
    hand_over(outlet, &batch);
}

void outlet_add(struct outlet *outlet, struct sink *sink)
{
    sink->next = outlet->sinks;
    outlet->sinks = sink;
}

void outlet_remove(struct outlet *outlet, struct sink *sink)
{
    for (struct sink **link = &outlet->sinks; *link; link = &(*link)->next)
        if (*link == sink) {
            *link = sink->next;
            return;
        }
}

void outlet_end(struct outlet *outlet)
{
    struct sink *next;

    for (struct sink *sink = outlet->sinks; sink; sink = next) {
        next = sink->next;
        sink->end(sink);
    }
}
