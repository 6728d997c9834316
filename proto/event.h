/*
 * CLR event records: how one event lies in a ring, on the wire and in memory. Written by the
 * profiler, read by the daemon; made from events.def and nothing else. No I/O, no allocation.
 *
 *   0        4     6       8            16                     16+sizeof(fields)      size
 *   | size   | id  | flags | ts_ns      | fixed fields         | text bytes, each NUL-terminated |
 *
 * Fixed fields are a C struct in natural alignment, little-endian. A `text` field is the word
 * {offset, size} of ftrace's __data_loc: offset counts from the start of the fixed fields, size
 * includes the NUL. So one reader serves kernel and CLR records alike.
 */
#ifndef TRD_PROTO_EVENT_H
#define TRD_PROTO_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the CLR half travels in little-endian; no big-endian .NET target is supported"
#endif

/* Records lie at multiples of the size of their head, so that whatever is left at the end of a ring
 * has room for the head of a padding record. */
#define TRD_EVENT_ALIGN 16
/* Longest text carried by one field, NUL included. Longer ones are cut at a UTF-8 boundary. */
#define TRD_TEXT_MAX 1024
/* Largest whole record: three texts and change; padding stays below it too, since it fills no more
 * than the room in which the next record did not fit. */
#define TRD_EVENT_SIZE_MAX 4096

/* Bytes of a clr:event's payload that travel; the rest is cut, and the event marked. */
#define TRD_EVENT_PAYLOAD_MAX 3968
/* Fields of one EventSource event, and what they may be: see names.def, event_field_type. */
#define TRD_EVENT_FIELDS_MAX 256
enum trd_event_field_type {
    TRD_FIELD_UNKNOWN = 0,
    TRD_FIELD_BOOL = 3,
    TRD_FIELD_CHAR,
    TRD_FIELD_I8,
    TRD_FIELD_U8,
    TRD_FIELD_I16,
    TRD_FIELD_U16,
    TRD_FIELD_I32,
    TRD_FIELD_U32,
    TRD_FIELD_I64,
    TRD_FIELD_U64,
    TRD_FIELD_F32,
    TRD_FIELD_F64,
    TRD_FIELD_DECIMAL,
    TRD_FIELD_TIME,
    TRD_FIELD_GUID,
    TRD_FIELD_TEXT,
};

struct trd_event_head {
    uint32_t size;  /* of the whole record, this head included; a multiple of TRD_EVENT_ALIGN */
    uint16_t id;    /* enum trd_event_id; TRD_EVENT_PADDING fills the end of a ring */
    uint16_t flags; /* TRD_EVENT_F_… */
    uint64_t ts_ns; /* CLOCK_MONOTONIC */
};

_Static_assert(sizeof(struct trd_event_head) == TRD_EVENT_ALIGN, "a head fills one unit");

/* The size of a record with `size` bytes behind its head. */
static inline uint32_t trd_event_size(uint32_t size)
{
    return ((uint32_t)sizeof(struct trd_event_head) + size + TRD_EVENT_ALIGN - 1) &
           ~(TRD_EVENT_ALIGN - 1u);
}

/* Describes what existed already when the profiler or the connection came up. */
#define TRD_EVENT_F_CATCH_UP 0x1
/* A text did not fit TRD_TEXT_MAX and was cut. */
#define TRD_EVENT_F_CUT 0x2
/* Stamped as the record before it in the ring, without a reading of the clock: of what follows in
 * the same instant. The one stamp that may be earlier than a mark: the reader raises it to that. */
#define TRD_EVENT_F_SAME_TIME 0x4

struct trd_text {
    uint16_t offset; /* from the start of the fixed fields */
    uint16_t size;   /* bytes with the NUL; 0 = absent */
};

/*
 * Groups of events that can be switched on and off; a mask of 1u << number travels, so numbers are
 * for good. `row` is those that are on unless something else is asked for, `opt_in` those that cost
 * more than they tell most people. RUNTIME, number 0, is always on. In the order of their numbers.
 */
/* clang-format off */
#define TRD_CATEGORIES(row, opt_in) \
    row(1, THREAD, "thread") \
    row(2, LOADER, "loader") \
    row(3, JIT, "jit") \
    row(4, GC, "gc") \
    row(5, EXCEPTION, "exception") \
    opt_in(6, CONTENTION, "contention") \
    opt_in(7, THREADPOOL, "threadpool") \
    opt_in(8, ALLOCATION, "allocation") \
    opt_in(9, PROVIDER, "provider") \
    opt_in(10, METHOD, "method") \
    opt_in(11, TRANSITION, "transition") \
    opt_in(12, CLASS, "class") \
    opt_in(13, INLINING, "inlining") \
    opt_in(14, GCHEAP, "gcheap") \
    opt_in(15, UNWIND, "unwind")
/* clang-format on */

#define TRD_CATEGORY_NOTHING(number, ident, name)
#define TRD_CATEGORY_ENUM(number, ident, name) TRD_CATEGORY_##ident = number,
enum trd_category {
    TRD_CATEGORY_RUNTIME,
    TRD_CATEGORIES(TRD_CATEGORY_ENUM, TRD_CATEGORY_ENUM) TRD_CATEGORY_COUNT = 16
};
#define TRD_CATEGORY_BIT(name) (1u << TRD_CATEGORY_##name)
#define TRD_CATEGORY_OR(number, ident, name) | 1u << (number)
#define TRD_CATEGORIES_DEFAULT (1u TRD_CATEGORIES(TRD_CATEGORY_OR, TRD_CATEGORY_NOTHING))
#define TRD_CATEGORIES_ALL (1u TRD_CATEGORIES(TRD_CATEGORY_OR, TRD_CATEGORY_OR))

/* "gc" → TRD_CATEGORY_GC; negative if there is no such category. */
int trd_category_find(const char *name, size_t length);
/* NULL for a number that is none. */
const char *trd_category_name(enum trd_category category);
/* The mask of a word in a list that people write: a category, or "default"; 0 if it is neither. */
uint32_t trd_categories_find(const char *word, size_t length);

typedef uint8_t trd_u8;
typedef uint16_t trd_u16;
typedef uint32_t trd_u32;
typedef uint64_t trd_u64;
typedef int32_t trd_i32;
typedef int64_t trd_i64;
typedef struct trd_text trd_text;

enum trd_event_id {
    TRD_EVENT_PADDING = 0,
#define TRD_FIELD(type, ident, meaning, doc)
#define TRD_NAMED(type, ident, meaning, table, doc)
#define TRD_EVENT(id, category, ident, name, doc, fields) TRD_EV_##ident = id,
#include "events.def"
#undef TRD_EVENT
#undef TRD_FIELD
#undef TRD_NAMED
};

/* struct trd_ev_gc_start and its kind: the fixed fields of each event. */
#define TRD_FIELD(type, ident, meaning, doc) trd_##type ident;
#define TRD_NAMED(type, ident, meaning, table, doc) trd_##type ident;
#define TRD_EVENT(id, category, ident, name, doc, fields)                                          \
    struct trd_ev_##ident {                                                                        \
        fields                                                                                     \
    };
#include "events.def"
#undef TRD_EVENT
#undef TRD_FIELD
#undef TRD_NAMED

/*
 * What decoder, schema and documentation need to know of an event. `names` is a table of
 * names.def or NULL.
 */
enum trd_event_type {
    TRD_EVENT_TYPE_u8,
    TRD_EVENT_TYPE_u16,
    TRD_EVENT_TYPE_u32,
    TRD_EVENT_TYPE_u64,
    TRD_EVENT_TYPE_i32,
    TRD_EVENT_TYPE_i64,
    TRD_EVENT_TYPE_text,
};

/* Meanings by name, so that the daemon's schema and EVENTS.md can be made from one table. */
struct trd_event_name {
    uint64_t value;
    const char *name;
};

struct trd_event_field {
    const char *name;
    const char *doc;
    const char *meaning; /* spelled as in events.def: "COUNT", "ENUM", … */
    const char *table;   /* name of the table in names.def, or NULL */
    const struct trd_event_name *names;
    uint16_t name_count;
    uint16_t offset; /* in the fixed fields */
    uint8_t size;    /* 1, 2, 4 or 8; 4 for text */
    enum trd_event_type type;
};

struct trd_event_info {
    uint16_t id;
    uint8_t category;
    uint8_t field_count;
    uint16_t fixed_size;
    const char *name; /* "clr:gc_start" */
    const char *doc;
    const struct trd_event_field *fields;
};

/* Events by index in the order of events.def; NULL past the end. */
const struct trd_event_info *trd_event_get(size_t index);

/* NULL for an id this build does not know (a newer profiler may send some: skip by size). */
const struct trd_event_info *trd_event_find(uint16_t id);

/* By "clr:gc_start"; for set-up. */
const struct trd_event_info *trd_event_find_name(const char *name);

/*
 * Checks one record that somebody else wrote: `size` bytes are readable at `bytes` (any
 * alignment). On success *out_head is filled, and the record's fields and texts are safe to
 * read: every text lies inside the record, behind the fixed fields, and ends with a NUL.
 * Returns 1 for a known event, 0 for padding or an unknown id (skip head.size bytes),
 * -EBADMSG if the bytes are no record, -EAGAIN if the record goes on beyond `size`.
 */
int trd_event_check(const uint8_t *bytes, size_t size, struct trd_event_head *out_head);

/* Counts what was appended to events (grown.def); HELLO tells what a client knows of it. */
#define TRD_EVENTS_REVISION 1

/*
 * A record of an event that has grown since the client's revision, as this revision has it: what
 * was appended is 0, or absent. To be checked then; its size in the ring is that of `bytes`. 1 and
 * the record in `out`; 0 if it is as it would be today, or not known; -EBADMSG and -EAGAIN
 * likewise.
 */
int trd_event_widen(const uint8_t *bytes, size_t size, uint32_t revision,
                    uint8_t out[TRD_EVENT_SIZE_MAX]);
/* The record's head, and whether all of it is there, which is all that is checked: 0, -EBADMSG or
 * -EAGAIN. */
int trd_event_look(const uint8_t *bytes, size_t size, struct trd_event_head *out_head);

/* A text of a checked record. *out_size excludes the NUL; "" for an absent text. */
const char *trd_event_text(const void *fixed, struct trd_text text, size_t *out_size);

/*
 * Appends `length` bytes of UTF-8 as a text of the event whose fixed fields start at `fixed`;
 * *used counts the bytes used from `fixed` on and must not exceed `capacity`. A text that is too
 * long is cut at a character boundary. Returns true if nothing was cut.
 */
bool trd_event_put_text(void *fixed, uint32_t *used, uint32_t capacity, struct trd_text *text,
                        const char *bytes, size_t length);

#endif
