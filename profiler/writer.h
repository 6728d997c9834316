/*
 * Writes events into the calling thread's ring. Called from every profiler callback, in whatever
 * mode the runtime is in: never blocks, never calls the runtime, allocates only at a thread's first
 * event. The sender reads what is published here.
 *
 *     struct writer writer;
 *     struct trd_ev_gc_end *event = WRITER_BEGIN(&writer, gc_end, GC, 0);
 *     if (event) { event->number = n; writer_commit(&writer); }
 */
#ifndef TRD_PROFILER_WRITER_H
#define TRD_PROFILER_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"

struct writer {
    /* private */
    struct writer_ring *owner;
    struct trd_event_head *head;
    uint64_t position; /* of the record */
    uint32_t used;     /* bytes from the fixed fields on */
    uint32_t capacity;
};

/* Behind an event, in the ring of the thread that wrote it; zeroes are nowhere. */
struct writer_place {
    uint64_t position;
    uint64_t ts_ns; /* of that event */
};

/* Once, after arena_create. `wake` is called when a ring fills beyond half. */
int writer_init(void (*wake)(void));

/*
 * Reserves room for an event whose texts take at most text_size bytes, NULs included, and stamps
 * it. NULL: it was dropped and counted. Until commit: plain stores and writer_text only.
 */
void *writer_begin(struct writer *writer, uint16_t id, enum trd_category category,
                   uint32_t fixed_size, uint32_t text_size);
#define WRITER_BEGIN(writer, event, category, text_size)                                           \
    writer_begin(writer, TRD_EV_##event, TRD_CATEGORY_##category, sizeof(struct trd_ev_##event),   \
                 text_size)
void writer_text(struct writer *writer, struct trd_text *text, const char *bytes, size_t length);
/* Bytes without a field of their own, behind what was written so far; they count as text_size. */
void writer_bytes(struct writer *writer, const void *bytes, uint32_t size);
/* TRD_EVENT_F_… of this event. */
void writer_flag(struct writer *writer, uint16_t flags);
struct writer_place writer_commit(struct writer *writer);
/*
 * The same for an event that happens in the same instant as the one before `place`: if nothing was
 * written in between it gets its time and saves the reading of the clock, else it is stamped as
 * any. No texts.
 */
void *writer_begin_after(struct writer *writer, struct writer_place place, uint16_t id,
                         enum trd_category category, uint32_t fixed_size);
/* Each thread may keep one place; nowhere to begin with. */
void writer_keep(struct writer_place place);
struct writer_place writer_kept(void);

#endif
