#include "info_types.h"

#include <string.h>

#include "info_answer.h"

#define METHOD_NAME_MAX 32

static void settle_arguments(struct info_arguments *out, ULONG32 count)
{
    out->count = count < INFO_ARGUMENTS_MAX ? count : INFO_ARGUMENTS_MAX;
}

bool info_function_types(struct corprof_info *info, FunctionID function, ModuleID *out_module,
                         mdToken *out_token, ClassID *out_class, struct info_arguments *out)
{
    ClassID class_id = 0;
    ModuleID module = 0;
    mdToken token = 0;
    ULONG32 count = 0;

    memset(out, 0, sizeof(*out));
    if (!SUCCEEDED(info->vtbl->GetFunctionInfo2(info, function, 0, &class_id, &module, &token,
                                                INFO_ARGUMENTS_MAX, &count, out->ids)) ||
        !module || info_is_nil(token))
        return false;
    settle_arguments(out, count);
    *out_module = module;
    *out_token = token;
    *out_class = class_id;
    return true;
}

bool info_class_types(struct corprof_info *info, ClassID class_id, ModuleID *out_module,
                      mdTypeDef *out_token, struct info_arguments *out)
{
    ClassID parent = 0;
    ModuleID module = 0;
    mdTypeDef token = 0;
    ULONG32 count = 0; /* left as it is for the type that holds global methods */

    memset(out, 0, sizeof(*out));
    if (!SUCCEEDED(info->vtbl->GetClassIDInfo2(info, class_id, &module, &token, &parent,
                                               INFO_ARGUMENTS_MAX, &count, out->ids)) ||
        !module || info_is_nil(token))
        return false;
    settle_arguments(out, count);
    *out_module = module;
    *out_token = token;
    return true;
}

bool info_array(struct corprof_info *info, ClassID class_id, struct info_array *out)
{
    struct info_array array = { 0 };

    /* S_FALSE: not an array, and what it says then is not meant. */
    if (info->vtbl->IsArrayClass(info, class_id, &array.kind, &array.element, &array.rank) !=
            S_OK ||
        array.rank == 0)
        return false;
    *out = array;
    return true;
}

bool metadata_has_method(struct metadata_import *import, mdTypeDef type, const char *ascii_name)
{
    WCHAR name[METHOD_NAME_MAX] = { 0 };
    mdMethodDef method = 0;

    for (size_t i = 0; ascii_name[i] && i + 1 < METHOD_NAME_MAX; i++)
        name[i] = (WCHAR)ascii_name[i];
    return SUCCEEDED(import->vtbl->FindMethod(import, type, name, NULL, 0, &method)) &&
           !info_is_nil(method);
}

bool metadata_parameter(struct metadata_import *import, mdToken owner, unsigned index,
                        struct info_name *out)
{
    mdGenericParam parameters[INFO_ARGUMENTS_MAX] = { 0 };
    ULONG count = 0, position = 0, length = 0;
    void *list = NULL;
    HRESULT hr;

    info_clear_name(out);
    hr = import->vtbl->EnumGenericParams(import, &list, owner, parameters, INFO_ARGUMENTS_MAX,
                                         &count);
    if (list)
        import->vtbl->CloseEnum(import, list);
    if (!SUCCEEDED(hr) || index >= count || index >= INFO_ARGUMENTS_MAX ||
        info_is_nil(parameters[index]))
        return false;
    return SUCCEEDED(import->vtbl->GetGenericParamProps(import, parameters[index], &position, NULL,
                                                        NULL, NULL, out->units, INFO_NAME_MAX,
                                                        &length)) &&
           info_settle_name(out, length);
}
