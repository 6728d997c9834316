#include "line_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "schema_check.h"

static json_t *schema; /* of the whole program: loaded once, freed at exit */

static void forget_schema(void)
{
    json_decref(schema);
}

json_t *line_check(const char *line, size_t size)
{
    json_error_t error;
    char problem[512];
    json_t *value;

    if (!schema) {
        schema = json_load_file(TRACERD_LINE_SCHEMA, JSON_REJECT_DUPLICATES, &error);
        if (!schema)
            fail_msg("%s: line %d: %s", TRACERD_LINE_SCHEMA, error.line, error.text);
        atexit(forget_schema);
    }
    assert_true(size > 0 && line[size - 1] == '\n');
    assert_null(memchr(line, '\n', size - 1));
    value = json_loadb(line, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (!value)
        fail_msg("jansson: %s: %.*s", error.text, (int)size, line);
    if (!schema_check(schema, value, problem, sizeof(problem)))
        fail_msg("schema: %s: %.*s", problem, (int)size, line);
    return value;
}
