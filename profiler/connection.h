/*
 * One connection of the sender to the daemon: non-blocking socket, whole frames out, whole frames
 * in. A daemon that hangs holds up the sender, which keeps an eye on the wish to finish; never a
 * callback. A daemon of another user is refused, unless it is root's.
 */
#ifndef TRD_PROFILER_CONNECTION_H
#define TRD_PROFILER_CONNECTION_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "frame.h"

/* Records a batch may hold: a socket buffer takes it in one go. */
#define CONNECTION_BATCH_MAX (64 * 1024)

struct connection {
    int fd;                  /* -1 = none */
    const _Atomic int *wish; /* non-zero: give up waiting */
    uint8_t input[4096];
    size_t input_size;
};

int connection_open(struct connection *connection, const char *path, const _Atomic int *wish);
void connection_close(struct connection *connection);

/* HELLO with the arena's descriptor, then the WELCOME it is answered with. */
int connection_greet(struct connection *connection, const struct trd_hello *hello, int arena_fd,
                     struct trd_welcome *out);

/* One frame of a head struct and what follows it (may be NULL, 0). */
int connection_send(struct connection *connection, enum trd_frame_type type, const void *first,
                    size_t first_size, const void *second, size_t second_size);

/* Hands every frame that has come to `obey`; 0, or negative at the end of the connection. */
int connection_receive(struct connection *connection,
                       int (*obey)(const struct trd_frame_head *head, const uint8_t *payload));

#endif
