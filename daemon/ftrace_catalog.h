/* The catalog of the running kernel, made from tracefs: as much of it as the chosen events need. */
#ifndef TRACERD_DAEMON_FTRACE_CATALOG_H
#define TRACERD_DAEMON_FTRACE_CATALOG_H

#include "ftrace_events.h"
#include "ftrace_symbols.h"
#include "tracefs_linux.h"
#include "tracerd/catalog.h"

/*
 * Page layout of the instance (its sub-buffer size must be set by then) and the formats of the
 * events and of those that ftrace writes itself. Enumerators (the kernel's BTF, 30 ms) and symbols
 * (`symbols`, being read) are taken only if some of these events cannot do without. 0 or a negative
 * errno.
 */
int ftrace_catalog_create(struct trd_catalog **out, const struct tracefs_instance *instance,
                          const struct ftrace_events *events, struct ftrace_symbols *symbols);

#endif
