/*
 * Thread ids of a traced process in our numbers. The same ones where the process shares our pid
 * namespace; else they are looked up in /proc/PID/task, and remembered, since the last records of a
 * thread arrive when it is gone.
 */
#ifndef TRACERD_DAEMON_CLR_TIDS_H
#define TRACERD_DAEMON_CLR_TIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct clr_tid_pair {
    int32_t inner;
    int32_t host;
};

struct clr_tids {
    pid_t pid; /* ours */
    bool same; /* one namespace: nothing to look up */
    /* private */
    struct clr_tid_pair *pairs; /* owned */
    size_t count;
    size_t capacity;
    uint64_t scanned_ns;
};

/* `inner_pid`: the process's own word for itself. */
void clr_tids_init(struct clr_tids *tids, pid_t pid, uint32_t inner_pid);
void clr_tids_finish(struct clr_tids *tids);

/* -1 if nobody of that name was ever seen. */
int32_t clr_tids_host(struct clr_tids *tids, uint32_t inner);

#endif
