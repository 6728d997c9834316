/*
 * The environment that makes a .NET runtime load the profiler when it starts. A command that
 * is no .NET program hands it on to its children; a traced one takes it out, unless they are to be
 * followed. Source: docs/core/runtime-config/debugging-profiling
 * of dotnet/docs, and measurement.
 */
#ifndef TRACERD_DAEMON_PROFILER_ENVIRONMENT_H
#define TRACERD_DAEMON_PROFILER_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer.h"

/*
 * Sets the variables of this process. A profiler that the environment names already keeps the main
 * slot; ours joins as notification-only (.NET 6 and later). 0, -ENOMEM, or -ENAMETOOLONG: the
 * runtime takes paths of less than 1024 characters.
 */
int profiler_environment_set(const char *library, const char *socket_path, uint32_t categories,
                             bool follow);

/* Which methods are to be hooked: lists of patterns, joined; none = no method; and whether they
 * tell what they are given and return. 0 or -ENOMEM. */
int profiler_environment_set_methods(const char *const *patterns, size_t count, bool arguments);
/* Which EventPipe providers; none = no variable. 0 or -ENOMEM. */
int profiler_environment_set_providers(const char *const *providers, size_t count);
/* Memory of its rings; zeroes = as the environment has it already. 0 or -ENOMEM. */
int profiler_environment_set_buffer(const struct trd_buffer *buffer);
/* How the profiler takes the time; NULL = as it does by itself. 0 or -ENOMEM. */
int profiler_environment_set_stamp(const char *clock);
/* The environment gives the main slot to another profiler: no method can be hooked then. */
bool profiler_environment_is_taken(void);

#endif
