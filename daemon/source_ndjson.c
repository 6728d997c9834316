/*
 * A recording of tracerd as a source. Lines come back as they were: the args of an event are handed
 * on as the text they are, the envelope is read with jansson. hello, bye and hb belong to the
 * recording and are not repeated; spans and definitions are, so nothing is derived twice.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alignment.h"
#include "log.h"
#include "ndjson_line.h"
#include "source_files.h"
#include "tracerd/align.h"
#include "zst_frames.h"

#define NAMES_MAX 4096 /* kinds of events in one file */
#define LINE_SIZE (NDJSON_LINE_MAX + 2)

struct ndjson_source {
    struct source source;
    struct trd_merge_input input;
    struct pipeline *pipeline;
    struct recording_part *parts; /* owned; the files, one after the other */
    size_t part_count, part;
    FILE *file;                /* owned; of the part that is read */
    char *line;                /* owned, LINE_SIZE; the last one read */
    struct ndjson_line parsed; /* strings of the last record live here and in `line` */
    char *names[NAMES_MAX];    /* owned; interned, since rows are kept by address */
    size_t name_count;
    uint64_t line_number;
    uint64_t last_ts_ns;
    uint64_t bad_lines; /* since the last good one: told before the next */
    uint64_t all_bad_lines;
    uint64_t first_bad;
    uint64_t bad_line_number; /* of the last one */
    struct trd_record held;   /* waits behind the loss that bad lines were */
    bool has_held;
    struct ledger ledger;
    struct zst_damage zst;
    uint64_t next_seq; /* of the line that comes, in a recording in parts */
    bool end_seen;     /* of this file: bye, or next */
    bool gap;          /* a part is missing: told as a loss before the next record */
    int64_t offset_ns; /* of its lines' clock, as the last anchor has it */
    bool stopped;
};

static const char *intern(struct ndjson_source *ndjson, const char *name)
{
    for (size_t i = ndjson->name_count; i-- > 0;)
        if (strcmp(ndjson->names[i], name) == 0)
            return ndjson->names[i];
    if (ndjson->name_count == NAMES_MAX)
        return "(too many names)";
    ndjson->names[ndjson->name_count] = strdup(name);
    return ndjson->names[ndjson->name_count] ? ndjson->names[ndjson->name_count++] : "?";
}

static void count(struct ledger *ledger, const struct trd_record *record)
{
    if (record->kind == TRD_KIND_EVENT) {
        ledger->produced++;
        ledger->delivered++;
    } else if (record->kind == TRD_KIND_LOST && record->lost == TRD_LOST_UNKNOWN) {
        ledger->unknown++;
    } else if (record->kind == TRD_KIND_LOST) {
        ledger->produced += record->lost;
        ledger->lost += record->lost;
    }
}

/* The recording was cut off, or whoever wrote it was: told in one sentence. */
static void tell_cut(struct ndjson_source *ndjson)
{
    log_error("%s: the recording has no end (was it cut or interrupted?); all up to line %" PRIu64
              " was read%s",
              source_base_name(ndjson->parts[ndjson->part].path),
              ndjson->line_number - ndjson->all_bad_lines,
              ndjson->all_bad_lines + ndjson->zst.bytes > 0 ? ", what follows is damaged" : "");
    ndjson->ledger.damaged_bytes += ndjson->zst.bytes;
    pipeline_set_partial(ndjson->pipeline);
}

/* Of the file that was read: what is wrong with it. */
static void tell_damage(struct ndjson_source *ndjson)
{
    const char *path = ndjson->parts[ndjson->part].path;
    bool cut = !ndjson->end_seen && !ndjson->stopped;

    /* Where it ends before its end, damage there is the same thing. */
    if (cut && ndjson->all_bad_lines ==
                   (ndjson->line_number > 0 && ndjson->bad_line_number == ndjson->line_number)) {
        tell_cut(ndjson);
        return;
    }
    if (ndjson->zst.bytes > 0) {
        log_error("%s: %" PRIu64 " compressed bytes from offset %" PRIu64
                  " on are damaged or cut off and were skipped",
                  source_base_name(path), ndjson->zst.bytes, ndjson->zst.first_at);
        ndjson->ledger.damaged_bytes += ndjson->zst.bytes;
        pipeline_set_partial(ndjson->pipeline);
    }
    if (ndjson->all_bad_lines > 0) {
        log_error("%s: %" PRIu64 " lines are damaged and were skipped, the first is line %" PRIu64,
                  source_base_name(path), ndjson->all_bad_lines, ndjson->first_bad);
        pipeline_set_partial(ndjson->pipeline);
    }
    if (cut) {
        log_error(
            "%s: the recording has no end (was it cut or interrupted?); all it holds was read",
            source_base_name(path));
        pipeline_set_partial(ndjson->pipeline);
    }
}

static void open_file(struct ndjson_source *ndjson)
{
    const struct recording_part *part = &ndjson->parts[ndjson->part];

    ndjson->file = part->packed ? zst_open(part->path, &ndjson->zst) : fopen(part->path, "re");
}

/* The part that is read next, if it can be; false after one sentence. */
static bool open_part(struct ndjson_source *ndjson)
{
    const struct recording_part *part = &ndjson->parts[ndjson->part];

    ndjson->line_number = ndjson->all_bad_lines = ndjson->bad_line_number = 0;
    ndjson->end_seen = false;
    ndjson->zst = (struct zst_damage){ 0 };
    open_file(ndjson);
    if (!ndjson->file)
        log_error("cannot open the file: path=%s, error=\"%s\"", part->path, strerror(errno));
    return ndjson->file != NULL;
}

/* Lines between what was read and the part that comes are in none of the files. */
static void tell_gap(struct ndjson_source *ndjson)
{
    const struct recording_part *part = &ndjson->parts[ndjson->part];

    if (part->first_seq <= ndjson->next_seq || ndjson->part == 0)
        return;
    log_error("%s: the lines from number %" PRIu64 " to %" PRIu64
              " of the recording are missing before this part",
              source_base_name(part->path), ndjson->next_seq, part->first_seq - 1);
    pipeline_set_partial(ndjson->pipeline);
    ndjson->gap = true;
}

/* False: that was the last one. */
static bool next_part(struct ndjson_source *ndjson)
{
    while (ndjson->part + 1 < ndjson->part_count && !ndjson->stopped) {
        if (ndjson->file) {
            tell_damage(ndjson);
            fclose(ndjson->file);
        }
        ndjson->part++;
        if (open_part(ndjson)) {
            tell_gap(ndjson);
            return true;
        }
        pipeline_set_partial(ndjson->pipeline);
    }
    return false;
}

static void end(struct ndjson_source *ndjson)
{
    const struct recording_part *last = &ndjson->parts[ndjson->part_count - 1];

    if (ndjson->file)
        tell_damage(ndjson);
    if (ndjson->parsed.is_next && !ndjson->stopped)
        log_notice("%s: the recording goes on in part %" PRIu64 ", which is not among the files",
                   source_base_name(last->path), last->part + 1);
    pipeline_source_ended(ndjson->pipeline, &ndjson->source);
}

static void note_bad_line(struct ndjson_source *ndjson)
{
    if (ndjson->all_bad_lines++ == 0)
        ndjson->first_bad = ndjson->line_number;
    ndjson->bad_line_number = ndjson->line_number;
    ndjson->bad_lines++;
}

/* Bytes of the next line, its end included; 0 at the end of the file. What does not fit is passed
 * over: the line is too long then, whoever parses it will say. */
static size_t read_line(struct ndjson_source *ndjson)
{
    size_t size = 0;
    int byte;

    while (ndjson->file && (byte = getc_unlocked(ndjson->file)) != EOF) {
        if (size < LINE_SIZE)
            ndjson->line[size++] = (char)byte;
        if (byte == '\n')
            break;
    }
    return size;
}

/* Lines of a recording made with --clock are in another clock than the timeline: by the anchor that
 * was told last. */
static void unshift(struct ndjson_source *ndjson, const struct json_t *anchor_object)
{
    struct clock_anchor anchor;

    if (clock_anchor_parse(&anchor, anchor_object))
        ndjson->offset_ns = output_clock_offset(ndjson->source.written_clock, &anchor);
}

static void to_timeline(struct ndjson_source *ndjson, struct trd_record *record)
{
    if (record->kind == TRD_KIND_ANCHOR) {
        unshift(ndjson, json_object_get(ndjson->parsed.object, "anchor"));
        return; /* its time is the anchor's own */
    }
    record->ts_ns -= (uint64_t)ndjson->offset_ns;
    if (record->kind == TRD_KIND_LOST)
        record->lost_from_ns -= (uint64_t)ndjson->offset_ns;
}

/* Whether the line that was parsed stood in an earlier part already: parts begin with what was
 * defined before them. */
static bool is_repeated(struct ndjson_source *ndjson)
{
    if (ndjson->parts[ndjson->part].part == 0 || ndjson->parsed.is_next)
        return false;
    if (ndjson->parsed.seq < ndjson->next_seq)
        return true;
    ndjson->next_seq = ndjson->parsed.seq + 1;
    return false;
}

/* 1 and a record, 0 at the end of the last file. */
static int read_record(struct ndjson_source *ndjson, struct trd_record *out)
{
    while (!ndjson->stopped) {
        size_t size = read_line(ndjson);
        int result;

        if (size == 0 && next_part(ndjson))
            continue;
        if (size == 0)
            return 0;
        ndjson->line_number++;
        result = ndjson_line_parse(&ndjson->parsed, ndjson->line, size, out);
        if (result == 0)
            ndjson->end_seen |= ndjson->parsed.is_bye || ndjson->parsed.is_next;
        if (result == 0 && ndjson->parsed.is_hello)
            unshift(ndjson, json_object_get(ndjson->parsed.object, "anchor"));
        if (result >= 0 && is_repeated(ndjson))
            continue;
        if (result == 1) {
            if (out->name)
                out->name = intern(ndjson, out->name);
            to_timeline(ndjson, out);
            return 1;
        }
        if (result < 0)
            note_bad_line(ndjson);
    }
    return 0;
}

/* Damaged lines, as one loss between the good ones; or missing ones, of whom nobody knows what they
 * were. */
static void tell_loss(struct ndjson_source *ndjson, uint64_t ts_ns, struct trd_record *out)
{
    trd_record_init(out);
    out->kind = TRD_KIND_LOST;
    out->source = TRD_SOURCE_TRACERD;
    out->stream = ndjson->source.name;
    out->lost_from_ns = ndjson->last_ts_ns;
    out->ts_ns = ts_ns;
    out->lost = ndjson->gap ? TRD_LOST_UNKNOWN : ndjson->bad_lines;
    ndjson->bad_lines = 0;
    ndjson->gap = false;
}

static int hand_out(struct ndjson_source *ndjson, struct trd_record *out)
{
    count(&ndjson->ledger, out);
    ndjson->last_ts_ns = out->ts_ns;
    alignment_apply(&ndjson->source, out);
    return 1;
}

static int next(struct trd_merge_input *input, struct trd_record *out)
{
    struct ndjson_source *ndjson =
        (struct ndjson_source *)((char *)input - offsetof(struct ndjson_source, input));

    if (!ndjson->has_held)
        ndjson->has_held = read_record(ndjson, &ndjson->held) == 1;
    if (ndjson->bad_lines > 0 || ndjson->gap) {
        tell_loss(ndjson, ndjson->has_held ? ndjson->held.ts_ns : ndjson->last_ts_ns, out);
        return hand_out(ndjson, out);
    }
    if (ndjson->has_held) {
        ndjson->has_held = false;
        *out = ndjson->held;
        return hand_out(ndjson, out);
    }
    end(ndjson);
    return 0;
}

static void stop(struct source *source)
{
    ((struct ndjson_source *)source)->stopped = true;
}

static void account(struct source *source, struct ledger *out)
{
    *out = ((struct ndjson_source *)source)->ledger;
}

static void destroy(struct source *source)
{
    struct ndjson_source *ndjson = (struct ndjson_source *)source;

    ndjson_line_finish(&ndjson->parsed);
    json_decref(ndjson->source.origin);
    free(ndjson->line);
    free(ndjson->parts);
    if (ndjson->file)
        fclose(ndjson->file);
    for (size_t i = 0; i < ndjson->name_count; i++)
        free(ndjson->names[i]);
    free(ndjson);
}

#define ORIGIN_TEXT_MAX 256 /* a host name, a UUID, a time: anything longer is none of these */

static void take_text(json_t *to, const json_t *from, const char *key)
{
    json_t *text = json_object_get(from, key);

    if (json_is_string(text) && json_string_length(text) <= ORIGIN_TEXT_MAX)
        json_object_set(to, key, text);
}

static json_t *read_anchor(const json_t *hello)
{
    const json_t *anchor = json_object_get(hello, "anchor");
    json_t *object = json_object();

    take_text(object, anchor, "mono");
    take_text(object, anchor, "realtime");
    take_text(object, anchor, "boot");
    take_text(object, anchor, "error_ns");
    take_text(object, anchor, "utc");
    return object;
}

/* What --clock made of CLOCK_MONOTONIC can be told back where there is an anchor. */
static void set_clock(struct ndjson_source *ndjson, const char *name)
{
    enum output_clock clock = output_clock_find(name);
    struct clock_anchor anchor;
    bool is_tied = clock_anchor_parse(&anchor, json_object_get(ndjson->source.origin, "anchor"));

    ndjson->source.clock = source_clock_name(name);
    if ((clock != OUTPUT_CLOCK_REALTIME && clock != OUTPUT_CLOCK_BOOT) || !is_tied ||
        (clock == OUTPUT_CLOCK_BOOT && !anchor.boot_ns))
        return;
    ndjson->source.clock = "mono";
    ndjson->source.written_clock = clock;
}

/* What `hello` says of where the recording comes from, if the first line is one. */
static void read_origin(struct ndjson_source *ndjson)
{
    size_t size = read_line(ndjson);
    json_t *hello = json_loadb(ndjson->line, size, 0, NULL);
    const char *clock = json_string_value(json_object_get(hello, "clock"));

    ndjson->source.origin = json_object();
    take_text(ndjson->source.origin, hello, "host");
    take_text(ndjson->source.origin, hello, "boot_id");
    if (json_is_object(json_object_get(hello, "anchor")))
        json_object_set_new(ndjson->source.origin, "anchor", read_anchor(hello));
    if (clock)
        set_clock(ndjson, clock);
    json_decref(hello);
    rewind(ndjson->file);
}

static int fail_to_open(struct ndjson_source *ndjson)
{
    free(ndjson->line);
    free(ndjson->parts);
    free(ndjson);
    return EXIT_NOTHING;
}

static struct ndjson_source *create(const struct recording_part *parts, size_t count)
{
    struct ndjson_source *ndjson = calloc(1, sizeof(*ndjson));

    if (!ndjson)
        return NULL;
    ndjson->line = malloc(LINE_SIZE);
    ndjson->parts = malloc(count * sizeof(*parts));
    if (!ndjson->line || !ndjson->parts) {
        (void)fail_to_open(ndjson);
        return NULL;
    }
    memcpy(ndjson->parts, parts, count * sizeof(*parts));
    ndjson->part_count = count;
    return ndjson;
}

/* Beside the reading itself, which tells what is damaged. */
static int gather(struct source *source, struct trd_evidence *evidence)
{
    const struct ndjson_source *ndjson = (const struct ndjson_source *)source;
    struct ndjson_source *probe = create(ndjson->parts, ndjson->part_count);
    struct trd_record record;
    size_t size;

    if (!probe)
        return -ENOMEM;
    probe->source.written_clock = ndjson->source.written_clock;
    unshift(probe, json_object_get(ndjson->source.origin, "anchor"));
    for (; probe->part < probe->part_count; probe->part++) {
        open_file(probe);
        while ((size = read_line(probe)) > 0)
            if (ndjson_line_parse(&probe->parsed, probe->line, size, &record) == 1) {
                to_timeline(probe, &record);
                trd_evidence_add(evidence, &record);
            }
        if (probe->file)
            fclose(probe->file);
        probe->file = NULL;
    }
    destroy(&probe->source);
    return 0;
}

int source_ndjson_open(struct pipeline *pipeline, const struct recording_part *parts, size_t count)
{
    struct ndjson_source *ndjson = create(parts, count);

    if (!ndjson) {
        log_error("cannot open the file: path=%s, error=\"no memory\"", parts->path);
        return EXIT_NOTHING;
    }
    if (!open_part(ndjson))
        return fail_to_open(ndjson);
    ndjson->source.stop = stop;
    ndjson->source.account = account;
    ndjson->source.destroy = destroy;
    ndjson->source.owns_schemas = true;
    ndjson->source.gather = gather;
    ndjson->input.next = next;
    ndjson->pipeline = pipeline;
    source_set_name(&ndjson->source, parts->path);
    read_origin(ndjson);
    if (parts->part > 1)
        log_notice("%s: the recording begins with part %" PRIu64 " of it", ndjson->source.name,
                   parts->part);
    pipeline_add_unknown_fields(pipeline);
    pipeline_add_source(pipeline, &ndjson->source);
    (void)pipeline_add_input(pipeline, &ndjson->source, &ndjson->input);
    return 0;
}
