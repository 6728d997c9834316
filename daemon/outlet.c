#include "outlet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stream_clock.h"

#define BUFFER_FLUSH (256 * 1024)
#define BUFFER_SIZE (BUFFER_FLUSH + TRD_JSON_LINE_MAX)

void outlet_finish(struct outlet *outlet)
{
    outlet_end(outlet);
    trd_json_destroy(outlet->json);
    free(outlet->buffer);
    free(outlet->catalogs);
}

/* What was handed over when the sink failed, and after. */
static void note_handed(struct sink *sink, uint64_t count)
{
    sink->handed += count;
    if (sink->failed)
        sink->missed += count;
}

static void hand_over(struct outlet *outlet, const struct line_batch *batch)
{
    struct sink *next;

    for (struct sink *sink = outlet->sinks; sink; sink = next) {
        next = sink->next; /* a sink may take itself out */
        if (!sink->lines)
            continue;
        sink->lines(sink, batch);
        note_handed(sink, batch->count);
    }
}

int outlet_init(struct outlet *outlet, const struct trd_json_names *names)
{
    outlet->buffer = malloc(BUFFER_SIZE);
    outlet->batch.bytes = outlet->buffer;
    if (!outlet->buffer)
        return -ENOMEM;
    return trd_json_create(&outlet->json, names);
}

/* Without memory for it, sinks that come later do without. */
void outlet_add_catalog(struct outlet *outlet, const struct trd_catalog *catalog)
{
    const struct trd_catalog **catalogs =
        realloc(outlet->catalogs, (outlet->catalog_count + 1) * sizeof(*catalogs));

    if (catalogs) {
        outlet->catalogs = catalogs;
        catalogs[outlet->catalog_count++] = catalog;
    }
    trd_json_add_catalog(outlet->json, catalog);
    for (struct sink *sink = outlet->sinks; sink; sink = sink->next)
        if (sink->catalog)
            sink->catalog(sink, catalog);
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
    outlet->line_count++;
}

static int64_t put_record(struct outlet *outlet, const struct trd_record *record)
{
    int64_t offset = outlet->clock->offset_ns, size;

    trd_json_set_offset(outlet->json, offset);
    size = trd_json_line(outlet->json, record, outlet->seq, outlet->buffer + outlet->batch.size,
                         BUFFER_SIZE - outlet->batch.size);
    if (size > 0)
        count_line(outlet, (size_t)size, record->ts_ns + (uint64_t)offset);
    return size;
}

static __attribute__((cold, noinline)) void put_loss(struct outlet *outlet,
                                                     const struct trd_record *record)
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
    outlet->unwritten += record->kind == TRD_KIND_EVENT;
}

static void hand_over_record(struct outlet *outlet, const struct trd_record *record)
{
    struct sink *next;

    for (struct sink *sink = outlet->sinks; sink; sink = next) {
        next = sink->next;
        if (!sink->record)
            continue;
        sink->record(sink, record);
        note_handed(sink, 1);
    }
}

void outlet_record(struct outlet *outlet, const struct trd_record *record)
{
    if (outlet->wants_records)
        hand_over_record(outlet, record);
    if (!outlet->wants_lines)
        return;
    if (outlet->batch.size >= BUFFER_FLUSH)
        outlet_flush(outlet);
    if (put_record(outlet, record) < 0)
        put_loss(outlet, record);
}

void outlet_batch(struct outlet *outlet, const struct trd_lines_batch *batch)
{
    outlet->seq = batch->last_seq + 1;
    outlet->unwritten += batch->unwritten;
    if (batch->count == 0)
        return;
    outlet_flush(outlet);
    outlet->last_ns = batch->last_ns;
    outlet->line_count += batch->count;
    hand_over(outlet, &(struct line_batch){ .bytes = batch->bytes,
                                            .size = batch->size,
                                            .count = batch->count,
                                            .last_seq = batch->last_seq,
                                            .first_ns = batch->first_ns,
                                            .last_ns = batch->last_ns });
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
    outlet->line_count++;
    hand_over(outlet, &batch);
}

void outlet_add(struct outlet *outlet, struct sink *sink)
{
    sink->next = outlet->sinks;
    outlet->sinks = sink;
    outlet->wants_lines |= sink->lines != NULL;
    outlet->wants_records |= sink->record != NULL;
    for (size_t i = 0; i < outlet->catalog_count && sink->catalog; i++)
        sink->catalog(sink, outlet->catalogs[i]);
}

void outlet_remove(struct outlet *outlet, struct sink *sink)
{
    for (struct sink **link = &outlet->sinks; *link; link = &(*link)->next)
        if (*link == sink) {
            *link = sink->next;
            return;
        }
}

void outlet_page(struct outlet *outlet, uint32_t cpu, const uint8_t *bytes, size_t size)
{
    for (struct sink *sink = outlet->sinks; sink; sink = sink->next) {
        sink->page(sink, cpu, bytes, size);
        note_handed(sink, 1);
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
