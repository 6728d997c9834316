/*
 * One value of a managed program as JSON text, by the rules of proto/JSON.md: what a hooked method
 * is given or returns. Reads memory of the program's, in a callback during which no collection can
 * begin; asks the runtime for the type of an object only.
 */
#ifndef TRD_PROFILER_VALUE_H
#define TRD_PROFILER_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "info_heap.h"

enum value_kind {
    VALUE_NONE, /* void */
    VALUE_BOOL,
    VALUE_CHAR,
    VALUE_SIGNED,
    VALUE_UNSIGNED,
    VALUE_FLOAT,
    VALUE_STRING,
    VALUE_OBJECT,  /* a reference: {"type":NAME}, or null */
    VALUE_ADDRESS, /* "0x…" */
    VALUE_BYTES,   /* of a struct: hexadecimal */
};

struct value_type {
    uint8_t kind; /* enum value_kind */
    uint8_t size; /* of numbers and addresses; what is read */
};

#define VALUE_STRING_UNITS_MAX 256
#define VALUE_BYTES_MAX 64

/* JSON text that grows up to a capacity and stays well-formed: what does not fit is left out. */
struct value_text {
    char *bytes; /* not terminated */
    size_t used;
    size_t capacity;
    bool is_cut; /* something is missing */
};

/* What reading objects needs to know; the same for all of them. */
struct value_reader {
    struct corprof_info *info;
    struct info_string_layout string;
    bool has_string; /* the layout is known */
};

/*
 * Appends the value that lies in [start, start + length). Whole or not at all: false if there is no
 * room for it. A range that is NULL or shorter than its type appends null and marks the text cut.
 */
bool value_append(struct value_text *text, const struct value_reader *reader,
                  struct value_type type, const void *start, size_t length);
/* Text in UTF-16 as it stands between quotes in JSON, as far as it fits; true if all did. */
bool value_append_units(struct value_text *text, const uint16_t *units, size_t count);
/* Bytes as they are; all or nothing. */
bool value_append_raw(struct value_text *text, const char *bytes, size_t size);

#endif
