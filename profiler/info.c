#include "info.h"

#include <string.h>

#include "info_answer.h"

static const struct {
    int version;
    GUID iid;
} info_ids[] = {
    { 15, { 0xb446462d, 0xbd22, 0x41dd, { 0x87, 0x2d, 0xdc, 0x71, 0x4c, 0x49, 0xeb, 0x56 } } },
    { 14, { 0xf460e352, 0xd76d, 0x4fe9, { 0x83, 0x5f, 0xf6, 0xaf, 0x9d, 0x6e, 0x86, 0x2d } } },
    { 13, { 0x6e6c7ee2, 0x0701, 0x4ec2, { 0x9d, 0x29, 0x2e, 0x87, 0x33, 0xb6, 0x69, 0x34 } } },
    { 12, { 0x27b24ccd, 0x1cb1, 0x47c5, { 0x96, 0xee, 0x98, 0x19, 0x0d, 0xc3, 0x09, 0x59 } } },
    { 11, { 0x06398876, 0x8987, 0x4154, { 0xb6, 0x21, 0x40, 0xa0, 0x0d, 0x6e, 0x4d, 0x04 } } },
    { 10, { 0x2f1b5152, 0xc869, 0x40c9, { 0xaa, 0x5f, 0x3a, 0xbe, 0x02, 0x6b, 0xd7, 0x20 } } },
    { 9, { 0x008170db, 0xf8cc, 0x4796, { 0x9a, 0x51, 0xdc, 0x8a, 0xa0, 0xb4, 0x70, 0x12 } } },
    { 8, { 0xc5ac80a6, 0x782e, 0x4716, { 0x80, 0x44, 0x39, 0x59, 0x8c, 0x60, 0xcf, 0xbf } } },
};

struct corprof_info *info_query(void *unknown, int *out_version)
{
    struct corprof_unknown *object = unknown;

    if (!object)
        return NULL;
    for (size_t i = 0; i < sizeof(info_ids) / sizeof(info_ids[0]); i++) {
        void *answer = NULL;

        if (SUCCEEDED(object->vtbl->QueryInterface(object, &info_ids[i].iid, &answer)) && answer) {
            *out_version = info_ids[i].version;
            return answer;
        }
    }
    return NULL;
}

void info_clear_name(struct info_name *name)
{
    memset(name, 0, sizeof(*name));
}

bool info_settle_name(struct info_name *name, ULONG length)
{
    ULONG limit = length > 0 && length < INFO_NAME_MAX ? length : INFO_NAME_MAX - 1;
    ULONG end = 0;

    while (end < limit && name->units[end])
        end++;
    name->units[end] = 0;
    name->length = end;
    return end > 0;
}

bool info_runtime(struct corprof_info *info, struct info_version *out)
{
    struct info_version version = { 0 };
    WCHAR text[64]; /* unused, but 3.1 refuses a question without it */
    USHORT instance = 0;
    int32_t type = 0;
    ULONG length = 0;
    HRESULT hr = info->vtbl->GetRuntimeInformation(
        info, &instance, &type, &version.major, &version.minor, &version.build, &version.revision,
        sizeof(text) / sizeof(text[0]), &length, text);

    if (!SUCCEEDED(hr) || version.major == 0)
        return false;
    *out = version;
    return true;
}

#define VARIABLE_NAME_MAX 64 /* of our own */

static void widen(const char *name, WCHAR units[VARIABLE_NAME_MAX])
{
    size_t i = 0;

    for (; name[i] && i + 1 < VARIABLE_NAME_MAX; i++)
        units[i] = (WCHAR)(unsigned char)name[i];
    units[i] = 0;
}

bool info_lacks_environment(struct corprof_info *info, const char *name)
{
    WCHAR units[VARIABLE_NAME_MAX], value[1] = { 0 };
    ULONG length = 0;

    widen(name, units);
    return info->vtbl->GetEnvironmentVariable(info, units, 1, &length, value) == HR_NO_VARIABLE;
}

bool info_unset_environment(struct corprof_info *info, const char *name)
{
    WCHAR units[VARIABLE_NAME_MAX];

    widen(name, units);
    return SUCCEEDED(info->vtbl->SetEnvironmentVariable(info, units, NULL));
}

bool info_is_nil(mdToken token)
{
    return (token & 0x00ffffff) == 0;
}

HRESULT info_set_events(struct corprof_info *info, DWORD low, DWORD high)
{
    return info->vtbl->SetEventMask2(info, low, high);
}

HRESULT info_request_detach(struct corprof_info *info, DWORD expected_ms)
{
    return info->vtbl->RequestProfilerDetach(info, expected_ms);
}

bool info_function(struct corprof_info *info, FunctionID function, ModuleID *out_module,
                   mdToken *out_token)
{
    ClassID class_id = 0;
    ModuleID module = 0;
    mdToken token = 0;

    if (!SUCCEEDED(info->vtbl->GetFunctionInfo(info, function, &class_id, &module, &token)) ||
        !module || info_is_nil(token))
        return false;
    *out_module = module;
    *out_token = token;
    return true;
}

bool info_dynamic_function(struct corprof_info *info, FunctionID function, struct info_name *out)
{
    ModuleID module = 0;
    ULONG length = 0;

    info_clear_name(out);
    return SUCCEEDED(info->vtbl->GetDynamicFunctionInfo(info, function, &module, NULL, NULL,
                                                        INFO_NAME_MAX, &length, out->units)) &&
           info_settle_name(out, length);
}

bool info_code(struct corprof_info *info, FunctionID function, COR_PRF_CODE_INFO *out)
{
    COR_PRF_CODE_INFO codes[2] = { { 0 } }; /* hot and cold */
    ULONG32 count = 0;

    if (!SUCCEEDED(info->vtbl->GetCodeInfo2(info, function, 2, &count, codes)) || count == 0 ||
        !codes[0].startAddress || !codes[0].size)
        return false;
    *out = codes[0];
    return true;
}

bool info_class(struct corprof_info *info, ClassID class_id, ModuleID *out_module,
                mdTypeDef *out_token)
{
    ModuleID module = 0;
    mdTypeDef token = 0;

    /* Arrays and pointers answer S_OK with both zero. */
    if (!SUCCEEDED(info->vtbl->GetClassIDInfo(info, class_id, &module, &token)) || !module ||
        info_is_nil(token))
        return false;
    *out_module = module;
    *out_token = token;
    return true;
}

/* PROFILER_PARENT_UNKNOWN, a 32-bit value in a 64-bit id. */
#define ASSEMBLY_UNKNOWN 0xfffffffdu

bool info_module(struct corprof_info *info, ModuleID module, uintptr_t *out_base,
                 AssemblyID *out_assembly, struct info_name *out_path)
{
    const BYTE *base = NULL;
    AssemblyID assembly = 0;
    DWORD flags = 0;
    ULONG length = 0;
    HRESULT hr;

    info_clear_name(out_path);
    hr = info->vtbl->GetModuleInfo2(info, module, &base, INFO_NAME_MAX, &length, out_path->units,
                                    &assembly, &flags);
    /* Incomplete: name and flags are there, base and assembly are not. */
    if (!SUCCEEDED(hr) && hr != CORPROF_E_DATAINCOMPLETE)
        return false;
    (void)info_settle_name(out_path, length); /* dynamic modules may have no name */
    *out_base = hr == CORPROF_E_DATAINCOMPLETE ? 0 : (uintptr_t)base;
    *out_assembly = hr == CORPROF_E_DATAINCOMPLETE || assembly == ASSEMBLY_UNKNOWN ? 0 : assembly;
    return true;
}

DWORD info_module_flags(struct corprof_info *info, ModuleID module)
{
    AssemblyID assembly = 0;
    DWORD flags = 0;
    HRESULT hr = info->vtbl->GetModuleInfo2(info, module, NULL, 0, NULL, NULL, &assembly, &flags);

    return SUCCEEDED(hr) || hr == CORPROF_E_DATAINCOMPLETE ? flags : 0;
}

bool info_class_of_object(struct corprof_info *info, ObjectID object, ClassID *out)
{
    ClassID class_id = 0;

    if (!object || !SUCCEEDED(info->vtbl->GetClassFromObject(info, object, &class_id)) || !class_id)
        return false;
    *out = class_id;
    return true;
}

bool info_appdomain(struct corprof_info *info, AppDomainID domain, struct info_name *out)
{
    UINT_PTR process = 0;
    ULONG length = 0;

    info_clear_name(out);
    return SUCCEEDED(info->vtbl->GetAppDomainInfo(info, domain, INFO_NAME_MAX, &length, out->units,
                                                  &process)) &&
           info_settle_name(out, length);
}

bool info_assembly(struct corprof_info *info, AssemblyID assembly, struct info_name *out)
{
    AppDomainID domain = 0;
    ModuleID module = 0;
    ULONG length = 0;

    info_clear_name(out);
    return SUCCEEDED(info->vtbl->GetAssemblyInfo(info, assembly, INFO_NAME_MAX, &length, out->units,
                                                 &domain, &module)) &&
           info_settle_name(out, length);
}

AppDomainID info_assembly_domain(struct corprof_info *info, AssemblyID assembly)
{
    AppDomainID domain = 0;
    ModuleID module = 0;
    HRESULT hr = info->vtbl->GetAssemblyInfo(info, assembly, 0, NULL, NULL, &domain, &module);

    /* Incomplete: the module is not known yet. */
    return SUCCEEDED(hr) || hr == CORPROF_E_DATAINCOMPLETE ? domain : 0;
}

bool info_os_thread(struct corprof_info *info, ThreadID thread, DWORD *out)
{
    DWORD os_id = 0;

    if (!SUCCEEDED(info->vtbl->GetThreadInfo(info, thread, &os_id)) || !os_id)
        return false;
    *out = os_id;
    return true;
}

#define MODULE_FLAT 0x20u /* COR_PRF_MODULE_FLAT_LAYOUT */

bool info_module_image(struct corprof_info *info, ModuleID module, const uint8_t **out_base,
                       bool *out_flat)
{
    const BYTE *base = NULL;
    AssemblyID assembly = 0;
    DWORD flags = 0;

    if (!SUCCEEDED(
            info->vtbl->GetModuleInfo2(info, module, &base, 0, NULL, NULL, &assembly, &flags)))
        return false;
    *out_base = base;
    *out_flat = flags & MODULE_FLAT;
    return true;
}

struct metadata_import *info_metadata(struct corprof_info *info, ModuleID module)
{
    static const GUID iid = IID_IMETADATAIMPORT2;
    void *import = NULL;

    /* S_FALSE with NULL: a resource module. */
    if (!SUCCEEDED(info->vtbl->GetModuleMetaData(info, module, 0, &iid, &import)))
        return NULL;
    return import;
}

bool metadata_method(struct metadata_import *import, mdToken method, mdTypeDef *out_type,
                     struct info_name *out)
{
    mdTypeDef type = 0;
    ULONG length = 0;

    info_clear_name(out);
    if (!SUCCEEDED(import->vtbl->GetMethodProps(import, method, &type, out->units, INFO_NAME_MAX,
                                                &length, NULL, NULL, NULL, NULL, NULL)) ||
        !info_settle_name(out, length))
        return false;
    *out_type = type;
    return true;
}

bool metadata_field(struct metadata_import *import, mdToken field, struct info_name *out)
{
    ULONG length = 0;

    info_clear_name(out);
    return SUCCEEDED(import->vtbl->GetFieldProps(import, field, NULL, out->units, INFO_NAME_MAX,
                                                 &length, NULL, NULL, NULL, NULL, NULL, NULL)) &&
           info_settle_name(out, length);
}

#define TYPE_VISIBILITY_MASK 7u
#define TYPE_NESTED_PUBLIC 2u

bool metadata_type(struct metadata_import *import, mdTypeDef type, bool *out_nested,
                   struct info_name *out)
{
    DWORD flags = 0;
    ULONG length = 0;

    info_clear_name(out);
    if (!SUCCEEDED(import->vtbl->GetTypeDefProps(import, type, out->units, INFO_NAME_MAX, &length,
                                                 &flags, NULL)) ||
        !info_settle_name(out, length))
        return false;
    *out_nested = (flags & TYPE_VISIBILITY_MASK) >= TYPE_NESTED_PUBLIC;
    return true;
}

bool metadata_enclosing(struct metadata_import *import, mdTypeDef type, mdTypeDef *out)
{
    mdTypeDef enclosing = 0;

    if (!SUCCEEDED(import->vtbl->GetNestedClassProps(import, type, &enclosing)) || !enclosing)
        return false;
    *out = enclosing;
    return true;
}

#define ENUM_SLICE 64

static void each_of(struct corprof_enum *list, info_each each, void *context)
{
    UINT_PTR ids[ENUM_SLICE];
    bool go_on = true;
    ULONG fetched;

    do {
        fetched = 0;
        /* S_FALSE: fewer than asked, all valid. */
        if (!SUCCEEDED(list->vtbl->Next(list, ENUM_SLICE, ids, &fetched)) || fetched > ENUM_SLICE)
            break;
        for (ULONG i = 0; go_on && i < fetched; i++)
            go_on = each(context, ids[i]);
    } while (go_on && fetched == ENUM_SLICE);
    (void)list->vtbl->Release(list);
}

void info_each_module(struct corprof_info *info, info_each each, void *context)
{
    void *list = NULL;

    if (SUCCEEDED(info->vtbl->EnumModules(info, &list)) && list)
        each_of(list, each, context);
}

void info_each_thread(struct corprof_info *info, info_each each, void *context)
{
    void *list = NULL;

    if (SUCCEEDED(info->vtbl->EnumThreads(info, &list)) && list)
        each_of(list, each, context);
}
