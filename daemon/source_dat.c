/* A trace.dat file as a source: one merge input over the reader's own merge of CPUs and buffers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "source_files.h"
#include "tracerd/reader.h"

struct dat_source {
    struct source source;
    struct trd_merge_input input;
    struct pipeline *pipeline;
    struct trd_reader *reader; /* owned */
    struct ledger ledger;
    const char *path; /* borrowed from argv */
    bool stopped;
};

void source_set_name(struct source *source, const char *path)
{
    const char *base = strrchr(path, '/');

    (void)snprintf(source->name, sizeof(source->name), "%s", base ? base + 1 : path);
}

static void count(struct ledger *ledger, const struct trd_record *record)
{
    if (record->kind != TRD_KIND_LOST) {
        ledger->produced++;
        ledger->delivered++;
    } else if (record->lost == TRD_LOST_UNKNOWN) {
        ledger->unknown++;
    } else {
        ledger->produced += record->lost;
        ledger->lost += record->lost;
    }
}

/* Everything that could not be read, one sentence each. */
static void tell_damage(struct dat_source *dat)
{
    const struct trd_damage *damage;

    for (size_t i = 0; (damage = trd_reader_damage(dat->reader, i)); i++) {
        log_error("%s: %s", dat->source.name, damage->what ? damage->what : "damaged");
        dat->ledger.damaged_bytes += damage->bytes;
        pipeline_set_partial(dat->pipeline);
    }
}

static int next(struct trd_merge_input *input, struct trd_record *out)
{
    struct dat_source *dat =
        (struct dat_source *)((char *)input - offsetof(struct dat_source, input));
    int result = dat->stopped ? 0 : trd_reader_next(dat->reader, out);

    if (result == 1) {
        count(&dat->ledger, out);
        return 1;
    }
    tell_damage(dat);
    pipeline_source_ended(dat->pipeline, &dat->source);
    return 0;
}

static void stop(struct source *source)
{
    ((struct dat_source *)source)->stopped = true;
}

static void account(struct source *source, struct ledger *out)
{
    *out = ((struct dat_source *)source)->ledger;
}

static void destroy(struct source *source)
{
    struct dat_source *dat = (struct dat_source *)source;

    trd_reader_destroy(dat->reader);
    free(dat);
}

/* Files of different clocks on one timeline are a lie, unless marked (C13). */
static void name_clock(struct dat_source *dat)
{
    const struct trd_reader_buffer *buffer = trd_reader_buffer(dat->reader, 0);
    static const char *const known[] = { "mono", "local", "global", "boot",    "mono_raw",
                                         "tai",  "perf",  "uptime", "counter", "x86-tsc" };

    for (size_t i = 0; buffer && i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(buffer->clock, known[i]) == 0)
            dat->source.clock = known[i];
}

int source_dat_open(struct pipeline *pipeline, const char *path)
{
    struct dat_source *dat = calloc(1, sizeof(*dat));
    char error[256] = "no memory";

    if (!dat || trd_reader_open(&dat->reader, path, error, sizeof(error)) != 0) {
        log_error("cannot read %s: %s", path, error);
        free(dat);
        return EXIT_NOTHING;
    }
    dat->source.stop = stop;
    dat->source.account = account;
    dat->source.destroy = destroy;
    dat->input.next = next;
    dat->pipeline = pipeline;
    dat->path = path;
    source_set_name(&dat->source, path);
    name_clock(dat);
    pipeline_add_catalog(pipeline, trd_reader_catalog(dat->reader));
    pipeline_add_source(pipeline, &dat->source);
    (void)pipeline_add_input(pipeline, &dat->input);
    return 0;
}
