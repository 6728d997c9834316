#include "recording_parts.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ndjson_line.h"
#include "zst_frames.h"

static json_t *read_hello(const struct recording_part *part)
{
    struct zst_damage damage;
    FILE *file = part->packed ? zst_open(part->path, &damage) : fopen(part->path, "re");
    char *line = file ? malloc(NDJSON_LINE_MAX) : NULL;
    json_t *hello = NULL;

    if (line && fgets(line, NDJSON_LINE_MAX, file))
        hello = json_loads(line, 0, NULL);
    free(line);
    if (file)
        fclose(file);
    return hello;
}

void recording_part_read(struct recording_part *part)
{
    json_t *hello = read_hello(part);
    const char *session = json_string_value(json_object_get(hello, "session"));
    json_int_t number = json_integer_value(json_object_get(hello, "part"));
    json_int_t first_seq = json_integer_value(json_object_get(hello, "first_seq"));

    part->part = part->first_seq = 0;
    if (session && number > 0 && first_seq >= 0 && strlen(session) < sizeof(part->session)) {
        part->part = (uint64_t)number;
        part->first_seq = (uint64_t)first_seq;
        (void)snprintf(part->session, sizeof(part->session), "%s", session);
    }
    json_decref(hello);
}

static int by_part(const void *a, const void *b)
{
    const struct recording_part *first = a, *second = b;

    return (first->part > second->part) - (first->part < second->part);
}

size_t recording_parts_gather(struct recording_part *parts, size_t count)
{
    size_t gathered = count > 0;

    for (size_t i = 1; i < count && parts[0].part > 0; i++)
        if (parts[i].part > 0 && strcmp(parts[i].session, parts[0].session) == 0) {
            struct recording_part part = parts[i];

            memmove(parts + gathered + 1, parts + gathered, (i - gathered) * sizeof(*parts));
            parts[gathered++] = part;
        }
    qsort(parts, gathered, sizeof(*parts), by_part);
    return gathered;
}
