/*
 * Hot path: record -> sub-buffer. Budget: one copy, no allocation, a write per page; measured by
 * tests/bench/bench_live.py. Layout: Documentation/trace/ring-buffer-design.rst.
 */
#include "dat_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TYPE_EXTEND 30u
#define TYPE_LEN_MAX 28u
#define DELTA_BITS 27
#define DELTA_MAX ((UINT64_C(1) << DELTA_BITS) - 1)
#define EVENT_HEAD 4u
#define EXTEND_SIZE 8u
#define COMMIT_MISSED (UINT64_C(1) << 31)
#define COMMIT_COUNTED (UINT64_C(1) << 30)
/* A page keeps room for the count of a loss that came before it. */
#define COUNT_SIZE 8u

static uint32_t capacity(const struct dat_stream *stream)
{
    return stream->page_size - stream->layout.data_offset - COUNT_SIZE;
}

static void put_commit(struct dat_stream *stream, uint64_t value)
{
    memcpy(stream->page + stream->layout.commit_offset, &value, stream->layout.commit_size);
}

static uint8_t *data(const struct dat_stream *stream)
{
    return stream->page + stream->layout.data_offset;
}

static int begin_page(struct dat_stream *stream, uint64_t ts)
{
    if (!stream->page)
        stream->page = malloc(stream->page_size);
    if (!stream->page)
        return -ENOMEM;
    memcpy(stream->page, &ts, sizeof(ts));
    stream->used = 0;
    stream->ts = ts;
    return 0;
}

/* Head of the page, and zeros behind its records. */
static void complete_page(struct dat_stream *stream)
{
    uint64_t commit = stream->used;
    uint8_t *end = data(stream) + stream->used;

    memset(end, 0, (size_t)(stream->page + stream->page_size - end));
    if (stream->has_untold) {
        commit |= COMMIT_MISSED;
        if (stream->untold != TRD_LOST_UNKNOWN) {
            commit |= COMMIT_COUNTED;
            memcpy(end, &stream->untold, stream->layout.long_size);
        }
    }
    put_commit(stream, commit);
}

static int write_page(struct dat_stream *stream, const uint8_t *bytes, size_t size)
{
    if (stream->room - stream->size < stream->page_size)
        return -EFBIG;
    return stream->target->write(stream->target->context, stream->begin + stream->size, bytes,
                                 size);
}

int dat_stream_flush(struct dat_stream *stream)
{
    int result;

    if (stream->used == 0)
        return 0;
    complete_page(stream);
    result = write_page(stream, stream->page, stream->page_size);
    if (result != 0)
        return result;
    stream->size += stream->page_size;
    stream->used = 0;
    stream->untold = 0;
    stream->has_untold = false;
    return 0;
}

int dat_stream_sync(struct dat_stream *stream, uint64_t *out_size)
{
    *out_size = stream->size;
    if (stream->used == 0)
        return 0;
    complete_page(stream);
    *out_size += stream->page_size;
    return write_page(stream, stream->page, stream->page_size);
}

static uint32_t record_size(size_t size)
{
    uint32_t words = (uint32_t)((size + 3) / 4);

    return EVENT_HEAD + words * 4 + (words == 0 || words > TYPE_LEN_MAX ? EVENT_HEAD : 0);
}

static inline void put_word(uint8_t **at, uint32_t word)
{
    memcpy(*at, &word, sizeof(word));
    *at += sizeof(word);
}

static void put_record(struct dat_stream *stream, uint64_t delta, const uint8_t *bytes, size_t size)
{
    uint8_t *at = data(stream) + stream->used;
    uint32_t words = (uint32_t)((size + 3) / 4);

    if (delta > DELTA_MAX) {
        put_word(&at, TYPE_EXTEND | (uint32_t)(delta & DELTA_MAX) << 5);
        put_word(&at, (uint32_t)(delta >> DELTA_BITS));
        delta = 0;
    }
    if (words > 0 && words <= TYPE_LEN_MAX) {
        put_word(&at, words | (uint32_t)delta << 5);
    } else {
        put_word(&at, (uint32_t)delta << 5);
        put_word(&at, (uint32_t)size + EVENT_HEAD);
    }
    memcpy(at, bytes, size);
    memset(at + size, 0, words * 4 - size);
    stream->used = (uint32_t)(at + words * 4 - data(stream));
}

int dat_stream_record(struct dat_stream *stream, uint64_t ts, const uint8_t *bytes, size_t size)
{
    uint32_t needed = record_size(size) + EXTEND_SIZE;
    int result = 0;

    if (size > stream->page_size || needed > capacity(stream))
        return -E2BIG;
    if (stream->used > 0 && (needed > capacity(stream) - stream->used || ts < stream->ts))
        result = dat_stream_flush(stream);
    if (result == 0 && stream->used == 0)
        result = begin_page(stream, ts);
    if (result != 0)
        return result;
    put_record(stream, ts - stream->ts, bytes, size);
    stream->ts = ts;
    return 0;
}

int dat_stream_loss(struct dat_stream *stream, uint64_t count)
{
    int result = dat_stream_flush(stream);

    if (result != 0)
        return result;
    if (count == TRD_LOST_UNKNOWN || stream->untold == TRD_LOST_UNKNOWN)
        stream->untold = TRD_LOST_UNKNOWN;
    else
        stream->untold += count;
    stream->has_untold = true;
    return 0;
}

/* A page with little in it: its records go to those that wait. */
static int join_page(struct dat_stream *stream, struct trd_page *page)
{
    struct trd_page_event event;
    int result = page->lost_events ? dat_stream_loss(stream, page->lost) : 0;

    while (result == 0 && trd_page_next(page, &event) == 1)
        result = dat_stream_record(stream, event.ts, event.data, event.size);
    return result;
}

int dat_stream_page(struct dat_stream *stream, const uint8_t *bytes, size_t size)
{
    struct trd_page page;
    int result;

    if (size > stream->page_size || trd_page_init(&page, bytes, size, &stream->layout) != 0)
        return -EBADMSG;
    if (page.end <= stream->page_size / 2)
        return join_page(stream, &page);
    result = dat_stream_flush(stream);
    if (result == 0)
        result = write_page(stream, bytes, size);
    if (result == 0)
        stream->size += stream->page_size;
    return result;
}

void dat_stream_finish(struct dat_stream *stream)
{
    free(stream->page);
}
