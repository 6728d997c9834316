/*
 * Where managed code may lie in a process: executable memory that belongs to no native library.
 * Read from /proc/PID/maps, so that the process is not asked about addresses in libc.
 */
#ifndef TRACERD_DAEMON_CLR_MAPS_H
#define TRACERD_DAEMON_CLR_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct clr_range {
    uint64_t from, to;
};

struct clr_maps {
    struct clr_range *ranges; /* owned; ascending */
    size_t count;
    size_t capacity;
    uint64_t read_ns; /* when; 0 = never */
};

/* Takes the place of what was read before; without permission or memory nothing is known. */
void clr_maps_read(struct clr_maps *maps, pid_t pid, uint64_t now_ns);
void clr_maps_finish(struct clr_maps *maps);
bool clr_maps_has(const struct clr_maps *maps, uint64_t address);

/* One line of a maps file: true if managed code may lie there. For clr_maps_read and its test. */
bool clr_maps_parse(const char *line, struct clr_range *out);

#endif
