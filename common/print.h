/*
 * The print format of a schema: compiled once when its format is loaded, rendered per event by
 * trd_event_print (print_event.c). Compiling also finds out what the fields mean, since only the
 * print format knows flags, enumerators and addresses. Each argument stands alone: one that does
 * not compile is named in schema->print_error and shown by its source, and costs nothing else.
 */
#ifndef TRD_COMMON_PRINT_H
#define TRD_COMMON_PRINT_H

#include "print_text.h"
#include "print_tree.h"
#include "tracerd/catalog.h"

struct trd_print_format {
    struct print_arena *arena; /* owned: everything below and the names of fields */
    struct print_piece *pieces;
    size_t count;
};

/*
 * Sets print_format and print_error of the schema and the meaning of `fields`, which are the
 * schema's. -ENOMEM only: text that makes no sense is a print_error.
 */
int print_compile(const struct trd_catalog *catalog, struct trd_schema *schema,
                  struct trd_field *fields);
void print_destroy(const struct trd_print_format *format);

/* print_meaning.c: fields' meanings from their use in the pieces. */
void print_meanings(const struct trd_print_format *format, const struct trd_schema *schema,
                    struct trd_field *fields);

#endif
