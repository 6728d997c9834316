/*
 * Which of the files that are to be read are parts of one recording (sink_parts.c), by what their
 * `hello` says: they are one source, in their order.
 */
#ifndef TRACERD_DAEMON_RECORDING_PARTS_H
#define TRACERD_DAEMON_RECORDING_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORDING_SESSION_MAX 64

struct recording_part {
    const char *path;   /* borrowed */
    bool is_dat;        /* in the list for the order's sake only */
    bool packed;        /* in zstd frames */
    uint64_t part;      /* from 1; 0 = the recording is not in parts */
    uint64_t first_seq; /* number of its first line that is no repetition */
    char session[RECORDING_SESSION_MAX];
};

/* Looks at the first line of part->path. */
void recording_part_read(struct recording_part *part);
/* Moves those of the recording of parts[0] to the front, in their order; how many they are. */
size_t recording_parts_gather(struct recording_part *parts, size_t count);

#endif
