/*
 * Frames on the socket between the profiler (client) and the daemon (server): a stream of
 *
 *   0         4      5          8
 *   | size    | type | zero[3]  | size bytes of payload |
 *
 * little-endian, structs in natural alignment. The client speaks first (HELLO, with the memfd of
 * its arena as SCM_RIGHTS); the server answers WELCOME. PROTOCOL.md tells the whole conversation.
 * Pure functions over bytes: no I/O here.
 */
#ifndef TRD_PROTO_FRAME_H
#define TRD_PROTO_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "event.h"
#include "ring.h"

#define TRD_PROTOCOL_MAGIC 0x50445254u /* "TRDP" */
#define TRD_PROTOCOL_VERSION 2
/* Largest payload. A batch is cut to it by the sender; a longer frame ends the connection. */
#define TRD_FRAME_SIZE_MAX (256 * 1024)
/* Marks further apart than this would hold the timeline back for everybody. */
#define TRD_MARK_INTERVAL_MAX_MS 1000

enum trd_frame_type {
    /* profiler to daemon */
    TRD_FRAME_HELLO = 0x01,
    TRD_FRAME_BATCH = 0x02, /* events of one ring */
    TRD_FRAME_MARK = 0x03,  /* watermark: nothing earlier follows from this process */
    TRD_FRAME_LOST = 0x04,  /* drops of an idle ring, which no event will tell */
    TRD_FRAME_BYE = 0x05,   /* orderly end */
    TRD_FRAME_PONG = 0x06,
    /* daemon to profiler */
    TRD_FRAME_WELCOME = 0x41,
    TRD_FRAME_CATEGORIES = 0x42,
    TRD_FRAME_PING = 0x43,
    TRD_FRAME_DETACH = 0x44,
    TRD_FRAME_PROVIDERS = 0x45, /* of EventPipe, a list as in provider.h */
    TRD_FRAME_RESOLVE = 0x46,   /* whose code lies at these addresses? */
    TRD_FRAME_SWEEP = 0x47,     /* send what the rings hold, and a mark */
};

struct trd_frame_head {
    uint32_t size;
    uint8_t type;
    uint8_t zero[3];
};

#define TRD_HELLO_F_ATTACHED 0x1
#define TRD_HELLO_F_NOTIFICATION_ONLY 0x2
#define TRD_HELLO_F_RECONNECT 0x4 /* this profiler has spoken to a daemon before */
#define TRD_HELLO_F_SWEEPS 0x8    /* knows SWEEP, so it need not mark by itself */

enum trd_clock {
    TRD_CLOCK_MONOTONIC = 1,
    TRD_CLOCK_TSC = 2, /* stamps count the ticks of x86's time stamp counter */
};

/* One moment on both clocks. */
struct trd_clock_pair {
    uint64_t tsc;
    uint64_t ns;     /* of CLOCK_MONOTONIC, read within the window of ticks around tsc */
    uint64_t window; /* ticks */
};

struct trd_hello {
    uint32_t magic;
    uint16_t version;
    uint16_t flags;
    uint32_t pid; /* as the process sees itself; SO_PEERCRED is what counts */
    uint32_t clock;
    uint64_t start_time; /* field 22 of /proc/self/stat, clock ticks since boot */
    uint64_t instance;   /* tells two loads of the profiler into one process apart */
    uint16_t runtime[4]; /* major, minor, build, revision */
    uint32_t categories; /* mask of what this profiler can send */
    uint32_t ring_size;  /* what a ring may grow to */
    uint32_t ring_count;
    uint32_t events_revision; /* TRD_EVENTS_REVISION as the client knows it */
    uint64_t accounted;       /* events that earlier connections were sent or told to be lost */
    /* With TRD_CLOCK_TSC only; else absent or 0. */
    struct trd_clock_pair started; /* before the first event of the process */
    struct trd_clock_pair now;
};
#define TRD_HELLO_SIZE_MIN offsetof(struct trd_hello, started)

#define TRD_WELCOME_F_LOOKS 0x1 /* the daemon looks into the arena and asks by SWEEP */

struct trd_welcome {
    uint32_t magic;
    uint16_t version;
    uint16_t flags;
    uint32_t categories; /* mask of what is wanted */
    uint32_t mark_interval_ms;
};

struct trd_batch {
    uint32_t ring;
    uint32_t tid;      /* owner, as the traced process sees it */
    uint64_t position; /* of the first record in the ring's life; a gap or overlap shows here */
    /* records follow */
};

struct trd_mark {
    uint64_t ts_ns;
    /* With TRD_CLOCK_TSC only; else absent or 0. `ns` is ts_ns again. */
    struct trd_clock_pair pair;
};
#define TRD_MARK_SIZE_MIN offsetof(struct trd_mark, pair)

struct trd_ring_lost {
    uint32_t ring;
    uint32_t tid;
    uint64_t from_ns;
    uint64_t to_ns;
    uint64_t count; /* events dropped in that time and told nowhere else */
    uint64_t told;  /* what LOST frames have told of this ring in its life, this one included */
};

struct trd_goodbye {
    uint64_t produced; /* over all rings and threads without a ring */
    uint64_t dropped;
};

struct trd_categories {
    uint32_t categories;
    uint32_t reserved;
};

/* Addresses of one request; the client answers each with clr:code, method 0 if nobody's. */
#define TRD_RESOLVE_MAX 256

/* Also clr:il_offset, for the body of code that holds each address. */
#define TRD_RESOLVE_F_IL 0x1

struct trd_resolve {
    uint32_t count; /* 1 … TRD_RESOLVE_MAX */
    uint32_t flags; /* TRD_RESOLVE_F_… */
    /* u64 addresses[count] follow */
};

struct trd_ping {
    uint64_t token; /* PONG brings it back */
};

/*
 * Looks for one whole frame in `size` bytes. Returns 1 and sets *out_head and *out_payload
 * (borrowed from `bytes`), 0 if more bytes are needed, -EBADMSG if the length is over
 * TRD_FRAME_SIZE_MAX, the type is unknown or the reserved bytes are not zero. The next frame
 * starts at *out_payload + out_head->size.
 */
int trd_frame_next(const uint8_t *bytes, size_t size, struct trd_frame_head *out_head,
                   const uint8_t **out_payload);

/*
 * One decoder per payload: copies it out and checks what can be checked (exact or minimal size,
 * magic, version, powers of two, limits). -EBADMSG, or -EPROTONOSUPPORT for another version.
 */
int trd_frame_hello(const uint8_t *payload, size_t size, struct trd_hello *out);
int trd_frame_welcome(const uint8_t *payload, size_t size, struct trd_welcome *out);
int trd_frame_mark(const uint8_t *payload, size_t size, struct trd_mark *out);
int trd_frame_ring_lost(const uint8_t *payload, size_t size, struct trd_ring_lost *out);
int trd_frame_goodbye(const uint8_t *payload, size_t size, struct trd_goodbye *out);
int trd_frame_categories(const uint8_t *payload, size_t size, struct trd_categories *out);
int trd_frame_ping(const uint8_t *payload, size_t size, struct trd_ping *out);
int trd_frame_resolve(const uint8_t *payload, size_t size, struct trd_resolve *out,
                      uint64_t out_addresses[TRD_RESOLVE_MAX]);
/* *out_records/_size: the records behind the batch head, borrowed; check each with trd_event_check.
 */
int trd_frame_batch(const uint8_t *payload, size_t size, struct trd_batch *out,
                    const uint8_t **out_records, size_t *out_size);

/* The payload is the list; any that holds what is no provider, or too many, is refused whole. */
int trd_frame_providers(const uint8_t *payload, size_t size);

/* Writes a frame head for a payload of `size` bytes. */
void trd_frame_head_init(struct trd_frame_head *head, enum trd_frame_type type, uint32_t size);

#endif
