/* Tells the forms of files apart by their first bytes. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "source_files.h"
#include "sources.h"

int source_file_open(struct pipeline *pipeline, const char *path)
{
    uint8_t start[3] = { 0 };
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
        return source_ndjson_open(pipeline, path);
    log_error("this is neither a trace.dat file nor a recording of tracerd: path=%s%s", path,
              got == 0 ? ", it is empty" : "");
    return EXIT_NOTHING;
}
