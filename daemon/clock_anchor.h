/*
 * Anchors: one moment in several clocks. CLOCK_MONOTONIC and the time of day run at one rate, since
 * NTP slews both; so an anchor holds until the time of day is stepped or the machine is suspended,
 * and then the next one does.
 */
#ifndef TRACERD_DAEMON_CLOCK_ANCHOR_H
#define TRACERD_DAEMON_CLOCK_ANCHOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* clock_linux.c, nothing else in it. */
uint64_t clock_read_ns(clockid_t clock);
uint64_t clock_now_ns(void); /* CLOCK_MONOTONIC */

struct clock_anchor {
    uint64_t mono_ns;
    uint64_t realtime_ns;
    uint64_t boot_ns;  /* 0: an older recording did not say */
    uint64_t error_ns; /* half the bracket around the readings; the closest of several tries */
};

struct json_t;

void clock_anchor_take(struct clock_anchor *out);
/* Has one of the clocks moved against CLOCK_MONOTONIC by more than both errors? */
bool clock_anchor_has_moved(const struct clock_anchor *from, const struct clock_anchor *to);
/* As `hello` has it; NULL without memory. */
struct json_t *clock_anchor_object(const struct clock_anchor *anchor);
/* From there. False if it is none. */
bool clock_anchor_parse(struct clock_anchor *out, const struct json_t *object);

/* The clock that times of lines are in. Inside, everything is CLOCK_MONOTONIC, or what a file is
 * on. */
enum output_clock {
    OUTPUT_CLOCK_AS_IS,
    OUTPUT_CLOCK_MONO,
    OUTPUT_CLOCK_REALTIME,
    OUTPUT_CLOCK_BOOT,
};

/* "mono", "realtime", "boot"; AS_IS for any other name. */
enum output_clock output_clock_find(const char *name);
const char *output_clock_name(enum output_clock clock); /* NULL for AS_IS */
/* What is to be added to a time of CLOCK_MONOTONIC near the anchor (NULL: there is none). */
int64_t output_clock_offset(enum output_clock clock, const struct clock_anchor *anchor);

#endif
