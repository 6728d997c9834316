#include "info_elt.h"

#include <string.h>

bool info_set_hooks(struct corprof_info *info, void (*enter)(void), void (*leave)(void),
                    void (*tailcall)(void))
{
    return SUCCEEDED(info->vtbl->SetEnterLeaveFunctionHooks3(info, enter, leave, tailcall));
}

bool info_set_hooks_with_info(struct corprof_info *info, COR_PRF_ELT_HOOK *enter,
                              COR_PRF_ELT_HOOK *leave, COR_PRF_ELT_HOOK *tailcall)
{
    return SUCCEEDED(info->vtbl->SetEnterLeaveFunctionHooks3WithInfo(info, enter, leave, tailcall));
}

bool info_set_mapper(struct corprof_info *info, info_mapper map)
{
    return SUCCEEDED(info->vtbl->SetFunctionIDMapper2(info, map, NULL));
}

bool info_arguments(struct corprof_info *info, FunctionID function, COR_PRF_ELT_INFO call,
                    COR_PRF_FUNCTION_ARGUMENT_INFO *out, ULONG *size)
{
    COR_PRF_FRAME_INFO frame = 0;
    ULONG given = *size, needed = given;
    HRESULT hr;

    memset(out, 0, given);
    hr = info->vtbl->GetFunctionEnter3Info(info, function, call, &frame, &needed, out);
    *size = hr == HR_INSUFFICIENT_BUFFER && needed > given ? needed : 0;
    if (!SUCCEEDED(hr) || INFO_RANGES_SIZE((size_t)out->numRanges) > given)
        return false;
    *size = given;
    return true;
}

bool info_result(struct corprof_info *info, FunctionID function, COR_PRF_ELT_INFO call,
                 COR_PRF_FUNCTION_ARGUMENT_RANGE *out)
{
    COR_PRF_FRAME_INFO frame = 0;

    memset(out, 0, sizeof(*out));
    return SUCCEEDED(info->vtbl->GetFunctionLeave3Info(info, function, call, &frame, out));
}
