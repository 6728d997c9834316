#include "catalog_private.h"

#include <errno.h>
#include <event-parse.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "tracerd/page.h"

static void default_layout(struct trd_page_layout *layout, bool big_endian, uint8_t long_size)
{
    *layout = (struct trd_page_layout){
        .big_endian = big_endian,
        .long_size = long_size,
        .commit_size = long_size,
        .commit_offset = 8,
        .data_offset = (uint16_t)(8 + long_size),
    };
}

int trd_catalog_create(struct trd_catalog **out, bool big_endian, uint8_t long_size)
{
    struct trd_catalog *catalog;

    if (long_size != 4 && long_size != 8)
        return -EINVAL;
    catalog = calloc(1, sizeof(*catalog));
    if (!catalog)
        return -ENOMEM;
    catalog->tep = tep_alloc();
    if (!catalog->tep) {
        free(catalog);
        return -ENOMEM;
    }
    tep_set_loglevel(TEP_LOG_NONE);
    tep_set_long_size(catalog->tep, long_size);
    tep_set_file_bigendian(catalog->tep, big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
    default_layout(&catalog->layout, big_endian, long_size);
    *out = catalog;
    return 0;
}

void trd_catalog_destroy(struct trd_catalog *catalog)
{
    if (!catalog)
        return;
    for (size_t i = 0; i < catalog->schema_count; i++)
        format_destroy(catalog->schemas[i]);
    free(catalog->schemas);
    tep_free(catalog->tep);
    free(catalog);
}

/* A NUL-terminated copy for parsers that expect one. */
static char *copy_text(const char *text, size_t size)
{
    char *copy = malloc(size + 1);

    if (copy) {
        memcpy(copy, text, size);
        copy[size] = '\0';
    }
    return copy;
}

int trd_catalog_set_header_page(struct trd_catalog *catalog, const char *text, size_t size)
{
    struct trd_page_layout *layout = &catalog->layout;
    char *copy = copy_text(text, size);
    const char *line;
    unsigned offset, width;
    int result = -EBADMSG;

    if (!copy)
        return -ENOMEM;
    /* The commit word is a long of the kernel, which need not be the recording program's. */
    line = strstr(copy, " commit;");
    if (line && sscanf(line, " commit;%*[\t ]offset:%u;%*[\t ]size:%u;", &offset, &width) == 2 &&
        offset == 8 && (width == 4 || width == 8)) {
        default_layout(layout, layout->big_endian, (uint8_t)width);
        tep_set_long_size(catalog->tep, (int)width);
        result = 0;
    }
    line = strstr(copy, " data;");
    if (line && sscanf(line, " data;%*[\t ]offset:%u;", &offset) == 1 && offset >= 12 &&
        offset <= 64)
        layout->data_offset = (uint16_t)offset;
    free(copy);
    return result;
}

const struct trd_page_layout *trd_catalog_get_layout(const struct trd_catalog *catalog)
{
    return &catalog->layout;
}

#define SCHEMAS_MAX 65536 /* as many as there are ids */

int trd_catalog_add_format(struct trd_catalog *catalog, const char *system, const char *text,
                           size_t size)
{
    struct trd_schema *schema;
    int result;

    if (catalog->schema_count == catalog->schema_capacity) {
        size_t capacity = catalog->schema_capacity ? catalog->schema_capacity * 2 : 64;
        struct trd_schema **schemas = realloc(catalog->schemas, capacity * sizeof(*schemas));

        if (!schemas)
            return -ENOMEM;
        catalog->schemas = schemas;
        catalog->schema_capacity = capacity;
    }
    result = format_parse(catalog, system, text, size, &schema);
    if (result != 0)
        return result;
    if (schema->id >= SCHEMAS_MAX || catalog->by_id[schema->id]) {
        result = schema->id >= SCHEMAS_MAX ? -EBADMSG : -EEXIST;
        format_destroy(schema);
        return result;
    }
    if (!catalog->pid_field)
        catalog->pid_field = trd_schema_field(schema, "common_pid");
    catalog->by_id[schema->id] = schema;
    catalog->schemas[catalog->schema_count++] = schema;
    return 0;
}

const struct trd_schema *trd_catalog_find(const struct trd_catalog *catalog, uint32_t id)
{
    return id < SCHEMAS_MAX ? catalog->by_id[id] : NULL;
}

const struct trd_schema *trd_catalog_find_name(const struct trd_catalog *catalog,
                                               const char *system, const char *name)
{
    for (size_t i = 0; i < catalog->schema_count; i++)
        if (strcmp(catalog->schemas[i]->system, system) == 0 &&
            strcmp(catalog->schemas[i]->name, name) == 0)
            return catalog->schemas[i];
    return NULL;
}

const struct trd_schema *trd_catalog_get(const struct trd_catalog *catalog, size_t index)
{
    return index < catalog->schema_count ? catalog->schemas[index] : NULL;
}

const struct trd_field *trd_schema_field(const struct trd_schema *schema, const char *name)
{
    for (uint32_t i = 0; i < schema->field_count; i++)
        if (strcmp(schema->fields[i].name, name) == 0)
            return &schema->fields[i];
    return NULL;
}

bool trd_page_event_record(const struct trd_catalog *catalog, const struct trd_page_event *event,
                           struct trd_record *out)
{
    const struct trd_field *pid = catalog->pid_field;
    bool big_endian = catalog->layout.big_endian;
    const struct trd_schema *schema =
        event->size >= 2 ? catalog->by_id[load_u16(event->data, big_endian)] : NULL;

    if (!schema)
        return false;
    out->schema = schema;
    out->data = event->data;
    out->size = event->size;
    if (pid && (size_t)pid->offset + pid->size <= event->size)
        out->tid = (int32_t)load_int(event->data + pid->offset, pid->size, true, big_endian);
    return true;
}

int trd_catalog_add_kallsyms(struct trd_catalog *catalog, const char *text, size_t size)
{
    char *copy = copy_text(text, size);
    int result;

    if (!copy)
        return -ENOMEM;
    result = tep_parse_kallsyms(catalog->tep, copy);
    free(copy);
    return result == 0 ? 0 : -EBADMSG;
}

int trd_catalog_add_printk_formats(struct trd_catalog *catalog, const char *text, size_t size)
{
    char *copy = copy_text(text, size);
    int result;

    if (!copy)
        return -ENOMEM;
    result = tep_parse_printk_formats(catalog->tep, copy);
    free(copy);
    return result == 0 ? 0 : -EBADMSG;
}

int trd_catalog_add_cmdlines(struct trd_catalog *catalog, const char *text, size_t size)
{
    char *copy = copy_text(text, size);
    char *place = NULL;

    if (!copy)
        return -ENOMEM;
    /* `PID NAME`, and the name may hold blanks. */
    for (char *line = strtok_r(copy, "\n", &place); line; line = strtok_r(NULL, "\n", &place)) {
        char *name;
        long pid = strtol(line, &name, 10);

        if (name != line && *name == ' ' && pid > 0 && pid <= INT32_MAX)
            (void)tep_register_comm(catalog->tep, name + 1, (int)pid);
    }
    free(copy);
    return 0;
}

const char *trd_catalog_symbol(const struct trd_catalog *catalog, uint64_t address,
                               uint64_t *out_offset)
{
    const char *name = tep_find_function(catalog->tep, address);

    if (name)
        *out_offset = address - tep_find_function_address(catalog->tep, address);
    return name;
}

const char *trd_catalog_comm(const struct trd_catalog *catalog, int32_t pid)
{
    return tep_data_comm_from_pid(catalog->tep, pid);
}
