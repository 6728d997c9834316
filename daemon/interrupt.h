/*
 * SIGINT and SIGTERM on the loop: the first asks for an orderly end, a second one makes tracerd end
 * as soon as everything has been put back.
 */
#ifndef TRACERD_DAEMON_INTERRUPT_H
#define TRACERD_DAEMON_INTERRUPT_H

#include <uv.h>

struct interrupt {
    uv_signal_t signals[2];
    void (*stop)(void *context, int signal); /* first signal */
    void *context;
    unsigned count;
};

int interrupt_start(struct interrupt *interrupt, uv_loop_t *loop,
                    void (*stop)(void *context, int signal), void *context);
void interrupt_stop(struct interrupt *interrupt);

#endif
