/*
 * What an EventSource wrote, put into the form of a record: fixed fields at fixed places, texts in
 * UTF-8 behind them. The payload is packed, one field after the other:
 *
 *   integers and floats by their width · char 2 bytes · bool 4 bytes, or 1 in self-describing
 *   events · decimal and GUID 16 · time 8, a FILETIME · text UTF-16 up to a NUL ·
 *   array u16 count, then so many elements
 *
 * Pure: bytes in, bytes out. Nothing in the payload is trusted.
 */
#ifndef TRD_COMMON_EVENT_PAYLOAD_H
#define TRD_COMMON_EVENT_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"
#include "tracerd/schema.h"

struct event_payload_field {
    uint8_t type; /* enum trd_event_field_type */
    bool is_array;
    uint16_t offset; /* in the record */
};

/* Of one field in a record; also what a schema says of it. */
void event_payload_storage(const struct event_payload_field *field, struct trd_field *out);

/* The worst that a payload makes: times, which become texts. */
#define EVENT_PAYLOAD_RECORD_MAX (TRD_EVENT_FIELDS_MAX * 16 + 32 + TRD_EVENT_PAYLOAD_MAX * 4)

struct event_payload {
    uint32_t field_count; /* that could be read, from the first on */
    size_t rest;          /* where the bytes begin that no field reads */
    size_t size;          /* of the record */
};

/*
 * Reads `bytes` into `record` (EVENT_PAYLOAD_RECORD_MAX), whose fixed part of fixed_size is
 * cleared. is_cut: the payload goes on beyond its bytes, so that a text may end anywhere.
 */
void event_payload_read(const struct event_payload_field *fields, uint32_t count,
                        const uint8_t *bytes, size_t size, bool is_cut, size_t fixed_size,
                        uint8_t *record, struct event_payload *out);

#endif
