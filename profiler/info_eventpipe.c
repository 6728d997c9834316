#include "info_eventpipe.h"

#include "info_answer.h"

bool info_start_session(struct corprof_info *info, COR_PRF_EVENTPIPE_PROVIDER_CONFIG *configs,
                        uint32_t count, EVENTPIPE_SESSION *out, HRESULT *out_hr)
{
    EVENTPIPE_SESSION session = 0;

    *out_hr = info->vtbl->EventPipeStartSession(info, count, configs, 0, &session);
    if (!SUCCEEDED(*out_hr) || !session)
        return false;
    *out = session;
    return true;
}

void info_stop_session(struct corprof_info *info, EVENTPIPE_SESSION session)
{
    (void)info->vtbl->EventPipeStopSession(info, session);
}

bool info_provider(struct corprof_info *info, EVENTPIPE_PROVIDER provider, struct info_name *out)
{
    ULONG length = 0;

    info_clear_name(out);
    return SUCCEEDED(info->vtbl->EventPipeGetProviderInfo(info, provider, INFO_NAME_MAX, &length,
                                                          out->units)) &&
           info_settle_name(out, length);
}
