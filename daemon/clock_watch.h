/*
 * Tells when the time of day may have been stepped, or the machine been suspended: the kernel
 * cancels a timer of its then (timerfd, TFD_TIMER_CANCEL_ON_SET).
 */
#ifndef TRACERD_DAEMON_CLOCK_WATCH_H
#define TRACERD_DAEMON_CLOCK_WATCH_H

#include <uv.h>

struct clock_watch {
    uv_poll_t poll;
    int fd; /* -1: the kernel refuses it; then somebody must look from time to time */
    void (*stepped)(void *context);
    void *context;
};

void clock_watch_start(struct clock_watch *watch, uv_loop_t *loop, void (*stepped)(void *context),
                       void *context);
/* Does not keep the loop alive; the memory is in use until the loop's next turn. */
void clock_watch_stop(struct clock_watch *watch);

#endif
