#include "eventpipe_event.h"

#include <stddef.h>

/* Ids of Microsoft-Windows-DotNETRuntime. */
enum {
    GC_HEAP_STATS = 4,
    GC_ALLOCATION_TICK = 10,
    GC_FINALIZERS_END = 13,
    POOL_WORKER_START = 50,
    POOL_WORKER_STOP = 51,
    POOL_SAMPLE = 54,
    POOL_ADJUSTMENT = 55,
    POOL_WORKER_WAIT = 57,
    POOL_MIN_MAX = 59,
    CONTENTION_START = 81,
    CONTENTION_STOP = 91,
    ALLOCATION_SAMPLED = 303,
};

/* Ids of FrameworkEventSource. */
enum {
    POOL_ENQUEUE = 30,
    POOL_DEQUEUE = 31,
};

#define IS(out, event, group)                                                                      \
    ((out)->id = TRD_EV_##event, (out)->category = TRD_CATEGORY_##group,                           \
     (out)->fixed_size = sizeof((out)->fixed.event), &(out)->fixed.event)

static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* u8 ContentionFlags, u16 ClrInstanceID; since V2 (.NET 8) IntPtr LockID, IntPtr
 * AssociatedObjectID, u64 LockOwnerThreadID, which is the OS thread's id (measured). */
static void contention_start(struct cursor *cursor, struct eventpipe_event *out)
{
    struct trd_ev_contention_start *event = IS(out, contention_start, CONTENTION);

    event->native = cursor_u8(cursor) != 0;
    (void)cursor_u16(cursor);
    if (cursor->left == 0)
        return;
    event->lock = cursor_u64(cursor);
    event->object = cursor_u64(cursor);
    event->owner = (uint32_t)cursor_u64(cursor);
}

/* u8 ContentionFlags, u16 ClrInstanceID, f64 DurationNs. */
static void contention_stop(struct cursor *cursor, struct eventpipe_event *out)
{
    struct trd_ev_contention_stop *event = IS(out, contention_stop, CONTENTION);
    double duration;

    event->native = cursor_u8(cursor) != 0;
    (void)cursor_u16(cursor);
    duration = cursor_f64(cursor);
    /* Out of range, or no number: a conversion would be undefined. */
    event->duration = duration > 0 && duration < 1e18 ? (uint64_t)duration : 0;
}

/* u32 ActiveWorkerThreadCount, u32 RetiredWorkerThreadCount (always 0 in the managed pool). */
static void worker_start(struct cursor *cursor, struct eventpipe_event *out)
{
    IS(out, pool_worker_start, THREADPOOL)->active = cursor_u32(cursor);
}

static void worker_stop(struct cursor *cursor, struct eventpipe_event *out)
{
    IS(out, pool_worker_stop, THREADPOOL)->active = cursor_u32(cursor);
}

static void worker_wait(struct cursor *cursor, struct eventpipe_event *out)
{
    IS(out, pool_worker_wait, THREADPOOL)->active = cursor_u32(cursor);
}

/* f64 AverageThroughput, u32 NewWorkerThreadCount, u32 Reason. */
static void adjustment(struct cursor *cursor, struct eventpipe_event *out)
{
    struct trd_ev_pool_adjustment *event = IS(out, pool_adjustment, THREADPOOL);

    event->throughput = bits_of(cursor_f64(cursor));
    event->workers = cursor_u32(cursor);
    event->reason = cursor_u32(cursor);
}

static void sample(struct cursor *cursor, struct eventpipe_event *out)
{
    IS(out, pool_sample, THREADPOOL)->throughput = bits_of(cursor_f64(cursor));
}

/* u16 MinWorkerThreads, MaxWorkerThreads, MinIOCompletionThreads, MaxIOCompletionThreads. */
static void limits(struct cursor *cursor, struct eventpipe_event *out)
{
    struct trd_ev_pool_limits *event = IS(out, pool_limits, THREADPOOL);

    event->min_workers = cursor_u16(cursor);
    event->max_workers = cursor_u16(cursor);
    event->min_io = cursor_u16(cursor);
    event->max_io = cursor_u16(cursor);
}

/* u32 AllocationAmount, u32 AllocationKind, u16 ClrInstanceID, u64 AllocationAmount64, IntPtr
 * TypeID, String TypeName, u32 HeapIndex, IntPtr Address, since V4 (.NET 6) u64 ObjectSize. */
static void allocation_tick(struct cursor *cursor, struct eventpipe_event *out)
{
    struct trd_ev_allocation_tick *event = IS(out, allocation_tick, ALLOCATION);

    (void)cursor_u32(cursor);
    event->kind = cursor_u32(cursor);
    (void)cursor_u16(cursor);
    event->amount = cursor_u64(cursor);
    event->type_id = cursor_u64(cursor);
    out->text = cursor_string(cursor);
    out->text_offset = offsetof(struct trd_ev_allocation_tick, type);
    (void)cursor_u32(cursor);
    event->address = cursor_u64(cursor);
    if (cursor->left > 0)
        event->size = cursor_u64(cursor);
}

/* u32 AllocationKind, u16 ClrInstanceID, IntPtr TypeID, String TypeName, IntPtr Address, u64
 * ObjectSize, u64 SampledByteOffset. */
static void allocation_sampled(struct cursor *cursor, struct eventpipe_event *out)
{
    struct trd_ev_allocation_sampled *event = IS(out, allocation_sampled, ALLOCATION);

    event->kind = cursor_u32(cursor);
    (void)cursor_u16(cursor);
    event->type_id = cursor_u64(cursor);
    out->text = cursor_string(cursor);
    out->text_offset = offsetof(struct trd_ev_allocation_sampled, type);
    event->address = cursor_u64(cursor);
    event->size = cursor_u64(cursor);
    event->offset = cursor_u64(cursor);
}

/* u64 GenerationSize and TotalPromotedSize of 0, 1, 2 and 3, u64 FinalizationPromotedSize, u64
 * FinalizationPromotedCount, u32 PinnedObjectCount, u32 SinkBlockCount, u32 GCHandleCount, u16
 * ClrInstanceID, since V2 u64 GenerationSize4, u64 TotalPromotedSize4. */
static void heap_stats(struct cursor *cursor, struct eventpipe_event *out)
{
    struct trd_ev_gc_stats *event = IS(out, gc_stats, GCHEAP);
    uint64_t promoted[4];

    for (size_t i = 0; i < 4; i++) {
        (void)cursor_u64(cursor);
        promoted[i] = cursor_u64(cursor);
    }
    event->promoted0 = promoted[0];
    event->promoted1 = promoted[1];
    event->promoted2 = promoted[2];
    event->promoted_large = promoted[3];
    event->finalization_bytes = cursor_u64(cursor);
    event->finalization_count = cursor_u64(cursor);
    event->pinned_objects = cursor_u32(cursor);
    event->sync_blocks = cursor_u32(cursor);
    event->handles = cursor_u32(cursor);
    (void)cursor_u16(cursor);
    if (cursor->left == 0)
        return;
    (void)cursor_u64(cursor);
    event->promoted_pinned = cursor_u64(cursor);
}

/* u32 Count, u16 ClrInstanceID. */
static void finalizers_end(struct cursor *cursor, struct eventpipe_event *out)
{
    IS(out, finalizers_end, GCHEAP)->count = cursor_u32(cursor);
}

bool eventpipe_event_of_runtime(uint32_t id, const uint8_t *bytes, size_t size,
                                struct eventpipe_event *out)
{
    static const struct {
        uint32_t id;
        void (*parse)(struct cursor *cursor, struct eventpipe_event *out);
    } known[] = {
        { CONTENTION_START, contention_start },
        { CONTENTION_STOP, contention_stop },
        { POOL_WORKER_START, worker_start },
        { POOL_WORKER_STOP, worker_stop },
        { POOL_WORKER_WAIT, worker_wait },
        { POOL_ADJUSTMENT, adjustment },
        { POOL_SAMPLE, sample },
        { POOL_MIN_MAX, limits },
        { GC_ALLOCATION_TICK, allocation_tick },
        { ALLOCATION_SAMPLED, allocation_sampled },
        { GC_HEAP_STATS, heap_stats },
        { GC_FINALIZERS_END, finalizers_end },
    };
    struct cursor cursor = { .at = bytes, .left = size };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].id == id) {
            memset(out, 0, sizeof(*out));
            known[i].parse(&cursor, out);
            return !cursor.failed;
        }
    return false;
}

bool eventpipe_event_of_framework(uint32_t id, const uint8_t *bytes, size_t size,
                                  struct eventpipe_event *out)
{
    struct cursor cursor = { .at = bytes, .left = size };

    memset(out, 0, sizeof(*out));
    if (id == POOL_ENQUEUE)
        IS(out, pool_enqueue, THREADPOOL)->item = cursor_u64(&cursor);
    else if (id == POOL_DEQUEUE)
        IS(out, pool_dequeue, THREADPOOL)->item = cursor_u64(&cursor);
    else
        return false;
    return !cursor.failed;
}
