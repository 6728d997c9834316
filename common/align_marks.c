/*
 * Marks: each bounds the distance of the clocks from below by its own moment and from above by that
 * of the next one. A burst of them leaves a narrow interval.
 */
#include <errno.h>
#include <stdlib.h>

#include "align_private.h"

#define BURST_NS 10000000               /* marks this close to each other are one burst */
#define DISTANCE_MAX (INT64_C(1) << 61) /* of clocks; more is not meant */
#define ERROR_MAX_NS 10000000

/* The marks from `first` on that follow each other closely; where the next burst begins. */
static size_t burst_end(const struct trd_evidence *from, size_t first)
{
    size_t at = first + 1;

    while (at < from->mark_count && from->marks[at].ts - from->marks[at - 1].ts <= BURST_NS)
        at++;
    return at;
}

/* False: they contradict each other, or are alone. */
static bool find_point(const struct align_mark *marks, size_t count, struct align_point *out)
{
    int64_t low = INT64_MIN, high = INT64_MAX, drift;

    if (count < 2)
        return false;
    for (size_t i = 0; i < count; i++) {
        int64_t at_least = (int64_t)(marks[i].mono_ns - marks[i].ts);

        low = at_least > low ? at_least : low;
        if (i + 1 < count) {
            int64_t at_most = (int64_t)(marks[i + 1].mono_ns - marks[i].ts);

            high = at_most < high ? at_most : high;
        }
    }
    if (low < -DISTANCE_MAX || high > DISTANCE_MAX || low > high)
        return false;
    /* The clocks drift within the burst, too. */
    drift = (int64_t)(marks[count - 1].ts - marks[0].ts) * ALIGN_DRIFT_PPM / 1000000;
    low -= drift;
    high += drift;
    out->from = marks[count / 2].ts;
    out->to = out->from + (uint64_t)(low + (high - low) / 2);
    out->error_ns = (uint64_t)(high - low) / 2 + 1;
    return true;
}

int trd_align_marks(struct trd_alignment **out, const struct trd_evidence *from)
{
    struct align_point *points = malloc((from->mark_count + 1) * sizeof(*points));
    size_t count = 0, bursts = 0;
    int result = -ENOENT;

    if (!points)
        return -ENOMEM;
    for (size_t at = 0; at < from->mark_count; bursts++) {
        size_t end = burst_end(from, at);

        count += find_point(from->marks + at, end - at, &points[count]);
        at = end;
    }
    if (count > 0)
        result = align_map_create(out, points, count, ERROR_MAX_NS, true, from);
    else if (bursts > 0)
        result = -EBADMSG;
    free(points);
    if (result == 0 && trd_alignment_error_ns(*out) > ERROR_MAX_NS) {
        trd_alignment_destroy(*out);
        *out = NULL;
        result = -EBADMSG;
    }
    return result;
}
