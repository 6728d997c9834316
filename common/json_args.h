/*
 * Values by name in a record without a schema: an event or a span of a recording, whose args are
 * JSON text in the form of proto/JSON.md. The text comes from a file, so whatever is not of that
 * form is simply not there. For filters and for writers of other forms.
 */
#ifndef TRD_COMMON_JSON_ARGS_H
#define TRD_COMMON_JSON_ARGS_H

#include <stdbool.h>

#include "tracerd/json.h"

/* Longer texts are decoded as far as this. */
#define JSON_ARGS_TEXT_MAX 4096

struct json_args_name {
    const char *text;
    size_t size;
    bool has_index; /* an element of a list */
    uint64_t index;
};

/* False if there is no such member, or it is no number. A value with names is its raw number. */
bool json_args_number(const struct trd_record *record, const struct json_args_name *name,
                      uint64_t *out);
/* Likewise no text; a value with a name is that name. It is decoded into the buffer. */
bool json_args_text(const struct trd_record *record, const struct json_args_name *name,
                    char *buffer, size_t capacity, size_t *out_size);

#endif
