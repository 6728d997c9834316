/* Tells the forms of files apart by their first bytes; what they have in common. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "source_files.h"
#include "sources.h"

void source_set_name(struct source *source, const char *path)
{
    const char *base = strrchr(path, '/');

    (void)snprintf(source->name, sizeof(source->name), "%s", base ? base + 1 : path);
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

int source_file_open(struct pipeline *pipeline, const char *path)
{
    uint8_t start[4] = { 0 };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got;

    if (fd < 0) {
        log_error("cannot open the file: path=%s, error=\"%s\"", path, strerror(errno));
        return EXIT_NOTHING;
    }
    got = read(fd, start, sizeof(start));
    close(fd);
    if (got < 0) {
        log_error("cannot read the file: path=%s, error=\"%s\"", path, strerror(errno));
        return EXIT_NOTHING;
    }
    if (got > 0 && start[0] == 0x17)
        return source_dat_open(pipeline, path);
    if (got > 0 && start[0] == '{')
        return source_ndjson_open(pipeline, path, false);
    if (got == sizeof(start) && memcmp(start, zstd_magic, sizeof(start)) == 0)
        return source_ndjson_open(pipeline, path, true);
    log_error("this is neither a trace.dat file nor a recording of tracerd: path=%s%s", path,
              got == 0 ? ", it is empty" : "");
    return EXIT_NOTHING;
}
