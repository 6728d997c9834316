/* The inside of tracerd/align.h: evidence, points found in it (align_switches.c, align_marks.c),
 * and the line through them (align_map.c). */
#ifndef TRD_COMMON_ALIGN_PRIVATE_H
#define TRD_COMMON_ALIGN_PRIVATE_H

#include "tracerd/align.h"

#define ALIGN_CPUS_MAX 4096

struct align_switch {
    uint64_t ts;
    uint32_t cpu;
    uint32_t key; /* who left and who came */
};

struct align_mark {
    uint64_t ts;
    uint64_t mono_ns;
};

struct trd_evidence {
    struct align_switch *switches; /* owned; in the order of time */
    size_t switch_count, switch_capacity;
    struct align_mark *marks; /* owned; likewise */
    size_t mark_count, mark_capacity;
    uint64_t first_ts, last_ts; /* of the whole recording */
    bool has_times;
    struct {
        const struct trd_schema *schema;
        const struct trd_field *fields[4]; /* NULL: it is no switch */
        const struct trd_field *text;      /* of ftrace:print */
    } seen;                                /* the schema of the last record */
};

/* A moment in both clocks. */
struct align_point {
    uint64_t from, to;
    uint64_t error_ns; /* of `to`, known beforehand */
};

/* How fast clocks of one machine may leave the line that evidence shows. */
#define ALIGN_DRIFT_PPM 100

/*
 * The map through points, which are taken over and brought into order. Those further than
 * `tolerance_ns` from the line are left out; -EBADMSG if that leaves less than 95 of a hundred.
 * [first_ts, last_ts]: what is going to be converted.
 */
int align_map_create(struct trd_alignment **out, struct align_point *points, size_t count,
                     uint64_t tolerance_ns, bool same_unit, const struct trd_evidence *from);

/* Points that both share, allocated; their number, or a negative errno. */
int64_t align_find_switches(const struct trd_evidence *from, const struct trd_evidence *to,
                            struct align_point **out);

#endif
