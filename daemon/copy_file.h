/* A file copied whole, under a name that nobody has yet. */
#ifndef TRACERD_DAEMON_COPY_FILE_H
#define TRACERD_DAEMON_COPY_FILE_H

#include <sys/types.h>

/* 0 or a negative errno, -EEXIST if `to` is there; nothing is left behind on failure. */
int copy_file(const char *from, const char *to, mode_t mode);

#endif
