/*
 * Every format of this kernel and of the shared corpus: fields typed, and the same as
 * libtraceevent finds; print formats compiled, those that are not listed with their reasons. Run as
 * `test_format_corpus kernel` and `test_format_corpus shared`.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event-parse.h>

#include "kernel_catalog.h"
#include "print.h"
#include "tracefs_instance.h"

#define DISTINCT_MAX 16384
#define REASONS_MAX 512

struct count {
    char text[160];
    unsigned count;
};

struct corpus {
    const struct trd_catalog *kernel; /* with its BTF; NULL for the corpus */
    uint64_t seen[DISTINCT_MAX];      /* hashes of system, event and print format */
    unsigned distinct, files, fields;
    unsigned compiled; /* distinct: a tree for every argument */
    unsigned complete; /* of these: with a value for everything in it */
    unsigned untyped, disagreeing, broken;
    struct count reasons[REASONS_MAX];
    unsigned reason_count;
};

static uint64_t hash(uint64_t seed, const char *text)
{
    for (; *text; text++)
        seed = (seed ^ (uint8_t)*text) * 0x100000001b3u;
    return seed;
}

static bool is_new(struct corpus *corpus, const struct trd_schema *schema)
{
    uint64_t key = hash(hash(hash(1, schema->system), schema->name), schema->print_text);

    for (unsigned i = 0; i < corpus->distinct; i++)
        if (corpus->seen[i] == key)
            return false;
    if (corpus->distinct == DISTINCT_MAX)
        abort();
    corpus->seen[corpus->distinct++] = key;
    return true;
}

/* `argument 3: …` counts as `…`. */
static void note_reason(struct corpus *corpus, const struct trd_schema *schema, bool compiled)
{
    const char *text = strstr(schema->print_error, ": ");
    char reason[160];
    unsigned i = 0;

    (void)snprintf(reason, sizeof(reason), "%s%.120s",
                   compiled ? "" : "NOT COMPILED: ", text ? text + 2 : schema->print_error);
    *strchrnul(reason, '(') = '\0';
    while (i < corpus->reason_count && strcmp(corpus->reasons[i].text, reason) != 0)
        i++;
    if (i == REASONS_MAX)
        return;
    if (i == corpus->reason_count) {
        memcpy(corpus->reasons[i].text, reason, sizeof(reason));
        corpus->reason_count++;
    }
    corpus->reasons[i].count++;
    if (!compiled)
        printf("%s: %s\n", schema->full_name, schema->print_error);
}

static void check_print(struct corpus *corpus, const struct trd_schema *schema)
{
    const struct trd_print_format *format = schema->print_format;
    bool compiled = format->count > 0 || !schema->print_error;

    if (!is_new(corpus, schema))
        return;
    for (size_t i = 0; i < format->count; i++)
        compiled &= !format->pieces[i].conversion || format->pieces[i].argument != NULL;
    corpus->compiled += compiled;
    corpus->complete += !schema->print_error;
    if (schema->print_error)
        note_reason(corpus, schema, compiled);
}

/* Only structs may be bytes; every other field has a type and lies in the record. */
static void check_types(struct corpus *corpus, const struct trd_schema *schema)
{
    for (uint32_t i = 0; i < schema->field_count; i++) {
        const struct trd_field *field = &schema->fields[i];
        bool bytes = field->storage == TRD_STORAGE_BYTES || field->storage == TRD_STORAGE_DYN_BYTES;

        corpus->fields++;
        if (field->name[0] && field->declaration[0] && field->elem_size > 0 &&
            (!bytes || strstr(field->declaration, "struct") ||
             strstr(field->declaration, "union") || strstr(field->declaration, "_t")))
            continue;
        corpus->untyped++;
        printf("%s: untyped field `%s %s`, %u bytes\n", schema->full_name, field->declaration,
               field->name, field->size);
    }
}

static bool same_field(const struct trd_field *field, const struct tep_format_field *tep)
{
    bool dynamic =
        field->storage >= TRD_STORAGE_DYN_INTS && field->storage <= TRD_STORAGE_DYN_BYTES;
    bool tail = field->storage >= TRD_STORAGE_TAIL_INTS; /* kernel_stack: ours runs on */

    return tep && strcmp(field->name, tep->name) == 0 && field->offset == tep->offset &&
           (tail || field->size == tep->size) &&
           field->is_signed == ((tep->flags & TEP_FIELD_IS_SIGNED) != 0) &&
           dynamic == ((tep->flags & TEP_FIELD_IS_DYNAMIC) != 0) &&
           field->is_relative == ((tep->flags & TEP_FIELD_IS_RELATIVE) != 0);
}

/* The field part by libtraceevent, which is handed no print format. */
static void check_against_libtraceevent(struct corpus *corpus, const struct trd_schema *schema,
                                        const char *text)
{
    const char *print = strstr(text, "\nprint fmt:");
    struct tep_handle *tep = tep_alloc();
    struct tep_format_field *fields[2] = { NULL, NULL };
    struct tep_event *event;
    char *copy = NULL;
    bool same;

    if (asprintf(&copy, "%.*s\nprint fmt: \"\"\n", print ? (int)(print - text) : (int)strlen(text),
                 text) < 0)
        abort();
    tep_set_loglevel(TEP_LOG_NONE);
    tep_set_long_size(tep, schema->long_size);
    (void)tep_parse_event(tep, copy, strlen(copy), schema->system);
    event = tep_find_event(tep, (int)schema->id);
    same = event && strcmp(event->name, schema->name) == 0;
    if (event) {
        fields[0] = event->format.common_fields;
        fields[1] = event->format.fields;
    }
    for (uint32_t i = 0; i < schema->field_count && same; i++) {
        struct tep_format_field **list = &fields[!schema->fields[i].is_common];

        same = same_field(&schema->fields[i], *list);
        if (same)
            *list = (*list)->next;
    }
    if (!same || fields[0] || fields[1]) {
        corpus->disagreeing++;
        printf("%s: libtraceevent finds other fields\n", schema->full_name);
    }
    free(copy);
    tep_free(tep);
}

static void check_schema(struct corpus *corpus, const struct trd_schema *schema, const char *text)
{
    check_types(corpus, schema);
    check_print(corpus, schema);
    check_against_libtraceevent(corpus, schema, text);
}

static const struct trd_schema *last_schema(const struct trd_catalog *catalog)
{
    const struct trd_schema *schema = NULL;

    for (size_t i = 0; trd_catalog_get(catalog, i); i++)
        schema = trd_catalog_get(catalog, i);
    return schema;
}

static int visit(void *context, const char *system, const char *text, size_t size, const char *path)
{
    struct corpus *corpus = context;
    struct trd_catalog *catalog;
    int result;

    if (!strstr(text, "\nID:")) /* one file of the corpus holds something else */
        return 0;
    corpus->files++;
    if (trd_catalog_create(&catalog, false, 8) != 0)
        return 1;
    result = trd_catalog_add_format(catalog, system, text, size);
    if (result == 0) {
        check_schema(corpus, last_schema(catalog), text);
    } else {
        corpus->broken++;
        printf("%s: %s\n", path, strerror(-result));
    }
    trd_catalog_destroy(catalog);
    return 0;
}

static int visit_kernel(void *context, const char *system, const char *text, size_t size,
                        const char *path)
{
    struct corpus *corpus = context;
    const char *id = strstr(text, "\nID:");
    const struct trd_schema *schema =
        id ? trd_catalog_find(corpus->kernel, (uint32_t)atoi(id + 4)) : NULL;

    (void)system;
    (void)size;
    corpus->files++;
    if (schema) {
        check_schema(corpus, schema, text);
    } else {
        corpus->broken++;
        printf("%s: no schema\n", path);
    }
    return 0;
}

static int compare_counts(const void *a, const void *b)
{
    return (int)((const struct count *)b)->count - (int)((const struct count *)a)->count;
}

static int report(struct corpus *corpus)
{
    double compiled = 100.0 * corpus->compiled / (corpus->distinct ? corpus->distinct : 1);

    qsort(corpus->reasons, corpus->reason_count, sizeof(corpus->reasons[0]), compare_counts);
    for (unsigned i = 0; i < corpus->reason_count; i++)
        printf("%6u %s\n", corpus->reasons[i].count, corpus->reasons[i].text);
    printf("%u formats, %u fields: %u untyped, %u other than libtraceevent's, %u broken\n",
           corpus->files, corpus->fields, corpus->untyped, corpus->disagreeing, corpus->broken);
    printf("%u distinct print formats: %.2f %% compile, %.2f %% without a gap\n", corpus->distinct,
           compiled, 100.0 * corpus->complete / (corpus->distinct ? corpus->distinct : 1));
    return corpus->files > 0 && corpus->untyped == 0 && corpus->disagreeing == 0 &&
                   corpus->broken == 0 && compiled >= 99.0
               ? 0
               : 1;
}

static int check_kernel(struct corpus *corpus)
{
    struct trd_catalog *catalog = kernel_catalog_create();

    corpus->kernel = catalog;
    if (!catalog || visit_formats(TRACEFS "/events", visit_kernel, corpus) != 0) {
        printf("SKIP: tracefs with readable events/\n");
        trd_catalog_destroy(catalog);
        return tracefs_skip_code();
    }
    trd_catalog_destroy(catalog);
    return report(corpus);
}

static int check_shared(struct corpus *corpus)
{
    const char *shared = getenv("TRACERD_SHARED");
    char folder[] = "/tmp/tracerd-test-formats-XXXXXX", command[512];
    int result;

    if (!mkdtemp(folder))
        return 1;
    (void)snprintf(command, sizeof(command),
                   "tar -xJf '%s/data/formats/android-formats.tar.xz' -C %s 2>/dev/null",
                   shared ? shared : TRACERD_SOURCE "/../shared", folder);
    if (system(command) == 0) {
        (void)visit_formats(folder, visit, corpus);
        result = report(corpus);
    } else {
        printf("SKIP: the format corpus: no data/formats/android-formats.tar.xz in "
               "TRACERD_SHARED\n");
        result = tracefs_skip_code();
    }
    (void)snprintf(command, sizeof(command), "rm -r %s", folder);
    (void)system(command);
    return result;
}

int main(int argc, char **argv)
{
    static struct corpus corpus;

    if (argc > 1 && strcmp(argv[1], "shared") == 0)
        return check_shared(&corpus);
    return check_kernel(&corpus);
}
