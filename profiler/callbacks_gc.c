#include "callbacks.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "gate.h"
#include "info_heap.h"
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
    uint32_t resumes; /* at its start */
};

static struct {
    struct collection open[GC_NESTING_MAX];
    uint32_t depth;
    struct collection last_full; /* ended, as it seemed; number 0 = none */
} gc;
static _Atomic COR_PRF_SUSPEND_REASON suspend_reason;
/* Since load. A collection between whose start and end there is one ran in the background. */
static _Atomic uint32_t resumes;

/* What the collection that runs moved and kept, told when it ends. */
static struct survivors {
    bool told;
    uint32_t moved_ranges, kept_ranges;
    uint64_t moved_bytes, kept_bytes;
} survivors;

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

static void emit_gc_end(uint32_t number, bool background)
{
    struct writer writer;
    struct trd_ev_gc_end *event = WRITER_BEGIN(&writer, gc_end, GC, 0);

    if (!event)
        return;
    event->number = number;
    event->background = background;
    writer_commit(&writer);
}

static void emit_gc_heap(uint32_t number)
{
    struct trd_ev_gc_heap *event;
    struct writer writer;
    struct info_heap heap;

    if (!info_heap(profiler_get()->info, &heap) || !(event = WRITER_BEGIN(&writer, gc_heap, GC, 0)))
        return;
    *event = (struct trd_ev_gc_heap){
        .number = number,
        .ranges = heap.ranges,
        .gen0_used = heap.used[0],
        .gen0_reserved = heap.reserved[0],
        .gen1_used = heap.used[1],
        .gen1_reserved = heap.reserved[1],
        .gen2_used = heap.used[2],
        .gen2_reserved = heap.reserved[2],
        .large_used = heap.used[3],
        .large_reserved = heap.reserved[3],
        .pinned_used = heap.used[4],
        .pinned_reserved = heap.reserved[4],
        .partial = heap.partial,
    };
    writer_commit(&writer);
}

static void emit_gc_survived(uint32_t number)
{
    struct survivors sums = survivors;
    struct trd_ev_gc_survived *event;
    struct writer writer;

    survivors = (struct survivors){ 0 };
    if (!sums.told || !gate_wants(TRD_CATEGORY_GCHEAP) ||
        !(event = WRITER_BEGIN(&writer, gc_survived, GCHEAP, 0)))
        return;
    event->number = number;
    event->moved_ranges = sums.moved_ranges;
    event->moved_bytes = sums.moved_bytes;
    event->kept_ranges = sums.kept_ranges;
    event->kept_bytes = sums.kept_bytes;
    writer_commit(&writer);
}

/* The collection, and the heap as it leaves it. */
static void end_collection(const struct collection *collection)
{
    uint32_t now = atomic_load_explicit(&resumes, memory_order_relaxed);

    emit_gc_survived(collection->number);
    if (!gate_wants(TRD_CATEGORY_GC))
        return;
    emit_gc_end(collection->number, collection->resumes != now);
    emit_gc_heap(collection->number);
}

static uint64_t sum_of(ULONG count, const SIZE_T *lengths)
{
    uint64_t sum = 0;

    for (ULONG i = 0; lengths && i < count; i++)
        sum += lengths[i];
    return sum;
}

/* From .NET 6 on the flag for moved objects costs what it cost before, and calls nobody (measured
 * on 8, 9 and 10). 3.1 calls itself 4. */
bool gc_tells_survivors(void)
{
    return profiler_get()->runtime.major < 6;
}

/* The runtime hands the ranges over in slices. A range that is told as moved may have stayed. */
HRESULT on_moved(void *self, ULONG count, ObjectID *old_starts, ObjectID *new_starts,
                 SIZE_T *lengths)
{
    (void)self;
    if (!gate_wants(TRD_CATEGORY_GCHEAP))
        return S_OK;
    survivors.told = true;
    for (ULONG i = 0; old_starts && new_starts && lengths && i < count; i++)
        if (old_starts[i] == new_starts[i]) {
            survivors.kept_ranges++;
            survivors.kept_bytes += lengths[i];
        } else {
            survivors.moved_ranges++;
            survivors.moved_bytes += lengths[i];
        }
    return S_OK;
}

HRESULT on_survived(void *self, ULONG count, ObjectID *starts, SIZE_T *lengths)
{
    (void)self;
    (void)starts;
    if (!gate_wants(TRD_CATEGORY_GCHEAP))
        return S_OK;
    survivors.told = true;
    survivors.kept_ranges += count;
    survivors.kept_bytes += sum_of(count, lengths);
    return S_OK;
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
                                     .reason = (uint32_t)reason,
                                     .resumes =
                                         atomic_load_explicit(&resumes, memory_order_relaxed) };

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
    if (gate_wants(TRD_CATEGORY_GC))
        emit_gc_start(&collection);
    end_collection(&collection);
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
    end_collection(collection);
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
    atomic_fetch_add_explicit(&resumes, 1, memory_order_relaxed);
    emit_suspension(TRD_EV_resume_begin);
    return S_OK;
}

HRESULT on_resume_end(void *self)
{
    (void)self;
    emit_suspension(TRD_EV_resume_end);
    return S_OK;
}
