#include "format_maker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void made_init(struct made *made, bool big_endian, uint8_t long_size)
{
    memset(made, 0, sizeof(*made));
    made->size = MADE_START;
    if (trd_catalog_create(&made->catalog, big_endian, long_size) != 0)
        abort();
}

void made_finish(struct made *made)
{
    trd_catalog_destroy(made->catalog);
    made->catalog = NULL;
}

void made_add(struct made *made, const char *fields, const char *print)
{
    char text[16384];
    int size = snprintf(text, sizeof(text),
                        "name: made\nID: %d\nformat:\n"
                        "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                        "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
                        "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;"
                        "\tsigned:0;\n"
                        "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n",
                        MADE_ID);

    while (*fields) {
        int line = (int)strcspn(fields, "\n");

        size += snprintf(text + size, sizeof(text) - (size_t)size, "\tfield:");
        for (int i = 0; i < line; i++) { /* `;offset` becomes `;<tab>offset` */
            text[size++] = fields[i];
            if (fields[i] == ';' && i + 1 < line)
                text[size++] = '\t';
        }
        text[size++] = '\n';
        fields += line + (fields[line] == '\n');
    }
    size += snprintf(text + size, sizeof(text) - (size_t)size, "\nprint fmt: %s\n", print);
    if (trd_catalog_add_format(made->catalog, "test", text, (size_t)size) != 0)
        abort();
    made->schema = trd_catalog_find(made->catalog, MADE_ID);
}

void made_put(struct made *made, const void *bytes, size_t size)
{
    if (made->size + size > sizeof(made->data))
        abort();
    memcpy(made->data + made->size, bytes, size);
    made->size += size;
}

static void store(struct made *made, size_t at, uint64_t value, size_t size)
{
    bool big_endian = trd_catalog_get_layout(made->catalog)->big_endian;

    for (size_t i = 0; i < size; i++)
        made->data[at + (big_endian ? size - 1 - i : i)] =
            i < sizeof(value) ? (uint8_t)(value >> (8 * i)) : 0;
}

void made_put_int(struct made *made, uint64_t value, size_t size)
{
    if (made->size + size > sizeof(made->data))
        abort();
    store(made, made->size, value, size);
    made->size += size;
}

void made_point(struct made *made, size_t offset, size_t size)
{
    store(made, offset, (made->size - size) | (uint64_t)size << 16, 4);
}

void made_put_dynamic(struct made *made, size_t offset, const void *bytes, size_t size)
{
    made_put(made, bytes, size);
    made_point(made, offset, size);
}

const char *made_text(struct made *made)
{
    (void)trd_event_print(made->catalog, made->schema, made->data, made->size, made->text,
                          sizeof(made->text));
    return made->text;
}

const char *made_print(struct made *made, const char *print, int32_t a, uint64_t b)
{
    made_init(made, false, 8);
    made_add(made, "s32 a;offset:8;size:4;signed:1;\nu64 b;offset:16;size:8;signed:0;", print);
    made_put_int(made, (uint32_t)a, 4);
    made_put_int(made, 0, 4);
    made_put_int(made, b, 8);
    (void)made_text(made);
    made_finish(made);
    return made->text;
}
