/*
 * The daemon's end of a profiler's connection: bytes of a non-blocking socket to whole frames, and
 * the one descriptor that comes with HELLO. Says nothing about what frames mean.
 */
#ifndef TRACERD_DAEMON_CLR_SOCKET_H
#define TRACERD_DAEMON_CLR_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "frame.h"

struct clr_socket {
    int fd;
    int descriptor; /* the first that came; -1 = none; any other is closed at once */
    /* private */
    uint8_t *input; /* owned */
    size_t size;    /* bytes in it */
    size_t at;      /* of them, dealt with */
};

/* Takes the connected socket over; -ENOMEM leaves it to the caller. */
int clr_socket_init(struct clr_socket *socket, int fd);
/* Closes what is open. May be called again. */
void clr_socket_close(struct clr_socket *socket);
/* Closes, and frees the memory. */
void clr_socket_finish(struct clr_socket *socket);

/* Reads once. Bytes read; 0 = nothing now; -ECONNRESET at the end; another negative errno. */
ssize_t clr_socket_receive(struct clr_socket *socket);
/* 1 and a whole frame, its payload borrowed until the next receive; 0 = more is needed; -EBADMSG.
 */
int clr_socket_next(struct clr_socket *socket, struct trd_frame_head *out_head,
                    const uint8_t **out_payload);
/* Whether the peer has read all that was sent to it. */
bool clr_socket_was_read(const struct clr_socket *socket);
/* A small frame. -EPIPE if the peer does not take it at once: its buffer holds many of them. */
int clr_socket_send(struct clr_socket *socket, enum trd_frame_type type, const void *payload,
                    size_t size);

#endif
