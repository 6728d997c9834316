/*
 * The command of `tracerd run` as a child process: forked first, so that its pid is known to the
 * kernel's filter, and held at a barrier until everything listens. Nothing of its input, output,
 * signals or descriptors is changed.
 */
#ifndef TRACERD_DAEMON_CHILD_H
#define TRACERD_DAEMON_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct child {
    pid_t pid; /* 0 = never forked */
    bool has_ended;
    int status;     /* once it has ended: what the shell would call its exit status */
    int barrier[2]; /* it waits for a byte; -1 = closed */
    int failure[2]; /* errno of an exec that failed */
};

/*
 * Forks; the child will call `prepare` (environment; may be NULL), then execute arguments[0] as a
 * shell would find it. To be called before a loop exists. 0 or a negative errno.
 */
int child_fork(struct child *child, char **arguments, void (*prepare)(void *context),
               void *context);
/* Lets it execute; 0, or the negative errno of the execution. */
int child_release(struct child *child);
/* True if it has ended now; never waits. */
bool child_poll(struct child *child);
/* Waits for its end. One that was never released ends without having executed anything. */
void child_wait(struct child *child);

#endif
