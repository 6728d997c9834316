/* Types, from their ClassID: recursive, since their arguments are types. A frame stays small, as
 * this may run deep in a program's own stack: names are fetched in functions of their own. */
#include "names_text.h"

#include <string.h>

#include "names_known.h"
#include "text.h"

#define DEPTH_MAX 32 /* a text is full before, unless names are short */
#define TOO_DEEP "..."
#define UNKNOWN "?"
#define ELEMENT_TYPE_PTR 0x0f /* corhdr.h */

#define APPEND(text, used, literal) names_append(text, used, literal, sizeof(literal) - 1)

size_t names_append(char *text, size_t used, const char *bytes, size_t size)
{
    if (size > NAMES_TEXT_MAX - used)
        size = NAMES_TEXT_MAX - used;
    memcpy(text + used, bytes, size);
    return used + size;
}

size_t names_append_name(char *text, size_t used, const struct info_name *name)
{
    return used + text_from_utf16(name->units, name->length, text + used, NAMES_TEXT_MAX - used);
}

size_t names_enclosing(struct module_metadata *metadata, mdTypeDef type,
                       mdTypeDef chain[NAMES_NESTING_MAX])
{
    size_t depth = 0;
    bool nested = true;

    while (nested && depth < NAMES_NESTING_MAX) {
        if (!module_metadata_is_nested(metadata, type, &nested))
            break;
        chain[depth++] = type;
        if (nested && !module_metadata_enclosing(metadata, type, &type))
            break;
    }
    return depth;
}

/* One of the chain, as it was written, and how many arguments are its own. */
static size_t append_own(char *text, size_t used, struct module_metadata *metadata, mdTypeDef type,
                         unsigned *out_arity)
{
    struct source_text own, space;

    *out_arity = 0;
    own.bytes = text + used;
    own.size = module_metadata_type(metadata, type, text + used, NAMES_TEXT_MAX - used);
    if (own.size == 0)
        return APPEND(text, used, UNKNOWN);
    own = names_source_type(names_source_arity(own, out_arity), &space);
    used += space.size;
    memmove(text + used, own.bytes, own.size);
    return used + own.size;
}

static size_t append_parameter(char *text, size_t used, const struct names_arguments *arguments)
{
    size_t size =
        arguments->metadata
            ? module_metadata_parameter(arguments->metadata, arguments->owner, arguments->next,
                                        text + used, NAMES_TEXT_MAX - used)
            : 0;

    return size > 0 ? used + size : APPEND(text, used, UNKNOWN);
}

size_t names_append_arguments(char *text, size_t used, struct names_arguments *arguments,
                              unsigned count, unsigned depth)
{
    if (count == 0)
        return used;
    used = APPEND(text, used, "<");
    for (unsigned i = 0; i < count && used < NAMES_TEXT_MAX; i++, arguments->next++) {
        if (i > 0)
            used = APPEND(text, used, ",");
        if (arguments->next < arguments->given.count)
            used = names_append_class(text, used, arguments->info,
                                      arguments->given.ids[arguments->next], depth + 1);
        else if (arguments->given.count == 0)
            used = append_parameter(text, used, arguments);
        else
            return APPEND(text, used, TOO_DEEP ">");
    }
    return APPEND(text, used, ">");
}

/* Outer<A>+Inner<B>: metadata counts for each type those that the one around it has not, the
 * runtime tells all of them at once. */
static size_t append_definition(char *text, size_t used, struct names_arguments *arguments,
                                unsigned depth)
{
    mdTypeDef chain[NAMES_NESTING_MAX];
    size_t count = names_enclosing(arguments->metadata, arguments->owner, chain);

    if (count == 0)
        return APPEND(text, used, UNKNOWN);
    while (count-- > 0 && used < NAMES_TEXT_MAX) {
        unsigned arity;

        used = append_own(text, used, arguments->metadata, chain[count], &arity);
        /* Not every compiler counts: whatever is left belongs to the innermost. */
        if (count == 0 && arguments->given.count > arguments->next + arity)
            arity = arguments->given.count - arguments->next;
        used = names_append_arguments(text, used, arguments, arity, depth);
        if (count > 0)
            used = APPEND(text, used, "+");
    }
    return used;
}

static size_t append_array(char *text, size_t used, struct corprof_info *info,
                           const struct info_array *array, unsigned depth)
{
    if (array->element)
        used = names_append_class(text, used, info, array->element, depth + 1);
    else
        used = APPEND(text, used, UNKNOWN);
    if (array->kind == ELEMENT_TYPE_PTR)
        used = APPEND(text, used, "*");
    used = APPEND(text, used, "[");
    for (ULONG i = 1; i < array->rank && used < NAMES_TEXT_MAX; i++)
        used = APPEND(text, used, ",");
    return APPEND(text, used, "]");
}

static size_t append_in_module(char *text, size_t used, ModuleID module,
                               struct names_arguments *arguments, unsigned depth)
{
    struct module_metadata metadata;

    module_metadata_open(arguments->info, module, &metadata);
    arguments->metadata = &metadata;
    used = append_definition(text, used, arguments, depth);
    module_metadata_close(&metadata);
    return used;
}

static size_t ask_class(char *text, size_t used, struct corprof_info *info, ClassID class_id,
                        unsigned depth)
{
    struct names_arguments arguments = { .info = info };
    struct info_array array;
    ModuleID module;

    if (info_array(info, class_id, &array))
        return append_array(text, used, info, &array, depth);
    if (!info_class_types(info, class_id, &module, &arguments.owner, &arguments.given))
        return APPEND(text, used, UNKNOWN);
    return append_in_module(text, used, module, &arguments, depth);
}

/* Of a name that is cut, or not known in all its parts, more may be told another time. */
static bool is_whole(const char *name, size_t size, size_t used)
{
    return used < NAMES_TEXT_MAX && !memchr(name, UNKNOWN[0], size) &&
           !memmem(name, size, TOO_DEEP, sizeof(TOO_DEEP) - 1);
}

/* The same few types are the arguments of most: their names are kept. */
size_t names_append_class(char *text, size_t used, struct corprof_info *info, ClassID class_id,
                          unsigned depth)
{
    size_t start = used, kept;

    if (depth > DEPTH_MAX)
        return APPEND(text, used, TOO_DEEP);
    if (!class_id)
        return APPEND(text, used, UNKNOWN);
    if (NAMES_TEXT_MAX - used >= NAMES_KEPT_MAX &&
        (kept = names_kept(NAMES_KEPT_TYPES, class_id, text + used)) > 0)
        return used + kept;
    used = ask_class(text, used, info, class_id, depth);
    if (is_whole(text + start, used - start, used))
        names_keep(NAMES_KEPT_TYPES, class_id, text + start, used - start);
    return used;
}

void names_type(struct corprof_info *info, ClassID class_id, struct type_name *out)
{
    if (!info_class(info, class_id, &out->module, &out->token)) {
        out->module = 0;
        out->token = 0;
    }
    out->size = names_append_class(out->text, 0, info, class_id, 0);
}
