#include "flight_event.h"

#include "event.h"
#include "tracerd/catalog.h"

bool flight_event_take(const struct trd_record *record, struct flight_event *out,
                       const uint8_t **out_bytes)
{
    if (record->source != TRD_SOURCE_CLR ||
        (record->kind != TRD_KIND_EVENT && record->kind != TRD_KIND_LOST))
        return false;
    *out = (struct flight_event){ .ts_ns = record->ts_ns,
                                  .lost_from_ns = record->lost_from_ns,
                                  .lost = record->lost,
                                  .cpu = record->cpu,
                                  .pid = record->pid,
                                  .tid = record->tid,
                                  /* Whether it is late is decided again. */
                                  .flags = record->flags & ~TRD_RECORD_F_LATE,
                                  .kind = record->kind };
    if (record->kind == TRD_KIND_LOST)
        return true;
    if (!record->schema || !record->data)
        return false;
    out->id = (uint16_t)record->schema->id;
    /* An event of an EventSource goes as the process told it, and is read again. */
    out->size = record->told ? record->told_size : record->size;
    *out_bytes = record->told ? record->told : record->data;
    return out->size <= TRD_EVENT_SIZE_MAX && trd_clr_schema(out->id);
}

void flight_event_record(const struct flight_event *event, const uint8_t *bytes,
                         struct trd_record *out)
{
    trd_record_init(out);
    out->kind = event->kind;
    out->source = TRD_SOURCE_CLR;
    out->ts_ns = event->ts_ns;
    out->lost_from_ns = event->lost_from_ns;
    out->lost = event->lost;
    out->cpu = event->cpu;
    out->pid = event->pid;
    out->tid = event->tid;
    out->flags = event->flags;
    if (event->kind == TRD_KIND_LOST)
        return;
    out->schema = trd_clr_schema(event->id);
    out->data = bytes;
    out->size = event->size;
}
