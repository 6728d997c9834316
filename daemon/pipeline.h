/*
 * The way of every record: sources -> merge -> enrich -> sinks, on one libuv loop. The pipeline
 * owns the merge, the per-thread state, the JSON writer, the sinks and the ledger; sources own
 * their inputs and what lies behind them. Sources and sinks know this header, never each other.
 */
#ifndef TRACERD_DAEMON_PIPELINE_H
#define TRACERD_DAEMON_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "clock_anchor.h"
#include "event.h"
#include "options.h"
#include "tracerd/catalog.h"
#include "tracerd/enrich.h"
#include "tracerd/merge.h"

struct pipeline;
struct trd_reader;
struct trd_lines_batch;
struct trd_alignment;
struct trd_evidence;

/* For every source: produced = delivered + lost. Loss the source cannot count is `unknown` losses.
 */
struct ledger {
    uint64_t produced;
    uint64_t delivered; /* handed to the merge; some of them may be selected out behind it */
    uint64_t lost;
    uint64_t unknown; /* loss records without a count */
    uint64_t damaged_bytes;
    uint64_t stamp_error_ns; /* how far a time may be off that was converted from another clock */
    /* Of those lost: dropped by the rings of the threads that made them, as the rings count. */
    uint64_t dropped[TRD_CATEGORY_COUNT];
};

/*
 * A source; embed it first. All functions are called on the loop's thread. Of the records that its
 * inputs hand out, a SPAN carries its end as ts_ns: that is its place in the stream; the pipeline
 * turns it into the beginning.
 */
struct source {
    char name[64]; /* "ftrace", "clr 4242", a file's base name: as `hello`, `bye` and the summary
                      call it */
    /*
     * Stop capturing, deliver what was recorded up to now, end every input, then call
     * pipeline_source_ended: at once or later. Called at most once; not after the source ended.
     */
    void (*stop)(struct source *source);
    /* Others have news: bring the own watermark up to now, unless that was done a moment ago, so
     * that one turn of the loop serves all. NULL: nothing to be had by asking. */
    void (*refresh)(struct source *source);
    /* A thread whose own doings are of no interest: ours, in a traced process. NULL: none are told
     * anyway. */
    void (*leave_out)(struct source *source, pid_t tid);
    /* A traced process has said who it is on a connection that was accepted at `since_ns`. If this
     * is an earlier connection of the same load of the profiler, it has been left; true if it is a
     * later one. NULL: is none. */
    bool (*meet)(struct source *source, pid_t pid, uint64_t instance, uint64_t since_ns);
    /* The figures so far; final once the source ended. */
    void (*account)(struct source *source, struct ledger *out);
    /* Free everything. Its inputs have been removed and no handle of it may be open on the loop:
     * a source closes its handles before it calls pipeline_source_ended. */
    void (*destroy)(struct source *source);
    const char *clock; /* "mono", or what a file says; static text; NULL = unknown */
    /* What a recording says of its origin (host, boot_id, anchor), for `hello`; owned by the
     * source, NULL = none. */
    struct json_t *origin;
    /* A recording whose lines were in this clock; the source hands out what they were before. */
    enum output_clock written_clock;
    /* Set by the pipeline before the first record is asked for: the clock is not that of the other
     * files, and records must say so (TRD_RECORD_F_UNALIGNED). */
    bool unaligned;
    /* Likewise: the way from its clock to that of the timeline, which its records must take; owned
     * by the pipeline, NULL = none to go. `aligned_by` says what it rests on, static text. */
    struct trd_alignment *alignment;
    const char *aligned_by;
    /* A file reads itself once more, from its beginning, for what may align it with others
     * (tracerd/align.h). 0 or a negative errno. NULL: nothing of it would help. */
    int (*gather)(struct source *source, struct trd_evidence *evidence);
    /* Schemas and names of its records are its own: destroyed with the pipeline, not at its end,
     * since plans and counts refer to them until then. */
    bool owns_schemas;
    /* A file whose records need no word with other sources', nothing of it read yet: if it is the
     * only source, the pipeline may have lines made of its records (tracerd/lines.h) before it asks
     * the input for the rest; `count` then gets the figures. NULL otherwise. */
    struct trd_reader *reader;
    void (*count)(struct source *source, const struct trd_lines_batch *batch);
    /* private to the pipeline */
    struct source *next;
    bool stopping;
    bool ended;
    struct stall {
        uint64_t since_ns; /* what it promised last */
        unsigned looks;    /* times in a row that it was found to stall */
        bool found;
        bool told;
    } stall;
};

/*
 * Opens the sinks named in the options (all of them, or none and one sentence on stderr; EXIT_…).
 * `done` is called once, when every source has ended and every sink is closed.
 */
int pipeline_create(struct pipeline **out, uv_loop_t *loop, const struct options *options,
                    void (*done)(struct pipeline *pipeline, void *context), void *context);
void pipeline_destroy(struct pipeline *pipeline);

/* Ownership moves to the pipeline, which calls destroy at its own end or after the source ended. */
void pipeline_add_source(struct pipeline *pipeline, struct source *source);
/* `source`: told in the stream when its inputs stall; NULL = waited for by nobody in particular. */
int pipeline_add_input(struct pipeline *pipeline, struct source *source,
                       struct trd_merge_input *input);
void pipeline_remove_input(struct pipeline *pipeline, struct trd_merge_input *input);
/* All inputs have ended. Destroys the source, not before the present callback has returned. */
void pipeline_source_ended(struct pipeline *pipeline, struct source *source);
/* Of a traced process: asks every source to leave_out it. */
void pipeline_leave_out(struct pipeline *pipeline, pid_t tid);
/* Has every other source `meet` the connection `source`; whether one of them is later. */
bool pipeline_meet(struct pipeline *pipeline, const struct source *source, pid_t pid,
                   uint64_t instance, uint64_t since_ns);
/* Input was damaged or could not be opened, and a sentence has said so: the exit code becomes
 * EXIT_PARTIAL, or EXIT_NOTHING if nobody delivered anything. Losses that the ledger counts need
 * not be told with this. */
void pipeline_set_partial(struct pipeline *pipeline);

/*
 * Moves what is ready from the inputs to the sinks. Sources call it whenever they have new records
 * or a new watermark; a bounded number of records a call, the rest on the loop's next turn.
 */
void pipeline_pump(struct pipeline *pipeline);

/* Nothing needs the records of the kernel: every sink takes its pages, and no filter or summary
 * asks. */
bool pipeline_takes_pages(const struct pipeline *pipeline);
void pipeline_page(struct pipeline *pipeline, uint32_t cpu, const uint8_t *bytes, size_t size);
void pipeline_page_reached(struct pipeline *pipeline, uint32_t cpu, uint64_t ts_ns);
void pipeline_cmdlines(struct pipeline *pipeline, const char *text, size_t size);
/* What the merge promises: records before this have all been handed to the sinks. */
uint64_t pipeline_watermark(const struct pipeline *pipeline);
/* Of this machine and of now. */
bool pipeline_is_live(const struct pipeline *pipeline);
const struct options *pipeline_options(const struct pipeline *pipeline);
uv_loop_t *pipeline_loop(struct pipeline *pipeline);
/* For sources: names, thread ownership. */
struct trd_enrich *pipeline_enrich(struct pipeline *pipeline);
/* Symbols of a kernel whose schemas a source hands out; must outlive the pipeline's last record. */
void pipeline_add_catalog(struct pipeline *pipeline, const struct trd_catalog *catalog);
/* A source hands out events whose fields nobody describes beforehand: --filter may name any. */
void pipeline_add_unknown_fields(struct pipeline *pipeline);
/* Once the sources are open: EXIT_USAGE after a sentence if --filter names what no event has. */
int pipeline_check_filter(const struct pipeline *pipeline);
/* Likewise, if files cannot be told in the clock of --clock. */
int pipeline_check_clock(struct pipeline *pipeline);

/* Whole lines, in the order of the stream; borrowed for the call. */
struct line_batch {
    const char *bytes;
    size_t size;
    uint64_t count;
    uint64_t last_seq;          /* number of the last line */
    uint64_t first_ns, last_ns; /* times of the first and the last line */
};

/* Where the stream goes, as lines or as records; embed it first. */
struct sink {
    const char *name; /* as `bye` and the summary call it; borrowed; NULL: it has no account */
    /* Copies what it keeps. Never blocks the loop for a peer: a peer that cannot follow loses lines
     * and is told so by a `lost` line of its own. NULL: wants no lines. */
    void (*lines)(struct sink *sink, const struct line_batch *batch);
    /* Every selected record in the order of the lines, borrowed for the call; a SPAN's ts_ns is its
     * begin. NULL: wants none. */
    void (*record)(struct sink *sink, const struct trd_record *record);
    /* A sub-buffer of a CPU as the kernel gave it, not in the order of the records; borrowed for
     * the call. NULL: wants records instead, and then all sinks get these. */
    void (*page)(struct sink *sink, uint32_t cpu, const uint8_t *bytes, size_t size);
    /* Pages of this CPU that hold anything earlier have all been handed over; UINT64_MAX: there is
     * none left. NULL: need not know. */
    void (*reached)(struct sink *sink, uint32_t cpu, uint64_t ts_ns);
    /* Lines `tid name` as tracefs has them in saved_cmdlines, where pages are taken. */
    void (*cmdlines)(struct sink *sink, const char *text, size_t size);
    /* Schemas and symbols of a kernel whose records will come; lives as long as the pipeline. Also
     * called for those that were known before the sink. NULL: needs none. */
    void (*catalog)(struct sink *sink, const struct trd_catalog *catalog);
    /* End of the stream (bye has been written): flush, close, then call pipeline_sink_closed. */
    void (*end)(struct sink *sink);
    /* What became of what was handed over, by who knows better than this: all of it was written
     * until the sink failed. NULL: so it is. */
    void (*account)(const struct sink *sink, struct ledger *out);
    struct pipeline *pipeline;
    /* private to the pipeline */
    struct sink *next;
    bool failed;
    uint64_t handed, missed; /* lines, records or sub-buffers */
};
/* Gets every line from the next one on. */
void pipeline_add_sink(struct pipeline *pipeline, struct sink *sink);
void pipeline_sink_closed(struct pipeline *pipeline, struct sink *sink);
/* Has `hello` been written? */
bool pipeline_has_begun(const struct pipeline *pipeline);
/* `hello` as of now, for a reader that joins a running stream; allocated, NULL without memory. */
char *pipeline_hello(struct pipeline *pipeline);
/* The clock of the timeline, once the sources are open: "mono", or what a file says; NULL if it
 * does not. */
const char *pipeline_clock(const struct pipeline *pipeline);
/* An output cannot be written any more (a sentence has said so): EXIT_PARTIAL. The others go on;
 * with none left that works everything stops, but for a service, which has its consumers. */
void pipeline_sink_failed(struct pipeline *pipeline, struct sink *sink);

/* Ask every source to stop; `done` follows when all has been delivered. */
void pipeline_stop(struct pipeline *pipeline);
/* `done` when the sources there are now, and those they bring, have ended by themselves. */
void pipeline_finish_when_ended(struct pipeline *pipeline);

/* EXIT_… as it stands. */
int pipeline_exit_code(const struct pipeline *pipeline);

#endif
