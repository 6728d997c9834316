/* NDJSON, plain or in zstd frames, to one file; what goes wrong with it is told once. */
#include <stdlib.h>

#include "line_file.h"
#include "log.h"
#include "sinks.h"

struct lines_sink {
    struct sink sink;
    struct line_file file;
};

static void check(struct lines_sink *lines, int result)
{
    if (result == 0 || lines->file.file.failed)
        return;
    output_file_fail(&lines->file.file, -result);
    pipeline_sink_failed(lines->sink.pipeline, &lines->sink);
}

static void take_lines(struct sink *sink, const struct line_batch *batch)
{
    struct lines_sink *lines = (struct lines_sink *)sink;

    if (!lines->file.file.failed)
        check(lines, line_file_lines(&lines->file, batch));
}

static void end(struct sink *sink)
{
    struct lines_sink *lines = (struct lines_sink *)sink;

    check(lines, line_file_end(&lines->file));
    pipeline_sink_closed(sink->pipeline, sink);
    free(lines);
}

int sink_lines_open(struct pipeline *pipeline, const char *path, bool packed)
{
    struct lines_sink *lines = calloc(1, sizeof(*lines));
    int result;

    if (!lines) {
        log_error("cannot open %s: no memory", path);
        return EXIT_NOTHING;
    }
    result = line_file_open(&lines->file, path, packed);
    if (result != 0) {
        free(lines);
        return result;
    }
    lines->sink.name = path;
    lines->sink.lines = take_lines;
    lines->sink.end = end;
    pipeline_add_sink(pipeline, &lines->sink);
    return 0;
}
