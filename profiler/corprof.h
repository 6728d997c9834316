/*
 * The CLR's profiling interfaces in plain C: types, class and interface ids, vtables. Only what
 * this profiler calls is typed; everything else is a reserved slot at its right place, and the
 * places are checked when this compiles. Source: corprof.idl and cor.h of dotnet/runtime, Linux
 * x64/arm64: ULONG is 32 bits, WCHAR 16, no destructor slots, ordinary C calls with `this` first.
 */
#ifndef TRD_PROFILER_CORPROF_H
#define TRD_PROFILER_CORPROF_H

#include <stddef.h>
#include <stdint.h>

typedef int32_t HRESULT;
typedef int32_t BOOL;
typedef uint32_t ULONG;
typedef uint32_t ULONG32;
typedef uint32_t DWORD;
typedef uint32_t UINT;
typedef uint16_t USHORT;
typedef uint16_t WCHAR;
typedef uint8_t BYTE;
typedef uintptr_t SIZE_T;
typedef uintptr_t UINT_PTR;

/* Opaque, and reused by the runtime after the thing is gone. */
typedef uintptr_t AppDomainID;
typedef uintptr_t AssemblyID;
typedef uintptr_t ModuleID;
typedef uintptr_t ClassID;
typedef uintptr_t ThreadID;
typedef uintptr_t FunctionID;
typedef uintptr_t ObjectID;
typedef uintptr_t GCHandleID;
typedef uintptr_t ReJITID;
typedef uintptr_t EVENTPIPE_PROVIDER;
typedef uint64_t EVENTPIPE_SESSION;

typedef uint32_t mdToken;
typedef uint32_t mdTypeDef;
typedef uint32_t mdMethodDef;
typedef uint32_t mdGenericParam;

typedef int32_t CorElementType;
typedef int32_t COR_PRF_JIT_CACHE;
#define COR_PRF_CACHED_FUNCTION_FOUND 0
typedef int32_t COR_PRF_TRANSITION_REASON;
typedef int32_t COR_PRF_SUSPEND_REASON;
typedef int32_t COR_PRF_GC_REASON;
typedef int32_t COR_PRF_GC_ROOT_KIND;
typedef int32_t COR_PRF_GC_ROOT_FLAGS;

typedef struct GUID {
    uint32_t data1;
    uint16_t data2;
    uint16_t data3;
    uint8_t data4[8];
} GUID;

_Static_assert(sizeof(GUID) == 16 && _Alignof(GUID) == 4, "GUID layout");

#define S_OK 0
#define S_FALSE 1
#define HR(value) ((HRESULT)(value))
#define E_NOINTERFACE HR(0x80004002u)
#define E_POINTER HR(0x80004003u)
#define E_NOTIMPL HR(0x80004001u)
#define E_FAIL HR(0x80004005u)
#define CLASS_E_NOAGGREGATION HR(0x80040110u)
#define CLASS_E_CLASSNOTAVAILABLE HR(0x80040111u)
#define HR_INSUFFICIENT_BUFFER HR(0x8007007au)
#define HR_NO_VARIABLE HR(0x800700cbu)
#define CORPROF_E_DATAINCOMPLETE HR(0x80131351u)
#define CORPROF_E_PROFILER_CANCEL_ACTIVATION HR(0x80131375u)
#define SUCCEEDED(hr) ((hr) >= 0)

/* Low and high event masks, SetEventMask2. */
#define COR_PRF_MONITOR_CLASS_LOADS 0x00000002u
#define COR_PRF_MONITOR_MODULE_LOADS 0x00000004u
#define COR_PRF_MONITOR_ASSEMBLY_LOADS 0x00000008u
#define COR_PRF_MONITOR_APPDOMAIN_LOADS 0x00000010u
#define COR_PRF_MONITOR_JIT_COMPILATION 0x00000020u
#define COR_PRF_MONITOR_EXCEPTIONS 0x00000040u
#define COR_PRF_MONITOR_THREADS 0x00000200u
#define COR_PRF_MONITOR_CODE_TRANSITIONS 0x00000800u
#define COR_PRF_MONITOR_ENTERLEAVE 0x00001000u
#define COR_PRF_MONITOR_SUSPENDS 0x00010000u
/* Refused after an attach, as is every mask that holds it. */
#define COR_PRF_MONITOR_CACHE_SEARCHES 0x00020000u
/* Hooks get what methods are given and return; in Initialize only. */
#define COR_PRF_ENABLE_FUNCTION_ARGS 0x02000000u
#define COR_PRF_ENABLE_FUNCTION_RETVAL 0x04000000u
#define COR_PRF_HIGH_MONITOR_DYNAMIC_FUNCTION_UNLOADS 0x00000004u
/* Start and finish only. MONITOR_GC (0x80) would turn background collections off. */
#define COR_PRF_HIGH_BASIC_GC 0x00000010u
/* What moves and what stays, with background collections as they are. */
#define COR_PRF_HIGH_MONITOR_GC_MOVED_OBJECTS 0x00000020u
#define COR_PRF_HIGH_MONITOR_EVENT_PIPE 0x00000080u

#define IID_IUNKNOWN                                                                               \
    {                                                                                              \
        0x00000000, 0x0000, 0x0000,                                                                \
        {                                                                                          \
            0xc0, 0, 0, 0, 0, 0, 0, 0x46                                                           \
        }                                                                                          \
    }
#define IID_ICLASSFACTORY                                                                          \
    {                                                                                              \
        0x00000001, 0x0000, 0x0000,                                                                \
        {                                                                                          \
            0xc0, 0, 0, 0, 0, 0, 0, 0x46                                                           \
        }                                                                                          \
    }

/* ICorProfilerCallback … 11: one vtable, every slot filled, since the runtime asks once for the
 * newest version and then calls whatever that version has. */
struct corprof_callback_vtbl {
    HRESULT (*QueryInterface)(void *self, const GUID *iid, void **out);
    ULONG (*AddRef)(void *self);
    ULONG (*Release)(void *self);
#define CORPROF_SLOT(slot, method, ...) HRESULT (*method)(void *self, ##__VA_ARGS__);
#include "callback_slots.def"
#undef CORPROF_SLOT
};

#define CORPROF_SLOT(slot, method, ...)                                                            \
    _Static_assert(offsetof(struct corprof_callback_vtbl, method) == (slot) * sizeof(void *),      \
                   #method);
#include "callback_slots.def"
#undef CORPROF_SLOT
_Static_assert(sizeof(struct corprof_callback_vtbl) == 98 * sizeof(void *), "98 slots");

struct corprof_class_factory_vtbl {
    HRESULT (*QueryInterface)(void *self, const GUID *iid, void **out);
    ULONG (*AddRef)(void *self);
    ULONG (*Release)(void *self);
    HRESULT (*CreateInstance)(void *self, void *outer, const GUID *iid, void **out);
    HRESULT (*LockServer)(void *self, BOOL lock);
};

struct corprof_unknown {
    const struct corprof_unknown_vtbl {
        HRESULT (*QueryInterface)(void *self, const GUID *iid, void **out);
        ULONG (*AddRef)(void *self);
        ULONG (*Release)(void *self);
    } * vtbl;
};

typedef struct {
    UINT_PTR startAddress;
    SIZE_T size;
} COR_PRF_CODE_INFO;

typedef struct {
    FunctionID functionId;
    ReJITID reJitId;
} COR_PRF_FUNCTION;

/* Of one call of a hooked method; both only mean something to the runtime, in the hook. */
typedef UINT_PTR COR_PRF_ELT_INFO;
typedef UINT_PTR COR_PRF_FRAME_INFO;
/* `method`: what the mapper gave. */
typedef void COR_PRF_ELT_HOOK(UINT_PTR method, COR_PRF_ELT_INFO call);

typedef struct {
    UINT_PTR startAddress;
    ULONG length;
} COR_PRF_FUNCTION_ARGUMENT_RANGE;

/* One range for each argument from `this` on. */
typedef struct {
    ULONG numRanges;
    ULONG totalArgumentSize;
    COR_PRF_FUNCTION_ARGUMENT_RANGE ranges[1];
} COR_PRF_FUNCTION_ARGUMENT_INFO;

_Static_assert(sizeof(COR_PRF_FUNCTION_ARGUMENT_INFO) == 24, "as the runtime writes it");

/* A piece of the heap; generation 3 is the large, 4 the pinned object heap. */
typedef struct {
    int32_t generation;
    ObjectID rangeStart;
    UINT_PTR rangeLength;
    UINT_PTR rangeLengthReserved;
} COR_PRF_GC_GENERATION_RANGE;

/* Offset from the ObjectID. */
typedef struct {
    mdToken ridOfField;
    ULONG ulOffset;
} COR_FIELD_OFFSET;

/* ilOffset may be -1 no mapping, -2 prolog, -3 epilog. */
typedef struct {
    ULONG32 ilOffset;
    ULONG32 nativeStartOffset;
    ULONG32 nativeEndOffset;
} COR_DEBUG_IL_TO_NATIVE_MAP;

typedef struct {
    const WCHAR *providerName;
    uint64_t keywords;
    uint32_t loggingLevel;
    const WCHAR *filterData;
} COR_PRF_EVENTPIPE_PROVIDER_CONFIG;

_Static_assert(sizeof(COR_PRF_EVENTPIPE_PROVIDER_CONFIG) == 32, "as the runtime reads an array");

/* Slots first … last that this profiler does not call. */
#define RESERVED(first, last) void *reserved_##first[(last) - (first) + 1]

/* ICorProfilerInfo … ICorProfilerInfo9: later ones only append. What is marked Info9 may be called
 * only where the runtime offered that. */
struct corprof_info {
    const struct corprof_info_vtbl {
        HRESULT (*QueryInterface)(void *self, const GUID *iid, void **out);
        ULONG (*AddRef)(void *self);
        ULONG (*Release)(void *self);
        HRESULT (*GetClassFromObject)(void *self, ObjectID object, ClassID *out);
        RESERVED(4, 10);
        HRESULT(*IsArrayClass)
        (void *self, ClassID class_id, CorElementType *out_element, ClassID *out_element_class,
         ULONG *out_rank);
        HRESULT (*GetThreadInfo)(void *self, ThreadID thread, DWORD *out_os_id);
        HRESULT (*GetCurrentThreadID)(void *self, ThreadID *out);
        HRESULT(*GetClassIDInfo)
        (void *self, ClassID class_id, ModuleID *out_module, mdTypeDef *out_token);
        HRESULT(*GetFunctionInfo)
        (void *self, FunctionID function, ClassID *out_class, ModuleID *out_module,
         mdToken *out_token);
        RESERVED(16, 20);
        HRESULT(*GetModuleMetaData)
        (void *self, ModuleID module, DWORD open_flags, const GUID *iid, void **out);
        RESERVED(22, 24);
        HRESULT(*GetAppDomainInfo)
        (void *self, AppDomainID domain, ULONG capacity, ULONG *out_length, WCHAR *name,
         UINT_PTR *out_process);
        HRESULT(*GetAssemblyInfo)
        (void *self, AssemblyID assembly, ULONG capacity, ULONG *out_length, WCHAR *name,
         AppDomainID *out_domain, ModuleID *out_module);
        RESERVED(27, 37);
        HRESULT(*GetFunctionInfo2)
        (void *self, FunctionID function, UINT_PTR frame, ClassID *out_class, ModuleID *out_module,
         mdToken *out_token, ULONG32 capacity, ULONG32 *out_count, ClassID *arguments);
        RESERVED(39, 39);
        HRESULT(*GetClassLayout)
        (void *self, ClassID class_id, COR_FIELD_OFFSET *fields, ULONG capacity, ULONG *out_count,
         ULONG *out_size);
        HRESULT(*GetClassIDInfo2)
        (void *self, ClassID class_id, ModuleID *out_module, mdTypeDef *out_token,
         ClassID *out_parent, ULONG32 capacity, ULONG32 *out_count, ClassID *arguments);
        HRESULT(*GetCodeInfo2)
        (void *self, FunctionID function, ULONG32 capacity, ULONG32 *out_count,
         COR_PRF_CODE_INFO *infos);
        RESERVED(43, 53);
        HRESULT(*GetGenerationBounds)
        (void *self, ULONG capacity, ULONG *out_count, COR_PRF_GC_GENERATION_RANGE *ranges);
        RESERVED(55, 57);
        HRESULT (*RequestProfilerDetach)(void *self, DWORD expected_ms);
        /* The mapper: once per compiled body; *hook FALSE leaves the method as it is. */
        HRESULT(*SetFunctionIDMapper2)
        (void *self, UINT_PTR (*map)(FunctionID function, void *data, BOOL *hook), void *data);
        HRESULT(*GetStringLayout2)
        (void *self, ULONG *out_length_offset, ULONG *out_buffer_offset);
        /* Not of C's calling convention: see elt_x86_64.S. */
        HRESULT(*SetEnterLeaveFunctionHooks3)
        (void *self, void (*enter)(void), void (*leave)(void), void (*tailcall)(void));
        /* Ordinary C functions; after SetEventMask2 with one of COR_PRF_ENABLE_FUNCTION_…. */
        HRESULT(*SetEnterLeaveFunctionHooks3WithInfo)
        (void *self, COR_PRF_ELT_HOOK *enter, COR_PRF_ELT_HOOK *leave, COR_PRF_ELT_HOOK *tailcall);
        /* In such a hook only. */
        HRESULT(*GetFunctionEnter3Info)
        (void *self, FunctionID function, COR_PRF_ELT_INFO call, COR_PRF_FRAME_INFO *out_frame,
         ULONG *size, COR_PRF_FUNCTION_ARGUMENT_INFO *arguments);
        HRESULT(*GetFunctionLeave3Info)
        (void *self, FunctionID function, COR_PRF_ELT_INFO call, COR_PRF_FRAME_INFO *out_frame,
         COR_PRF_FUNCTION_ARGUMENT_RANGE *out_result);
        RESERVED(65, 65);
        HRESULT (*EnumModules)(void *self, void **out);
        HRESULT(*GetRuntimeInformation)
        (void *self, USHORT *out_clr_instance, int32_t *out_runtime_type, USHORT *out_major,
         USHORT *out_minor, USHORT *out_build, USHORT *out_qfe, ULONG capacity, ULONG *out_length,
         WCHAR *version);
        RESERVED(68, 69);
        HRESULT(*GetModuleInfo2)
        (void *self, ModuleID module, const BYTE **out_base, ULONG capacity, ULONG *out_length,
         WCHAR *name, AssemblyID *out_assembly, DWORD *out_flags);
        HRESULT (*EnumThreads)(void *self, void **out); /* Info4 */
        RESERVED(72, 78);
        HRESULT (*EnumJITedFunctions2)(void *self, void **out);
        RESERVED(80, 81);
        HRESULT (*SetEventMask2)(void *self, DWORD low, DWORD high); /* Info5 */
        RESERVED(83, 87);
        HRESULT(*GetFunctionFromIP3)
        (void *self, const BYTE *ip, FunctionID *out_function, ReJITID *out_rejit); /* Info8 */
        HRESULT(*GetDynamicFunctionInfo)
        (void *self, FunctionID function, ModuleID *out_module, const uint8_t **out_signature,
         ULONG *out_signature_size, ULONG capacity, ULONG *out_length, WCHAR *name); /* Info8 */
        HRESULT(*GetNativeCodeStartAddresses)
        (void *self, FunctionID function, ReJITID rejit, ULONG32 capacity, ULONG32 *out_count,
         UINT_PTR *starts); /* Info9 */
        HRESULT(*GetILToNativeMapping3)
        (void *self, UINT_PTR start, ULONG32 capacity, ULONG32 *out_count,
         COR_DEBUG_IL_TO_NATIVE_MAP *map); /* Info9 */
        HRESULT(*GetCodeInfo4)
        (void *self, UINT_PTR start, ULONG32 capacity, ULONG32 *out_count,
         COR_PRF_CODE_INFO *infos); /* Info9 */
        RESERVED(93, 98);
        HRESULT(*GetEnvironmentVariable)
        (void *self, const WCHAR *name, ULONG capacity, ULONG *out_length,
         WCHAR *value); /* Info11 */
        HRESULT(*SetEnvironmentVariable)
        (void *self, const WCHAR *name, const WCHAR *value); /* Info11; no value: unset */
        HRESULT(*EventPipeStartSession)
        (void *self, uint32_t count, COR_PRF_EVENTPIPE_PROVIDER_CONFIG *configs, BOOL rundown,
         EVENTPIPE_SESSION *out); /* Info12 */
        RESERVED(102, 102);
        HRESULT (*EventPipeStopSession)(void *self, EVENTPIPE_SESSION session); /* Info12 */
        RESERVED(104, 104);
        HRESULT(*EventPipeGetProviderInfo)
        (void *self, EVENTPIPE_PROVIDER provider, ULONG capacity, ULONG *out_length,
         WCHAR *name); /* Info12 */
    } * vtbl;
};

#define INFO_SLOT(method, slot)                                                                    \
    _Static_assert(offsetof(struct corprof_info_vtbl, method) == (slot) * sizeof(void *), #method)
INFO_SLOT(GetClassFromObject, 3);
INFO_SLOT(IsArrayClass, 11);
INFO_SLOT(GetThreadInfo, 12);
INFO_SLOT(GetCurrentThreadID, 13);
INFO_SLOT(GetClassIDInfo, 14);
INFO_SLOT(GetFunctionInfo, 15);
INFO_SLOT(GetModuleMetaData, 21);
INFO_SLOT(GetAppDomainInfo, 25);
INFO_SLOT(GetAssemblyInfo, 26);
INFO_SLOT(GetFunctionInfo2, 38);
INFO_SLOT(GetClassLayout, 40);
INFO_SLOT(GetClassIDInfo2, 41);
INFO_SLOT(GetCodeInfo2, 42);
INFO_SLOT(GetGenerationBounds, 54);
INFO_SLOT(RequestProfilerDetach, 58);
INFO_SLOT(SetFunctionIDMapper2, 59);
INFO_SLOT(GetStringLayout2, 60);
INFO_SLOT(SetEnterLeaveFunctionHooks3, 61);
INFO_SLOT(SetEnterLeaveFunctionHooks3WithInfo, 62);
INFO_SLOT(GetFunctionEnter3Info, 63);
INFO_SLOT(GetFunctionLeave3Info, 64);
INFO_SLOT(EnumModules, 66);
INFO_SLOT(GetRuntimeInformation, 67);
INFO_SLOT(GetModuleInfo2, 70);
INFO_SLOT(EnumThreads, 71);
INFO_SLOT(EnumJITedFunctions2, 79);
INFO_SLOT(SetEventMask2, 82);
INFO_SLOT(GetFunctionFromIP3, 88);
INFO_SLOT(GetDynamicFunctionInfo, 89);
INFO_SLOT(GetNativeCodeStartAddresses, 90);
INFO_SLOT(GetILToNativeMapping3, 91);
INFO_SLOT(GetCodeInfo4, 92);
INFO_SLOT(EventPipeStartSession, 101);
INFO_SLOT(EventPipeStopSession, 103);
INFO_SLOT(EventPipeGetProviderInfo, 105);
INFO_SLOT(GetEnvironmentVariable, 99);
INFO_SLOT(SetEnvironmentVariable, 100);

/* The enumerators of modules and threads share this shape. */
struct corprof_enum {
    const struct corprof_enum_vtbl {
        HRESULT (*QueryInterface)(void *self, const GUID *iid, void **out);
        ULONG (*AddRef)(void *self);
        ULONG (*Release)(void *self);
        RESERVED(3, 6);
        HRESULT (*Next)(void *self, ULONG wanted, UINT_PTR *ids, ULONG *out_fetched);
    } * vtbl;
};

/* That of functions hands out pairs. */
struct corprof_function_enum {
    const struct corprof_function_enum_vtbl {
        HRESULT (*QueryInterface)(void *self, const GUID *iid, void **out);
        ULONG (*AddRef)(void *self);
        ULONG (*Release)(void *self);
        RESERVED(3, 6);
        HRESULT (*Next)(void *self, ULONG wanted, COR_PRF_FUNCTION *ids, ULONG *out_fetched);
    } * vtbl;
};

/* IMetaDataImport2, which every .NET Core answers; source: cor.h. */
#define IID_IMETADATAIMPORT2                                                                       \
    {                                                                                              \
        0xfce5efa0, 0x8bba, 0x4f8e,                                                                \
        {                                                                                          \
            0xa0, 0x36, 0x8f, 0x20, 0x22, 0xb0, 0x84, 0x66                                         \
        }                                                                                          \
    }

struct metadata_import {
    const struct metadata_import_vtbl {
        HRESULT (*QueryInterface)(void *self, const GUID *iid, void **out);
        ULONG (*AddRef)(void *self);
        ULONG (*Release)(void *self);
        void (*CloseEnum)(void *self, void *list);
        RESERVED(4, 8);
        HRESULT(*FindTypeDefByName)
        (void *self, const WCHAR *name, mdToken enclosing, mdTypeDef *out);
        RESERVED(10, 11);
        HRESULT(*GetTypeDefProps)
        (void *self, mdTypeDef type, WCHAR *name, ULONG capacity, ULONG *out_length,
         DWORD *out_flags, mdToken *out_extends);
        RESERVED(13, 13);
        HRESULT(*GetTypeRefProps)
        (void *self, mdToken reference, mdToken *out_scope, WCHAR *name, ULONG capacity,
         ULONG *out_length);
        RESERVED(15, 26);
        HRESULT(*FindMethod)
        (void *self, mdTypeDef type, const WCHAR *name, const uint8_t *signature,
         ULONG signature_size, mdMethodDef *out);
        HRESULT(*FindField)
        (void *self, mdTypeDef type, const WCHAR *name, const uint8_t *signature,
         ULONG signature_size, mdToken *out);
        RESERVED(29, 29);
        HRESULT(*GetMethodProps)
        (void *self, mdMethodDef method, mdTypeDef *out_type, WCHAR *name, ULONG capacity,
         ULONG *out_length, DWORD *out_attributes, const uint8_t **out_signature,
         ULONG *out_signature_size, ULONG *out_rva, DWORD *out_impl_flags);
        RESERVED(31, 51);
        /* Index 0 is the result. */
        HRESULT(*GetParamForMethodIndex)
        (void *self, mdMethodDef method, ULONG index, mdToken *out);
        RESERVED(53, 56);
        HRESULT(*GetFieldProps)
        (void *self, mdToken field, mdTypeDef *out_type, WCHAR *name, ULONG capacity,
         ULONG *out_length, DWORD *out_attributes, const uint8_t **out_signature,
         ULONG *out_signature_size, DWORD *out_value_type, const void **out_value,
         ULONG *out_value_length);
        RESERVED(58, 58);
        HRESULT(*GetParamProps)
        (void *self, mdToken parameter, mdMethodDef *out_method, ULONG *out_index, WCHAR *name,
         ULONG capacity, ULONG *out_length, DWORD *out_attributes, DWORD *out_value_type,
         const void **out_value, ULONG *out_value_length);
        RESERVED(60, 61);
        HRESULT (*GetNestedClassProps)(void *self, mdTypeDef nested, mdTypeDef *out_enclosing);
        RESERVED(63, 64);
        HRESULT(*EnumGenericParams)
        (void *self, void **list, mdToken owner, mdGenericParam *parameters, ULONG capacity,
         ULONG *out_count);
        HRESULT(*GetGenericParamProps)
        (void *self, mdGenericParam parameter, ULONG *out_index, DWORD *out_flags,
         mdToken *out_owner, DWORD *reserved, WCHAR *name, ULONG capacity, ULONG *out_length);
    } * vtbl;
};

_Static_assert(offsetof(struct metadata_import_vtbl, FindTypeDefByName) == 9 * sizeof(void *), "9");
_Static_assert(offsetof(struct metadata_import_vtbl, GetTypeRefProps) == 14 * sizeof(void *), "14");
_Static_assert(offsetof(struct metadata_import_vtbl, FindField) == 28 * sizeof(void *), "28");
_Static_assert(offsetof(struct metadata_import_vtbl, GetParamForMethodIndex) == 52 * sizeof(void *),
               "52");
_Static_assert(offsetof(struct metadata_import_vtbl, GetParamProps) == 59 * sizeof(void *), "59");
_Static_assert(offsetof(struct metadata_import_vtbl, GetTypeDefProps) == 12 * sizeof(void *), "12");
_Static_assert(offsetof(struct metadata_import_vtbl, GetMethodProps) == 30 * sizeof(void *), "30");
_Static_assert(offsetof(struct metadata_import_vtbl, GetFieldProps) == 57 * sizeof(void *), "57");
_Static_assert(offsetof(struct metadata_import_vtbl, GetNestedClassProps) == 62 * sizeof(void *),
               "62");
_Static_assert(offsetof(struct metadata_import_vtbl, FindMethod) == 27 * sizeof(void *), "27");
_Static_assert(offsetof(struct metadata_import_vtbl, GetGenericParamProps) == 66 * sizeof(void *),
               "66");

#undef RESERVED
#undef INFO_SLOT

#endif
