/* Sinks whose form takes records: each is a writer of common/ over a file. */
#include <stdlib.h>

#include "log.h"
#include "output_file.h"
#include "sinks.h"
#include "stream_lines.h"
#include "tracerd/chrome.h"
#include "tracerd/enrich.h"
#include "tracerd/perfetto.h"

struct record_sink {
    struct sink sink;
    struct output_file file;
    struct trd_perfetto *perfetto; /* owned; one of both */
    struct trd_chrome *chrome;
};

static void check(struct record_sink *records, int result)
{
    if (result == 0 || records->file.failed)
        return;
    output_file_fail(&records->file, -result);
    pipeline_sink_failed(records->sink.pipeline, &records->sink);
}

static void close_sink(struct record_sink *records)
{
    check(records, output_file_close(&records->file));
    trd_perfetto_destroy(records->perfetto);
    trd_chrome_destroy(records->chrome);
    pipeline_sink_closed(records->sink.pipeline, &records->sink);
    free(records);
}

static struct record_sink *open_sink(struct pipeline *pipeline, const char *path)
{
    struct record_sink *records = calloc(1, sizeof(*records));

    (void)pipeline;
    if (!records) {
        log_error("cannot open %s: no memory", path);
        return NULL;
    }
    records->sink.name = path;
    if (output_file_open(&records->file, path) == 0)
        return records;
    free(records);
    return NULL;
}

static int fail_to_open(struct record_sink *records)
{
    log_error("cannot open %s: no memory", records->file.path);
    (void)output_file_close(&records->file);
    free(records);
    return EXIT_NOTHING;
}

/* Perfetto */

static void perfetto_record(struct sink *sink, const struct trd_record *record)
{
    struct record_sink *records = (struct record_sink *)sink;

    if (!records->file.failed)
        check(records, trd_perfetto_record(records->perfetto, record));
}

static void perfetto_end(struct sink *sink)
{
    struct record_sink *records = (struct record_sink *)sink;

    if (!records->file.failed)
        check(records, trd_perfetto_flush(records->perfetto));
    close_sink(records);
}

int sink_perfetto_open(struct pipeline *pipeline, const char *path)
{
    struct record_sink *records = open_sink(pipeline, path);
    struct clock_anchor anchor;

    if (!records)
        return EXIT_USAGE;
    if (trd_perfetto_create(&records->perfetto, trd_enrich_names(pipeline_enrich(pipeline)),
                            output_file_write, &records->file) != 0)
        return fail_to_open(records);
    records->sink.record = perfetto_record;
    records->sink.end = perfetto_end;
    pipeline_add_sink(pipeline, &records->sink);
    if (pipeline_is_live(pipeline)) {
        clock_anchor_take(&anchor);
        check(records, trd_perfetto_anchor(records->perfetto, anchor.mono_ns, anchor.realtime_ns));
    }
    return 0;
}

/* Chrome */

static void chrome_record(struct sink *sink, const struct trd_record *record)
{
    struct record_sink *records = (struct record_sink *)sink;

    if (!records->file.failed)
        check(records, trd_chrome_record(records->chrome, record));
}

static void chrome_catalog(struct sink *sink, const struct trd_catalog *catalog)
{
    trd_chrome_add_catalog(((struct record_sink *)sink)->chrome, catalog);
}

static void chrome_end(struct sink *sink)
{
    struct record_sink *records = (struct record_sink *)sink;

    if (!records->file.failed)
        check(records, trd_chrome_end(records->chrome));
    close_sink(records);
}

int sink_chrome_open(struct pipeline *pipeline, const char *path)
{
    struct record_sink *records = open_sink(pipeline, path);

    if (!records)
        return EXIT_USAGE;
    if (trd_chrome_create(&records->chrome, trd_enrich_names(pipeline_enrich(pipeline)),
                          output_file_write, &records->file) != 0)
        return fail_to_open(records);
    records->sink.record = chrome_record;
    records->sink.catalog = chrome_catalog;
    records->sink.end = chrome_end;
    pipeline_add_sink(pipeline, &records->sink);
    return 0;
}
