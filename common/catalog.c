#include "catalog_private.h"

#include <errno.h>
#include <event-parse.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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
    catalog->symbols = symbols_create();
    catalog->printk = printk_create();
    if (!catalog->tep || !catalog->symbols || !catalog->printk) {
        trd_catalog_destroy(catalog);
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
    free(catalog->by_name);
    btf_destroy(catalog->btf);
    symbols_destroy(catalog->symbols);
    printk_destroy(catalog->printk);
    if (catalog->tep)
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

/* libtraceevent 1.7.1 keeps the text its lexer reads in file-scope variables. */
static pthread_mutex_t tep_lexer = PTHREAD_MUTEX_INITIALIZER;

int trd_catalog_set_header_page(struct trd_catalog *catalog, const char *text, size_t size)
{
    struct trd_page_layout *layout = &catalog->layout;
    char *copy = copy_text(text, size);
    int result, commit_size;

    if (!copy)
        return -ENOMEM;
    pthread_mutex_lock(&tep_lexer);
    result = tep_parse_header_page(catalog->tep, copy, size, layout->long_size);
    pthread_mutex_unlock(&tep_lexer);
    free(copy);
    /* The commit word is a long of the kernel, which need not be the recording program's. */
    commit_size = tep_get_header_page_size(catalog->tep);
    if (result != 0 || size == 0 || tep_get_header_timestamp_size(catalog->tep) != 8 ||
        (commit_size != 4 && commit_size != 8))
        return -EBADMSG;
    default_layout(layout, layout->big_endian, (uint8_t)commit_size);
    tep_set_long_size(catalog->tep, commit_size);
    return 0;
}

const struct trd_page_layout *trd_catalog_get_layout(const struct trd_catalog *catalog)
{
    return &catalog->layout;
}

#define SCHEMAS_MAX 65536 /* as many as there are ids */

/* The slot of a name: taken by its schema, or free. */
static size_t name_slot(const struct trd_catalog *catalog, const char *system, const char *name)
{
    size_t capacity = 2 * catalog->schema_capacity, hash = 0xcbf29ce484222325u;

    for (const char *at = system; *at; at++)
        hash = (hash ^ (uint8_t)*at) * 0x100000001b3u;
    for (const char *at = name; *at; at++)
        hash = (hash ^ (uint8_t)*at) * 0x100000001b3u;
    for (hash ^= hash >> 29;; hash++) {
        const struct trd_schema *schema = catalog->by_name[hash % capacity];

        if (!schema || (strcmp(schema->system, system) == 0 && strcmp(schema->name, name) == 0))
            return hash % capacity;
    }
}

static int schemas_grow(struct trd_catalog *catalog)
{
    size_t capacity = catalog->schema_capacity ? catalog->schema_capacity * 2 : 64;
    struct trd_schema **schemas = realloc(catalog->schemas, capacity * sizeof(*schemas));
    const struct trd_schema **by_name;

    if (!schemas)
        return -ENOMEM;
    catalog->schemas = schemas;
    by_name = calloc(2 * capacity, sizeof(*by_name));
    if (!by_name)
        return -ENOMEM;
    free(catalog->by_name);
    catalog->by_name = by_name;
    catalog->schema_capacity = capacity;
    /* Backwards, so that of two with one name the older is found, as before. */
    for (size_t i = catalog->schema_count; i-- > 0;)
        by_name[name_slot(catalog, schemas[i]->system, schemas[i]->name)] = schemas[i];
    return 0;
}

int trd_catalog_add_format(struct trd_catalog *catalog, const char *system, const char *text,
                           size_t size)
{
    struct trd_schema *schema;
    size_t slot;
    int result = 0;

    if (catalog->schema_count == catalog->schema_capacity)
        result = schemas_grow(catalog);
    if (result == 0)
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
    slot = name_slot(catalog, schema->system, schema->name);
    if (!catalog->by_name[slot])
        catalog->by_name[slot] = schema;
    return 0;
}

const struct trd_schema *trd_catalog_find(const struct trd_catalog *catalog, uint32_t id)
{
    return id < SCHEMAS_MAX ? catalog->by_id[id] : NULL;
}

const struct trd_schema *trd_catalog_find_name(const struct trd_catalog *catalog,
                                               const char *system, const char *name)
{
    return catalog->by_name ? catalog->by_name[name_slot(catalog, system, name)] : NULL;
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
    const struct trd_schema *schema = catalog_find_event(catalog, event);

    if (!schema)
        return false;
    out->schema = schema;
    out->data = event->data;
    out->size = event->size;
    out->tid = catalog_event_tid(catalog, event);
    return true;
}

int trd_catalog_add_kallsyms(struct trd_catalog *catalog, const char *text, size_t size)
{
    return symbols_add(catalog->symbols, text, size);
}

int trd_catalog_add_printk_formats(struct trd_catalog *catalog, const char *text, size_t size)
{
    return printk_add(catalog->printk, text, size);
}

int trd_catalog_add_cmdlines(struct trd_catalog *catalog, const char *text, size_t size)
{
    char *copy = copy_text(text, size);
    char *place = NULL;
    int result = 0;

    if (!copy)
        return -ENOMEM;
    /* `PID NAME`, and the name may hold blanks. */
    for (char *line = strtok_r(copy, "\n", &place); line; line = strtok_r(NULL, "\n", &place)) {
        char *name;
        long pid = strtol(line, &name, 10);

        if (name != line && *name == ' ' && pid > 0 && pid <= INT32_MAX)
            (void)tep_register_comm(catalog->tep, name + 1, (int)pid);
        else
            result = -EBADMSG;
    }
    free(copy);
    /* The library sorts at the first look-up; afterwards look-ups only read. */
    (void)tep_is_pid_registered(catalog->tep, 0);
    return result;
}

int trd_catalog_add_btf(struct trd_catalog *catalog, const uint8_t *bytes, size_t size)
{
    struct btf *btf;
    int result = btf_create(&btf, bytes, size);

    if (result != 0)
        return result;
    btf_destroy(catalog->btf);
    catalog->btf = btf;
    return 0;
}

const char *trd_catalog_symbol(const struct trd_catalog *catalog, uint64_t address,
                               uint64_t *out_offset)
{
    struct symbol symbol;

    if (!symbols_find(catalog->symbols, address, &symbol))
        return NULL;
    *out_offset = address - symbol.address;
    return symbol.name;
}

const char *trd_catalog_printk(const struct trd_catalog *catalog, uint64_t address)
{
    return printk_find(catalog->printk, address);
}

const char *trd_catalog_comm(const struct trd_catalog *catalog, int32_t pid)
{
    return tep_is_pid_registered(catalog->tep, pid) ? tep_data_comm_from_pid(catalog->tep, pid)
                                                    : NULL;
}
