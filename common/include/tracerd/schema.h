/*
 * A schema: the typed fields of one kind of event, kernel or CLR. Made once, when a format is
 * loaded or from proto/events.def; read by the JSON plan, filters, views and bindings, which never
 * ask whether an event came from the kernel or the CLR.
 *
 * Storage says how the bytes lie, meaning says what they stand for. Sources: the kernel's
 * `events/SYSTEM/EVENT/format` (fields and print format), Documentation/trace/events.rst.
 * Everything here is const after creation and borrowed from the catalog that made it.
 */
#ifndef TRACERD_SCHEMA_H
#define TRACERD_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracerd/export.h"

enum trd_storage {
    TRD_STORAGE_INT,       /* one integer of `size` (1, 2, 4, 8) bytes at `offset` */
    TRD_STORAGE_INTS,      /* `count` integers of `elem_size` bytes each, inline */
    TRD_STORAGE_CHARS,     /* inline text of `size` bytes, ends at a NUL or after size bytes */
    TRD_STORAGE_BYTES,     /* inline bytes without integer type (structs) */
    TRD_STORAGE_DYN_INTS,  /* 4-byte word {u16 offset, u16 bytes}; integers of elem_size there */
    TRD_STORAGE_DYN_CHARS, /* 4-byte word; text there */
    TRD_STORAGE_DYN_BYTES, /* 4-byte word; bytes without integer type there */
    TRD_STORAGE_TAIL_INTS, /* declared size 0: from offset to the end of the record */
    TRD_STORAGE_TAIL_CHARS,
};

enum trd_meaning {
    TRD_MEANING_PLAIN, /* a number or text as it is */
    TRD_MEANING_COUNT,
    TRD_MEANING_TEXT,
    TRD_MEANING_CHAR,
    TRD_MEANING_BOOL,    /* exactly one byte decides (C9) */
    TRD_MEANING_ADDRESS, /* pointer: hexadecimal */
    TRD_MEANING_SYMBOL,  /* address of code: hexadecimal and, where known, its symbol */
    TRD_MEANING_STACK,   /* array of code addresses */
    TRD_MEANING_FLAGS,   /* `names` are masks */
    TRD_MEANING_ENUM,    /* `names` are values */
    TRD_MEANING_HEX,
    TRD_MEANING_TIME_NS,
    TRD_MEANING_SIZE,   /* bytes */
    TRD_MEANING_DEVICE, /* dev_t of the kernel: 12 bits major, 20 bits minor */
    TRD_MEANING_IPV4,   /* 4 bytes in network order */
    TRD_MEANING_IPV6,   /* 16 bytes */
    TRD_MEANING_SOCKADDR,
    TRD_MEANING_MAC,      /* 6 bytes */
    TRD_MEANING_UUID,     /* 16 bytes, big-endian order */
    TRD_MEANING_GUID,     /* 16 bytes, first three groups little-endian */
    TRD_MEANING_BITMASK,  /* longs of the recording machine: bitmask or cpumask */
    TRD_MEANING_BIT_LIST, /* mask shown as the list of its set bits */
    TRD_MEANING_TID,      /* thread id as the traced process sees it */
    TRD_MEANING_THREAD,   /* CLR ThreadID */
    TRD_MEANING_METHOD,   /* FunctionID */
    TRD_MEANING_MODULE,   /* ModuleID */
    TRD_MEANING_ASSEMBLY, /* AssemblyID */
    TRD_MEANING_TYPE,     /* ClassID */
    TRD_MEANING_TOKEN,    /* metadata token */
    TRD_MEANING_HRESULT,
    TRD_MEANING_JSON,  /* text that is a JSON value already */
    TRD_MEANING_FLOAT, /* an IEEE 754 number of 4 or 8 bytes */
};

struct trd_name {
    uint64_t value;   /* a mask for flags, sign-extended to 64 bit for enums */
    const char *name; /* borrowed from the catalog */
};

struct trd_names {
    const struct trd_name *entries; /* in the order of the source: flags match in this order */
    uint32_t count;
    /* Flags: only these bits are looked at (`REC->prev_state & 0xff`); ~0 for all. */
    uint64_t mask;
};

struct trd_field {
    const char *name;
    const char *declaration; /* the C type as the format file spells it, "" for CLR events */
    uint16_t offset;
    uint16_t size;                 /* bytes at offset; 4 for DYN, 0 for TAIL */
    uint16_t elem_size;            /* of one array element; equals size for INT */
    uint16_t count;                /* inline array length, else 1 */
    uint8_t storage;               /* enum trd_storage */
    uint8_t meaning;               /* enum trd_meaning */
    bool is_signed;                /* of the integer or element */
    bool is_relative;              /* DYN: offset counts from the end of the word (__rel_loc) */
    bool is_common;                /* common_type, common_flags, … */
    const struct trd_names *names; /* FLAGS, ENUM; else NULL */
};

/* Private to common/: the compiled print format and the JSON plan of a schema. */
struct trd_print_format;

struct trd_schema {
    const char *system;    /* "sched", "clr" */
    const char *name;      /* "sched_switch" */
    const char *full_name; /* "sched:sched_switch" */
    uint32_t id;           /* unique in its catalog */
    bool is_clr;
    bool big_endian; /* of the records */
    uint8_t long_size;
    uint16_t fixed_size;            /* bytes every record has at least */
    const struct trd_field *fields; /* common ones first */
    uint32_t field_count;
    uint32_t common_count;
    /* NULL if all of the print format compiled (or there is none); else one sentence on what did
     * not and why. Never affects the fields. */
    const char *print_error;
    const struct trd_print_format *print_format; /* NULL for CLR events */
    const char *print_text;                      /* the kernel's print fmt line, "" if none */
    const char *format_text;                     /* the whole format file; NULL for CLR events */
};

/* NULL if the schema has no such field. For set-up; no event needs it. */
TRD_EXPORT const struct trd_field *trd_schema_field(const struct trd_schema *schema,
                                                    const char *name);

#endif
