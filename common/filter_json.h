/* What a name of a filter stands for in a record without a schema, whose args are JSON text. */
#ifndef TRD_COMMON_FILTER_JSON_H
#define TRD_COMMON_FILTER_JSON_H

#include "filter_private.h"
#include "tracerd/json.h"

/* Longer texts are compared as far as this. */
#define FILTER_JSON_TEXT_MAX 4096

/* False if there is no such member, or it is no number. */
bool filter_json_number(const struct trd_record *record, const struct filter_node *node,
                        uint64_t *out);
/* Likewise no text. It is decoded into the buffer. */
bool filter_json_text(const struct trd_record *record, const struct filter_node *node, char *buffer,
                      size_t capacity, size_t *out_size);

#endif
