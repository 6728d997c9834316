/* Catalogs for tests: of the running kernel, and of format files in a folder. */
#ifndef TRD_TESTS_KERNEL_CATALOG_H
#define TRD_TESTS_KERNEL_CATALOG_H

#include "tracerd/catalog.h"

/* Called for each `SYSTEM/EVENT/format` below root; non-zero stops the walk. */
typedef int (*format_visitor)(void *context, const char *system, const char *text, size_t size,
                              const char *path);

/* 0, the visitor's result, or -ENOENT if there is no such folder. */
int visit_formats(const char *root, format_visitor visit, void *context);

/* Formats, symbols, printk formats and BTF of this machine; NULL where tracefs cannot be read. */
struct trd_catalog *kernel_catalog_create(void);

#endif
