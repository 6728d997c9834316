#include "names.h"

#include <string.h>

#include "names_known.h"
#include "names_text.h"

#define DYNAMIC_CLASS "dynamicClass." /* as the runtime's own events call it */
#define BUILDER_METHOD "SetStateMachine"

/* A method as metadata has it. The texts lie in the raw name. */
struct method_path {
    struct names_arguments arguments;            /* of its type */
    struct source_text types[NAMES_NESTING_MAX]; /* outermost first, without arity */
    unsigned arity[NAMES_NESTING_MAX];
    size_t count;
    struct source_text method;
};

static void add_type(struct method_path *path, mdTypeDef type, struct method_name *out)
{
    struct source_text *own = &path->types[path->count];

    if (path->count > 0)
        out->raw_size = names_append(out->raw, out->raw_size, "+", 1);
    own->bytes = out->raw + out->raw_size;
    own->size = module_metadata_type(path->arguments.metadata, type, out->raw + out->raw_size,
                                     NAMES_TEXT_MAX - out->raw_size);
    out->raw_size += own->size;
    *own = names_source_arity(*own, &path->arity[path->count]);
    path->count++;
}

static bool read_path(struct method_path *path, struct method_name *out)
{
    mdTypeDef chain[NAMES_NESTING_MAX];
    char name[NAMES_TEXT_MAX];
    size_t size = module_metadata_method(path->arguments.metadata, out->token,
                                         &path->arguments.owner, name, sizeof(name));
    size_t depth;

    if (size == 0)
        return false;
    depth = names_enclosing(path->arguments.metadata, path->arguments.owner, chain);
    while (depth-- > 0)
        add_type(path, chain[depth], out);
    if (path->count > 0)
        out->raw_size = names_append(out->raw, out->raw_size, ".", 1);
    path->method.bytes = out->raw + out->raw_size;
    path->method.size = names_append(out->raw, out->raw_size, name, size) - out->raw_size;
    out->raw_size += path->method.size;
    return true;
}

static size_t append_types(struct method_path *path, size_t count, struct method_name *out)
{
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        struct source_text space, type = names_source_type(path->types[i], &space);

        used = names_append(out->text, used, space.bytes, space.size);
        used = names_append(out->text, used, type.bytes, type.size);
        used = names_append_arguments(out->text, used, &path->arguments, path->arity[i], 0);
        used = names_append(out->text, used, i + 1 < count ? "+" : ".", 1);
    }
    return used;
}

/*
 * The method's arguments. Those of a type that a compiler made for its body are its own, too: such
 * a type repeats them.
 */
static size_t append_own_arguments(struct method_path *path, size_t types, size_t used,
                                   struct info_arguments *own, struct method_name *out)
{
    struct names_arguments arguments = path->arguments;
    unsigned made = 0;

    for (size_t i = types; i < path->count; i++)
        made += path->arity[i];
    if (made > 0)
        return names_append_arguments(out->text, used, &path->arguments, made, 0);
    arguments.given = *own;
    arguments.owner = out->token;
    arguments.next = 0;
    return names_append_arguments(out->text, used, &arguments, own->count, 0);
}

static bool is_async(const struct method_path *path)
{
    return path->count > 1 && module_metadata_has_method(path->arguments.metadata,
                                                         path->arguments.owner, BUILDER_METHOD);
}

static void write_path(struct method_path *path, struct info_arguments *own,
                       struct method_name *out)
{
    struct source_name name;
    size_t start, used;

    names_source(path->types, path->count, path->method, false, &name);
    if (name.form & SOURCE_ITERATOR && is_async(path))
        name.form ^= SOURCE_ITERATOR | SOURCE_ASYNC;
    out->form = name.form;
    start = append_types(path, name.types, out);
    used = names_append(out->text, start, name.method.bytes, name.method.size);
    for (size_t i = start; name.dashed && i < used; i++)
        if (out->text[i] == '-')
            out->text[i] = '.';
    if (name.local.size > 0) {
        used = names_append(out->text, used, ".", 1);
        used = names_append(out->text, used, name.local.bytes, name.local.size);
    }
    out->size = append_own_arguments(path, name.types, used, own, out);
}

static void name_from_metadata(struct corprof_info *info, ClassID class_id,
                               struct info_arguments *own, struct method_name *out)
{
    struct module_metadata metadata;
    struct method_path path = { .arguments = { .info = info, .metadata = &metadata } };
    mdTypeDef type;
    ModuleID module;

    if (class_id)
        (void)info_class_types(info, class_id, &module, &type, &path.arguments.given);
    module_metadata_open(info, out->module, &metadata);
    if (read_path(&path, out))
        write_path(&path, own, out);
    module_metadata_close(&metadata);
    if (out->raw_size == out->size && memcmp(out->raw, out->text, out->size) == 0)
        out->raw_size = 0;
}

static __attribute__((noinline)) void name_dynamic(struct corprof_info *info, FunctionID function,
                                                   struct method_name *out)
{
    struct info_name name;

    if (!info_dynamic_function(info, function, &name))
        return;
    out->form = SOURCE_DYNAMIC;
    out->size = names_append(out->text, 0, DYNAMIC_CLASS, strlen(DYNAMIC_CLASS));
    out->size = names_append_name(out->text, out->size, &name);
}

void names_method(struct corprof_info *info, FunctionID function, struct method_name *out)
{
    struct info_arguments own;
    ClassID class_id = 0;

    out->module = 0;
    out->token = 0;
    out->form = 0;
    out->size = 0;
    out->raw_size = 0;
    if (info_function_types(info, function, &out->module, &out->token, &class_id, &own) ||
        info_function(info, function, &out->module, &out->token))
        name_from_metadata(info, class_id, &own, out);
    else
        name_dynamic(info, function, out);
    if (out->size == 0)
        out->size = names_append(out->text, 0, "?", 1);
}

size_t names_type_of_object(struct corprof_info *info, ObjectID object, char *text)
{
    ClassID class_id;
    size_t size;

    if (!info_class_of_object(info, object, &class_id))
        return 0;
    size = names_append_class(text, 0, info, class_id, 0);
    return size == 1 && text[0] == '?' ? 0 : size;
}
