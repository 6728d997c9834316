/*
 * An event or a loss of the CLR as the flight recorder keeps it: the record without what is derived
 * or borrowed, followed by its bytes.
 */
#ifndef TRACERD_DAEMON_FLIGHT_EVENT_H
#define TRACERD_DAEMON_FLIGHT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracerd/record.h"

struct flight_event {
    uint64_t ts_ns;
    uint64_t lost_from_ns; /* LOST */
    uint64_t lost;
    int32_t cpu, pid, tid;
    uint32_t size; /* of the bytes behind this */
    uint16_t id;   /* enum trd_event_id; 0 for a LOST */
    uint16_t flags;
    uint8_t kind; /* EVENT or LOST */
};

/* False for a record that is not kept: what is derived is derived again. *out_bytes: what goes
 * behind the head, borrowed from the record. */
bool flight_event_take(const struct trd_record *record, struct flight_event *out,
                       const uint8_t **out_bytes);
/* The record again; its data is `bytes`. */
void flight_event_record(const struct flight_event *event, const uint8_t *bytes,
                         struct trd_record *out);

#endif
