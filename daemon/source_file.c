/* Tells the forms of files apart by their first bytes; what they have in common. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "source_files.h"
#include "sources.h"

const char *source_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

void source_set_name(struct source *source, const char *path)
{
    (void)snprintf(source->name, sizeof(source->name), "%s", source_base_name(path));
}

const char *source_clock_name(const char *text)
{
    static const char *const known[] = { "mono", "local", "global", "boot",    "mono_raw",
                                         "tai",  "perf",  "uptime", "counter", "x86-tsc" };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(text, known[i]) == 0)
            return known[i];
    return NULL;
}

static const uint8_t zstd_magic[] = { 0x28, 0xb5, 0x2f, 0xfd };

enum form {
    FORM_NONE,
    FORM_DAT,
    FORM_LINES,
    FORM_PACKED
};

/* FORM_NONE after one sentence. */
static enum form form_of(const char *path)
{
    uint8_t start[4] = { 0 };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got;

    if (fd < 0) {
        log_error("cannot open the file: path=%s, error=\"%s\"", path, strerror(errno));
        return FORM_NONE;
    }
    got = read(fd, start, sizeof(start));
    close(fd);
    if (got < 0) {
        log_error("cannot read the file: path=%s, error=\"%s\"", path, strerror(errno));
        return FORM_NONE;
    }
    if (got > 0 && start[0] == 0x17)
        return FORM_DAT;
    if (got > 0 && start[0] == '{')
        return FORM_LINES;
    if (got == sizeof(start) && memcmp(start, zstd_magic, sizeof(start)) == 0)
        return FORM_PACKED;
    log_error("this is neither a trace.dat file nor a recording of tracerd: path=%s%s", path,
              got == 0 ? ", it is empty" : "");
    return FORM_NONE;
}

/* Those that have a form, in `parts`; how many they are. */
static size_t look_at(char **paths, size_t count, struct recording_part *parts)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        enum form form = form_of(paths[i]);
        struct recording_part *part = &parts[found];

        if (form == FORM_NONE)
            continue;
        *part = (struct recording_part){ .path = paths[i],
                                         .is_dat = form == FORM_DAT,
                                         .packed = form == FORM_PACKED };
        if (!part->is_dat)
            recording_part_read(part);
        found++;
    }
    return found;
}

void source_files_open(struct pipeline *pipeline, char **paths, size_t count)
{
    struct recording_part *parts = calloc(count + 1, sizeof(*parts));
    size_t found = parts ? look_at(paths, count, parts) : 0, gathered;
    bool failed = found < count;

    for (size_t i = 0; i < found; i += gathered) {
        gathered = recording_parts_gather(parts + i, found - i);
        if (parts[i].is_dat)
            failed |= source_dat_open(pipeline, parts[i].path) != 0;
        else
            failed |= source_ndjson_open(pipeline, parts + i, gathered) != 0;
    }
    if (failed)
        pipeline_set_partial(pipeline);
    free(parts);
}
