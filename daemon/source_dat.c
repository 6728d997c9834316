/* A trace.dat file as a source: one merge input over the reader's own merge of CPUs and buffers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alignment.h"
#include "log.h"
#include "source_files.h"
#include "tracerd/align.h"
#include "tracerd/lines.h"
#include "tracerd/reader.h"

struct dat_source {
    struct source source;
    struct trd_merge_input input;
    struct pipeline *pipeline;
    struct trd_reader *reader; /* owned */
    char *path;                /* owned */
    struct ledger ledger;      /* but for the events */
    uint64_t events;
    bool mixed_clocks;
    bool stopped;
};

static void count_loss(struct ledger *ledger, const struct trd_record *record)
{
    if (record->lost == TRD_LOST_UNKNOWN) {
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

/* Times of different clocks on one line are a lie, unless marked. Of a file with several. */
static bool is_unaligned(const struct dat_source *dat, const char *stream)
{
    const struct trd_reader_buffer *buffer;

    if (!stream)
        return false;
    for (size_t i = 1; (buffer = trd_reader_buffer(dat->reader, i)); i++)
        if (strcmp(buffer->name, stream) == 0)
            return strcmp(buffer->clock, trd_reader_buffer(dat->reader, 0)->clock) != 0;
    return false;
}

/* Whose thread it is, for whoever wrote the file did know; told to enrich, and to nobody else. */
static bool is_owner(struct dat_source *dat, const struct trd_record *record)
{
    if (record->kind != TRD_KIND_DEFINITION || strcmp(record->name, "thread_owner") != 0)
        return false;
    (void)trd_enrich_set_thread(pipeline_enrich(dat->pipeline), record->tid, record->pid);
    return true;
}

static int next_record(struct dat_source *dat, struct trd_record *out)
{
    int result;

    do
        result = dat->stopped ? 0 : trd_reader_next(dat->reader, out);
    while (result == 1 && is_owner(dat, out));
    return result;
}

static int next(struct trd_merge_input *input, struct trd_record *out)
{
    struct dat_source *dat =
        (struct dat_source *)((char *)input - offsetof(struct dat_source, input));
    int result = next_record(dat, out);

    if (result == 1) {
        if (out->kind != TRD_KIND_LOST)
            dat->events++;
        else
            count_loss(&dat->ledger, out);
        if (dat->mixed_clocks && is_unaligned(dat, out->stream))
            out->flags |= TRD_RECORD_F_UNALIGNED;
        alignment_apply(&dat->source, out);
        return 1;
    }
    tell_damage(dat);
    pipeline_source_ended(dat->pipeline, &dat->source);
    return 0;
}

static void count(struct source *source, const struct trd_lines_batch *batch)
{
    struct dat_source *dat = (struct dat_source *)source;

    dat->events += batch->events;
    dat->ledger.produced += batch->lost;
    dat->ledger.lost += batch->lost;
    dat->ledger.unknown += batch->unknown_lost;
}

static int gather(struct source *source, struct trd_evidence *evidence)
{
    const struct dat_source *dat = (const struct dat_source *)source;
    struct trd_reader *reader;
    struct trd_record record;
    char error[256];
    int result = trd_reader_open(&reader, dat->path, error, sizeof(error));

    if (result != 0)
        return result;
    while (trd_reader_next(reader, &record) == 1)
        trd_evidence_add(evidence, &record);
    trd_reader_destroy(reader);
    return 0;
}

static void stop(struct source *source)
{
    ((struct dat_source *)source)->stopped = true;
}

static void account(struct source *source, struct ledger *out)
{
    const struct dat_source *dat = (const struct dat_source *)source;

    *out = dat->ledger;
    out->produced += dat->events;
    out->delivered += dat->events;
}

static void destroy(struct source *source)
{
    struct dat_source *dat = (struct dat_source *)source;

    trd_reader_destroy(dat->reader);
    free(dat->path);
    free(dat);
}

/* The top buffer's clock is the file's; an instance may run on another one. */
static void name_clock(struct dat_source *dat)
{
    const struct trd_reader_buffer *buffer = trd_reader_buffer(dat->reader, 0);

    if (buffer)
        dat->source.clock = source_clock_name(buffer->clock);
    for (size_t i = 1; (buffer = trd_reader_buffer(dat->reader, i)); i++)
        if (strcmp(buffer->clock, trd_reader_buffer(dat->reader, 0)->clock) != 0) {
            log_notice("%s: instance \"%s\" has a clock of its own (%s); its records are marked as "
                       "unaligned",
                       dat->source.name, buffer->name, buffer->clock);
            dat->mixed_clocks = true;
        }
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
    dat->source.owns_schemas = true;
    dat->source.count = count;
    dat->input.next = next;
    dat->pipeline = pipeline;
    source_set_name(&dat->source, path);
    name_clock(dat);
    dat->path = strdup(path);
    if (!dat->mixed_clocks) {
        dat->source.reader = dat->reader;
        dat->source.gather = dat->path ? gather : NULL;
    }
    pipeline_add_catalog(pipeline, trd_reader_catalog(dat->reader));
    pipeline_add_source(pipeline, &dat->source);
    (void)pipeline_add_input(pipeline, &dat->source, &dat->input);
    return 0;
}
