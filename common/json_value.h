/* One field of a record as a JSON value, by storage and meaning. Part of the hot path of json.c. */
#ifndef TRD_COMMON_JSON_VALUE_H
#define TRD_COMMON_JSON_VALUE_H

#include "tracerd/catalog.h"
#include "tracerd/json.h"
#include "tracerd/record.h"

struct json_context {
    const struct trd_catalog *catalog; /* symbols; may be NULL */
    const struct trd_json_names *names;
    const struct trd_record *record;
};

/* The record is too short for the field, or its dynamic word points outside. */
#define JSON_ABSENT ((char *)0)
/* The value might not fit before `end`. */
#define JSON_NO_ROOM ((char *)1)

char *json_put_field(const struct json_context *context, const struct trd_field *field, char *out,
                     char *end);

#endif
