/* Which form of recording a name asks for: one row each. */
#include <string.h>

#include "sinks.h"

static const struct {
    const char *extension;
    int (*open)(struct pipeline *pipeline, const char *path);
} forms[] = {
    { ".ndjson", sink_file_open },      { ".ndjson.zst", sink_zst_open },
    { ".pftrace", sink_perfetto_open }, { ".json", sink_chrome_open },
    { ".dat", sink_dat_open },
};

int sink_open(struct pipeline *pipeline, const char *path)
{
    size_t size = strlen(path);

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        size_t extension = strlen(forms[i].extension);

        if (size > extension && strcmp(path + size - extension, forms[i].extension) == 0)
            return forms[i].open(pipeline, path);
    }
    return sink_file_open(pipeline, path);
}
