/*
 * Values in the lines that are built with jansson, as all lines have them (proto/JSON.md). New
 * references; NULL without memory.
 */
#ifndef TRACERD_DAEMON_LINE_VALUES_H
#define TRACERD_DAEMON_LINE_VALUES_H

#include <jansson.h>
#include <stdint.h>

/* A 64-bit number: its decimal digits as text. */
json_t *line_wide(uint64_t value);
/* Names of files, hosts and events are bytes: repaired as all texts of the stream are; the first
 * 256 of them. */
json_t *line_text(const char *bytes);

#endif
