#include "callbacks.h"

#include <stdatomic.h>

#include "gate.h"
#include "profiler.h"
#include "writer.h"

/* These run one at a time for the process, on the thread that collects or suspends; a foreground
 * collection may lie within a background one, and no deeper. */
#define GC_NESTING_MAX 2
#define GENERATIONS_MAX 32
#define FULL (1u << 2) /* generation 2 among those collected */

struct collection {
    uint32_t number;
    uint32_t generations;
    uint32_t reason;
};

static struct {
    struct collection open[GC_NESTING_MAX];
    uint32_t depth;
    struct collection last_full; /* ended, as it seemed; number 0 = none */
} gc;
static _Atomic COR_PRF_SUSPEND_REASON suspend_reason;

static void emit_gc_start(const struct collection *collection)
{
    struct writer writer;
    struct trd_ev_gc_start *event = WRITER_BEGIN(&writer, gc_start, GC, 0);

    if (!event)
        return;
    event->number = collection->number;
    event->generations = collection->generations;
    event->reason = collection->reason;
    writer_commit(&writer);
}

static void emit_gc_end(uint32_t number)
{
    struct writer writer;
    struct trd_ev_gc_end *event = WRITER_BEGIN(&writer, gc_end, GC, 0);

    if (!event)
        return;
    event->number = number;
    writer_commit(&writer);
}

static void open_collection(const struct collection *collection)
{
    /* The oldest one ended unheard, while the category was off. */
    if (gc.depth == GC_NESTING_MAX) {
        gc.open[0] = gc.open[1];
        gc.depth--;
    }
    gc.open[gc.depth++] = *collection;
    if (collection->generations & FULL)
        gc.last_full.number = 0;
}

HRESULT on_gc_start(void *self, int32_t generation_count, BOOL *collected, COR_PRF_GC_REASON reason)
{
    struct collection collection = { .number = ++profiler_get()->collections,
                                     .reason = (uint32_t)reason };

    (void)self;
    for (int32_t i = 0; collected && i < generation_count && i < GENERATIONS_MAX; i++)
        collection.generations |= collected[i] ? 1u << i : 0;
    open_collection(&collection);
    if (gate_wants(TRD_CATEGORY_GC))
        emit_gc_start(&collection);
    return S_OK;
}

/*
 * One end more than starts. Before a background collection the runtime may do one of the younger
 * generations; it counts two, announces one start, and two ends: the first looked like the full
 * collection's, and this one is (measured on 8, 9 and 10). Without a full start before it, the
 * collection began before the profiler came.
 */
static void end_unannounced_collection(void)
{
    struct collection collection = gc.last_full;

    if (collection.number == 0)
        return;
    gc.last_full.number = 0;
    collection.number = ++profiler_get()->collections;
    if (!gate_wants(TRD_CATEGORY_GC))
        return;
    emit_gc_start(&collection);
    emit_gc_end(collection.number);
}

HRESULT on_gc_end(void *self)
{
    struct collection *collection;

    (void)self;
    if (gc.depth == 0) {
        end_unannounced_collection();
        return S_OK;
    }
    collection = &gc.open[--gc.depth];
    if (collection->generations & FULL)
        gc.last_full = *collection;
    if (gate_wants(TRD_CATEGORY_GC))
        emit_gc_end(collection->number);
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
