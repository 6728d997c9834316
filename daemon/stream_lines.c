#include "stream_lines.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "line_values.h"
#include "tracerd/align.h"

static void set_file_text(json_t *object, const char *key, const char *path)
{
    char text[128] = "";
    FILE *file = fopen(path, "re");

    if (!file)
        return;
    if (fgets(text, sizeof(text), file)) {
        text[strcspn(text, "\n")] = '\0';
        json_object_set_new(object, key, json_string(text));
    }
    fclose(file);
}

/* Version 4 of RFC 9562. */
void session_make(char out[SESSION_SIZE])
{
    uint8_t bytes[16] = { 0 };
    size_t used = 0;

    (void)!getrandom(bytes, sizeof(bytes), 0);
    bytes[6] = (uint8_t)((bytes[6] & 0x0f) | 0x40);
    bytes[8] = (uint8_t)((bytes[8] & 0x3f) | 0x80);
    for (size_t i = 0; i < sizeof(bytes); i++)
        used += (size_t)snprintf(out + used, SESSION_SIZE - used, "%s%02x",
                                 i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
}

static char *finish_line(json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT);
    char *line = NULL;

    json_decref(object);
    if (text && asprintf(&line, "%s\n", text) < 0)
        line = NULL;
    free(text);
    return line;
}

/* This machine, now. */
static void set_here(json_t *object)
{
    char host[256] = "";

    (void)gethostname(host, sizeof(host) - 1);
    json_object_set_new(object, "host", line_text(host));
    set_file_text(object, "boot_id", "/proc/sys/kernel/random/boot_id");
}

static json_t *source_object(const struct source *source, bool live)
{
    json_t *object = json_object();

    json_object_set_new(object, "source", line_text(source->name));
    if (source->clock)
        json_object_set_new(object, "clock", json_string(source->clock));
    if (!live && source->origin)
        json_object_update_missing(object, source->origin);
    if (source->unaligned)
        json_object_set_new(object, "unaligned", json_true());
    if (source->alignment)
        json_object_set_new(object, "aligned",
                            json_pack("{s:s,s:I,s:o}", "by", source->aligned_by, "pairs",
                                      (json_int_t)trd_alignment_pairs(source->alignment),
                                      "error_ns",
                                      line_wide(trd_alignment_error_ns(source->alignment))));
    return object;
}

char *hello_line(const char *session, const char *clock, const struct clock_anchor *anchor,
                 const struct source *sources, const struct source *reference)
{
    json_t *object =
        json_pack("{s:i,s:s,s:i,s:i,s:s,s:s}", "v", 1, "k", "hello", "seq", 0, "schema", 1,
                  "program", "tracerd " TRACERD_VERSION, "session", session);
    json_t *list = json_array();

    if (!object || !list)
        return NULL;
    if (anchor)
        set_here(object);
    if (clock)
        json_object_set_new(object, "clock", json_string(clock));
    if (anchor)
        json_object_set_new(object, "anchor", clock_anchor_object(anchor));
    else if (reference && reference->origin)
        json_object_update_missing(object, reference->origin);
    for (const struct source *source = sources; source; source = source->next)
        json_array_append_new(list, source_object(source, anchor != NULL));
    json_object_set_new(object, "sources", list);
    return finish_line(object);
}

static void set_dropped(json_t *object, const struct ledger *ledger)
{
    json_t *dropped = json_object();

    for (size_t i = 0; i < TRD_CATEGORY_COUNT; i++)
        if (ledger->dropped[i] > 0)
            json_object_set_new(dropped, trd_category_name((enum trd_category)i),
                                line_wide(ledger->dropped[i]));
    if (json_object_size(dropped) > 0)
        json_object_set(object, "dropped", dropped);
    json_decref(dropped);
}

static void set_ledger(json_t *object, const struct ledger *ledger)
{
    json_object_set_new(object, "produced", line_wide(ledger->produced));
    json_object_set_new(object, "delivered", line_wide(ledger->delivered));
    json_object_set_new(object, "lost", line_wide(ledger->lost));
    if (ledger->unknown)
        json_object_set_new(object, "losses_uncounted", line_wide(ledger->unknown));
    if (ledger->damaged_bytes)
        json_object_set_new(object, "damaged_bytes", line_wide(ledger->damaged_bytes));
    if (ledger->stamp_error_ns)
        json_object_set_new(object, "stamp_error_ns", line_wide(ledger->stamp_error_ns));
    set_dropped(object, ledger);
}

static json_t *ledgers_of_sources(const struct ledger_book *book)
{
    json_t *sources = json_array();

    for (size_t i = 0; i < book->count; i++) {
        const struct ledger_row *row = &book->rows[i];
        json_t *object = json_pack("{s:o}", "source", line_text(row->name));

        if (row->clock)
            json_object_set_new(object, "clock", json_string(row->clock));
        set_ledger(object, &row->ledger);
        json_array_append_new(sources, object);
    }
    return sources;
}

static json_t *ledgers_of_outputs(const struct sink *outputs)
{
    json_t *list = json_array();

    for (const struct sink *sink = outputs; sink; sink = sink->next) {
        struct ledger ledger = sink_account(sink);
        json_t *object;

        if (!sink->name)
            continue;
        object = json_pack("{s:o,s:s}", "output", line_text(sink->name), "unit", sink_unit(sink));
        set_ledger(object, &ledger);
        json_array_append_new(list, object);
    }
    return list;
}

char *stall_line(const struct source *source, uint64_t seq, uint64_t to_ns, int64_t offset_ns)
{
    uint64_t offset = (uint64_t)offset_ns;
    json_t *object =
        json_pack("{s:i,s:s,s:I,s:o,s:o}", "v", 1, "k", "stall", "seq", (json_int_t)seq, "source",
                  line_text(source->name), "from", line_wide(source->stall.since_ns + offset));

    if (to_ns > 0)
        json_object_set_new(object, "to", line_wide(to_ns + offset));
    return finish_line(object);
}

char *bye_line(const struct bye *bye)
{
    struct ledger total = ledger_book_total(bye->book);
    json_t *object = json_pack("{s:i,s:s,s:I}", "v", 1, "k", "bye", "seq", (json_int_t)bye->seq);

    total.delivered -= bye->unwritten;
    total.lost += bye->unwritten;
    set_ledger(object, &total);
    json_object_set_new(object, "filtered", line_wide(bye->filtered));
    json_object_set_new(object, "late", line_wide(bye->late));
    json_object_set_new(object, "lines", line_wide(bye->lines));
    json_object_set_new(object, "sources", ledgers_of_sources(bye->book));
    json_object_set_new(object, "outputs", ledgers_of_outputs(bye->outputs));
    return finish_line(object);
}
