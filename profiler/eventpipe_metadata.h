/*
 * The description that comes with each event of a managed EventSource, taken apart:
 *
 *   u32 id, name, u64 keywords, u32 version, u32 level, u32 count, count parameters, then tags
 *   parameter: u32 type; of an object (1) u32 count and its parameters; then its name
 *   tag:       u32 size, u8 tag, bytes: 1 opcode; 2 parameters in the second form, which replace
 * the first ones: u32 count, each u32 size, name, u32 type; of an array (19) u32 type of its
 *              elements; of an object u32 count and its parameters
 *
 * Names are UTF-16 and end with a NUL. Source: ep-metadata-generator.c. Pure: bytes in, fields out;
 * fuzzed by tests/fuzz/fuzz_eventpipe.c.
 */
#ifndef TRD_PROFILER_EVENTPIPE_METADATA_H
#define TRD_PROFILER_EVENTPIPE_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cursor.h"
#include "event.h"

struct eventpipe_metadata {
    uint32_t id;
    uint32_t version;
    uint32_t level;
    uint64_t keywords;
    uint8_t opcode;
    struct cursor_string name; /* borrowed; may be empty */
    /* private */
    struct cursor fields;
    bool second_form;
};

/* A field of the flat list that objects are spread out to. */
struct eventpipe_field {
    enum trd_event_field_type type;
    bool is_array;
    const char *name; /* outer.inner; borrowed during the call; not terminated */
    size_t name_size;
};

/* False if the bytes are no description. */
bool eventpipe_metadata_parse(const uint8_t *bytes, size_t size, struct eventpipe_metadata *out);

/*
 * Calls `each` (may be NULL) for every field, in order; how many there are. A field whose bytes
 * cannot be told apart (array of objects, unknown type) is UNKNOWN, and the last.
 */
size_t eventpipe_metadata_fields(const struct eventpipe_metadata *metadata,
                                 void (*each)(void *context, const struct eventpipe_field *field),
                                 void *context);

#endif
