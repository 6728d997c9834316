#include "info_elt.h"

bool info_set_hooks(struct corprof_info *info, void (*enter)(void), void (*leave)(void),
                    void (*tailcall)(void))
{
    return SUCCEEDED(info->vtbl->SetEnterLeaveFunctionHooks3(info, enter, leave, tailcall));
}

bool info_set_mapper(struct corprof_info *info, info_mapper map)
{
    return SUCCEEDED(info->vtbl->SetFunctionIDMapper2(info, map, NULL));
}
