#include "line_values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tracerd/json.h"

#define TEXT_MAX 256

json_t *line_wide(uint64_t value)
{
    char digits[24];

    (void)snprintf(digits, sizeof(digits), "%" PRIu64, value);
    return json_string(digits);
}

json_t *line_text(const char *bytes)
{
    char text[6 * TEXT_MAX + 2];
    size_t size = strnlen(bytes, TEXT_MAX);

    size = trd_json_string(bytes, size, text, sizeof(text));
    return json_loadb(text, size, JSON_DECODE_ANY, NULL);
}
