/* The forms of files; source_file.c chooses. Return values as in sources.h. */
#ifndef TRACERD_DAEMON_SOURCE_FILES_H
#define TRACERD_DAEMON_SOURCE_FILES_H

#include "pipeline.h"

int source_dat_open(struct pipeline *pipeline, const char *path);
/* `packed`: in zstd frames. */
int source_ndjson_open(struct pipeline *pipeline, const char *path, bool packed);

/* Static text for a clock as a file spells it ("mono", "local", …); NULL if it is none we know. */
const char *source_clock_name(const char *text);

/* The file's base name, cut to what a source's name holds. */
void source_set_name(struct source *source, const char *path);

#endif
