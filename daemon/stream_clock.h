/*
 * The clock of the stream: which one its lines are written in, and the anchor in force, by which
 * they are. Live, it is looked at each second, and when the kernel tells of a step; where clocks
 * moved there is a new one, told by a line at its place in time, and in force from that line on. Of
 * recordings, anchors come with them.
 */
#ifndef TRACERD_DAEMON_STREAM_CLOCK_H
#define TRACERD_DAEMON_STREAM_CLOCK_H

#include "clock_anchor.h"
#include "clock_watch.h"
#include "pipeline.h"

#define ANCHORS_WAITING_MAX 16 /* steps within the stream's delay; the newest matter */

struct stream_clock {
    enum output_clock clock;
    struct clock_anchor anchor;                       /* in force */
    int64_t offset_ns;                                /* from times inside to times of lines */
    struct clock_anchor waiting[ANCHORS_WAITING_MAX]; /* to be told, by time */
    size_t waiting_count;
    char *text; /* owned; of the anchor told last */
    struct clock_watch watch;
    bool is_live;
};

void stream_clock_init_live(struct stream_clock *clock, uv_loop_t *loop, const char *name);
/*
 * Once the files are open: `reference` is the one whose clock is the timeline's. 0, or EXIT_USAGE
 * after one sentence if nothing ties that to the clock `name` (NULL: as the file was written).
 */
int stream_clock_init_replay(struct stream_clock *clock, const struct source *reference,
                             const char *name);
void stream_clock_finish(struct stream_clock *clock);

/* Is the newest anchor still right? Otherwise there is one more. Live only. */
void stream_clock_check(struct stream_clock *clock);
/* The anchor that is to be told before a record of ts_ns, now in force: 1, and a record that is
 * good until the next call; 0 = none. */
int stream_clock_next(struct stream_clock *clock, uint64_t ts_ns, struct trd_record *out);
/* An anchor that came with a recording. */
void stream_clock_take(struct stream_clock *clock, const struct trd_record *record);

#endif
