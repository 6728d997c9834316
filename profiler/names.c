#include "names.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#define NESTING_MAX 16 /* deeper types are named from the innermost sixteen */
#define METHODS_KNOWN (1u << 15)
#define TYPES_KNOWN (1u << 10)
#define PROBES_MAX 16 /* then the answer is not kept */

/* Set of FunctionIDs whose definition was sent: open addressing, only grows, cleared as a whole. */
static _Atomic FunctionID methods[METHODS_KNOWN];
static struct type_name *_Atomic types[TYPES_KNOWN];

static size_t append(char *text, size_t used, const char *bytes, size_t size)
{
    if (size > TRD_TEXT_MAX - 1 - used)
        size = TRD_TEXT_MAX - 1 - used;
    memcpy(text + used, bytes, size);
    return used + size;
}

static size_t append_name(char *text, size_t used, const struct info_name *name)
{
    return used + text_from_utf16(name->units, name->length, text + used, TRD_TEXT_MAX - 1 - used);
}

/* Outer+Inner for the type and what encloses it. */
static size_t append_type(struct metadata_import *import, mdTypeDef type, char *text, size_t used)
{
    mdTypeDef chain[NESTING_MAX];
    struct info_name name;
    size_t depth = 0;
    bool nested = true;

    while (nested && depth < NESTING_MAX) {
        if (!metadata_type(import, type, &nested, &name))
            break;
        chain[depth++] = type;
        if (nested && !metadata_enclosing(import, type, &type))
            break;
    }
    for (size_t i = depth; i-- > 0;) {
        if (i + 1 < depth)
            used = append(text, used, "+", 1);
        if (metadata_type(import, chain[i], &nested, &name))
            used = append_name(text, used, &name);
    }
    return used;
}

static size_t metadata_method_name(struct corprof_info *info, ModuleID module, mdToken token,
                                   char *text)
{
    struct metadata_import *import = info_metadata(info, module);
    struct info_name name;
    mdTypeDef type;
    size_t used = 0;

    if (!import)
        return 0;
    if (metadata_method(import, token, &type, &name)) {
        used = append_type(import, type, text, 0);
        if (used > 0)
            used = append(text, used, ".", 1);
        used = append_name(text, used, &name);
    }
    (void)import->vtbl->Release(import);
    return used;
}

void names_method(struct corprof_info *info, FunctionID function, struct method_name *out)
{
    struct info_name name;

    out->module = 0;
    out->token = 0;
    out->size = 0;
    if (info_function(info, function, &out->module, &out->token))
        out->size = metadata_method_name(info, out->module, out->token, out->text);
    else if (info_dynamic_function(info, function, &name))
        out->size = append_name(out->text, 0, &name);
    if (out->size == 0)
        out->size = append(out->text, 0, "?", 1);
}

static size_t hash(uintptr_t id)
{
    return (size_t)((id >> 3) * 0x9e3779b97f4a7c15u >> 32);
}

bool names_method_is_new(FunctionID function)
{
    for (size_t i = 0; i < PROBES_MAX; i++) {
        _Atomic FunctionID *slot = &methods[(hash(function) + i) & (METHODS_KNOWN - 1)];
        FunctionID seen = 0;

        if (atomic_compare_exchange_strong_explicit(slot, &seen, function, memory_order_relaxed,
                                                    memory_order_relaxed))
            return true;
        if (seen == function)
            return false;
    }
    return true; /* no room to remember: said again each time */
}

void names_forget_methods(void)
{
    for (size_t i = 0; i < METHODS_KNOWN; i++)
        atomic_store_explicit(&methods[i], 0, memory_order_relaxed);
}

static struct type_name *make_type(struct corprof_info *info, ClassID class_id)
{
    struct type_name *type = malloc(sizeof(*type));
    struct metadata_import *import;
    mdTypeDef token;

    if (!type)
        return NULL;
    type->class_id = class_id;
    if (!info_class(info, class_id, &type->module, &token) ||
        !(import = info_metadata(info, type->module))) {
        free(type);
        return NULL;
    }
    type->size = append_type(import, token, type->text, 0);
    type->text[type->size] = '\0';
    (void)import->vtbl->Release(import);
    return type;
}

/*
 * Entries are published once and never freed while the process lives, since a reader may hold one;
 * forgetting one only clears its class id. Their number is bounded by the table.
 */
const struct type_name *names_type_of_object(struct corprof_info *info, ObjectID object)
{
    static struct type_name unkept = { .size = 1, .text = "?" };
    struct type_name *type, *made;
    ClassID class_id;

    if (!info_class_of_object(info, object, &class_id))
        return NULL;
    for (size_t i = 0; i < PROBES_MAX; i++) {
        struct type_name *_Atomic *slot = &types[(hash(class_id) + i) & (TYPES_KNOWN - 1)];

        type = atomic_load_explicit(slot, memory_order_acquire);
        if (type && type->class_id == class_id)
            return type;
        if (type)
            continue;
        made = make_type(info, class_id);
        if (!made)
            return NULL;
        /* Publishes a whole entry to every thread that will see its class again. */
        if (atomic_compare_exchange_strong_explicit(slot, &type, made, memory_order_acq_rel,
                                                    memory_order_acquire))
            return made;
        free(made);
        if (type->class_id == class_id)
            return type;
    }
    return &unkept;
}

void names_forget(ModuleID module)
{
    for (size_t i = 0; i < TYPES_KNOWN; i++) {
        struct type_name *type = atomic_load_explicit(&types[i], memory_order_acquire);

        if (type && type->module == module)
            type->class_id = 0;
    }
    names_forget_methods();
}
