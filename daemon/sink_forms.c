/* Which form of recording a name asks for: one row each. */
#include <string.h>

#include "log.h"
#include "sinks.h"

static const struct form {
    const char *extension;
    bool is_lines, packed;
    int (*open)(struct pipeline *pipeline, const char *path); /* of the others */
} forms[] = {
    { ".ndjson", true, false, NULL },
    { ".ndjson.zst", true, true, NULL },
    { ".pftrace", false, false, sink_perfetto_open },
    { ".json", false, false, sink_chrome_open },
    { ".dat", false, false, sink_dat_open },
};

static const struct form *find(const char *path)
{
    size_t size = strlen(path);

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        size_t extension = strlen(forms[i].extension);

        if (size > extension && strcmp(path + size - extension, forms[i].extension) == 0)
            return &forms[i];
    }
    return NULL;
}

size_t sink_stem_size(const char *path)
{
    const struct form *form = find(path);

    return strlen(path) - (form ? strlen(form->extension) : 0);
}

int sink_open(struct pipeline *pipeline, const char *path)
{
    const struct options *options = pipeline_options(pipeline);
    const struct form *form = find(path);

    if (options->rotate_bytes == 0 && options->rotate_ns == 0)
        return !form || form->is_lines ? sink_lines_open(pipeline, path, form && form->packed)
                                       : form->open(pipeline, path);
    if (form && form->is_lines)
        return sink_parts_open(pipeline, path, form->extension, form->packed);
    log_error("--rotate and --keep are for .ndjson and .ndjson.zst: %s is %s",
              strcmp(path, "-") == 0 ? "standard output" : path,
              form ? "one file or none" : "neither");
    return EXIT_USAGE;
}
