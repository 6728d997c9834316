/*
 * The vtable the runtime sees: every recorded callback of callbacks.c, counted as under way from
 * before it looks at the gate until it has returned (in_flight.h). One that finds the gate closed
 * has nothing to do; before the first start there is nowhere to count it either. Life cycle and
 * IUnknown are passed on as they are: some of them wait for callbacks, none is waited for.
 */
#include "callbacks.h"
#include "gate.h"
#include "in_flight.h"
#include "profiler.h"
#include "writer.h"

/* At most five arguments behind `this`, integers and pointers: they come in registers, each of
 * which is passed on whole, whether this slot uses it or not. */
typedef HRESULT (*by_registers)(void *self, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,
                                uintptr_t e);

#define RECORDED(method) ((by_registers)(void *)callbacks_recorded.method)

/* The unused one is that of the slot with twelve arguments. */
#define CORPROF_SLOT(slot, method, ...)                                                            \
    static __attribute__((unused)) HRESULT counted_##method(void *self, uintptr_t a, uintptr_t b,  \
                                                            uintptr_t c, uintptr_t d, uintptr_t e) \
    {                                                                                              \
        struct in_flight *in_flight;                                                               \
        HRESULT hr;                                                                                \
                                                                                                   \
        if (!gate_is_open())                                                                       \
            return S_OK;                                                                           \
        in_flight = in_flight_enter();                                                             \
        /* Once counted: detach closes the gate first and looks at the counts then. */             \
        hr = gate_is_open() ? RECORDED(method)(self, a, b, c, d, e) : S_OK;                        \
        in_flight_leave(in_flight);                                                                \
        return hr;                                                                                 \
    }
#include "callback_slots.def"
#undef CORPROF_SLOT

static HRESULT counted_event_delivered(void *self, EVENTPIPE_PROVIDER provider, DWORD id,
                                       DWORD version, ULONG metadata_size, const BYTE *metadata,
                                       ULONG data_size, const BYTE *data, const GUID *activity,
                                       const GUID *related, ThreadID thread, ULONG frame_count,
                                       UINT_PTR *frames)
{
    struct in_flight *in_flight;
    HRESULT hr;

    if (!gate_is_open())
        return S_OK;
    in_flight = in_flight_enter();
    hr = gate_is_open() ? callbacks_recorded.EventPipeEventDelivered(
                              self, provider, id, version, metadata_size, metadata, data_size, data,
                              activity, related, thread, frame_count, frames)
                        : S_OK;
    in_flight_leave(in_flight);
    return hr;
}

/*
 * Steps of an exception come ten to a throw, and mostly nobody wants them: then they leave at once,
 * uncounted, having looked at the gate and touched nothing. What passes is counted and looks again.
 */
#define WHERE_WANTED(method, categories)                                                           \
    static HRESULT wanted_##method(void *self, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, \
                                   uintptr_t e)                                                    \
    {                                                                                              \
        return gate_wants_any(categories) ? counted_##method(self, a, b, c, d, e) : S_OK;          \
    }
#define STEPS TRD_CATEGORY_BIT(UNWIND)
WHERE_WANTED(ExceptionSearchFunctionLeave, STEPS)
WHERE_WANTED(ExceptionSearchFilterEnter, STEPS)
WHERE_WANTED(ExceptionSearchFilterLeave, STEPS)
WHERE_WANTED(ExceptionSearchCatcherFound, STEPS)
WHERE_WANTED(ExceptionUnwindFunctionEnter, STEPS | TRD_CATEGORY_BIT(METHOD))
WHERE_WANTED(ExceptionUnwindFunctionLeave, STEPS | TRD_CATEGORY_BIT(METHOD))
WHERE_WANTED(ExceptionUnwindFinallyEnter, STEPS)
WHERE_WANTED(ExceptionUnwindFinallyLeave, STEPS)
WHERE_WANTED(ExceptionCatcherLeave, STEPS)

/* Of those searched after a throw only the first method is wanted by default. */
static HRESULT wanted_ExceptionSearchFunctionEnter(void *self, uintptr_t a, uintptr_t b,
                                                   uintptr_t c, uintptr_t d, uintptr_t e)
{
    if (gate_wants_any(STEPS) ||
        (gate_wants(TRD_CATEGORY_EXCEPTION) && writer_kept().position != 0))
        return counted_ExceptionSearchFunctionEnter(self, a, b, c, d, e);
    return S_OK;
}

#define PASSED_ON(method)                                                                          \
    static HRESULT passed_on_##method(void *self, uintptr_t a, uintptr_t b, uintptr_t c,           \
                                      uintptr_t d, uintptr_t e)                                    \
    {                                                                                              \
        return RECORDED(method)(self, a, b, c, d, e);                                              \
    }
PASSED_ON(QueryInterface)
PASSED_ON(AddRef)
PASSED_ON(Release)
PASSED_ON(Initialize)
PASSED_ON(InitializeForAttach)
PASSED_ON(Shutdown)
PASSED_ON(ProfilerAttachComplete)
PASSED_ON(ProfilerDetachSucceeded)
PASSED_ON(LoadAsNotificationOnly)

#pragma GCC diagnostic push
#ifdef __clang__
#pragma GCC diagnostic ignored "-Winitializer-overrides"
#else
#pragma GCC diagnostic ignored "-Woverride-init"
#endif
const struct corprof_callback_vtbl profiler_callbacks = {
#define CORPROF_SLOT(slot, method, ...)                                                            \
    .method = (HRESULT(*)(void *, ##__VA_ARGS__))(void *)counted_##method,
#include "callback_slots.def"
#undef CORPROF_SLOT
#define PASSED(method) .method = (void *)passed_on_##method
    .EventPipeEventDelivered = counted_event_delivered,
#define WANTED(method) .method = (void *)wanted_##method
    WANTED(ExceptionSearchFunctionEnter),
    WANTED(ExceptionSearchFunctionLeave),
    WANTED(ExceptionSearchFilterEnter),
    WANTED(ExceptionSearchFilterLeave),
    WANTED(ExceptionSearchCatcherFound),
    WANTED(ExceptionUnwindFunctionEnter),
    WANTED(ExceptionUnwindFunctionLeave),
    WANTED(ExceptionUnwindFinallyEnter),
    WANTED(ExceptionUnwindFinallyLeave),
    WANTED(ExceptionCatcherLeave),
    PASSED(QueryInterface),
    PASSED(AddRef),
    PASSED(Release),
    PASSED(Initialize),
    PASSED(InitializeForAttach),
    PASSED(Shutdown),
    PASSED(ProfilerAttachComplete),
    PASSED(ProfilerDetachSucceeded),
    PASSED(LoadAsNotificationOnly),
};
#pragma GCC diagnostic pop
