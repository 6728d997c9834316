/*
 * The flight recorder's socket for `tracerd trigger`: whoever may connect, its own user and root,
 * fires it, and is answered with one line. It is named after the process that is traced.
 */
#ifndef TRACERD_DAEMON_FLIGHT_CONTROL_H
#define TRACERD_DAEMON_FLIGHT_CONTROL_H

#include <stdbool.h>
#include <sys/types.h>

#include "listen.h"

#define FLIGHT_CONTROL_PATTERN "/flight-*.sock" /* in RUNTIME_DIR_DEFAULT */
#define FLIGHT_ANSWER_MAX 64

struct flight_control {
    struct listen_socket socket;
    const char *(*fire)(void *context); /* the answer: static text, a line */
    void (*on_closed)(void *context);
    void *context;
};

/* False if there can be no such socket; a sentence with -v says why. */
bool flight_control_open(struct flight_control *control, uv_loop_t *loop, pid_t pid);
void flight_control_close(struct flight_control *control);
void flight_control_path(pid_t pid, char *out, size_t size);

#endif
