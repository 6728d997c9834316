#include "sinks.h"

#include <stdlib.h>

#include "log.h"
#include "output_file.h"

struct file_sink {
    struct sink sink;
    struct output_file file;
};

static void check(struct file_sink *file, int result)
{
    if (result == 0 || file->file.failed)
        return;
    output_file_fail(&file->file, -result);
    pipeline_sink_failed(file->sink.pipeline);
}

static void lines(struct sink *sink, const struct line_batch *batch)
{
    struct file_sink *file = (struct file_sink *)sink;

    if (!file->file.failed)
        check(file, output_file_write(&file->file, batch->bytes, batch->size));
}

static void end(struct sink *sink)
{
    struct file_sink *file = (struct file_sink *)sink;

    check(file, output_file_close(&file->file));
    pipeline_sink_closed(sink->pipeline, sink);
    free(file);
}

int sink_file_open(struct pipeline *pipeline, const char *path)
{
    struct file_sink *file = calloc(1, sizeof(*file));

    if (!file) {
        log_error("cannot open %s: no memory", path);
        return EXIT_NOTHING;
    }
    if (output_file_open(&file->file, path) != 0) {
        free(file);
        return EXIT_USAGE;
    }
    file->sink.lines = lines;
    file->sink.end = end;
    pipeline_add_sink(pipeline, &file->sink);
    return 0;
}
