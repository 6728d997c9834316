/*
 * What the flight recorder remembers of events that have left its window: those that say what a
 * number stands for (threads, methods, modules, code, descriptions of EventSources), until a later
 * one says otherwise or that it is gone. A recording begins with them, so that its names resolve.
 */
#ifndef TRACERD_DAEMON_FLIGHT_KNOWN_H
#define TRACERD_DAEMON_FLIGHT_KNOWN_H

#include "flight_event.h"

struct flight_known;

/* -ENOMEM. At most `bytes_max` are kept: what comes then is not known later. */
int flight_known_create(struct flight_known **out, size_t bytes_max);
void flight_known_destroy(struct flight_known *known);

/* An event leaves the window; in the order of the stream. */
void flight_known_note(struct flight_known *known, const struct flight_event *event,
                       const uint8_t *bytes);
/* Events that were not kept for want of room. */
uint64_t flight_known_refused(const struct flight_known *known);

/* A walk over all, in the order of the stream; what is noted meanwhile may be left out. False at
 * the end; the pointers hold until the next call of any function here. */
void flight_known_rewind(struct flight_known *known);
bool flight_known_next(struct flight_known *known, const struct flight_event **out,
                       const uint8_t **out_bytes);

#endif
