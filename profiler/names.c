#include "names.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

#define NESTING_MAX 16                /* deeper types are named from the innermost sixteen */
#define DYNAMIC_CLASS "dynamicClass." /* as the runtime's own events call it */
#define METHODS_KNOWN (1u << 15)
#define TYPES_KNOWN (1u << 10)
#define PROBES_MAX 16 /* then the answer is not kept, and asked for again each time */

/* Set of FunctionIDs whose definition was sent: open addressing, only grows, cleared as a whole. */
static _Atomic FunctionID methods[METHODS_KNOWN];

/*
 * Entries are published once and never freed while the process lives, since a reader may hold one;
 * forgetting one only clears its class id. Their number is bounded by the table.
 */
struct type_name {
    _Atomic ClassID class_id; /* 0 once forgotten */
    ModuleID module;
    size_t size;
    char text[];
};
static struct type_name *_Atomic types[TYPES_KNOWN];

static size_t append(char *text, size_t used, const char *bytes, size_t size)
{
    if (size > NAMES_TEXT_MAX - used)
        size = NAMES_TEXT_MAX - used;
    memcpy(text + used, bytes, size);
    return used + size;
}

static size_t append_name(char *text, size_t used, const struct info_name *name)
{
    return used + text_from_utf16(name->units, name->length, text + used, NAMES_TEXT_MAX - used);
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
        out->size = append_name(out->text,
                                append(out->text, 0, DYNAMIC_CLASS, strlen(DYNAMIC_CLASS)), &name);
    if (out->size == 0)
        out->size = append(out->text, 0, "?", 1);
}

static size_t hash(uintptr_t id)
{
    return (size_t)((id >> 3) * 0x9e3779b97f4a7c15u >> 32);
}

bool names_method_is_known(FunctionID function)
{
    for (size_t i = 0; i < PROBES_MAX; i++) {
        FunctionID seen = atomic_load_explicit(&methods[(hash(function) + i) & (METHODS_KNOWN - 1)],
                                               memory_order_relaxed);

        if (seen == function || seen == 0)
            return seen == function;
    }
    return false;
}

void names_method_set_known(FunctionID function)
{
    for (size_t i = 0; i < PROBES_MAX; i++) {
        _Atomic FunctionID *slot = &methods[(hash(function) + i) & (METHODS_KNOWN - 1)];
        FunctionID seen = 0;

        if (atomic_compare_exchange_strong_explicit(slot, &seen, function, memory_order_relaxed,
                                                    memory_order_relaxed) ||
            seen == function)
            return;
    }
}

/* The hole hides what was placed behind it: that is defined once more, at its next event. */
void names_forget_method(FunctionID function)
{
    for (size_t i = 0; i < PROBES_MAX; i++) {
        FunctionID seen = function;

        (void)atomic_compare_exchange_strong_explicit(
            &methods[(hash(function) + i) & (METHODS_KNOWN - 1)], &seen, 0, memory_order_relaxed,
            memory_order_relaxed);
    }
}

void names_forget_methods(void)
{
    for (size_t i = 0; i < METHODS_KNOWN; i++)
        atomic_store_explicit(&methods[i], 0, memory_order_relaxed);
}

static size_t ask_type(struct corprof_info *info, ClassID class_id, ModuleID *out_module,
                       char *text)
{
    struct metadata_import *import;
    mdTypeDef token;
    size_t size;

    if (!info_class(info, class_id, out_module, &token) ||
        !(import = info_metadata(info, *out_module)))
        return 0;
    size = append_type(import, token, text, 0);
    (void)import->vtbl->Release(import);
    return size;
}

/* The entry of a class, or the slot where it belongs; neither if there is no room for it. */
static struct type_name *find_type(ClassID class_id, struct type_name *_Atomic **out_free)
{
    *out_free = NULL;
    for (size_t i = 0; i < PROBES_MAX; i++) {
        struct type_name *_Atomic *slot = &types[(hash(class_id) + i) & (TYPES_KNOWN - 1)];
        struct type_name *type = atomic_load_explicit(slot, memory_order_acquire);

        if (type && atomic_load_explicit(&type->class_id, memory_order_relaxed) == class_id)
            return type;
        if (!type) {
            *out_free = slot;
            return NULL;
        }
    }
    return NULL;
}

static void keep_type(struct type_name *_Atomic *slot, ClassID class_id, ModuleID module,
                      const char *text, size_t size)
{
    struct type_name *type = malloc(sizeof(*type) + size), *taken = NULL;

    if (!type)
        return;
    type->class_id = class_id;
    type->module = module;
    type->size = size;
    memcpy(type->text, text, size);
    /* Publishes a whole entry to every thread that will see its class again. Somebody else's
     * entry in its place stays: this one is asked for again. */
    if (!atomic_compare_exchange_strong_explicit(slot, &taken, type, memory_order_acq_rel,
                                                 memory_order_relaxed))
        free(type);
}

size_t names_type_of_object(struct corprof_info *info, ObjectID object, char *text)
{
    struct type_name *_Atomic *free_slot;
    struct type_name *type;
    ModuleID module = 0;
    ClassID class_id;
    size_t size;

    if (!info_class_of_object(info, object, &class_id))
        return 0;
    type = find_type(class_id, &free_slot);
    if (type) {
        memcpy(text, type->text, type->size);
        return type->size;
    }
    size = ask_type(info, class_id, &module, text);
    if (size > 0 && free_slot)
        keep_type(free_slot, class_id, module, text, size);
    return size;
}

void names_forget(ModuleID module)
{
    for (size_t i = 0; i < TYPES_KNOWN; i++) {
        struct type_name *type = atomic_load_explicit(&types[i], memory_order_acquire);

        if (type && type->module == module)
            atomic_store_explicit(&type->class_id, 0, memory_order_relaxed);
    }
    names_forget_methods();
}
