/* NDJSON in zstd frames, to a file; what goes wrong with it is told once and ends the stream. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "output_file.h"
#include "sinks.h"
#include "zst_frames.h"

struct zst_sink {
    struct sink sink;
    struct output_file file;
    struct zst_writer *writer; /* owned */
};

static void check(struct zst_sink *zst, int result)
{
    if (result == 0 || zst->file.failed)
        return;
    output_file_fail(&zst->file, -result);
    pipeline_sink_failed(zst->sink.pipeline);
}

static void lines(struct sink *sink, const struct line_batch *batch)
{
    struct zst_sink *zst = (struct zst_sink *)sink;

    if (!zst->file.failed)
        check(zst, zst_writer_lines(zst->writer, batch));
}

static void end(struct sink *sink)
{
    struct zst_sink *zst = (struct zst_sink *)sink;

    if (!zst->file.failed)
        check(zst, zst_writer_end(zst->writer));
    check(zst, output_file_close(&zst->file));
    zst_writer_destroy(zst->writer);
    pipeline_sink_closed(sink->pipeline, sink);
    free(zst);
}

int sink_zst_open(struct pipeline *pipeline, const char *path)
{
    struct zst_sink *zst = calloc(1, sizeof(*zst));

    if (!zst || zst_writer_create(&zst->writer, output_file_write, &zst->file) != 0) {
        log_error("cannot open %s: no memory", path);
        free(zst);
        return EXIT_NOTHING;
    }
    if (output_file_open(&zst->file, path) != 0) {
        zst_writer_destroy(zst->writer);
        free(zst);
        return EXIT_USAGE;
    }
    zst->sink.lines = lines;
    zst->sink.end = end;
    pipeline_add_sink(pipeline, &zst->sink);
    return 0;
}
