#include "value_types.h"

#include <string.h>

#include "info_signature.h"

#define NESTING_MAX 4 /* names are large */
#define TABLE(token) ((token) >> 24)
#define TABLE_REFERENCE 0x01u
#define TABLE_DEFINITION 0x02u

static struct value_type of_element(uint8_t element)
{
    static const struct value_type types[] = {
        [ELEMENT_VOID] = { VALUE_NONE, 0 },
        [ELEMENT_BOOLEAN] = { VALUE_BOOL, 1 },
        [ELEMENT_CHAR] = { VALUE_CHAR, 2 },
        [ELEMENT_I1] = { VALUE_SIGNED, 1 },
        [ELEMENT_U1] = { VALUE_UNSIGNED, 1 },
        [ELEMENT_I2] = { VALUE_SIGNED, 2 },
        [ELEMENT_U2] = { VALUE_UNSIGNED, 2 },
        [ELEMENT_I4] = { VALUE_SIGNED, 4 },
        [ELEMENT_U4] = { VALUE_UNSIGNED, 4 },
        [ELEMENT_I8] = { VALUE_SIGNED, 8 },
        [ELEMENT_U8] = { VALUE_UNSIGNED, 8 },
        [ELEMENT_R4] = { VALUE_FLOAT, 4 },
        [ELEMENT_R8] = { VALUE_FLOAT, 8 },
        [ELEMENT_STRING] = { VALUE_STRING, 8 },
        [ELEMENT_POINTER] = { VALUE_ADDRESS, 8 },
        [ELEMENT_REFERENCE] = { VALUE_ADDRESS, 8 },
        [ELEMENT_CLASS] = { VALUE_OBJECT, 8 },
        [ELEMENT_ARRAY] = { VALUE_OBJECT, 8 },
        [ELEMENT_NATIVE_INT] = { VALUE_SIGNED, 8 },
        [ELEMENT_NATIVE_UINT] = { VALUE_UNSIGNED, 8 },
        [ELEMENT_FUNCTION_POINTER] = { VALUE_ADDRESS, 8 },
        [ELEMENT_OBJECT] = { VALUE_OBJECT, 8 },
        [ELEMENT_VECTOR] = { VALUE_OBJECT, 8 },
    };

    if (element < sizeof(types) / sizeof(types[0]) && types[element].kind != VALUE_NONE)
        return types[element];
    return (struct value_type){ element == ELEMENT_VOID ? VALUE_NONE : VALUE_BYTES, 0 };
}

static bool is_named(const struct info_name *name, const char *expected)
{
    size_t length = strlen(expected);

    if (name->length != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (name->units[i] != (WCHAR)expected[i])
            return false;
    return true;
}

/* Those that are types of their own when they stand for a type parameter. */
static bool is_primitive(const struct info_name *name, uint8_t *out_element)
{
    static const struct {
        const char *name;
        uint8_t element;
    } primitives[] = {
        { "System.Boolean", ELEMENT_BOOLEAN },   { "System.Char", ELEMENT_CHAR },
        { "System.SByte", ELEMENT_I1 },          { "System.Byte", ELEMENT_U1 },
        { "System.Int16", ELEMENT_I2 },          { "System.UInt16", ELEMENT_U2 },
        { "System.Int32", ELEMENT_I4 },          { "System.UInt32", ELEMENT_U4 },
        { "System.Int64", ELEMENT_I8 },          { "System.UInt64", ELEMENT_U8 },
        { "System.Single", ELEMENT_R4 },         { "System.Double", ELEMENT_R8 },
        { "System.IntPtr", ELEMENT_NATIVE_INT }, { "System.UIntPtr", ELEMENT_NATIVE_UINT },
        { "System.String", ELEMENT_STRING },
    };

    for (size_t i = 0; i < sizeof(primitives) / sizeof(primitives[0]); i++)
        if (is_named(name, primitives[i].name)) {
            *out_element = primitives[i].element;
            return true;
        }
    return false;
}

static bool name_of(struct metadata_import *import, mdToken token, struct info_name *out)
{
    mdToken other;

    return TABLE(token) == TABLE_DEFINITION
               ? metadata_base(import, token, out, &other)
               : TABLE(token) == TABLE_REFERENCE && metadata_reference(import, token, &other, out);
}

/* System.Enum derives from System.ValueType and is a class for all that. */
static struct value_type of_definition(struct metadata_import *import, mdTypeDef type)
{
    struct info_name name;
    mdToken base;
    uint8_t element;

    if (!metadata_base(import, type, &name, &base))
        return of_element(0);
    if (is_primitive(&name, &element))
        return of_element(element);
    if (is_named(&name, "System.Enum") || is_named(&name, "System.ValueType") || base == 0)
        return of_element(ELEMENT_CLASS);
    if (!name_of(import, base, &name))
        return of_element(0);
    if (is_named(&name, "System.Enum") && metadata_enum_element(import, type, &element))
        return of_element(element);
    return of_element(
        is_named(&name, "System.ValueType") || is_named(&name, "System.Enum") ? 0 : ELEMENT_CLASS);
}

/* Types of other modules */

/* A reference and those around it, innermost first. */
struct path {
    struct info_name names[NESTING_MAX];
    size_t count;
};

static bool read_path(struct metadata_import *import, mdToken reference, struct path *out)
{
    out->count = 0;
    while (TABLE(reference) == TABLE_REFERENCE) {
        if (out->count == NESTING_MAX ||
            !metadata_reference(import, reference, &reference, &out->names[out->count]))
            return false;
        out->count++;
    }
    return out->count > 0;
}

struct search {
    struct corprof_info *info;
    const struct path *path;
    struct value_type found;
    bool is_done;
};

/* The first module that defines the type: one that only forwards it has no definition. */
static bool look_in(void *context, UINT_PTR module)
{
    struct search *search = context;
    struct metadata_import *import = info_metadata(search->info, module);
    size_t left = search->path->count;
    mdTypeDef type = 0;

    if (!import)
        return true;
    while (left > 0 && metadata_find_type(import, &search->path->names[left - 1], type, &type))
        left--;
    if (left == 0) {
        search->found = of_definition(import, type);
        search->is_done = true;
    }
    (void)import->vtbl->Release(import);
    return !search->is_done;
}

static struct value_type of_reference(const struct value_context *context, mdToken token)
{
    struct path path;
    struct search search = { .info = context->info, .path = &path, .found = of_element(0) };

    if (read_path(context->import, token, &path))
        info_each_module(context->info, look_in, &search);
    return search.found;
}

/* What a type parameter stands for; System.__Canon, a class, in shared code. */
static struct value_type of_class(const struct value_context *context, ClassID class_id)
{
    struct metadata_import *import;
    struct value_type found;
    struct info_array array;
    ModuleID module;
    mdTypeDef type;

    if (!class_id)
        return of_element(0);
    if (info_array(context->info, class_id, &array))
        return of_element(ELEMENT_VECTOR);
    if (!info_class(context->info, class_id, &module, &type) ||
        !(import = info_metadata(context->info, module)))
        return of_element(0);
    found = of_definition(import, type);
    (void)import->vtbl->Release(import);
    return found;
}

static struct value_type of_argument(const struct value_context *context,
                                     const struct info_arguments *arguments, uint32_t index)
{
    return index < arguments->count ? of_class(context, arguments->ids[index]) : of_element(0);
}

struct value_type value_type_of(const struct value_context *context,
                                const struct signature_type *type)
{
    switch (type->element) {
    case ELEMENT_VALUE_TYPE:
        if (TABLE(type->number) == TABLE_DEFINITION)
            return of_definition(context->import, type->number);
        return of_reference(context, type->number);
    case ELEMENT_TYPE_PARAMETER:
        return of_argument(context, &context->of_type, type->number);
    case ELEMENT_METHOD_PARAMETER:
        return of_argument(context, &context->of_method, type->number);
    default:
        return of_element(type->element);
    }
}

/* A value type's is the address of the value. */
struct value_type value_type_of_this(const struct value_context *context, mdTypeDef type)
{
    struct value_type of_type = of_definition(context->import, type);

    return of_element(of_type.kind == VALUE_OBJECT || of_type.kind == VALUE_STRING
                          ? ELEMENT_CLASS
                          : ELEMENT_REFERENCE);
}
