/* One JSON line, parsed strictly and held against proto/json-line.schema.json. For tests. */
#ifndef TRACERD_TESTS_LINE_CHECK_H
#define TRACERD_TESTS_LINE_CHECK_H

#include <jansson.h>
#include <stddef.h>

/* Fails the running test unless the bytes are exactly one valid line. The caller's reference. */
json_t *line_check(const char *line, size_t size);

#endif
