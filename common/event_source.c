#include "event_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "hash.h"

#define NAME_MAX_SIZE TRD_TEXT_MAX
#define COLLISIONS_MAX 4

#define GUID_SIZE 16
#define WITH_REST 1     /* bytes that no field reads */
#define WITH_ACTIVITY 2 /* the event belongs to one */

/* What a process told under one number. */
struct told {
    struct event_source *source; /* borrowed; NULL until the description is whole */
    uint16_t count;              /* of its fields */
    uint16_t known;
    uint32_t id;
    uint32_t version;
    char *name; /* owned; Provider:Event */
    struct told_field {
        uint8_t type;
        uint8_t is_array;
        char *name; /* owned; NULL = not told yet */
    } fields[];
};

/* Schemas of one kind of event: an event whose payload was cut has less fields. */
struct event_source {
    uint32_t field_count;
    uint32_t fixed_size;
    struct event_payload_field *fields; /* owned */
    struct trd_field *table;            /* owned; the fields, then rest and activity */
    char *name;                         /* owned */
    char **field_names;                 /* owned, with its texts; as many as the table has */
    struct trd_schema **variants;       /* owned; by fields read, and WITH_… */
};

static void destroy_told(void *value)
{
    struct told *told = value;

    for (size_t i = 0; i < told->count; i++)
        free(told->fields[i].name);
    free(told->name);
    free(told);
}

static void destroy_source(void *value)
{
    struct event_source *source = value;

    for (size_t i = 0; source->variants && i < (source->field_count + 1) * 4; i++) {
        if (source->variants[i])
            free((void *)(uintptr_t)source->variants[i]->fields);
        free(source->variants[i]);
    }
    for (size_t i = 0; source->field_names && i < source->field_count + 2; i++)
        free(source->field_names[i]);
    free(source->field_names);
    free(source->variants);
    free(source->fields);
    free(source->table);
    free(source->name);
    free(source);
}

void event_sources_init(struct event_sources *sources)
{
    idmap_init(&sources->numbers, EVENT_SOURCE_NUMBERS_MAX);
    idmap_init(&sources->schemas, EVENT_SOURCE_SCHEMAS_MAX);
    sources->record = NULL;
}

void event_sources_finish(struct event_sources *sources)
{
    idmap_finish(&sources->numbers, destroy_told);
    idmap_finish(&sources->schemas, destroy_source);
    free(sources->record);
}

/* Making a schema of a description */

static uint64_t hash_told(const struct told *told)
{
    uint64_t hash = hash_bytes(HASH_START, told->name, strlen(told->name));

    for (size_t i = 0; i < told->count; i++) {
        const struct told_field *field = &told->fields[i];

        hash = hash_bytes(hash, &field->type, sizeof(field->type));
        hash = hash_bytes(hash, &field->is_array, sizeof(field->is_array));
        hash = hash_bytes(hash, field->name, strlen(field->name) + 1);
    }
    return hash;
}

/* It may have got lines at its end: see unique_name. */
static bool is_same_name(const char *made, const char *wanted)
{
    size_t size = strlen(wanted);

    return strncmp(made, wanted, size) == 0 && made[size + strspn(made + size, "_")] == '\0';
}

static bool is_same(const struct event_source *source, const struct told *told)
{
    if (source->field_count != told->count || strcmp(source->name, told->name) != 0)
        return false;
    for (size_t i = 0; i < told->count; i++)
        if (source->fields[i].type != told->fields[i].type ||
            source->fields[i].is_array != told->fields[i].is_array ||
            !is_same_name(source->field_names[i], told->fields[i].name))
            return false;
    return true;
}

/* A key of JSON stands once: a name that is taken gets a line below it. */
static char *unique_name(const struct event_source *source, size_t count, const char *wanted)
{
    size_t size = strlen(wanted);
    char *name = malloc(size + count + 1);
    bool taken = true;

    if (!name)
        return NULL;
    memcpy(name, wanted, size + 1);
    while (taken) {
        taken = false;
        for (size_t i = 0; i < count && !taken; i++)
            taken = strcmp(source->field_names[i], name) == 0;
        if (taken) {
            name[size++] = '_';
            name[size] = '\0';
        }
    }
    return name;
}

static bool add_field(struct event_source *source, uint32_t at, const struct trd_field *field,
                      const char *name)
{
    source->table[at] = *field;
    source->field_names[at] = unique_name(source, at, name);
    source->table[at].name = source->field_names[at];
    return source->field_names[at] != NULL;
}

static bool fill_source(struct event_source *source, const struct told *told)
{
    struct trd_field rest = { .declaration = "",
                              .size = sizeof(struct trd_text),
                              .elem_size = 1,
                              .count = 1,
                              .storage = TRD_STORAGE_DYN_BYTES,
                              .meaning = TRD_MEANING_HEX };
    struct trd_field activity = { .declaration = "",
                                  .size = GUID_SIZE,
                                  .elem_size = 1,
                                  .count = 1,
                                  .storage = TRD_STORAGE_BYTES,
                                  .meaning = TRD_MEANING_GUID };
    struct trd_field field;

    for (uint32_t i = 0; i < told->count; i++) {
        source->fields[i] = (struct event_payload_field){ .type = told->fields[i].type,
                                                          .is_array = told->fields[i].is_array,
                                                          .offset = (uint16_t)source->fixed_size };
        event_payload_storage(&source->fields[i], &field);
        source->fixed_size += field.size;
        if (!add_field(source, i, &field, told->fields[i].name))
            return false;
    }
    rest.offset = (uint16_t)source->fixed_size;
    activity.offset = (uint16_t)(rest.offset + rest.size);
    source->fixed_size = activity.offset + GUID_SIZE;
    return add_field(source, told->count, &rest, "payload") &&
           add_field(source, told->count + 1u, &activity, "activity_id");
}

static struct event_source *make_source(const struct told *told)
{
    struct event_source *source = calloc(1, sizeof(*source));
    size_t table = told->count + 2u;

    if (!source)
        return NULL;
    source->field_count = told->count;
    source->fields = calloc(table, sizeof(*source->fields));
    source->table = calloc(table, sizeof(*source->table));
    source->field_names = calloc(table, sizeof(*source->field_names));
    source->variants = calloc((told->count + 1u) * 4, sizeof(*source->variants));
    source->name = strdup(told->name);
    if (!source->fields || !source->table || !source->field_names || !source->variants ||
        !source->name || !fill_source(source, told)) {
        destroy_source(source);
        return NULL;
    }
    return source;
}

static struct event_source *share_source(struct event_sources *sources, const struct told *told)
{
    uint64_t hash = hash_told(told);
    struct event_source *source;
    void *old;

    for (uint64_t i = 0; i < COLLISIONS_MAX; i++) {
        source = idmap_get(&sources->schemas, hash, i);
        if (source && is_same(source, told))
            return source;
        if (source)
            continue;
        source = make_source(told);
        if (source && idmap_set(&sources->schemas, hash, i, source, &old) == 0)
            return source;
        if (source)
            destroy_source(source);
        return NULL;
    }
    return NULL;
}

/* Descriptions as they come */

/* A text of a record, as a C string; "" if it is not there whole. */
static void copy_text(const struct trd_record *record, struct trd_text text, char *out)
{
    size_t size = 0;
    const char *bytes = (size_t)text.offset + text.size <= record->size
                            ? trd_event_text(record->data, text, &size)
                            : "";

    size = size < NAME_MAX_SIZE ? size : NAME_MAX_SIZE - 1;
    memcpy(out, bytes, size);
    out[size] = '\0';
}

static void finish_if_whole(struct event_sources *sources, struct told *told)
{
    if (told->known == told->count)
        told->source = share_source(sources, told);
}

static bool is_described_alike(const struct told *a, const struct told *b)
{
    return a->id == b->id && a->version == b->version && a->count == b->count &&
           strcmp(a->name, b->name) == 0;
}

void event_sources_describe(struct event_sources *sources, const struct trd_record *record)
{
    char provider[NAME_MAX_SIZE], name[NAME_MAX_SIZE];
    struct trd_ev_event_schema event;
    struct told *told;
    void *old = NULL;
    int size;

    memcpy(&event, record->data, sizeof(event));
    if (event.fields > TRD_EVENT_FIELDS_MAX)
        return;
    copy_text(record, event.provider, provider);
    copy_text(record, event.event, name);
    told = calloc(1, sizeof(*told) + event.fields * sizeof(told->fields[0]));
    if (!told)
        return;
    told->count = event.fields;
    told->id = event.event_id;
    told->version = event.version;
    size = name[0] ? asprintf(&told->name, "%s:%s", provider, name)
                   : asprintf(&told->name, "%s:event_%u", provider, event.event_id);
    if (size < 0)
        told->name = NULL;
    if (size < 0 || idmap_set(&sources->numbers, (uint32_t)record->pid, event.schema, told, &old)) {
        destroy_told(told);
        return;
    }
    /* Two threads that meet a kind of event at once both describe it: what is known goes on until
     * it is known again. */
    if (old && is_described_alike(old, told))
        told->source = ((struct told *)old)->source;
    if (old)
        destroy_told(old);
    finish_if_whole(sources, told);
}

void event_sources_add_field(struct event_sources *sources, const struct trd_record *record)
{
    char name[NAME_MAX_SIZE];
    struct trd_ev_event_field event;
    struct told *told;

    memcpy(&event, record->data, sizeof(event));
    told = idmap_get(&sources->numbers, (uint32_t)record->pid, event.schema);
    if (!told || event.index >= told->count || told->fields[event.index].name)
        return;
    copy_text(record, event.name, name);
    told->fields[event.index].type = event.type;
    told->fields[event.index].is_array = event.array != 0;
    told->fields[event.index].name = strdup(name);
    if (!told->fields[event.index].name)
        return;
    told->known++;
    finish_if_whole(sources, told);
}

/* Events */

static struct trd_schema *make_variant(const struct event_source *source, uint32_t fields,
                                       unsigned with)
{
    struct trd_schema *schema = calloc(1, sizeof(*schema));
    struct trd_field *table = calloc(fields + 2u, sizeof(*table));
    uint32_t count = fields;

    if (!schema || !table) {
        free(schema);
        free(table);
        return NULL;
    }
    memcpy(table, source->table, fields * sizeof(*table));
    if (with & WITH_REST)
        table[count++] = source->table[source->field_count];
    if (with & WITH_ACTIVITY)
        table[count++] = source->table[source->field_count + 1];
    *schema = (struct trd_schema){ .system = "clr",
                                   .name = source->name,
                                   .full_name = source->name,
                                   .id = TRD_EV_event,
                                   .is_clr = true,
                                   .long_size = 8,
                                   .fixed_size = (uint16_t)source->fixed_size,
                                   .fields = table,
                                   .field_count = count,
                                   .print_text = "" };
    return schema;
}

static const struct trd_schema *get_variant(struct event_source *source, uint32_t fields,
                                            unsigned with)
{
    struct trd_schema **variant = &source->variants[fields * 4 + with];

    if (!*variant)
        *variant = make_variant(source, fields, with);
    return *variant;
}

/* What no field reads goes along as it is, unless it is only the beginning of something. */
static void append_rest(const struct event_source *source, const uint8_t *bytes, size_t size,
                        uint8_t *record, struct event_payload *payload)
{
    struct trd_text word = { (uint16_t)payload->size, (uint16_t)size };

    memcpy(record + source->table[source->field_count].offset, &word, sizeof(word));
    memcpy(record + payload->size, bytes, size);
    payload->size += size;
}

void event_sources_read(struct event_sources *sources, struct trd_record *record)
{
    struct trd_ev_event event;
    struct event_payload payload;
    const struct trd_schema *schema;
    struct told *told;
    size_t size, left = record->size - sizeof(event);
    const uint8_t *bytes = record->data + sizeof(event);
    unsigned with = 0;
    bool is_cut;

    memcpy(&event, record->data, sizeof(event));
    told = idmap_get(&sources->numbers, (uint32_t)record->pid, event.schema);
    if (!told || !told->source)
        return;
    if (!sources->record)
        sources->record = malloc(EVENT_PAYLOAD_RECORD_MAX + TRD_EVENT_SIZE_MAX);
    if (!sources->record)
        return;
    size = event.payload_size < TRD_EVENT_PAYLOAD_MAX ? event.payload_size : TRD_EVENT_PAYLOAD_MAX;
    size = size < left ? size : left;
    is_cut = size < event.payload_size;
    event_payload_read(told->source->fields, told->source->field_count, bytes, size, is_cut,
                       told->source->fixed_size, sources->record, &payload);
    if (payload.rest < size && !is_cut) {
        with |= WITH_REST;
        append_rest(told->source, bytes + payload.rest, size - payload.rest, sources->record,
                    &payload);
    }
    if (event.activity_low || event.activity_high) {
        with |= WITH_ACTIVITY;
        memcpy(sources->record + told->source->table[told->source->field_count + 1].offset,
               &event.activity_low, GUID_SIZE);
    }
    schema = get_variant(told->source, payload.field_count, with);
    if (!schema)
        return;
    record->told = record->data;
    record->told_size = record->size;
    record->schema = schema;
    record->data = sources->record;
    record->size = (uint32_t)payload.size;
    record->data_stays = false;
}

static bool keep(const struct idmap_entry *entry, void *context)
{
    if (entry->a != (uint32_t) * (const int32_t *)context)
        return true;
    destroy_told(entry->value);
    return false;
}

void event_sources_forget(struct event_sources *sources, int32_t pid)
{
    idmap_filter(&sources->numbers, keep, &pid);
}
