#include "metadata_tables.h"

#include <string.h>

#include "metadata_read.h"

#define ROOT_MAGIC 0x424a5342u
#define ROOT_VERSION_SIZE 12u
#define ROOT_VERSION 16u
#define STREAM_NAME 8u
#define STREAM_NAME_MAX 32u
#define HEAP_SIZES 6u
#define VALID 8u
#define ROW_COUNTS 24u

enum table {
    TABLE_TYPE_DEF = 0x02,
    TABLE_FIELD = 0x04,
    TABLE_METHOD_DEF = 0x06,
    TABLE_NESTED_CLASS = 0x29,
    TABLE_GENERIC_PARAM = 0x2a,
    TABLE_COUNT = 0x2d,
};

/*
 * The columns of each table: bytes, an index into a heap, a row of one table (its number), or a row
 * of one of several with the table's place among them in the last bits.
 */
#define ROW(table) (table)
#define BYTES(size) (0x40 | (size))
#define STRINGS 0x50
#define GUIDS 0x51
#define BLOBS 0x52
#define CODED(kind) (0x60 | (kind))

enum coded {
    TYPE_DEF_OR_REF,
    HAS_CONSTANT,
    HAS_ATTRIBUTE,
    HAS_MARSHAL,
    HAS_SECURITY,
    MEMBER_PARENT,
    HAS_SEMANTICS,
    METHOD_DEF_OR_REF,
    MEMBER_FORWARDED,
    IMPLEMENTATION,
    ATTRIBUTE_TYPE,
    RESOLUTION_SCOPE,
    TYPE_OR_METHOD,
    CODED_COUNT,
};

/* Tables that it may be a row of, in any order; 0xff ends them. Module is table 0. */
static const struct {
    uint8_t bits;
    uint8_t tables[23];
} coded_indexes[CODED_COUNT] = {
    [TYPE_DEF_OR_REF] = { 2, { 0x02, 0x01, 0x1b, 0xff } },
    [HAS_CONSTANT] = { 2, { 0x04, 0x08, 0x17, 0xff } },
    [HAS_ATTRIBUTE] = { 5, { 0x06, 0x04, 0x01, 0x02, 0x08, 0x09, 0x0a, 0x00, 0x0e, 0x17, 0x14, 0x11,
                             0x1a, 0x1b, 0x20, 0x23, 0x26, 0x27, 0x28, 0x2a, 0x2c, 0x2b, 0xff } },
    [HAS_MARSHAL] = { 1, { 0x04, 0x08, 0xff } },
    [HAS_SECURITY] = { 2, { 0x02, 0x06, 0x20, 0xff } },
    [MEMBER_PARENT] = { 3, { 0x02, 0x01, 0x1a, 0x06, 0x1b, 0xff } },
    [HAS_SEMANTICS] = { 1, { 0x14, 0x17, 0xff } },
    [METHOD_DEF_OR_REF] = { 1, { 0x06, 0x0a, 0xff } },
    [MEMBER_FORWARDED] = { 1, { 0x04, 0x06, 0xff } },
    [IMPLEMENTATION] = { 2, { 0x26, 0x23, 0x27, 0xff } },
    [ATTRIBUTE_TYPE] = { 3, { 0x06, 0x0a, 0xff } },
    [RESOLUTION_SCOPE] = { 2, { 0x00, 0x1a, 0x23, 0x01, 0xff } },
    [TYPE_OR_METHOD] = { 1, { 0x02, 0x06, 0xff } },
};

#define COLUMNS_MAX 9

static const struct {
    uint8_t count;
    uint8_t columns[COLUMNS_MAX];
} table_columns[TABLE_COUNT] = {
    [0x00] = { 5, { BYTES(2), STRINGS, GUIDS, GUIDS, GUIDS } },
    [0x01] = { 3, { CODED(RESOLUTION_SCOPE), STRINGS, STRINGS } },
    [TABLE_TYPE_DEF] = { 6,
                         { BYTES(4), STRINGS, STRINGS, CODED(TYPE_DEF_OR_REF), ROW(0x04),
                           ROW(0x06) } },
    [0x03] = { 1, { ROW(0x04) } },
    [TABLE_FIELD] = { 3, { BYTES(2), STRINGS, BLOBS } },
    [0x05] = { 1, { ROW(0x06) } },
    [TABLE_METHOD_DEF] = { 6, { BYTES(4), BYTES(2), BYTES(2), STRINGS, BLOBS, ROW(0x08) } },
    [0x07] = { 1, { ROW(0x08) } },
    [0x08] = { 3, { BYTES(2), BYTES(2), STRINGS } },
    [0x09] = { 2, { ROW(0x02), CODED(TYPE_DEF_OR_REF) } },
    [0x0a] = { 3, { CODED(MEMBER_PARENT), STRINGS, BLOBS } },
    [0x0b] = { 3, { BYTES(2), CODED(HAS_CONSTANT), BLOBS } },
    [0x0c] = { 3, { CODED(HAS_ATTRIBUTE), CODED(ATTRIBUTE_TYPE), BLOBS } },
    [0x0d] = { 2, { CODED(HAS_MARSHAL), BLOBS } },
    [0x0e] = { 3, { BYTES(2), CODED(HAS_SECURITY), BLOBS } },
    [0x0f] = { 3, { BYTES(2), BYTES(4), ROW(0x02) } },
    [0x10] = { 2, { BYTES(4), ROW(0x04) } },
    [0x11] = { 1, { BLOBS } },
    [0x12] = { 2, { ROW(0x02), ROW(0x14) } },
    [0x13] = { 1, { ROW(0x14) } },
    [0x14] = { 3, { BYTES(2), STRINGS, CODED(TYPE_DEF_OR_REF) } },
    [0x15] = { 2, { ROW(0x02), ROW(0x17) } },
    [0x16] = { 1, { ROW(0x17) } },
    [0x17] = { 3, { BYTES(2), STRINGS, BLOBS } },
    [0x18] = { 3, { BYTES(2), ROW(0x06), CODED(HAS_SEMANTICS) } },
    [0x19] = { 3, { ROW(0x02), CODED(METHOD_DEF_OR_REF), CODED(METHOD_DEF_OR_REF) } },
    [0x1a] = { 1, { STRINGS } },
    [0x1b] = { 1, { BLOBS } },
    [0x1c] = { 4, { BYTES(2), CODED(MEMBER_FORWARDED), STRINGS, ROW(0x1a) } },
    [0x1d] = { 2, { BYTES(4), ROW(0x04) } },
    [0x1e] = { 2, { BYTES(4), BYTES(4) } },
    [0x1f] = { 1, { BYTES(4) } },
    [0x20] = { 5, { BYTES(12), BYTES(4), BLOBS, STRINGS, STRINGS } },
    [0x21] = { 1, { BYTES(4) } },
    [0x22] = { 1, { BYTES(12) } },
    [0x23] = { 6, { BYTES(8), BYTES(4), BLOBS, STRINGS, STRINGS, BLOBS } },
    [0x24] = { 2, { BYTES(4), ROW(0x23) } },
    [0x25] = { 2, { BYTES(12), ROW(0x23) } },
    [0x26] = { 3, { BYTES(4), STRINGS, BLOBS } },
    [0x27] = { 5, { BYTES(4), BYTES(4), STRINGS, STRINGS, CODED(IMPLEMENTATION) } },
    [0x28] = { 4, { BYTES(4), BYTES(4), STRINGS, CODED(IMPLEMENTATION) } },
    [TABLE_NESTED_CLASS] = { 2, { ROW(0x02), ROW(0x02) } },
    [TABLE_GENERIC_PARAM] = { 4, { BYTES(2), BYTES(2), CODED(TYPE_OR_METHOD), STRINGS } },
    [0x2b] = { 2, { CODED(METHOD_DEF_OR_REF), BLOBS } },
    [0x2c] = { 2, { ROW(0x2a), CODED(TYPE_DEF_OR_REF) } },
};

/* Streams */

struct stream {
    const uint8_t *bytes;
    size_t size;
};

struct root {
    struct stream tables, strings;
};

static bool read_root(const uint8_t *bytes, size_t size, struct root *out)
{
    size_t at;
    unsigned count;

    *out = (struct root){ { 0 }, { 0 } };
    if (size < ROOT_VERSION || read_u32(bytes) != ROOT_MAGIC ||
        read_u32(bytes + ROOT_VERSION_SIZE) > size - ROOT_VERSION)
        return false;
    at = ROOT_VERSION + read_u32(bytes + ROOT_VERSION_SIZE);
    if (size - at < 4)
        return false;
    count = read_u16(bytes + at + 2);
    at += 4;
    for (unsigned i = 0; i < count; i++) {
        const char *name = (const char *)bytes + at + STREAM_NAME;
        size_t left = at + STREAM_NAME < size ? size - at - STREAM_NAME : 0, length;
        struct stream stream;

        length = left > 0 ? strnlen(name, left < STREAM_NAME_MAX ? left : STREAM_NAME_MAX) : left;
        if (length == left || length == STREAM_NAME_MAX || read_u32(bytes + at) > size)
            return false;
        stream.bytes = bytes + read_u32(bytes + at);
        stream.size = read_u32(bytes + at + 4);
        if (stream.size > size - read_u32(bytes + at))
            return false;
        if (strcmp(name, "#~") == 0)
            out->tables = stream;
        else if (strcmp(name, "#Strings") == 0)
            out->strings = stream;
        at += STREAM_NAME + (length + 4) / 4 * 4;
    }
    return out->tables.size >= ROW_COUNTS && out->strings.size > 0;
}

/* Widths */

struct shape {
    uint32_t rows[TABLE_COUNT];
    uint8_t heap_sizes; /* bits 0 to 2: indexes of texts, GUIDs, blobs have four bytes */
};

static uint8_t row_width(const struct shape *shape, unsigned table, unsigned bits)
{
    return shape->rows[table] < 1u << (16 - bits) ? 2 : 4;
}

static uint8_t coded_width(const struct shape *shape, unsigned kind)
{
    uint8_t width = 2;

    for (const uint8_t *table = coded_indexes[kind].tables; *table != 0xff; table++)
        if (row_width(shape, *table, coded_indexes[kind].bits) == 4)
            width = 4;
    return width;
}

static uint8_t column_width(const struct shape *shape, uint8_t column)
{
    if (column >= CODED(0))
        return coded_width(shape, column - CODED(0));
    if (column >= STRINGS)
        return shape->heap_sizes >> (column - STRINGS) & 1 ? 4 : 2;
    return column >= BYTES(0) ? column - BYTES(0) : row_width(shape, column, 0);
}

static uint8_t row_size(const struct shape *shape, unsigned table)
{
    uint8_t size = 0;

    for (unsigned i = 0; i < table_columns[table].count; i++)
        size += column_width(shape, table_columns[table].columns[i]);
    return size;
}

/* Tables */

static struct metadata_table *wanted(struct metadata_tables *tables, unsigned table)
{
    switch (table) {
    case TABLE_TYPE_DEF:
        return &tables->types;
    case TABLE_FIELD:
        return &tables->fields;
    case TABLE_METHOD_DEF:
        return &tables->methods;
    case TABLE_NESTED_CLASS:
        return &tables->nested;
    case TABLE_GENERIC_PARAM:
        return &tables->parameters;
    default:
        return NULL;
    }
}

static bool read_shape(const struct stream *stream, struct shape *out, size_t *out_at)
{
    uint64_t valid = read_u64(stream->bytes + VALID);
    size_t at = ROW_COUNTS;

    *out = (struct shape){ .heap_sizes = stream->bytes[HEAP_SIZES] };
    if (valid >> TABLE_COUNT != 0)
        return false;
    for (unsigned table = 0; table < TABLE_COUNT; table++)
        if (valid >> table & 1) {
            if (stream->size - at < 4)
                return false;
            out->rows[table] = read_u32(stream->bytes + at);
            at += 4;
        }
    if (out->heap_sizes & 0x40)
        at += 4; /* more data, of no use here */
    *out_at = at;
    return at <= stream->size;
}

bool metadata_tables_parse(const uint8_t *bytes, size_t size, struct metadata_tables *out)
{
    struct root root;
    struct shape shape;
    size_t at;

    *out = (struct metadata_tables){ 0 };
    if (!read_root(bytes, size, &root) || root.strings.size > UINT32_MAX ||
        !read_shape(&root.tables, &shape, &at))
        return false;
    for (unsigned table = 0; table < TABLE_COUNT; table++) {
        struct metadata_table *place = wanted(out, table);
        uint8_t each = row_size(&shape, table);

        if ((uint64_t)shape.rows[table] * each > root.tables.size - at)
            return false;
        if (place)
            *place = (struct metadata_table){ root.tables.bytes + at, shape.rows[table], each };
        at += (size_t)shape.rows[table] * each;
    }
    out->strings = root.strings.bytes;
    out->strings_size = (uint32_t)root.strings.size;
    out->string_width = column_width(&shape, STRINGS);
    out->type_width = row_width(&shape, TABLE_TYPE_DEF, 0);
    out->field_width = row_width(&shape, TABLE_FIELD, 0);
    out->method_width = row_width(&shape, TABLE_METHOD_DEF, 0);
    out->owner_width = coded_width(&shape, TYPE_OR_METHOD);
    out->extends_width = coded_width(&shape, TYPE_DEF_OR_REF);
    return true;
}

/* Questions */

static const uint8_t *row_at(const struct metadata_table *table, uint32_t row)
{
    return row > 0 && row <= table->count ? table->rows + (size_t)(row - 1) * table->row_size
                                          : NULL;
}

static uint32_t read_index(const uint8_t *bytes, uint8_t width)
{
    return width == 2 ? read_u16(bytes) : read_u32(bytes);
}

static bool text_at(const struct metadata_tables *tables, const uint8_t *place,
                    struct metadata_text *out)
{
    uint32_t at = read_index(place, tables->string_width);
    const char *text;

    if (at >= tables->strings_size)
        return false;
    text = (const char *)tables->strings + at;
    out->bytes = text;
    out->size = strnlen(text, tables->strings_size - at);
    return out->size < tables->strings_size - at;
}

/* The last row whose number at `column` is not above `key`; 0 if there is none. Rows are in that
 * order, which whoever wrote them had to keep. */
static uint32_t last_up_to(const struct metadata_table *table, size_t column, uint8_t width,
                           uint32_t key)
{
    uint32_t low = 0, high = table->count;

    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;

        if (read_index(row_at(table, middle) + column, width) <= key)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

#define VISIBILITY_MASK 7u
#define VISIBILITY_NESTED 2u

static size_t methods_column(const struct metadata_tables *tables)
{
    return 4u + 2u * tables->string_width + tables->extends_width + tables->field_width;
}

bool metadata_tables_type(const struct metadata_tables *tables, uint32_t type, bool *out_nested,
                          struct metadata_text *out_space, struct metadata_text *out_name)
{
    const uint8_t *row = row_at(&tables->types, type);

    if (!row || !text_at(tables, row + 4, out_name) ||
        !text_at(tables, row + 4 + tables->string_width, out_space))
        return false;
    *out_nested = (read_u32(row) & VISIBILITY_MASK) >= VISIBILITY_NESTED;
    return true;
}

bool metadata_tables_method(const struct metadata_tables *tables, uint32_t method,
                            uint32_t *out_type, struct metadata_text *out_name)
{
    const uint8_t *row = row_at(&tables->methods, method);

    if (!row || !text_at(tables, row + 8, out_name))
        return false;
    *out_type = last_up_to(&tables->types, methods_column(tables), tables->method_width, method);
    return *out_type > 0;
}

bool metadata_tables_field(const struct metadata_tables *tables, uint32_t field,
                           struct metadata_text *out_name)
{
    const uint8_t *row = row_at(&tables->fields, field);

    return row && text_at(tables, row + 2, out_name);
}

bool metadata_tables_enclosing(const struct metadata_tables *tables, uint32_t type,
                               uint32_t *out_type)
{
    const uint8_t *row =
        row_at(&tables->nested, last_up_to(&tables->nested, 0, tables->type_width, type));

    if (!row || read_index(row, tables->type_width) != type)
        return false;
    *out_type = read_index(row + tables->type_width, tables->type_width);
    return row_at(&tables->types, *out_type) != NULL;
}

bool metadata_tables_has_method(const struct metadata_tables *tables, uint32_t type,
                                const char *name)
{
    const uint8_t *row = row_at(&tables->types, type), *next = row_at(&tables->types, type + 1);
    size_t column = methods_column(tables), size = strlen(name);
    uint32_t method, end;

    if (!row)
        return false;
    method = read_index(row + column, tables->method_width);
    end = next ? read_index(next + column, tables->method_width) : tables->methods.count + 1;
    for (; method < end && method <= tables->methods.count; method++) {
        const uint8_t *place = row_at(&tables->methods, method);
        struct metadata_text text;

        if (place && text_at(tables, place + 8, &text) && text.size == size &&
            memcmp(text.bytes, name, size) == 0)
            return true;
    }
    return false;
}

/* Those of one owner lie together, in the order of their numbers. */
bool metadata_tables_parameter(const struct metadata_tables *tables, bool of_method, uint32_t row,
                               unsigned index, struct metadata_text *out_name)
{
    uint32_t owner = row << 1 | of_method;
    uint32_t before =
        owner > 0 ? last_up_to(&tables->parameters, 4, tables->owner_width, owner - 1) : 0;
    const uint8_t *place = row_at(&tables->parameters, before + 1 + index);

    return place && read_index(place + 4, tables->owner_width) == owner &&
           text_at(tables, place + 4 + tables->owner_width, out_name);
}
