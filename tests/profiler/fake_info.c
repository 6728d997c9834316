#include "fake_info.h"

#include <sched.h>
#include <string.h>

#include "fake_stubs.h"

struct fake fake;

/* The methods' parameters are the interface's; those without a use are many. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Gives `value` to *out as the test wants it. */
#define GIVE(out, value)                                                                           \
    do {                                                                                           \
        if ((out) && fake.fill != FAKE_UNTOUCHED)                                                  \
            *(out) = fake.fill == FAKE_ZERO ? 0 : (value);                                         \
    } while (0)

static void give_name(const char *text, WCHAR *name, ULONG capacity, ULONG *out_length)
{
    ULONG length = (ULONG)strlen(text) + 1;

    if (fake.fill == FAKE_ENDLESS) {
        for (ULONG i = 0; name && i < capacity; i++)
            name[i] = 'e';
        if (out_length)
            *out_length = 0xffffffff;
        return;
    }
    GIVE(out_length, length);
    for (ULONG i = 0; name && i < capacity && i < length; i++)
        GIVE(&name[i], (WCHAR)(i + 1 == capacity ? '\0' : text[i]));
}

/* Enumerators */

static ULONG enum_position;

static ULONG release(void *self)
{
    return --fake.refs_out;
}

static HRESULT next(void *self, ULONG wanted, UINT_PTR *ids, ULONG *out_fetched)
{
    ULONG given = 0;

    while (given < wanted && enum_position < fake.items)
        ids[given++] = 0x9000 + 16 * enum_position++;
    GIVE(out_fetched, fake.claimed ? fake.claimed : given);
    return given < wanted && fake.hr == S_OK ? S_FALSE : fake.hr;
}

static const struct corprof_enum_vtbl enum_vtbl = { .Release = release, .Next = next };
static struct corprof_enum the_enum;

static HRESULT next_function(void *self, ULONG wanted, COR_PRF_FUNCTION *ids, ULONG *out_fetched)
{
    ULONG given = 0;

    for (; given < wanted && enum_position < fake.items; given++)
        ids[given] = (COR_PRF_FUNCTION){ 0x9000 + 16 * enum_position++, 0 };
    GIVE(out_fetched, fake.claimed ? fake.claimed : given);
    return given < wanted && fake.hr == S_OK ? S_FALSE : fake.hr;
}

static const struct corprof_function_enum_vtbl function_enum_vtbl = { .Release = release,
                                                                      .Next = next_function };
static struct corprof_function_enum function_enum = { &function_enum_vtbl };

static HRESULT give_function_enum(void *self, void **out)
{
    enum_position = 0;
    GIVE(out, &function_enum);
    if (*out == &function_enum && SUCCEEDED(fake.hr))
        fake.refs_out++;
    return fake.hr;
}

static HRESULT give_enum(void *self, void **out)
{
    enum_position = 0;
    GIVE(out, &the_enum);
    if (*out == &the_enum && SUCCEEDED(fake.hr))
        fake.refs_out++;
    return fake.hr;
}

/* Metadata: Space.Outer with Inner in it, whose method is Run; Space.Box`1 with <PutAsync>d__3`1 in
 * it */

static HRESULT get_type_def_props(void *self, mdTypeDef type, WCHAR *name, ULONG capacity,
                                  ULONG *out_length, DWORD *out_flags, mdToken *out_extends)
{
    static const char *const names[] = { "Space.Outer", "Inner", "Space.Box`1", "<PutAsync>d__3`1",
                                         "Space.Pair`2" };
    size_t row = type - FAKE_OUTER_TYPE;

    give_name(row < sizeof(names) / sizeof(names[0]) ? names[row] : "Space.Other", name, capacity,
              out_length);
    GIVE(out_flags, type == FAKE_INNER_TYPE || type == FAKE_MACHINE_TYPE ? 2u : 1u);
    GIVE(out_extends, 0x01000001u);
    return fake.hr;
}

/* string Run(int, double, System.Enum, string, object, int[], bool, char, ref int) of an instance:
 * more than hooks ask for at first. */
static const uint8_t signature[] = { 0x20, 9,    0x0e, 0x08, 0x0d, 0x11, 0x05, 0x0e,
                                     0x1c, 0x1d, 0x08, 0x02, 0x03, 0x10, 0x08 };
#define ARGUMENTS 10

static HRESULT get_method_props(void *self, mdMethodDef method, mdTypeDef *out_type, WCHAR *name,
                                ULONG capacity, ULONG *out_length, DWORD *out_attributes,
                                const uint8_t **out_signature, ULONG *out_signature_size,
                                ULONG *out_rva, DWORD *out_impl_flags)
{
    give_name(fake.method ? fake.method : "Run", name, capacity, out_length);
    GIVE(out_type, fake.method_type ? fake.method_type : FAKE_INNER_TYPE);
    GIVE(out_signature, signature);
    GIVE(out_signature_size, (ULONG)sizeof(signature));
    return fake.hr;
}

/* Types derive from System.Enum of another module, and so do those that signatures refer to. */
static HRESULT get_type_ref_props(void *self, mdToken reference, mdToken *out_scope, WCHAR *name,
                                  ULONG capacity, ULONG *out_length)
{
    GIVE(out_scope, 0x23000001u);
    give_name("System.Enum", name, capacity, out_length);
    return fake.hr;
}

static HRESULT find_type_def_by_name(void *self, const WCHAR *name, mdToken enclosing,
                                     mdTypeDef *out)
{
    GIVE(out, FAKE_INNER_TYPE);
    return fake.hr;
}

static HRESULT find_field(void *self, mdTypeDef type, const WCHAR *name, const uint8_t *bytes,
                          ULONG size, mdToken *out)
{
    GIVE(out, FAKE_MESSAGE_FIELD);
    return fake.hr;
}

static HRESULT get_param_for_method_index(void *self, mdMethodDef method, ULONG index, mdToken *out)
{
    GIVE(out, 0x08000000u + index);
    return fake.hr;
}

static HRESULT get_param_props(void *self, mdToken parameter, mdMethodDef *out_method,
                               ULONG *out_index, WCHAR *name, ULONG capacity, ULONG *out_length,
                               DWORD *out_attributes, DWORD *out_value_type, const void **out_value,
                               ULONG *out_value_length)
{
    give_name("given", name, capacity, out_length);
    return fake.hr;
}

static HRESULT get_field_props(void *self, mdToken field, mdTypeDef *out_type, WCHAR *name,
                               ULONG capacity, ULONG *out_length, DWORD *out_attributes,
                               const uint8_t **out_signature, ULONG *out_signature_size,
                               DWORD *out_value_type, const void **out_value,
                               ULONG *out_value_length)
{
    static const uint8_t of_field[] = { 0x06, 0x08 };

    give_name(field == FAKE_MESSAGE_FIELD ? "_message" : "_other", name, capacity, out_length);
    GIVE(out_signature, of_field);
    GIVE(out_signature_size, (ULONG)sizeof(of_field));
    return fake.hr;
}

static HRESULT get_nested_class_props(void *self, mdTypeDef nested, mdTypeDef *out)
{
    GIVE(out, nested == FAKE_MACHINE_TYPE ? FAKE_BOX_TYPE : FAKE_OUTER_TYPE);
    return fake.hr;
}

static HRESULT find_method(void *self, mdTypeDef type, const WCHAR *name, const uint8_t *signature,
                           ULONG signature_size, mdMethodDef *out)
{
    GIVE(out, fake.has_builder ? FAKE_METHOD_TOKEN : 0x06000000u);
    return fake.hr;
}

/* Parameters are T, U, V … */
static HRESULT enum_generic_params(void *self, void **list, mdToken owner,
                                   mdGenericParam *parameters, ULONG capacity, ULONG *out_count)
{
    for (ULONG i = 0; i < capacity && i < 3; i++)
        GIVE(&parameters[i], 0x2a000001u + i);
    GIVE(out_count, fake.fill == FAKE_ENDLESS ? 0xffffffffu : 3u);
    return fake.hr;
}

static HRESULT get_generic_param_props(void *self, mdGenericParam parameter, ULONG *out_index,
                                       DWORD *out_flags, mdToken *out_owner, DWORD *reserved,
                                       WCHAR *name, ULONG capacity, ULONG *out_length)
{
    char text[] = { (char)('T' + parameter - 0x2a000001u), '\0' };

    give_name(text, name, capacity, out_length);
    return fake.hr;
}

static const struct metadata_import_vtbl import_vtbl = {
    .Release = release,
    .GetTypeDefProps = get_type_def_props,
    .GetMethodProps = get_method_props,
    .GetFieldProps = get_field_props,
    .GetNestedClassProps = get_nested_class_props,
    .FindMethod = find_method,
    .GetTypeRefProps = get_type_ref_props,
    .FindTypeDefByName = find_type_def_by_name,
    .FindField = find_field,
    .GetParamForMethodIndex = get_param_for_method_index,
    .GetParamProps = get_param_props,
    .EnumGenericParams = enum_generic_params,
    .GetGenericParamProps = get_generic_param_props,
};
static struct metadata_import the_import;

/* ICorProfilerInfo */

static HRESULT query_interface(void *self, const GUID *iid, void **out)
{
    /* The first words of ICorProfilerInfo15 … 8, and what a runtime says that has none of them. */
    static const uint32_t words[] = { 0xb446462d, 0xf460e352, 0x6e6c7ee2, 0x27b24ccd,
                                      0x06398876, 0x2f1b5152, 0x008170db, 0xc5ac80a6 };

    for (int version = 15; version >= 8; version--)
        if (words[15 - version] == iid->data1 && version <= fake.newest) {
            GIVE(out, self);
            return fake.hr;
        }
    *out = NULL;
    return E_NOINTERFACE;
}

static HRESULT get_class_from_object(void *self, ObjectID object, ClassID *out)
{
    if (fake.holding)
        fake.held++;
    while (fake.holding)
        sched_yield();
    GIVE(out, object + FAKE_CLASS_OF_OBJECT);
    return fake.hr;
}

static HRESULT get_thread_info(void *self, ThreadID thread, DWORD *out)
{
    GIVE(out, FAKE_OS_TID);
    return fake.hr;
}

static HRESULT get_class_id_info(void *self, ClassID class_id, ModuleID *out_module,
                                 mdTypeDef *out_token)
{
    GIVE(out_module, FAKE_MODULE);
    GIVE(out_token, FAKE_INNER_TYPE);
    return fake.hr;
}

static HRESULT get_class_layout(void *self, ClassID class_id, COR_FIELD_OFFSET *fields,
                                ULONG capacity, ULONG *out_count, ULONG *out_size)
{
    if (!fake.objects)
        return E_FAIL;
    GIVE(out_count, 2u);
    GIVE(out_size, 16u);
    for (ULONG i = 0; fields && i < capacity && i < 2; i++) {
        GIVE(&fields[i].ridOfField, FAKE_MESSAGE_FIELD - 1 + i);
        GIVE(&fields[i].ulOffset, FAKE_MESSAGE_AT);
    }
    return fake.hr;
}

static HRESULT get_string_layout2(void *self, ULONG *out_length_at, ULONG *out_units_at)
{
    GIVE(out_length_at, FAKE_LENGTH_AT);
    GIVE(out_units_at, FAKE_UNITS_AT);
    return fake.hr;
}

static mdToken method_token(void)
{
    return fake.method_token ? fake.method_token : FAKE_METHOD_TOKEN;
}

static HRESULT get_function_info(void *self, FunctionID function, ClassID *out_class,
                                 ModuleID *out_module, mdToken *out_token)
{
    GIVE(out_module, FAKE_MODULE);
    GIVE(out_token, fake.dynamic ? 0x06000000u : method_token());
    return fake.hr;
}

/* Classes and what they are made of. */
static const struct fake_class {
    ClassID id;
    mdTypeDef token; /* 0: none, an array or pointer */
    ULONG rank;
    ClassID parts[2];
} fake_classes[] = {
    { FAKE_BOX_CLASS, FAKE_BOX_TYPE, 0, { FAKE_PLAIN_CLASS, 0 } },
    { FAKE_GRID_CLASS, 0, 2, { FAKE_PLAIN_CLASS, 0 } },
    { FAKE_GRIDS_CLASS, 0, 1, { FAKE_GRID_CLASS, 0 } },
    { FAKE_PAIR_CLASS, FAKE_PAIR_TYPE, 0, { FAKE_BOX_CLASS, FAKE_GRID_CLASS } },
    { FAKE_DEEP_CLASS, FAKE_BOX_TYPE, 0, { FAKE_DEEP_CLASS, 0 } },
    { FAKE_MACHINE_CLASS, FAKE_MACHINE_TYPE, 0, { FAKE_PLAIN_CLASS, FAKE_GRID_CLASS } },
    { FAKE_POINTER_CLASS, 0, 0, { 0, 0 } },
    { FAKE_POINTERS_CLASS, 0, 1, { FAKE_POINTER_CLASS, 0 } },
};

static const struct fake_class *class_of(ClassID id)
{
    static const struct fake_class plain = { FAKE_PLAIN_CLASS, FAKE_INNER_TYPE, 0, { 0, 0 } };

    for (size_t i = 0; i < sizeof(fake_classes) / sizeof(fake_classes[0]); i++)
        if (fake_classes[i].id == id)
            return &fake_classes[i];
    return &plain;
}

static HRESULT is_array_class(void *self, ClassID class_id, CorElementType *out_element,
                              ClassID *out_element_class, ULONG *out_rank)
{
    const struct fake_class *it = class_of(class_id);

    if (it->rank == 0) {
        GIVE(out_element_class, 0);
        return fake.hr == S_OK ? S_FALSE : fake.hr;
    }
    GIVE(out_element, it->parts[0] == FAKE_POINTER_CLASS ? 0x0f : 0x12);
    GIVE(out_element_class, it->parts[0]);
    GIVE(out_rank, it->rank);
    return fake.hr;
}

static HRESULT get_class_id_info2(void *self, ClassID class_id, ModuleID *out_module,
                                  mdTypeDef *out_token, ClassID *out_parent, ULONG32 capacity,
                                  ULONG32 *out_count, ClassID *arguments)
{
    const struct fake_class *it = class_of(class_id);
    ULONG32 count = 0;

    if (!it->token)
        return HR(0x80131366u);
    fake.class_questions++;
    GIVE(out_module, FAKE_MODULE);
    GIVE(out_token, it->token);
    /* Every class derives from the exception, which derives from the object. */
    GIVE(out_parent, class_id == FAKE_OBJECT_CLASS      ? 0
                     : class_id == FAKE_EXCEPTION_CLASS ? FAKE_OBJECT_CLASS
                                                        : FAKE_EXCEPTION_CLASS);
    while (count < 2 && it->parts[count] && count < capacity) {
        GIVE(&arguments[count], it->parts[count]);
        count++;
    }
    GIVE(out_count, fake.fill == FAKE_ENDLESS ? 0xffffffffu : count);
    return fake.hr;
}

static HRESULT get_function_info2(void *self, FunctionID function, UINT_PTR frame,
                                  ClassID *out_class, ModuleID *out_module, mdToken *out_token,
                                  ULONG32 capacity, ULONG32 *out_count, ClassID *arguments)
{
    GIVE(out_class, fake.function_class);
    GIVE(out_module, FAKE_MODULE);
    GIVE(out_token, fake.dynamic ? 0x06000000u : method_token());
    for (ULONG32 i = 0; i < fake.arguments && i < capacity; i++)
        GIVE(&arguments[i], FAKE_PLAIN_CLASS);
    GIVE(out_count, fake.fill == FAKE_ENDLESS ? 0xffffffffu : fake.arguments);
    return fake.hr;
}

static HRESULT get_module_metadata(void *self, ModuleID module, DWORD flags, const GUID *iid,
                                   void **out)
{
    fake.metadata_opened++;
    GIVE(out, &the_import);
    if (*out == &the_import && SUCCEEDED(fake.hr))
        fake.refs_out++;
    return fake.hr;
}

static HRESULT get_assembly_info(void *self, AssemblyID assembly, ULONG capacity, ULONG *out_length,
                                 WCHAR *name, AppDomainID *out_domain, ModuleID *out_module)
{
    give_name("Assembly", name, capacity, out_length);
    return fake.hr;
}

static HRESULT get_code_info2(void *self, FunctionID function, ULONG32 capacity, ULONG32 *out_count,
                              COR_PRF_CODE_INFO *infos)
{
    GIVE(out_count, fake.fill == FAKE_ENDLESS ? 0xffffffffu : 1u);
    GIVE(&infos[0].startAddress, FAKE_CODE);
    GIVE(&infos[0].size, FAKE_CODE_SIZE);
    return fake.hr;
}

/* One range of each generation: FAKE_USED bytes of FAKE_RESERVED, times its number and one. */
static HRESULT get_generation_bounds(void *self, ULONG capacity, ULONG *out_count,
                                     COR_PRF_GC_GENERATION_RANGE *ranges)
{
    GIVE(out_count, fake.fill == FAKE_ENDLESS ? 0xffffffffu : 5u);
    for (ULONG i = 0; ranges && i < capacity && i < 5; i++) {
        GIVE(&ranges[i].generation, (int32_t)i);
        GIVE(&ranges[i].rangeStart, 0x100000u * (i + 1));
        GIVE(&ranges[i].rangeLength, FAKE_USED * (i + 1));
        GIVE(&ranges[i].rangeLengthReserved, FAKE_RESERVED * (i + 1));
    }
    return fake.hr;
}

static HRESULT request_detach(void *self, DWORD expected_ms)
{
    if (fake.staying) {
        fake.detaches_refused++;
        return E_FAIL;
    }
    fake.detaches++;
    return fake.hr;
}

static HRESULT get_runtime_information(void *self, USHORT *out_instance, int32_t *out_type,
                                       USHORT *out_major, USHORT *out_minor, USHORT *out_build,
                                       USHORT *out_qfe, ULONG capacity, ULONG *out_length,
                                       WCHAR *version)
{
    GIVE(out_major, 10);
    GIVE(out_minor, 0);
    GIVE(out_build, 12);
    give_name("10.0.12", version, capacity, out_length);
    return fake.hr;
}

static HRESULT get_module_info2(void *self, ModuleID module, const BYTE **out_base, ULONG capacity,
                                ULONG *out_length, WCHAR *name, AssemblyID *out_assembly,
                                DWORD *out_flags)
{
    give_name("/app/app.dll", name, capacity, out_length);
    GIVE(out_base, fake.image ? fake.image : (const BYTE *)FAKE_BASE);
    GIVE(out_flags, fake.image ? FAKE_FLAT : 0);
    GIVE(out_assembly, fake.hr == CORPROF_E_DATAINCOMPLETE ? 0xfffffffdu : FAKE_ASSEMBLY);
    return fake.hr;
}

static HRESULT set_function_id_mapper2(void *self,
                                       UINT_PTR (*map)(FunctionID function, void *data, BOOL *hook),
                                       void *data)
{
    fake.map = map;
    return fake.hr;
}

static HRESULT set_hooks_with_info(void *self, COR_PRF_ELT_HOOK *enter, COR_PRF_ELT_HOOK *leave,
                                   COR_PRF_ELT_HOOK *tailcall)
{
    fake.enter = enter;
    fake.leave = leave;
    fake.tailcall = tailcall;
    return fake.hr;
}

/* All arguments are one object: a string, as those lie in exceptions. */
static const struct {
    const void *type;
    uint32_t length;
    WCHAR units[4];
} string = { NULL, 4, { 't', 'e', 'x', 't' } };
static const void *const argument = &string;

static HRESULT get_arguments(void *self, FunctionID function, COR_PRF_ELT_INFO call,
                             COR_PRF_FRAME_INFO *out_frame, ULONG *size,
                             COR_PRF_FUNCTION_ARGUMENT_INFO *arguments)
{
    ULONG given = *size,
          needed = (ULONG)(sizeof(*arguments) + ARGUMENTS * sizeof(arguments->ranges[0]));

    GIVE(out_frame, 1);
    GIVE(size, needed);
    if (given < needed)
        return HR_INSUFFICIENT_BUFFER;
    GIVE(&arguments->numRanges, ARGUMENTS);
    for (ULONG i = 0; i < ARGUMENTS; i++) {
        GIVE(&arguments->ranges[i].startAddress, (UINT_PTR)&argument);
        GIVE(&arguments->ranges[i].length, sizeof(argument));
    }
    return fake.hr;
}

static HRESULT get_result(void *self, FunctionID function, COR_PRF_ELT_INFO call,
                          COR_PRF_FRAME_INFO *out_frame,
                          COR_PRF_FUNCTION_ARGUMENT_RANGE *out_result)
{
    GIVE(out_frame, 1);
    GIVE(&out_result->startAddress, (UINT_PTR)&argument);
    GIVE(&out_result->length, sizeof(argument));
    return fake.hr;
}

static HRESULT set_event_mask2(void *self, DWORD low, DWORD high)
{
    fake.mask_low = low;
    fake.mask_high = high;
    fake.masks_set++;
    return fake.hr;
}

static HRESULT get_dynamic_function_info(void *self, FunctionID function, ModuleID *out_module,
                                         const uint8_t **out_signature, ULONG *out_signature_size,
                                         ULONG capacity, ULONG *out_length, WCHAR *name)
{
    give_name("made_at_run_time", name, capacity, out_length);
    return fake.hr;
}

static HRESULT get_function_from_ip3(void *self, const BYTE *ip, FunctionID *out_function,
                                     ReJITID *out_rejit)
{
    GIVE(out_function, FAKE_FUNCTION);
    GIVE(out_rejit, 0);
    return fake.hr;
}

static HRESULT get_native_code_starts(void *self, FunctionID function, ReJITID rejit,
                                      ULONG32 capacity, ULONG32 *out_count, UINT_PTR *starts)
{
    GIVE(out_count, fake.fill == FAKE_ENDLESS ? 0xffffffffu : 1u);
    GIVE(&starts[0], FAKE_CODE);
    return fake.hr;
}

static HRESULT get_il_map(void *self, UINT_PTR start, ULONG32 capacity, ULONG32 *out_count,
                          COR_DEBUG_IL_TO_NATIVE_MAP *map)
{
    GIVE(out_count, fake.fill == FAKE_ENDLESS ? 0xffffffffu : 1u);
    if (capacity > 0)
        GIVE(&map[0].nativeEndOffset, FAKE_CODE_SIZE);
    return fake.hr;
}

static HRESULT start_session(void *self, uint32_t count, COR_PRF_EVENTPIPE_PROVIDER_CONFIG *configs,
                             BOOL rundown, EVENTPIPE_SESSION *out)
{
    fake.config_count = count;
    for (uint32_t i = 0; i < count && i < FAKE_CONFIGS; i++) {
        fake.configs[i].keywords = configs[i].keywords;
        fake.configs[i].level = configs[i].loggingLevel;
        memset(fake.configs[i].name, 0, sizeof(fake.configs[i].name));
        for (size_t k = 0; k + 1 < sizeof(fake.configs[i].name) && configs[i].providerName[k]; k++)
            fake.configs[i].name[k] = (char)configs[i].providerName[k];
    }
    fake.sessions_started++; /* publishes the configs to the test, which waits for it */
    GIVE(out, FAKE_SESSION);
    return fake.hr;
}

static HRESULT stop_session(void *self, EVENTPIPE_SESSION session)
{
    fake.sessions_stopped += session == FAKE_SESSION;
    return fake.hr;
}

static HRESULT get_provider_info(void *self, EVENTPIPE_PROVIDER provider, ULONG capacity,
                                 ULONG *out_length, WCHAR *name)
{
    give_name(provider == FAKE_RUNTIME_PROVIDER ? "Microsoft-Windows-DotNETRuntime" : "Some-Source",
              name, capacity, out_length);
    return fake.hr;
}

static HRESULT set_environment_variable(void *self, const WCHAR *name, const WCHAR *value)
{
    size_t end = strlen(fake.names_unset);

    fake.variables_unset += name[0] && !value;
    if (end == 0)
        fake.names_unset[end++] = ';';
    for (; !value && *name && end + 2 < sizeof(fake.names_unset); name++)
        fake.names_unset[end++] = (char)*name;
    fake.names_unset[end] = ';';
    return fake.hr;
}

static const struct corprof_info_vtbl info_vtbl = {
    .QueryInterface = query_interface,
    .Release = release,
    .GetClassFromObject = get_class_from_object,
    .GetThreadInfo = get_thread_info,
    .IsArrayClass = is_array_class,
    .GetClassIDInfo = get_class_id_info,
    .GetClassIDInfo2 = get_class_id_info2,
    .GetFunctionInfo2 = get_function_info2,
    .GetFunctionInfo = get_function_info,
    .GetModuleMetaData = get_module_metadata,
    .GetAssemblyInfo = get_assembly_info,
    .GetClassLayout = get_class_layout,
    .GetStringLayout2 = get_string_layout2,
    .GetCodeInfo2 = get_code_info2,
    .GetGenerationBounds = get_generation_bounds,
    .RequestProfilerDetach = request_detach,
    .EnumModules = give_enum,
    .GetRuntimeInformation = get_runtime_information,
    .GetModuleInfo2 = get_module_info2,
    .EnumThreads = give_enum,
    .SetFunctionIDMapper2 = set_function_id_mapper2,
    .SetEnterLeaveFunctionHooks3WithInfo = set_hooks_with_info,
    .GetFunctionEnter3Info = get_arguments,
    .GetFunctionLeave3Info = get_result,
    .SetEventMask2 = set_event_mask2,
    .GetDynamicFunctionInfo = get_dynamic_function_info,
    .EnumJITedFunctions2 = give_function_enum,
    .GetFunctionFromIP3 = get_function_from_ip3,
    .GetNativeCodeStartAddresses = get_native_code_starts,
    .GetILToNativeMapping3 = get_il_map,
    .GetCodeInfo4 = get_code_info2, /* asked by address, answers alike */
    .EventPipeStartSession = start_session,
    .EventPipeStopSession = stop_session,
    .EventPipeGetProviderInfo = get_provider_info,
    .SetEnvironmentVariable = set_environment_variable,
};
static struct corprof_info the_info;

static __attribute__((constructor)) void make_objects(void)
{
    the_enum.vtbl = fake_vtbl(FAKE_ENUM, &enum_vtbl, sizeof(enum_vtbl));
    the_import.vtbl = fake_vtbl(FAKE_IMPORT, &import_vtbl, sizeof(import_vtbl));
    the_info.vtbl = fake_vtbl(FAKE_INFO, &info_vtbl, sizeof(info_vtbl));
}

void *fake_reset(void)
{
    memset(&fake, 0, sizeof(fake));
    fake_fault.armed = false;
    fake.newest = 15;
    return &the_info;
}

struct corprof_info *fake_info(void)
{
    return &the_info;
}
