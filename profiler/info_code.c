#include "info_code.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "info.h"

size_t info_code_starts(struct corprof_info *info, FunctionID function, ReJITID rejit,
                        UINT_PTR starts[INFO_BODIES_MAX])
{
    ULONG32 count = 0;

    memset(starts, 0, INFO_BODIES_MAX * sizeof(starts[0]));
    if (!SUCCEEDED(info->vtbl->GetNativeCodeStartAddresses(info, function, rejit, INFO_BODIES_MAX,
                                                           &count, starts)))
        return 0;
    return count < INFO_BODIES_MAX ? count : INFO_BODIES_MAX;
}

size_t info_code_parts(struct corprof_info *info, UINT_PTR start,
                       COR_PRF_CODE_INFO parts[INFO_PARTS_MAX])
{
    ULONG32 count = 0;
    size_t used = 0;

    memset(parts, 0, INFO_PARTS_MAX * sizeof(parts[0]));
    if (!SUCCEEDED(info->vtbl->GetCodeInfo4(info, start, INFO_PARTS_MAX, &count, parts)))
        return 0;
    for (size_t i = 0; i < count && i < INFO_PARTS_MAX; i++)
        if (parts[i].startAddress && parts[i].size)
            parts[used++] = parts[i];
    return used;
}

size_t info_il_map(struct corprof_info *info, UINT_PTR start, COR_DEBUG_IL_TO_NATIVE_MAP *out,
                   size_t capacity, bool *out_cut)
{
    ULONG32 count = 0;

    *out_cut = false;
    memset(out, 0, capacity * sizeof(*out));
    if (!SUCCEEDED(info->vtbl->GetILToNativeMapping3(info, start, (ULONG32)capacity, &count, out)))
        return 0;
    *out_cut = count > capacity;
    return *out_cut ? capacity : count;
}

bool info_function_at(struct corprof_info *info, UINT_PTR address, FunctionID *out_function,
                      ReJITID *out_rejit)
{
    FunctionID function = 0;
    ReJITID rejit = 0;

    if (!SUCCEEDED(
            info->vtbl->GetFunctionFromIP3(info, (const BYTE *)address, &function, &rejit)) ||
        !function)
        return false;
    *out_function = function;
    *out_rejit = rejit;
    return true;
}

/* Of our own memory, which may be unmapped meanwhile: the kernel says so, where a load would kill
 * the application. */
static bool peek(UINT_PTR address, void *out, size_t size)
{
    struct iovec to = { out, size }, from = { (void *)address, size };

    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)size;
}

/* PE: the offset of the PE header stands at 0x3c, SizeOfImage 0x50 bytes behind its signature.
 * Source: Microsoft PE format, "MS-DOS stub" and "Optional header". */
#define PE_HEADER_AT 0x3c
#define PE_IMAGE_SIZE_AT 0x50
#define PE_SIGNATURE 0x00004550u

static uint32_t image_size(UINT_PTR base)
{
    uint32_t header = 0, signature = 0, size = 0;

    if (!peek(base + PE_HEADER_AT, &header, sizeof(header)) ||
        !peek(base + header, &signature, sizeof(signature)) || signature != PE_SIGNATURE ||
        !peek(base + header + PE_IMAGE_SIZE_AT, &size, sizeof(size)))
        return 0;
    return size;
}

bool info_module_has(struct corprof_info *info, ModuleID module, UINT_PTR address)
{
    struct info_name path;
    AssemblyID assembly;
    uintptr_t base = 0;

    return module && info_module(info, module, &base, &assembly, &path) && base &&
           address >= base && address - base < image_size(base);
}

#define ENUM_SLICE 64

static void each_of(struct corprof_function_enum *list, info_each_body each, void *context)
{
    COR_PRF_FUNCTION functions[ENUM_SLICE];
    bool go_on = true;
    ULONG fetched;

    do {
        fetched = 0;
        memset(functions, 0, sizeof(functions));
        /* S_FALSE: fewer than asked, all valid. */
        if (!SUCCEEDED(list->vtbl->Next(list, ENUM_SLICE, functions, &fetched)) ||
            fetched > ENUM_SLICE)
            break;
        for (ULONG i = 0; go_on && i < fetched; i++)
            if (functions[i].functionId)
                go_on = each(context, functions[i].functionId, functions[i].reJitId);
    } while (go_on && fetched == ENUM_SLICE);
    (void)list->vtbl->Release(list);
}

void info_each_function(struct corprof_info *info, info_each_body each, void *context)
{
    void *list = NULL;

    if (SUCCEEDED(info->vtbl->EnumJITedFunctions2(info, &list)) && list)
        each_of(list, each, context);
}
