/*
 * A filter in the words of the kernel, for the `filter` file of an event. Source:
 * Documentation/trace/events.rst, kernel/trace/trace_events_filter.c.
 *
 * What comes out is never narrower than the filter: a condition that the kernel cannot state, or
 * would decide otherwise, is left out as if it held. That can only let more pass, since after
 * filter_bind negations stand at the conditions only.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "filter_private.h"

#define LITERAL_MAX 200 /* the kernel takes texts of 255 characters */

struct writer {
    const struct trd_schema *schema;
    const struct filter_tree *tree;
    const struct filter_step *step; /* of the next condition, in the order of the text */
    char *text;                     /* TRD_FILTER_KERNEL_MAX bytes */
    size_t used;                    /* beyond the end: it did not fit */
};

static void __attribute__((format(printf, 2, 3))) put(struct writer *w, const char *format, ...)
{
    size_t room = w->used < TRD_FILTER_KERNEL_MAX ? TRD_FILTER_KERNEL_MAX - w->used : 0;
    va_list list;

    va_start(list, format);
    w->used += (size_t)vsnprintf(room ? w->text + w->used : NULL, room, format, list);
    va_end(list);
}

/* Numbers */

/* The field that a condition reads whole. */
static const struct trd_field *find_field(const struct trd_schema *schema,
                                          const struct filter_load *load)
{
    for (uint32_t i = 0; i < schema->field_count; i++) {
        const struct trd_field *field = &schema->fields[i];

        if (field->storage == TRD_STORAGE_INT && field->offset == load->offset &&
            field->size == load->size)
            return field;
    }
    return NULL;
}

/* NULL: nothing that the kernel would compare as a number. */
static const char *number_name(const struct trd_schema *schema, const struct filter_load *load,
                               unsigned *out_size)
{
    const struct trd_field *field;

    *out_size = 4;
    if (load->from == FILTER_FROM_TID)
        return "common_pid";
    if (load->from == FILTER_FROM_CPU)
        return trd_schema_field(schema, "CPU") ? NULL : "CPU";
    field = load->from == FILTER_FROM_FIELD && !load->array ? find_field(schema, load) : NULL;
    if (!field || strstr(field->declaration, "char *")) /* it would follow the pointer */
        return NULL;
    *out_size = field->size;
    return field->name;
}

/* The kernel cuts a number to the width of the field, we widen the field. */
static bool fits(uint64_t number, unsigned size, bool is_signed, bool is_unsigned)
{
    unsigned bits = size * 8;
    int64_t high = (int64_t)(UINT64_MAX >> (65 - bits));

    if (!is_signed)
        return size == 8 || number <= UINT64_MAX >> (64 - bits);
    return (!is_unsigned || number <= INT64_MAX) && (int64_t)number <= high &&
           (int64_t)number >= -high - 1;
}

static const char *operator_text(uint8_t compare)
{
    switch (compare) {
    case FILTER_LESS:
        return "<";
    case FILTER_LESS_EQUAL:
        return "<=";
    case FILTER_GREATER:
        return ">";
    case FILTER_GREATER_EQUAL:
        return ">=";
    case FILTER_EQUAL:
        return "==";
    default:
        return "!=";
    }
}

static enum trd_filter_reach put_number(struct writer *w, const struct filter_step *step)
{
    bool is_signed = step->load.is_signed;
    unsigned size;
    const char *name = number_name(w->schema, &step->load, &size);
    bool is_equality = step->compare == FILTER_EQUAL || step->compare == FILTER_NOT_EQUAL;

    if (!name)
        return TRD_FILTER_ALL;
    if (step->mask != UINT64_MAX) {
        /* `field & mask` is a condition there, no number. */
        if (step->number != 0 || !is_equality || step->mask == 0 ||
            step->mask > (UINT64_MAX >> (64 - size * 8 + is_signed)))
            return TRD_FILTER_ALL;
        put(w, step->compare == FILTER_EQUAL ? "!(%s & 0x%" PRIx64 ")" : "%s & 0x%" PRIx64, name,
            step->mask);
        return TRD_FILTER_SOME;
    }
    if (!fits(step->number, size, is_signed, step->is_unsigned))
        return TRD_FILTER_ALL;
    if (is_signed)
        put(w, "%s %s %" PRId64, name, operator_text(step->compare), (int64_t)step->number);
    else
        put(w, "%s %s %" PRIu64, name, operator_text(step->compare), step->number);
    return TRD_FILTER_SOME;
}

/* Texts */

/* Neither side gives these characters a meaning of their own, and quotes do not end at them. */
static bool is_plain(const struct filter_node *literal)
{
    for (uint32_t i = 0; i < literal->size; i++)
        if (literal->text[i] < ' ' || literal->text[i] > '~' || strchr("\"\\[]", literal->text[i]))
            return false;
    return literal->size > 0 && literal->size <= LITERAL_MAX;
}

/*
 * Stars and question marks. Of an array, of which the kernel knows the size but not the length of
 * the text, it looks for what begins with a star behind the text as well: `*end` at the end of the
 * array, `*middle*` anywhere. So the first is asked as the second, and neither is negated.
 */
static enum trd_filter_reach put_glob(struct writer *w, const struct trd_field *field,
                                      const struct filter_node *literal, bool negated)
{
    const char *text = literal->text;
    size_t stars = 0, marks = 0;
    bool is_array = field->storage == TRD_STORAGE_CHARS;
    bool starts = text[0] == '*', ends = text[literal->size - 1] == '*';

    for (uint32_t i = 0; i < literal->size; i++) {
        stars += text[i] == '*';
        marks += text[i] == '?';
    }
    /* Its own meaning: `!` negates, a digit makes the pattern plain text. */
    if (text[0] == '!' || (text[0] >= '0' && text[0] <= '9') || stars == literal->size)
        return TRD_FILTER_ALL;
    /* A pattern that is more than one piece is matched up to a NUL, which an array may lack. */
    if (is_array && (marks > 0 || stars > (size_t)starts + ends || (negated && starts)))
        return TRD_FILTER_ALL;
    if (is_array && literal->size - stars >= field->size)
        return TRD_FILTER_ALL;
    put(w, negated ? "!(%s ~ \"%s%s\")" : "%s ~ \"%s%s\"", field->name, text,
        is_array && starts && !ends ? "*" : "");
    return TRD_FILTER_SOME;
}

static enum trd_filter_reach put_text(struct writer *w, const struct filter_step *step)
{
    const struct filter_node *literal = step->literal;
    const struct trd_field *field = step->field;

    if (step->text_from != FILTER_TEXT_FIELD || !is_plain(literal))
        return TRD_FILTER_ALL;
    if (field->storage == TRD_STORAGE_CHARS ? literal->size >= field->size
                                            : field->storage != TRD_STORAGE_DYN_CHARS)
        return TRD_FILTER_ALL;
    if (step->compare == FILTER_MATCH || step->compare == FILTER_NOT_MATCH)
        return put_glob(w, field, literal, step->compare == FILTER_NOT_MATCH);
    put(w, "%s %s \"%s\"", field->name, operator_text(step->compare), literal->text);
    return TRD_FILTER_SOME;
}

/* Conditions */

static enum trd_filter_reach put_step(struct writer *w, const struct filter_step *step)
{
    switch (step->code) {
    case FILTER_STEP_NUMBER:
        return put_number(w, step);
    case FILTER_STEP_TEXT:
        return put_text(w, step);
    case FILTER_STEP_NEVER:
        return TRD_FILTER_NONE;
    default:
        return TRD_FILTER_ALL;
    }
}

/* The steps of a program stand in the order of this walk. */
static enum trd_filter_reach put_condition(struct writer *w, uint16_t index, bool negated)
{
    const struct filter_node *node = &w->tree->nodes[index];
    enum trd_filter_reach left, right, decisive;
    size_t start = w->used, middle, behind;
    bool is_and;

    if (node->kind == FILTER_NOT)
        return put_condition(w, node->left, !negated);
    if (node->kind != FILTER_AND && node->kind != FILTER_OR)
        return put_step(w, w->step++);
    is_and = (node->kind == FILTER_AND) != negated;
    decisive = is_and ? TRD_FILTER_NONE : TRD_FILTER_ALL;
    put(w, "(");
    left = put_condition(w, node->left, negated);
    middle = w->used;
    put(w, is_and ? " && " : " || ");
    behind = w->used;
    right = put_condition(w, node->right, negated);
    put(w, ")");
    if (left == TRD_FILTER_SOME && right == TRD_FILTER_SOME)
        return TRD_FILTER_SOME;
    if (left == decisive || right == decisive || left == right) {
        w->used = start;
        return left == decisive ? left : right;
    }
    if (left == TRD_FILTER_SOME) {
        w->used = middle;
        put(w, ")");
    } else if (w->used < TRD_FILTER_KERNEL_MAX) {
        memmove(w->text + start + 1, w->text + behind, w->used - behind + 1);
        w->used -= behind - start - 1;
    }
    return TRD_FILTER_SOME;
}

enum trd_filter_reach trd_filter_kernel(const struct trd_filter *filter,
                                        const struct trd_schema *schema, char *out)
{
    struct filter_program *program = filter_bind(filter_tree(filter), schema, false, NULL);
    struct writer w = { .schema = schema, .tree = filter_tree(filter), .text = out };
    enum trd_filter_reach reach;

    if (!program)
        return TRD_FILTER_ALL;
    w.step = program->steps;
    reach = put_condition(&w, w.tree->root, false);
    filter_program_destroy(program);
    return reach == TRD_FILTER_SOME && w.used >= TRD_FILTER_KERNEL_MAX ? TRD_FILTER_ALL : reach;
}
