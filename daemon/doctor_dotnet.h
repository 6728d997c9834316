/* The decisions of doctor's .NET steps, apart from where their facts come from. */
#ifndef TRACERD_DAEMON_DOCTOR_DOTNET_H
#define TRACERD_DAEMON_DOCTOR_DOTNET_H

#include <stdbool.h>
#include <stddef.h>

/* Last part of a path that is a version like 8.0.34; false if there is none. */
bool doctor_version_in(const char *path, char *out, size_t size);

enum doctor_libc {
    DOCTOR_LIBC_NONE,
    DOCTOR_GLIBC,
    DOCTOR_MUSL
};

/* Is this file a C library? */
enum doctor_libc doctor_libc_of(const char *path);

#endif
