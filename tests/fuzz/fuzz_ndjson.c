/* A recording's line, whatever it holds: refused, or written again as one line of strict JSON that
 * says the same. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "ndjson_line.h"
#include "tracerd/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static char out[TRD_JSON_LINE_MAX];

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct ndjson_line line = { 0 };
    struct trd_record record;
    struct trd_json *json;

    if (trd_json_create(&json, NULL) != 0)
        abort();
    if (ndjson_line_parse(&line, (const char *)bytes, size, &record) == 1) {
        int64_t written = trd_json_line(json, &record, 1, out, sizeof(out));
        json_t *again;

        if (written <= 0 || memchr(out, '\n', (size_t)written) != out + written - 1)
            abort();
        again = json_loadb(out, (size_t)written, JSON_ALLOW_NUL, NULL);
        if (!again)
            abort();
        json_decref(again);
    }
    ndjson_line_finish(&line);
    trd_json_destroy(json);
    return 0;
}
