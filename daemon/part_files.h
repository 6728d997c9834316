/*
 * The files of a recording in parts: trace.ndjson.zst is written as trace.000001.ndjson.zst,
 * trace.000002.ndjson.zst and so on, beside what earlier runs left under that name. Names, sizes,
 * and which of them go when there are too many; what stands in them is sink_parts.c's.
 */
#ifndef TRACERD_DAEMON_PART_FILES_H
#define TRACERD_DAEMON_PART_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct part_files {
    char *stem;            /* owned; the path up to the number, with its dot */
    const char *extension; /* borrowed; ".ndjson.zst" */
    struct part_file {
        uint64_t number, bytes;
    } * list;     /* owned; finished ones, oldest first */
    size_t count; /* in the list */
    uint64_t bytes;
    uint64_t next_number;
    uint64_t deleted, deleted_bytes;
};

/* Looks for those that are there. `path` ends with `extension`. -ENOMEM, or -errno of the folder.
 */
int part_files_init(struct part_files *files, const char *path, const char *extension);
void part_files_finish(struct part_files *files);
/* Allocated; NULL without memory. */
char *part_files_path(const struct part_files *files, uint64_t number);
/* A part is finished. Without memory for it, it is never deleted. */
void part_files_add(struct part_files *files, uint64_t number, uint64_t bytes);
/* False: there is none, or it cannot be deleted, which a sentence tells once for each. */
bool part_files_delete_oldest(struct part_files *files);

#endif
