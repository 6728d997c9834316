/*
 * Questions about EventPipe, asked as info.h asks. Only where the runtime offered
 * ICorProfilerInfo12 (.NET 5 and later).
 */
#ifndef TRD_PROFILER_INFO_EVENTPIPE_H
#define TRD_PROFILER_INFO_EVENTPIPE_H

#include <stdbool.h>
#include <stdint.h>

#include "info.h"

#define INFO_EVENTPIPE_VERSION 12

/*
 * Initialize, InitializeForAttach or an own thread; hold no lock: events of the session are
 * delivered on this thread before it returns. The runtime copies what it is given. *out_hr says why
 * there is no session.
 */
bool info_start_session(struct corprof_info *info, COR_PRF_EVENTPIPE_PROVIDER_CONFIG *configs,
                        uint32_t count, EVENTPIPE_SESSION *out, HRESULT *out_hr);
/* Own thread. */
void info_stop_session(struct corprof_info *info, EVENTPIPE_SESSION session);
/* Any thread, also in the delivery of an event. */
bool info_provider(struct corprof_info *info, EVENTPIPE_PROVIDER provider, struct info_name *out);

#endif
