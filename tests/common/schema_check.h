/*
 * Validates a JSON value against a JSON Schema (draft 2020-12), as far as our own schema goes: a
 * keyword it does not know is an error, so nothing in a schema is passed over silently. For tests.
 */
#ifndef TRACERD_TESTS_SCHEMA_CHECK_H
#define TRACERD_TESTS_SCHEMA_CHECK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* `error` gets what is wrong, the innermost place first. */
bool schema_check(const json_t *schema, const json_t *value, char *error, size_t error_size);

#endif
