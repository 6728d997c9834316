#include "callbacks.h"

#include <stdatomic.h>

#include "gate.h"
#include "profiler.h"
#include "writer.h"

/* These run one at a time for the process, on the thread that collects or suspends; a foreground
 * collection may lie within a background one, and no deeper. */
#define GC_NESTING_MAX 2

static struct {
    uint32_t open[GC_NESTING_MAX];
    uint32_t depth;
} gc;
static _Atomic COR_PRF_SUSPEND_REASON suspend_reason;

static void open_collection(uint32_t number)
{
    /* The oldest one ended unheard, while the category was off. */
    if (gc.depth == GC_NESTING_MAX) {
        gc.open[0] = gc.open[1];
        gc.depth--;
    }
    gc.open[gc.depth++] = number;
}

HRESULT on_gc_start(void *self, int32_t generation_count, BOOL *collected, COR_PRF_GC_REASON reason)
{
    struct trd_ev_gc_start *event;
    uint32_t number, generations = 0;
    struct writer writer;

    (void)self;
    number = ++profiler_get()->collections;
    open_collection(number);
    if (!gate_wants(TRD_CATEGORY_GC))
        return S_OK;
    for (int32_t i = 0; collected && i < generation_count && i < 32; i++)
        generations |= collected[i] ? 1u << i : 0;
    event = WRITER_BEGIN(&writer, gc_start, GC, 0);
    if (event) {
        event->number = number;
        event->generations = generations;
        event->reason = (uint32_t)reason;
        writer_commit(&writer);
    }
    return S_OK;
}

HRESULT on_gc_end(void *self)
{
    struct trd_ev_gc_end *event;
    struct writer writer;
    uint32_t number;

    (void)self;
    if (gc.depth == 0) /* it began before the profiler came */
        return S_OK;
    number = gc.open[--gc.depth];
    if (gate_wants(TRD_CATEGORY_GC) && (event = WRITER_BEGIN(&writer, gc_end, GC, 0))) {
        event->number = number;
        writer_commit(&writer);
    }
    return S_OK;
}

/* The five phases differ in their id only. */
static void emit_suspension(uint16_t id)
{
    struct trd_ev_suspend_begin *event;
    struct writer writer;

    if (!gate_wants(TRD_CATEGORY_GC))
        return;
    event = writer_begin(&writer, id, TRD_CATEGORY_GC, sizeof(*event), 0);
    if (!event)
        return;
    event->reason = (uint32_t)atomic_load_explicit(&suspend_reason, memory_order_relaxed);
    writer_commit(&writer);
}

HRESULT on_suspend_begin(void *self, COR_PRF_SUSPEND_REASON reason)
{
    (void)self;
    atomic_store_explicit(&suspend_reason, reason, memory_order_relaxed);
    emit_suspension(TRD_EV_suspend_begin);
    return S_OK;
}

HRESULT on_suspend_end(void *self)
{
    (void)self;
    emit_suspension(TRD_EV_suspend_end);
    return S_OK;
}

HRESULT on_suspend_aborted(void *self)
{
    (void)self;
    emit_suspension(TRD_EV_suspend_aborted);
    return S_OK;
}

HRESULT on_resume_begin(void *self)
{
    (void)self;
    emit_suspension(TRD_EV_resume_begin);
    return S_OK;
}

HRESULT on_resume_end(void *self)
{
    (void)self;
    emit_suspension(TRD_EV_resume_end);
    return S_OK;
}
