/* Where libtracerd_profiler.so is, and whether a runtime could load it. */
#ifndef TRACERD_DAEMON_PROFILER_LIBRARY_H
#define TRACERD_DAEMON_PROFILER_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#define PROFILER_LIBRARY_NAME "libtracerd_profiler.so"
#define PROFILER_LIBRARY_STEM "libtracerd_profiler" /* installed ones have a hash behind it */

/*
 * TRACERD_PROFILER, beside the program, in the build tree, in the installed library directory; the
 * first that is there. Absolute path in `out`. 0, or -ENOENT after one sentence on stderr.
 */
int profiler_library_find(char *out, size_t size);
/* The same without a word. */
int profiler_library_locate(char *out, size_t size);
/*
 * Opens it in a child process the way the runtime will, so that the loader's own reason is told and
 * not a bare 0x8007007E later (C23). 0, or -ENOEXEC after one sentence on stderr.
 */
int profiler_library_check(const char *path);
/* The same with the loader's reason in `reason` instead. */
int profiler_library_try(const char *path, char *reason, size_t size);
/* By its name: is this file the library, of whatever version and wherever it lies? */
bool profiler_library_is_ours(const char *path);

#endif
