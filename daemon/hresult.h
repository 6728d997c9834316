/* What the runtime's answers mean, in words and with the next step. Source: corerror.h. */
#ifndef TRACERD_DAEMON_HRESULT_H
#define TRACERD_DAEMON_HRESULT_H

#include <stdint.h>

#define HRESULT_PROFILER_ALREADY_ACTIVE INT32_C(-2146233494) /* 0x8013136A */

/* One sentence without its full stop; never NULL. */
const char *hresult_text(int32_t hresult);

#endif
