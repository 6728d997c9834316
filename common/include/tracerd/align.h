/*
 * Two recordings of one machine whose clocks are not the same: how the times of one become those of
 * the other, from what both saw, with a bound on the error.
 *
 *   switches   the same sched_switch events stand in both files. Runs of successive switches of a
 *              CPU that occur once in each are pairs of times; a recording that was limited to some
 *              threads is compared over what both hold. Neither clock needs to count nanoseconds.
 *   marks      the file holds texts of trace_marker of the form that Android's atrace writes,
 *              `trace_event_clock_sync: parent_ts=SECONDS`, with CLOCK_MONOTONIC of just before the
 *              write. Each says that its time is not before that moment, the next one that it is
 * not after that one's: two in quick succession bound it from both sides.
 *
 * Evidence that does not agree with itself is no evidence: then nothing is claimed. Does no I/O.
 */
#ifndef TRACERD_ALIGN_H
#define TRACERD_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracerd/export.h"
#include "tracerd/record.h"

/* What one recording holds of both kinds. */
struct trd_evidence;

TRD_EXPORT int trd_evidence_create(struct trd_evidence **out);
TRD_EXPORT void trd_evidence_destroy(struct trd_evidence *evidence);
/* In the order of the recording. Takes what it can use; after a million switches no more of these,
 * but notes how far the recording goes. */
TRD_EXPORT void trd_evidence_add(struct trd_evidence *evidence, const struct trd_record *record);

/* The way from one clock to the other. */
struct trd_alignment;

/*
 * `granularity_ns`: how long either clock may stand still ("uptime": a hundredth of a second).
 * `same_unit`: both count nanoseconds, so their rates differ by less than a thousandth.
 * 0; -ENOENT: they share too little; -EBADMSG: what they share does not agree on one clock;
 * -ENOMEM.
 */
TRD_EXPORT int trd_align_switches(struct trd_alignment **out, const struct trd_evidence *from,
                                  const struct trd_evidence *to, uint64_t granularity_ns,
                                  bool same_unit);
/* To CLOCK_MONOTONIC, by the marks of the recording alone; for clocks that count nanoseconds.
 * Errors likewise; -EBADMSG also if they bound it by more than ten milliseconds. */
TRD_EXPORT int trd_align_marks(struct trd_alignment **out, const struct trd_evidence *from);
TRD_EXPORT void trd_alignment_destroy(struct trd_alignment *alignment);

/* Never falls while ts grows. */
TRD_EXPORT uint64_t trd_alignment_time(const struct trd_alignment *alignment, uint64_t ts);
/*
 * No time of the recording is off by more than this: the largest disagreement of a pair, and what
 * the clocks may have left the line (100 parts per million are allowed for) where there is none
 * near, before the first and behind the last one above all.
 */
TRD_EXPORT uint64_t trd_alignment_error_ns(const struct trd_alignment *alignment);
/* Pairs of times that it rests on. */
TRD_EXPORT size_t trd_alignment_pairs(const struct trd_alignment *alignment);

#endif
