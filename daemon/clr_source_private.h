/*
 * One traced process while it is followed; shared by clr_source.c (the conversation) and clr_end.c
 * (how it ends), and by nobody else.
 */
#ifndef TRACERD_DAEMON_CLR_SOURCE_PRIVATE_H
#define TRACERD_DAEMON_CLR_SOURCE_PRIVATE_H

#include "clr_arena.h"
#include "clr_clock.h"
#include "clr_maps.h"
#include "clr_ring.h"
#include "clr_socket.h"
#include "clr_source.h"
#include "clr_tids.h"

enum clr_state {
    CLR_GREETING, /* HELLO is awaited */
    CLR_STREAMING,
    CLR_PARTING,  /* connection gone; is the process? */
    CLR_DRAINING, /* all is known; the inputs run dry */
    CLR_ENDED,
};

struct clr_source {
    struct source source;
    struct pipeline *pipeline;
    const struct options *options;
    struct profiler_watch watch;
    enum clr_state state;
    bool is_ready; /* has answered what follows the greeting */
    pid_t pid;     /* of the peer, in our namespace */
    struct clr_socket socket;
    struct clr_tids tids;
    struct clr_arena arena;
    struct clr_maps maps; /* where its managed code may lie */
    struct trd_hello hello;
    struct clr_clock clock;
    struct trd_goodbye goodbye;
    bool has_goodbye;
    bool is_broken; /* the peer broke the protocol */
    bool is_dead;   /* the process */
    bool is_left;   /* the process has connected anew: what it had not sent comes there */
    bool is_paused; /* too much is queued */
    /* What no ring tells; holds the mark while there is no ring yet; ends last. */
    struct clr_ring control;
    struct clr_ring **rings; /* owned, by ring index; NULL where none was seen */
    uint32_t ring_count;
    struct clr_totals totals;
    uint64_t dropped_before[TRD_CATEGORY_COUNT]; /* while others listened */
    uint64_t began_ns;
    uint64_t mark_ns;
    unsigned waited_ms;
    unsigned watches;       /* turns of `timer` while it streams */
    bool has_told_runtimes; /* that there are several */
    uv_poll_t poll;
    uv_timer_t timer; /* what it waits for depends on the state */
    uv_timer_t look;  /* while it streams */
    unsigned open_handles;
};

/* clr_source.c */
struct clr_ring *clr_source_ring(struct clr_source *clr, uint32_t index);
/* The ring is written by this thread of the process from now on. */
void clr_source_set_owner(struct clr_source *clr, struct clr_ring *ring, uint32_t inner_tid);
/* What was received so far gets its time. */
void clr_source_stamp(struct clr_source *clr);
void clr_source_set_mark(struct clr_source *clr, uint64_t ts_ns);

/* clr_end.c */

/* The connection is over, whoever ended it. */
void clr_end_part(struct clr_source *clr);
/* An input ran dry while draining. */
void clr_end_on_drained(struct clr_source *clr);
void clr_end_on_handle_closed(uv_handle_t *handle);
void clr_end_account(const struct clr_source *clr, struct ledger *out);

#endif
