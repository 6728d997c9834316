/* The event of bench_ring as an LTTng-UST tracepoint: one number. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER tracerd_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_event.h"

#if !defined(TRD_BENCH_LTTNG_EVENT_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TRD_BENCH_LTTNG_EVENT_H

#include <lttng/tracepoint.h>
#include <stdint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(tracerd_bench, number,
    LTTNG_UST_TP_ARGS(uint64_t, number),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, number, number)))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
