/*
 * Metadata as it lies in an image (ECMA-335 II.22 and II.24): the few tables that names come from.
 * Bytes in, names out; nothing outside the bytes is looked at, whatever they say. Rows count
 * from 1, as in tokens; 0 is none.
 */
#ifndef TRD_PROFILER_METADATA_TABLES_H
#define TRD_PROFILER_METADATA_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct metadata_table {
    const uint8_t *rows;
    uint32_t count;
    uint8_t row_size;
};

/* Borrows the bytes. */
struct metadata_tables {
    const uint8_t *strings;
    uint32_t strings_size;
    uint8_t string_width; /* of an index into them; likewise of a row of a table */
    uint8_t type_width;
    uint8_t field_width;
    uint8_t method_width;
    uint8_t owner_width; /* of a type or method, whose kind is in the last bit */
    uint8_t extends_width;
    struct metadata_table types, fields, methods, nested, parameters;
};

/* Lies in the bytes; has no NUL. */
struct metadata_text {
    const char *bytes;
    size_t size;
};

/* False for bytes that are no metadata, or in a form that images do not have (uncompressed, as
 * written while editing). */
bool metadata_tables_parse(const uint8_t *bytes, size_t size, struct metadata_tables *out);

/* False where there is no such row. */
bool metadata_tables_type(const struct metadata_tables *tables, uint32_t type, bool *out_nested,
                          struct metadata_text *out_space, struct metadata_text *out_name);
/* *out_type: that declares it. */
bool metadata_tables_method(const struct metadata_tables *tables, uint32_t method,
                            uint32_t *out_type, struct metadata_text *out_name);
bool metadata_tables_field(const struct metadata_tables *tables, uint32_t field,
                           struct metadata_text *out_name);
/* The type around a nested one. */
bool metadata_tables_enclosing(const struct metadata_tables *tables, uint32_t type,
                               uint32_t *out_type);
bool metadata_tables_has_method(const struct metadata_tables *tables, uint32_t type,
                                const char *name);
/* The name of a generic type's or method's parameter; `index` counts from 0. */
bool metadata_tables_parameter(const struct metadata_tables *tables, bool of_method, uint32_t row,
                               unsigned index, struct metadata_text *out_name);

#endif
