#include "ledger.h"

#include <inttypes.h>
#include <string.h>

#include "log.h"

void ledger_add(struct ledger *sum, const struct ledger *ledger)
{
    sum->produced += ledger->produced;
    sum->delivered += ledger->delivered;
    sum->lost += ledger->lost;
    sum->unknown += ledger->unknown;
    sum->damaged_bytes += ledger->damaged_bytes;
    if (ledger->stamp_error_ns > sum->stamp_error_ns)
        sum->stamp_error_ns = ledger->stamp_error_ns;
    for (size_t i = 0; i < TRD_CATEGORY_COUNT; i++)
        sum->dropped[i] += ledger->dropped[i];
}

bool ledger_has_loss(const struct ledger *ledger)
{
    return ledger->lost > 0 || ledger->unknown > 0 || ledger->damaged_bytes > 0;
}

struct ledger sink_account(const struct sink *sink)
{
    struct ledger ledger = { .produced = sink->handed,
                             .delivered = sink->handed - sink->missed,
                             .lost = sink->missed };

    if (sink->account)
        sink->account(sink, &ledger);
    return ledger;
}

const char *sink_unit(const struct sink *sink)
{
    return sink->lines ? "lines" : pipeline_takes_pages(sink->pipeline) ? "sub-buffers" : "records";
}

void ledger_tell(const char *name, const struct ledger *ledger)
{
    if (ledger->lost > 0)
        log_notice("%s: %" PRIu64 " events of %" PRIu64
                   " were lost; `lost` lines in the stream say where",
                   name, ledger->lost, ledger->produced);
    if (ledger->unknown > 0)
        log_notice("%s: events were lost in %" PRIu64 " places without a count", name,
                   ledger->unknown);
}

void ledger_book_enter(struct ledger_book *book, const struct source *source,
                       const struct ledger *ledger)
{
    struct ledger_row *row;

    if (book->count == LEDGER_ROWS_MAX) {
        row = &book->rows[LEDGER_ROWS_MAX - 1];
        ledger_add(&row->ledger, ledger);
        strcpy(row->name, "others");
        row->clock = NULL;
        return;
    }
    row = &book->rows[book->count++];
    memcpy(row->name, source->name, sizeof(row->name));
    row->clock = source->clock;
    row->ledger = *ledger;
}

struct ledger ledger_book_total(const struct ledger_book *book)
{
    struct ledger total = { 0 };

    for (size_t i = 0; i < book->count; i++)
        ledger_add(&total, &book->rows[i].ledger);
    return total;
}
