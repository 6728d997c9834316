/*
 * Is a filter's every name known to some event? Asked once, so that a misspelt name is told and
 * does not leave the stream empty.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "event.h"
#include "filter_private.h"

#define NEAR_MAX 3
#define NAME_MAX_COMPARED 64 /* longer ones are not compared letter by letter */

struct near {
    const char *name;
    unsigned distance;
};

/* What is known of one name after all schemas were asked. */
struct search {
    const struct filter_node *node;
    bool fits;          /* found in the role it has: number or text */
    bool other_role;    /* found, but never so */
    bool missing_index; /* an array without an element, or the reverse */
    struct near near[NEAR_MAX];
    size_t near_count;
};

static unsigned least(unsigned a, unsigned b, unsigned c)
{
    unsigned low = a < b ? a : b;

    return low < c ? low : c;
}

/* Letters to change, add or leave out (Levenshtein). */
static unsigned distance(const char *a, const char *b)
{
    size_t width = strlen(b);
    unsigned row[NAME_MAX_COMPARED + 1];

    if (width > NAME_MAX_COMPARED)
        return UINT32_MAX;
    for (unsigned i = 0; i <= width; i++)
        row[i] = i;
    for (; *a; a++) {
        unsigned diagonal = row[0]++;

        for (size_t i = 1; i <= width; i++) {
            unsigned above = row[i];

            row[i] = least(above + 1, row[i - 1] + 1, diagonal + (*a != b[i - 1]));
            diagonal = above;
        }
    }
    return row[width];
}

/* Keeps the nearest, each once, those met first before their equals. */
static void note_near(struct search *search, const char *name)
{
    unsigned far = (unsigned)search->node->size / 4 + 1;
    unsigned here = distance(search->node->text, name);
    size_t at = 0;

    if (here > far && strstr(name, search->node->text) == NULL)
        return;
    for (size_t i = 0; i < search->near_count; i++)
        if (strcmp(search->near[i].name, name) == 0)
            return;
    while (at < search->near_count && search->near[at].distance <= here)
        at++;
    if (at == NEAR_MAX)
        return;
    if (search->near_count < NEAR_MAX)
        search->near_count++;
    memmove(&search->near[at + 1], &search->near[at],
            (search->near_count - 1 - at) * sizeof(search->near[0]));
    search->near[at] = (struct near){ name, here };
}

static void note_field(struct search *search, const struct trd_field *field)
{
    const struct filter_node *node = search->node;
    uint64_t value;

    if (strcmp(field->name, node->text) != 0) {
        search->fits |= !node->is_text && !node->is_argument && !node->has_index &&
                        filter_has_labels(field) &&
                        filter_find_label(field->names, node->text, &value);
        note_near(search, field->name);
        return;
    }
    if (node->is_text ? !filter_field_is_text(field) : !filter_field_is_number(field))
        search->other_role = true;
    else if (!node->is_text && node->has_index != (field->storage != TRD_STORAGE_INT))
        search->missing_index = true;
    else
        search->fits = true;
}

static void note_schema(struct search *search, const struct trd_schema *schema)
{
    for (uint32_t i = 0; i < schema->field_count && !search->fits; i++)
        note_field(search, &schema->fields[i]);
}

static void ask_all(struct search *search, const struct trd_catalog *const *catalogs, size_t count)
{
    const struct trd_event_info *info;
    const struct trd_schema *schema;

    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; (schema = trd_catalog_get(catalogs[i], k)) && !search->fits; k++)
            note_schema(search, schema);
    for (size_t i = 0; (info = trd_event_get(i)) && !search->fits; i++)
        note_schema(search, trd_clr_schema(info->id));
}

struct sentence {
    char *text;
    size_t size;
    size_t at;
};

static __attribute__((format(printf, 2, 3))) void put(struct sentence *sentence, const char *format,
                                                      ...)
{
    size_t room = sentence->size - sentence->at;
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(sentence->text + sentence->at, room, format, arguments);
    va_end(arguments);
    sentence->at += size < 0 ? 0 : (size_t)size < room ? (size_t)size : room ? room - 1 : 0;
}

static void tell(const struct search *search, struct sentence *sentence)
{
    const struct filter_node *node = search->node;

    put(sentence, "position %u: ", node->position);
    if (search->other_role && node->is_text)
        put(sentence,
            "`%s` is a number in every event that has it, it cannot be compared with a "
            "text",
            node->text);
    else if (search->other_role)
        put(sentence,
            "`%s` is no number in any event that has it; texts are compared with "
            "== \"…\" or ~ \"…\"",
            node->text);
    else if (search->missing_index)
        put(sentence, "`%s` is %s", node->text,
            node->has_index ? "one number, no array"
                            : "an array: name an element, [0] is the first");
    else
        put(sentence, "no event has a field `%s`", node->text);
    if (search->other_role || search->missing_index)
        return;
    for (size_t i = 0; i < search->near_count; i++)
        put(sentence, "%s`%s`", i == 0 ? "; near it: " : ", ", search->near[i].name);
}

/* Names of the line are known; their role is, too. */
static bool line_name_fits(const struct filter_line_name *line, const struct filter_node *node,
                           struct sentence *sentence)
{
    if (line->is_text == node->is_text)
        return true;
    put(sentence, "position %u: `%s` is a %s", node->position, node->text,
        line->is_text ? "text: compare it with == \"…\" or ~ \"…\"" : "number");
    return false;
}

int trd_filter_check(const struct trd_filter *filter, const struct trd_catalog *const *catalogs,
                     size_t count, char *error, size_t error_size)
{
    struct sentence sentence = { error, error_size, 0 };
    const struct filter_tree *tree = filter_tree(filter);

    for (uint16_t i = 0; i < tree->count; i++) {
        const struct filter_node *node = &tree->nodes[i];
        struct search search = { .node = node };
        const struct filter_line_name *line;

        if (node->kind != FILTER_NAME)
            continue;
        line = filter_line_name(node);
        if (line) {
            if (!line_name_fits(line, node, &sentence))
                return -ENOENT;
            continue;
        }
        ask_all(&search, catalogs, count);
        if (!search.fits) {
            tell(&search, &sentence);
            return -ENOENT;
        }
    }
    return 0;
}
