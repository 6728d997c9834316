/*
 * A schema compiled for writing JSON: one step per field, with its key and the names of its values
 * escaped once and ready to be copied. Made by json_plan.c at first sight of a schema, run per
 * record by json_run.c.
 */
#ifndef TRD_COMMON_JSON_PLAN_H
#define TRD_COMMON_JSON_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json_writer.h"
#include "tracerd/catalog.h"
#include "tracerd/json.h"
#include "tracerd/record.h"

/* How the bytes of a field become a value; what is not among the first ones is JSON_CODE_OTHER. */
enum json_code {
    JSON_CODE_U8,
    JSON_CODE_U16,
    JSON_CODE_U32,
    JSON_CODE_S8,
    JSON_CODE_S16,
    JSON_CODE_S32,
    JSON_CODE_U64,
    JSON_CODE_S64,
    JSON_CODE_ADDRESS, /* any width, either byte order; so are those that follow */
    JSON_CODE_BOOL,
    JSON_CODE_FLAGS,
    JSON_CODE_ENUM,
    JSON_CODE_CHARS, /* inline text, short enough to be counted in `room` */
    JSON_CODE_INTS,  /* inline array of numbers, likewise */
    JSON_CODE_OTHER, /* its size is known when it is written: json_value.c */
};

/* A value's name, escaped: `"S",` for flags, `,"name":"gc"}` for enums. */
struct json_label {
    uint64_t value;
    const char *text; /* in blocks of JSON_BLOCK */
    uint32_t size;
};

struct json_step {
    uint8_t code;
    uint8_t elem_size;
    bool is_signed;
    uint16_t offset;
    uint16_t size;       /* the record must reach to offset + size */
    uint32_t key_size;   /* of `,"name":` */
    const char *key;     /* in blocks of JSON_BLOCK */
    uint32_t first;      /* in the plan's labels */
    uint32_t count;      /* labels of FLAGS and ENUM */
    uint64_t label_mask; /* FLAGS: only these bits are looked at */
    const struct trd_field *field;
};

struct json_plan {
    const struct trd_schema *schema;
    const struct trd_catalog *catalog; /* symbols; may be NULL */
    const char *name;                  /* `,"name":"sched:sched_switch","args":`, in blocks */
    uint32_t name_size;
    /* What all steps but JSON_CODE_OTHER write at most, with their keys. */
    uint32_t room;
    uint32_t step_count;
    struct json_step *steps;   /* owned */
    struct json_label *labels; /* owned */
    char *text;                /* owned: keys, names and labels lie in here */
};

/* NULL if there is no memory. */
struct json_plan *json_plan_create(const struct trd_schema *schema,
                                   const struct trd_catalog *catalog);
void json_plan_destroy(struct json_plan *plan);

/*
 * 64-bit numbers with their quotes, ready to be copied: addresses and handles come again and again.
 * Zeroed at first; a large number is never 0.
 */
#define JSON_NUMBERS 128
struct json_number {
    uint64_t value;
    uint8_t size;
    char text[JSON_NUMBER_MAX - 1];
};

/* A record on its way out. */
struct json_run {
    const struct json_plan *plan;
    struct json_number *numbers; /* JSON_NUMBERS; the writer's */
    const struct trd_json_names *names;
    const struct trd_record *record;
    char *limit; /* where OTHER steps stop, so that all else still fits behind */
    bool cut;    /* something did not fit and was left out */
};

/*
 * `{…}`, the args of the record, between `out` and `end`; NULL if not even the plan's room is
 * there.
 */
char *json_run_args(struct json_run *run, char *out, char *end);

/*
 * The value of a JSON_CODE_OTHER step. JSON_ABSENT if the record's bytes do not hold the field,
 * JSON_NO_ROOM if it might not fit before `end`.
 */
#define JSON_ABSENT ((char *)0)
#define JSON_NO_ROOM ((char *)1)
char *json_put_value(const struct json_run *run, const struct json_step *step, char *out,
                     char *end);

/* FLAGS and ENUM of a value; need what the plan counted for the step. */
char *json_put_flags(const struct json_plan *plan, const struct json_step *step, uint64_t value,
                     char *out);
char *json_put_enum(const struct json_plan *plan, const struct json_step *step, uint64_t value,
                    char *out);
/* What a value with these labels takes at most. */
size_t json_labels_room(const struct json_plan *plan, const struct json_step *step);

#endif
