/*
 * Events of EventSources: their descriptions, as processes tell them (clr:event_schema,
 * clr:event_field), become schemas, and each clr:event gets the one that reads it. Sources of the
 * same description share a schema, in whatever process. Part of enrich, which calls it in stream
 * order.
 */
#ifndef TRD_COMMON_EVENT_SOURCE_H
#define TRD_COMMON_EVENT_SOURCE_H

#include "event_payload.h"
#include "idmap.h"
#include "tracerd/record.h"

/* Limits of what peers can make grow. What goes beyond stays clr:event. */
#define EVENT_SOURCE_NUMBERS_MAX (1u << 16) /* descriptions told, over all processes that live */
#define EVENT_SOURCE_SCHEMAS_MAX (1u << 13) /* different ones; they stay until the end */

struct event_sources {
    struct idmap numbers; /* (pid, number) -> struct told; owned */
    struct idmap schemas; /* (hash, collisions) -> struct event_source; owned */
    uint8_t *record;      /* owned; NULL until the first event */
};

void event_sources_init(struct event_sources *sources);
void event_sources_finish(struct event_sources *sources);

/* Whole records of a CLR source. */
void event_sources_describe(struct event_sources *sources, const struct trd_record *record);
void event_sources_add_field(struct event_sources *sources, const struct trd_record *record);
/* Puts the record into the form its source gave it; its data then lives until the next call. */
void event_sources_read(struct event_sources *sources, struct trd_record *record);
/* The process is gone. */
void event_sources_forget(struct event_sources *sources, int32_t pid);

#endif
