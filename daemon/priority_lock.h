/*
 * A mutex between a thread of real-time priority and others: whoever holds it is raised while a
 * thread of higher priority waits for it, so that nobody waits for one whom nobody lets run.
 */
#ifndef TRACERD_DAEMON_PRIORITY_LOCK_H
#define TRACERD_DAEMON_PRIORITY_LOCK_H

#include <pthread.h>

/* An ordinary mutex where the kernel has no such thing. Destroyed as any. */
void priority_lock_init(pthread_mutex_t *lock);

#endif
