/*
 * How each kind of sink is opened. 0, or one sentence on stderr and an exit code of enum exit_code.
 */
#ifndef TRACERD_DAEMON_SINKS_H
#define TRACERD_DAEMON_SINKS_H

#include "pipeline.h"

/* How much of the path stands before the extension that says the form; all of it if none does. */
size_t sink_stem_size(const char *path);
/* The form goes by the extension; NDJSON where it says nothing. "-" is NDJSON to standard output.
 */
int sink_open(struct pipeline *pipeline, const char *path);
/* NDJSON, to a file or to standard output; `packed`: in zstd frames (zst_frames.h). */
int sink_lines_open(struct pipeline *pipeline, const char *path, bool packed);
/* The same in parts, as the options say; `path` ends with `extension`, which is static text. */
int sink_parts_open(struct pipeline *pipeline, const char *path, const char *extension,
                    bool packed);
/* A trace.dat (tracerd/dat_writer.h). */
int sink_dat_open(struct pipeline *pipeline, const char *path);

/* Perfetto's and Chrome's forms (tracerd/perfetto.h, chrome.h). */
int sink_perfetto_open(struct pipeline *pipeline, const char *path);
int sink_chrome_open(struct pipeline *pipeline, const char *path);

/*
 * Consumers of the service: every connection to the Unix socket gets `hello` and the stream from
 * then on. At most `clients_max` of them; each may lag behind by a bounded number of bytes, then
 * loses lines and gets a `lost` line in their place. Ends with the pipeline.
 */
int sink_clients_listen(struct pipeline *pipeline, const char *path, unsigned clients_max);

#endif
