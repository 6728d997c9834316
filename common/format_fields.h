/*
 * The head and field lines of a `format` file, taken apart; used by format.c only. Ours, because
 * libtraceevent 1.7.1 dereferences NULL on `field:__attribute__((user))unsigned char x;` and keeps
 * its lexer in file-scope variables; in tests it is the oracle.
 *
 *   name: sched_switch
 *   ID: 315
 *   format:
 *   \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
 *
 *   \tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;        (blank line: end of common)
 *
 *   print fmt: …
 * Source: kernel/trace/trace_events.c, f_show.
 */
#ifndef TRD_COMMON_FORMAT_FIELDS_H
#define TRD_COMMON_FORMAT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct format_text {
    const char *name; /* all of this is borrowed from the text, nothing terminated */
    uint32_t name_size;
    uint32_t id;
    const char *fields; /* the lines behind `format:` */
    const char *fields_end;
    const char *print; /* behind `print fmt: `, without trailing newlines; size 0 if none */
    size_t print_size;
};

/* -EBADMSG if there is no name or no id. */
int format_text_split(struct format_text *out, const char *text, size_t size);

enum format_array {
    FORMAT_ARRAY_NONE,
    FORMAT_ARRAY_FIXED,
    FORMAT_ARRAY_DATA_LOC,
    FORMAT_ARRAY_REL_LOC,
};

struct format_field {
    const char *type; /* `unsigned char`, without array brackets and __data_loc; borrowed */
    uint32_t type_size;
    const char *brackets; /* `[16]`, `[]` */
    uint32_t brackets_size;
    const char *name;
    uint32_t name_size;
    uint32_t offset, size;
    bool is_signed;
    bool is_common;
    uint8_t array;   /* enum format_array */
    uint32_t length; /* FIXED: the number in the brackets; 0 if it is none */
};

struct format_fields {
    const char *at;
    const char *end;
    bool common_ended;
    uint32_t count;
};

void format_fields_init(struct format_fields *fields, const struct format_text *text);
/* 1 and a field; 0 at the end; lines that are no field are passed over. */
int format_fields_next(struct format_fields *fields, struct format_field *out);

#endif
