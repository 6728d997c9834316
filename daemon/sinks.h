/*
 * How each kind of sink is opened. 0, or one sentence on stderr and an exit code of enum exit_code.
 */
#ifndef TRACERD_DAEMON_SINKS_H
#define TRACERD_DAEMON_SINKS_H

#include "pipeline.h"

/* NDJSON to a file, or to standard output for "-". */
int sink_file_open(struct pipeline *pipeline, const char *path);

/* Consumers of the service: every connection to the Unix socket gets the stream from then on. */
struct client_listener;
int sink_clients_listen(struct pipeline *pipeline, const char *path, struct client_listener **out);
/* Connected consumers stay until the stream ends; frees the listener. */
void sink_clients_close(struct client_listener *listener);

#endif
