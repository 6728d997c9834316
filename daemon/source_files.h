/* The forms of files; source_file.c chooses. Return values as in sources.h. */
#ifndef TRACERD_DAEMON_SOURCE_FILES_H
#define TRACERD_DAEMON_SOURCE_FILES_H

#include "pipeline.h"
#include "recording_parts.h"

int source_dat_open(struct pipeline *pipeline, const char *path);
/* A recording: one file, or its parts in their order; copied, but for their paths. */
int source_ndjson_open(struct pipeline *pipeline, const struct recording_part *parts, size_t count);

/* Static text for a clock as a file spells it ("mono", "local", …); NULL if it is none we know. */
const char *source_clock_name(const char *text);

/* Behind the last slash. */
const char *source_base_name(const char *path);
/* The file's base name, cut to what a source's name holds. */
void source_set_name(struct source *source, const char *path);

#endif
