/*
 * Records to a Perfetto trace (`.pftrace`): kernel events as ftrace bundles of their CPU, so that
 * Perfetto draws scheduling, thread states and wakers; CLR events as instants and spans as slices
 * on tracks of their thread or process; heap sizes as counters; losses as instants of a track of
 * their own. Names travel once (interned).
 *
 * All times are the records' own; a clock snapshot says that they are CLOCK_MONOTONIC, which is
 * taken as the trace's clock. A waking of a thread of a traced process and its next run are tied by
 * a flow, for arrows between the tracks. Source of the format: protos/perfetto/trace in the
 * Perfetto project; the part of it that is written here stands in tests/data/perfetto.proto.
 *
 * One thread at a time.
 */
#ifndef TRACERD_PERFETTO_H
#define TRACERD_PERFETTO_H

#include <stddef.h>
#include <stdint.h>

#include "tracerd/export.h"
#include "tracerd/json.h"
#include "tracerd/record.h"

struct trd_perfetto;

/* 0, or a negative errno, which the call that wrote then returns. */
typedef int (*trd_perfetto_write)(void *context, const void *bytes, size_t size);

/* `names` (may be NULL) knows what ids stand for; borrowed. */
TRD_EXPORT int trd_perfetto_create(struct trd_perfetto **out, const struct trd_json_names *names,
                                   trd_perfetto_write write, void *context);
TRD_EXPORT void trd_perfetto_destroy(struct trd_perfetto *perfetto);
/* CLOCK_REALTIME at a moment of CLOCK_MONOTONIC; before the first record. */
TRD_EXPORT int trd_perfetto_anchor(struct trd_perfetto *perfetto, uint64_t mono_ns,
                                   uint64_t realtime_ns);
/* In the order of the stream. */
TRD_EXPORT int trd_perfetto_record(struct trd_perfetto *perfetto, const struct trd_record *record);
/* Writes what is gathered; the trace is whole. */
TRD_EXPORT int trd_perfetto_flush(struct trd_perfetto *perfetto);

#endif
