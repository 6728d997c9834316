/*
 * A listening Unix socket on the loop that hands out raw descriptors, since libuv's pipes cannot
 * carry the kinds of descriptors and credentials our peers use.
 */
#ifndef TRACERD_DAEMON_LISTEN_H
#define TRACERD_DAEMON_LISTEN_H

#include <uv.h>

struct listen_socket {
    uv_poll_t poll;
    int fd;
    char path[108];
    void (*on_connection)(struct listen_socket *socket, int fd); /* takes the descriptor */
    void (*on_closed)(struct listen_socket *socket);
    void *context;
};

/*
 * Replaces a socket that a crash left behind. -EADDRINUSE if somebody listens there.
 */
int listen_socket_open(struct listen_socket *socket, uv_loop_t *loop, const char *path,
                       unsigned mode, void (*on_connection)(struct listen_socket *socket, int fd),
                       void *context);
/* Hands out the connections that wait now; the loop does so by itself. */
void listen_socket_accept(struct listen_socket *socket);
/* Removes the file. `on_closed` may free the memory the socket lies in. */
void listen_socket_close(struct listen_socket *socket,
                         void (*on_closed)(struct listen_socket *socket));

#endif
