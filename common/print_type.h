/*
 * Type names of format files: C's own words, the kernel's typedefs (a table, then the catalog's
 * BTF), structs by address only. Used for elements of arrays and for casts in print formats.
 */
#ifndef TRD_COMMON_PRINT_TYPE_H
#define TRD_COMMON_PRINT_TYPE_H

#include "print_tree.h"
#include "tracerd/catalog.h"

/* False for text that is no type, or whose width nothing tells. */
bool print_type_parse(const struct trd_catalog *catalog, const char *text, size_t size,
                      struct ctype *out);

/* Does a field hold an address, or an array of them? */
bool print_type_is_pointer(const struct trd_field *field);

#endif
