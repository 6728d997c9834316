/*
 * Thread ids of a traced process in our numbers. The same ones where the process shares our pid
 * namespace; else they are looked up in /proc/PID/task, and remembered, since the last records of a
 * thread arrive when it is gone. A number that is new is looked up at once, for a thread may live
 * for less than a millisecond; one that was not found is looked up again only after a while.
 */
#ifndef TRACERD_DAEMON_CLR_TIDS_H
#define TRACERD_DAEMON_CLR_TIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CLR_TIDS_MISSED 16

struct clr_tid_pair {
    int32_t inner;
    int32_t host;
    bool alive; /* was there when last looked */
};

struct clr_tid_missed {
    int32_t inner; /* 0: free */
    uint64_t asked_ns;
};

struct clr_tids {
    pid_t pid; /* ours */
    bool same; /* one namespace: nothing to look up */
    /* private */
    struct clr_tid_pair *pairs; /* owned */
    size_t count;
    size_t capacity;
    struct clr_tid_missed missed[CLR_TIDS_MISSED]; /* the last ones, in a circle */
    size_t missed_next;
};

/* `inner_pid`: the process's own word for itself. */
void clr_tids_init(struct clr_tids *tids, pid_t pid, uint32_t inner_pid);
void clr_tids_finish(struct clr_tids *tids);

/* -1 if nobody of that name was ever seen. */
int32_t clr_tids_host(struct clr_tids *tids, uint32_t inner);

#endif
