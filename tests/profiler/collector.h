/*
 * A reader in a thread of its own that adds up what comes and checks what PROTOCOL.md promises of
 * it: order within a ring, positions without a gap, no record earlier than a mark before it. A
 * broken promise is kept as a text and not asserted, since cmocka cannot fail on another thread.
 */
#ifndef TRD_TESTS_COLLECTOR_H
#define TRD_TESTS_COLLECTOR_H

#include <pthread.h>
#include <stdatomic.h>

#include "connection.h"
#include "reader.h"

struct collector {
    struct reader reader;
    _Atomic uint64_t events;    /* without `lost` */
    _Atomic uint64_t lost;      /* told in-band */
    _Atomic uint64_t idle_lost; /* told by LOST */
    _Atomic uint64_t marks;
    _Atomic uint64_t pongs;
    _Atomic(const char *) broken; /* first broken promise, or NULL */
    /* private */
    pthread_t thread;
    int fd;
    uint64_t mark_ns;
    uint64_t *last_ns; /* owned: per ring */
};

/* Starts the collector on one end of a pair and greets it over the other. */
void collector_start(struct collector *collector, struct connection *connection,
                     const _Atomic int *wish);
/* Returns once everything sent so far was collected. */
void collector_sync(struct collector *collector, struct connection *connection);
/* Closes the connection and waits for the end of the stream; the arena stays mapped. */
void collector_stop(struct collector *collector, struct connection *connection);
void collector_finish(struct collector *collector);

#endif
