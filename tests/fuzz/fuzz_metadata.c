/*
 * An assembly as a file has it: its headers, and what lies where they say; and, since few changed
 * bytes get past them, the same bytes as metadata.
 */
#include <stdlib.h>
#include <string.h>

#include "metadata_image.h"
#include "metadata_tables.h"

#define ROWS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(const struct metadata_tables *tables, const struct metadata_text *text)
{
    const uint8_t *start = (const uint8_t *)text->bytes;

    if (start < tables->strings || start + text->size >= tables->strings + tables->strings_size ||
        start[text->size] != '\0')
        abort();
}

static void walk(const struct metadata_tables *tables)
{
    struct metadata_text space, name;
    uint32_t other;
    bool nested;

    for (uint32_t row = 0; row < ROWS_MAX; row++) {
        if (metadata_tables_type(tables, row, &nested, &space, &name)) {
            check(tables, &space);
            check(tables, &name);
        }
        if (metadata_tables_method(tables, row, &other, &name)) {
            check(tables, &name);
            if (other == 0 || other > tables->types.count)
                abort();
        }
        if (metadata_tables_field(tables, row, &name))
            check(tables, &name);
        if (metadata_tables_enclosing(tables, row, &other) && other > tables->types.count)
            abort();
        (void)metadata_tables_has_method(tables, row, "SetStateMachine");
        if (metadata_tables_parameter(tables, row & 1, row, 0, &name))
            check(tables, &name);
    }
}

static void read_metadata(const uint8_t *bytes, size_t size)
{
    struct metadata_tables tables;

    if (metadata_tables_parse(bytes, size, &tables))
        walk(&tables);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    uint8_t head[METADATA_IMAGE_HEAD] = { 0 };
    size_t cor, root, metadata;

    read_metadata(bytes, size);
    memcpy(head, bytes, size < sizeof(head) ? size : sizeof(head));
    if (metadata_image_cor(head, true, &cor) && cor <= size && size - cor >= METADATA_IMAGE_COR &&
        metadata_image_root(head, true, bytes + cor, &root, &metadata) && root <= size &&
        metadata <= size - root)
        read_metadata(bytes + root, metadata);
    return 0;
}
