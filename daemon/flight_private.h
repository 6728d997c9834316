/*
 * The flight recorder's parts, shared by its files: flight.c (what comes in, when it fires),
 * flight_recording.c (what goes out), flight_watch.c (the kernel's events that a trigger asks for).
 */
#ifndef TRACERD_DAEMON_FLIGHT_PRIVATE_H
#define TRACERD_DAEMON_FLIGHT_PRIVATE_H

#include "flight.h"
#include "flight_control.h"
#include "flight_known.h"
#include "flight_window.h"
#include "pipeline.h"
#include "tracerd/filter.h"

struct flight_recording;
struct flight_watch;

struct flight_counts {
    uint64_t events;     /* that came in */
    uint64_t recorded;   /* of these: written to a recording */
    uint64_t discarded;  /* left the window unread */
    uint64_t lost;       /* did not fit while a recording was written */
    uint64_t triggers;   /* that fired */
    uint64_t suppressed; /* came too soon after one that did */
    uint64_t failed;     /* recordings that could not be opened */
};

struct flight {
    struct sink sink;
    struct pipeline *pipeline;
    const struct options *options; /* as they were given */
    struct flight_window *window;  /* owned; a lane for each CPU, the last one for the CLR */
    struct flight_known *known;    /* owned */
    uint32_t cpu_count;
    const struct trd_catalog *catalog;  /* of the kernel; NULL = there is none */
    struct trd_filter *trigger;         /* owned; NULL = no expression */
    struct flight_watch *watch;         /* owned; NULL = the trigger asks for no kernel event */
    struct flight_recording *recording; /* owned; NULL = armed */
    uint64_t *lane_lost;                /* owned: lost of each lane, to be told by the recording */
    uint64_t *done_ns; /* owned: what a CPU's oldest page holds up to here is recorded already */
    /* Owned: nothing earlier comes from a CPU; UINT64_MAX = nothing at all, be it not there or
     * over. */
    uint64_t *reached_ns;
    uint64_t fired_ns;         /* 0 = not yet */
    uint64_t suppressed_since; /* the last one that fired */
    unsigned number;           /* of the last recording */
    bool is_ending;
    bool needs_offcpu; /* the trigger may be a span sched:offcpu */
    struct flight_counts counts;
    uv_timer_t timer;
    uv_signal_t signal;
    struct flight_control control;
    bool has_control;
    unsigned open_handles;
};

struct flight_cause {
    const char *kind;  /* "event", "signal" or "command" */
    const char *event; /* name of the event or span; NULL = none */
    uint64_t ts_ns;
};

/* flight.c */

/* The recording is complete, or could not be; it is freed behind this. */
void flight_on_recorded(struct flight *flight);

/* flight_recording.c */

/* False after a sentence if it cannot be written. */
bool flight_recording_start(struct flight *flight, const struct flight_cause *cause);
/* Called now and then: time has passed. */
void flight_recording_tick(struct flight_recording *recording);
/* Nothing more comes: ends with what there is. */
void flight_recording_close(struct flight_recording *recording);
/* Writes what it can. False if nothing could be. */
bool flight_recording_make_room(struct flight_recording *recording);

/* flight_watch.c */

/* 0, or -ENOMEM. *out stays NULL if no kernel event can fire the trigger. It must outlive
 * its inputs, which end once a CPU has reached UINT64_MAX. */
int flight_watch_create(struct flight_watch **out, struct flight *flight);
void flight_watch_destroy(struct flight_watch *watch);
void flight_watch_page(struct flight_watch *watch, uint32_t cpu, const uint8_t *bytes, size_t size);
void flight_watch_reached(struct flight_watch *watch, uint32_t cpu, uint64_t ts_ns);

#endif
