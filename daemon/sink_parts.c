/*
 * NDJSON in parts: when a file has its size or its time it is finished and the next one begun. Each
 * can be read by itself: it begins with `hello` and all definitions up to there, and ends with
 * `next`, the last one with `bye` (proto/JSON.md). No file exceeds the size asked for but by a
 * single line, or where its definitions alone would fill half of it. Where old parts are to go,
 * they go before there is more than asked for, or when the disk is full.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "definitions.h"
#include "line_file.h"
#include "log.h"
#include "part_files.h"
#include "sinks.h"

#define END_SIZE 96 /* the line `next` at most */

struct parts_sink {
    struct sink sink;
    struct part_files files;
    const struct options *options; /* borrowed */
    bool packed;
    struct line_file file; /* the part being written */
    char *path;            /* owned; its name */
    uint64_t number;       /* in its name */
    uint64_t part;         /* of this recording, from 1 */
    uint64_t limit;        /* of its size */
    uint64_t first_ns;     /* of its first line that is not a repetition */
    uint64_t last_ns;
    bool fresh;  /* it has none yet */
    char *hello; /* owned; as the stream began */
    struct definitions definitions;
};

static bool make_room(struct output_file *file)
{
    struct parts_sink *parts =
        (struct parts_sink *)((char *)file - offsetof(struct parts_sink, file) -
                              offsetof(struct line_file, file));

    return part_files_delete_oldest(&parts->files);
}

/* Before so much is written that there would be too much in all. */
static void make_room_for(struct parts_sink *parts, uint64_t bytes)
{
    uint64_t keep = parts->options->keep_bytes;

    while (keep > 0 && parts->files.bytes + bytes > keep)
        if (!part_files_delete_oldest(&parts->files))
            return;
}

static int open_part(struct parts_sink *parts)
{
    int result;

    parts->number = parts->files.next_number;
    free(parts->path);
    parts->path = part_files_path(&parts->files, parts->number);
    if (!parts->path) {
        log_error("cannot begin the next part: no memory");
        return EXIT_NOTHING;
    }
    parts->files.next_number++;
    parts->part++;
    parts->fresh = true;
    parts->limit = parts->options->rotate_bytes;
    result = line_file_open(&parts->file, parts->path, parts->packed);
    if (result == 0 && parts->options->keep_bytes > 0)
        parts->file.file.make_room = make_room;
    return result;
}

static int put(struct parts_sink *parts, const char *bytes, size_t size, uint64_t count,
               uint64_t last_seq)
{
    const struct line_batch batch = { .bytes = bytes,
                                      .size = size,
                                      .count = count,
                                      .last_seq = last_seq,
                                      .first_ns = parts->last_ns,
                                      .last_ns = parts->last_ns };

    return line_file_lines(&parts->file, &batch);
}

/* `hello`, which says which part this is and what number its first line has that is new. */
static int put_hello(struct parts_sink *parts, const char *hello, uint64_t first_seq)
{
    size_t size = strlen(hello);
    char *line;
    int result, length;

    if (size < 2)
        return -EINVAL;
    length = asprintf(&line, "%.*s,\"part\":%" PRIu64 ",\"first_seq\":%" PRIu64 "}\n",
                      (int)size - 2, hello, parts->part, first_seq);
    if (length < 0)
        return -ENOMEM;
    result = put(parts, line, (size_t)length, 1, 0);
    free(line);
    return result;
}

static int put_definitions(void *context, const char *lines, size_t size)
{
    uint64_t count = 0;

    for (const char *at = lines; (at = memchr(at, '\n', (size_t)(lines + size - at))); at++)
        count++;
    make_room_for(context, line_file_most(&((struct parts_sink *)context)->file, size));
    return put(context, lines, size, count, count);
}

static int begin_part(struct parts_sink *parts, uint64_t first_seq)
{
    /* Live, so that the anchor to the time of day is one of now. */
    char *now =
        pipeline_is_live(parts->sink.pipeline) ? pipeline_hello(parts->sink.pipeline) : NULL;
    const char *hello = now ? now : parts->hello;
    int result = hello ? put_hello(parts, hello, first_seq) : -ENOMEM;

    free(now);
    if (result == 0)
        result = definitions_each(&parts->definitions, put_definitions, parts);
    if (result == 0)
        result = line_file_flush(&parts->file);
    if (parts->limit > 0 && parts->limit < 2 * line_file_most(&parts->file, 0))
        parts->limit = 2 * line_file_most(&parts->file, 0);
    return result;
}

static int end_part(struct parts_sink *parts)
{
    uint64_t bytes;
    int result;

    (void)line_file_flush(&parts->file); /* so that its size is known */
    bytes = line_file_most(&parts->file, 0);
    result = line_file_end(&parts->file);
    if (result == 0)
        part_files_add(&parts->files, parts->number, bytes);
    return result;
}

static void check(struct parts_sink *parts, int result)
{
    if (result == 0 || parts->file.file.failed)
        return;
    output_file_fail(&parts->file.file, -result);
    pipeline_sink_failed(parts->sink.pipeline, &parts->sink);
}

/* The line numbered `next_seq` is to stand in the next file. */
static int rotate(struct parts_sink *parts, uint64_t next_seq)
{
    char line[END_SIZE];
    int length = snprintf(line, sizeof(line),
                          "{\"v\":1,\"k\":\"next\",\"seq\":%" PRIu64 ",\"part\":%" PRIu64 "}\n",
                          next_seq, parts->part + 1);
    int result = put(parts, line, (size_t)length, 1, next_seq);

    if (result == 0)
        result = end_part(parts);
    if (result != 0)
        return result;
    if (open_part(parts) != 0) { /* a sentence has said so */
        parts->file.file.failed = true;
        pipeline_sink_failed(parts->sink.pipeline, &parts->sink);
        return 0;
    }
    return begin_part(parts, next_seq);
}

static bool fits(const struct parts_sink *parts, size_t size)
{
    return parts->limit == 0 || line_file_most(&parts->file, size + END_SIZE) <= parts->limit;
}

/* How many bytes of whole lines still go into this file; 0 = it is full. */
static size_t fitting(struct parts_sink *parts, const char *bytes, size_t size)
{
    const char *last, *end;
    size_t room = size;

    if (fits(parts, size))
        return size;
    while (room > 0 && !fits(parts, room))
        room -= room / 64 + 1;
    last = memrchr(bytes, '\n', room);
    if (last && (room > parts->limit / 16 || parts->fresh))
        return (size_t)(last + 1 - bytes);
    if (!parts->fresh)
        return 0;
    end = memchr(bytes, '\n', size); /* longer than any file may be: one that exceeds, then */
    return end ? (size_t)(end + 1 - bytes) : size;
}

static uint64_t count_lines(const char *bytes, size_t size)
{
    uint64_t count = 0;
    const char *end = bytes + size;

    while ((bytes = memchr(bytes, '\n', (size_t)(end - bytes)))) {
        count++;
        bytes++;
    }
    return count;
}

/* As much of the batch as fits, which is cut off from it. */
static int put_piece(struct parts_sink *parts, struct line_batch *batch)
{
    struct line_batch piece = *batch;
    size_t size;
    int result = 0;

    if (!fits(parts, batch->size))
        result = line_file_flush(&parts->file);
    size = result == 0 ? fitting(parts, batch->bytes, batch->size) : 0;
    if (result != 0 || size == 0)
        return result != 0 ? result : rotate(parts, batch->last_seq + 1 - batch->count);
    piece.size = size;
    if (size < batch->size) {
        piece.count = count_lines(batch->bytes, size);
        piece.last_seq = batch->last_seq - batch->count + piece.count;
    }
    if (parts->fresh)
        parts->first_ns = batch->first_ns;
    parts->fresh = false;
    make_room_for(parts, line_file_most(&parts->file, size + END_SIZE));
    batch->bytes += piece.size;
    batch->size -= piece.size;
    batch->count -= piece.count;
    result = line_file_lines(&parts->file, &piece);
    /* Behind the writing: what a part begins with are those before its first line. */
    return result == 0 ? definitions_note(&parts->definitions, &piece) : result;
}

static bool is_over(const struct parts_sink *parts, const struct line_batch *batch)
{
    return parts->options->rotate_ns > 0 && !parts->fresh && batch->first_ns > parts->first_ns &&
           batch->first_ns - parts->first_ns >= parts->options->rotate_ns;
}

static int put_lines(struct parts_sink *parts, struct line_batch batch)
{
    int result = 0;

    if (is_over(parts, &batch))
        result = rotate(parts, batch.last_seq + 1 - batch.count);
    while (batch.size > 0 && result == 0 && !parts->file.file.failed) {
        parts->last_ns = batch.last_ns;
        result = put_piece(parts, &batch);
    }
    return result;
}

/* The first line of the stream. */
static int take_hello(struct parts_sink *parts, const struct line_batch *batch)
{
    parts->hello = strndup(batch->bytes, batch->size);
    return parts->hello ? put_hello(parts, parts->hello, 1) : -ENOMEM;
}

static void lines(struct sink *sink, const struct line_batch *batch)
{
    struct parts_sink *parts = (struct parts_sink *)sink;

    if (parts->file.file.failed)
        return;
    if (!parts->hello)
        check(parts, take_hello(parts, batch));
    else
        check(parts, put_lines(parts, *batch));
}

static void destroy(struct parts_sink *parts)
{
    part_files_finish(&parts->files);
    definitions_finish(&parts->definitions);
    free(parts->path);
    free(parts->hello);
    free(parts);
}

static void end(struct sink *sink)
{
    struct parts_sink *parts = (struct parts_sink *)sink;

    check(parts, line_file_end(&parts->file));
    if (parts->files.deleted > 0)
        log_notice("%s*%s: %" PRIu64 " older parts (%" PRIu64 " bytes) were deleted to make room",
                   parts->files.stem, parts->files.extension, parts->files.deleted,
                   parts->files.deleted_bytes);
    pipeline_sink_closed(sink->pipeline, sink);
    destroy(parts);
}

int sink_parts_open(struct pipeline *pipeline, const char *path, const char *extension, bool packed)
{
    struct parts_sink *parts = calloc(1, sizeof(*parts));
    int result = parts ? part_files_init(&parts->files, path, extension) : -ENOMEM;

    if (result != 0) {
        log_error("cannot write parts: path=%s, error=\"%s\"", path, strerror(-result));
        if (parts)
            destroy(parts);
        return EXIT_USAGE;
    }
    parts->options = pipeline_options(pipeline);
    parts->packed = packed;
    result = open_part(parts);
    if (result != 0) {
        destroy(parts);
        return result;
    }
    parts->sink.name = path;
    parts->sink.lines = lines;
    parts->sink.end = end;
    pipeline_add_sink(pipeline, &parts->sink);
    return 0;
}
