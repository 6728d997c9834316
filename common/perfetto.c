#include "tracerd/perfetto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "perfetto_private.h"

/* protos/perfetto/trace: Trace, TracePacket */
#define TRACE_PACKET 1
#define PACKET_FTRACE 1
#define PACKET_CLOCKS 6
#define PACKET_TIMESTAMP 8
#define PACKET_SEQUENCE 10
#define PACKET_EVENT 11
#define PACKET_INTERNED 12
#define PACKET_SEQUENCE_FLAGS 13
#define PACKET_CLOCK 58
#define PACKET_TRACK 60
#define SEQUENCE 1
#define SEQUENCE_CLEARED 1
#define SEQUENCE_NEEDS_STATE 2
/* ClockSnapshot; builtin clocks */
#define CLOCKS_CLOCK 1
#define CLOCKS_PRIMARY 2
#define CLOCK_ID 1
#define CLOCK_TIME 2
#define REALTIME 1
#define MONOTONIC 3
#define BOOTTIME 6
/* InternedData: each kind is {iid = 1, name = 2} */
#define INTERNED_IID 1
#define INTERNED_NAME 2
/* FtraceEventBundle */
#define BUNDLE_CPU 1
/* TrackDescriptor, ProcessDescriptor, ThreadDescriptor, CounterDescriptor */
#define TRACK_UUID 1
#define TRACK_NAME 2
#define TRACK_PROCESS 3
#define TRACK_THREAD 4
#define TRACK_PARENT 5
#define TRACK_COUNTER 8
#define PROCESS_PID 1
#define THREAD_PID 1
#define THREAD_TID 2
#define THREAD_NAME 5
#define COUNTER_UNIT 3
#define UNIT_BYTES 3
/* TrackEvent */
#define EVENT_CATEGORY_IID 3
#define EVENT_TYPE 9
#define EVENT_NAME_IID 10
#define EVENT_TRACK 11
#define EVENT_CATEGORY 22
#define EVENT_NAME 23
#define EVENT_COUNTER 30
#define EVENT_ANNOTATION 4
#define ANNOTATION_UINT 3
#define ANNOTATION_NAME 10
#define TYPE_BEGIN 1
#define TYPE_END 2
#define TYPE_INSTANT 3
#define TYPE_COUNTER 4

#define BUNDLE_BYTES (32 * 1024)
#define FLUSH_BYTES (256 * 1024)
#define TEXTS_MAX (1u << 16)
#define TRACKS_MAX (1u << 20)

struct text {
    uint64_t iid;
    size_t size;
    char bytes[];
};

int trd_perfetto_create(struct trd_perfetto **out, const struct trd_json_names *names,
                        trd_perfetto_write write, void *context)
{
    struct trd_perfetto *perfetto = calloc(1, sizeof(*perfetto));

    if (!perfetto)
        return -ENOMEM;
    perfetto->cpus = calloc(PERFETTO_CPUS_MAX, sizeof(*perfetto->cpus));
    if (!perfetto->cpus) {
        free(perfetto);
        return -ENOMEM;
    }
    perfetto->names = names;
    perfetto->write = write;
    perfetto->context = context;
    perfetto->next_iid = 1;
    idmap_init(&perfetto->interned, TEXTS_MAX);
    idmap_init(&perfetto->tracks, TRACKS_MAX);
    idmap_init(&perfetto->plans, TEXTS_MAX);
    idmap_init(&perfetto->threads, TRACKS_MAX);
    idmap_init(&perfetto->wakings, TRACKS_MAX);
    *out = perfetto;
    return 0;
}

void trd_perfetto_destroy(struct trd_perfetto *perfetto)
{
    if (!perfetto)
        return;
    for (size_t i = 0; i < PERFETTO_CPUS_MAX; i++)
        proto_finish(&perfetto->cpus[i].events);
    free(perfetto->cpus);
    proto_finish(&perfetto->packets);
    proto_finish(&perfetto->packet);
    idmap_finish(&perfetto->interned, free);
    idmap_finish(&perfetto->tracks, NULL);
    idmap_finish(&perfetto->plans, perfetto_destroy_plan);
    idmap_finish(&perfetto->threads, NULL);
    idmap_finish(&perfetto->wakings, NULL);
    free(perfetto);
}

/* Packets */

static struct proto_out *begin_packet(struct trd_perfetto *perfetto)
{
    proto_clear(&perfetto->packet);
    return &perfetto->packet;
}

static void end_packet(struct trd_perfetto *perfetto)
{
    struct proto_out *packet = &perfetto->packet;

    proto_uint(packet, PACKET_SEQUENCE, SEQUENCE);
    proto_uint(packet, PACKET_SEQUENCE_FLAGS,
               perfetto->begun ? SEQUENCE_NEEDS_STATE : SEQUENCE_CLEARED);
    perfetto->begun = true;
    proto_bytes(&perfetto->packets, TRACE_PACKET, packet->bytes, packet->size);
    perfetto->packets.failed |= packet->failed;
}

static void put_time(struct proto_out *packet, uint64_t ts_ns)
{
    proto_uint(packet, PACKET_TIMESTAMP, ts_ns);
    proto_uint(packet, PACKET_CLOCK, MONOTONIC);
}

static int write_out(struct trd_perfetto *perfetto)
{
    int result = 0;

    if (perfetto->packets.failed)
        result = -ENOMEM;
    else if (perfetto->packets.size > 0)
        result =
            perfetto->write(perfetto->context, perfetto->packets.bytes, perfetto->packets.size);
    proto_clear(&perfetto->packets);
    return result;
}

static void announce(struct trd_perfetto *perfetto, enum perfetto_intern kind,
                     const struct text *text)
{
    struct proto_out *packet = begin_packet(perfetto);
    size_t interned = proto_begin(packet, PACKET_INTERNED);
    size_t entry = proto_begin(packet, kind);

    proto_uint(packet, INTERNED_IID, text->iid);
    proto_bytes(packet, INTERNED_NAME, text->bytes, text->size);
    proto_end(packet, entry);
    proto_end(packet, interned);
    end_packet(perfetto);
}

/* Only looks, where no packet may be made: a new text has no id then. */
static struct text *find_text(const struct trd_perfetto *perfetto, enum perfetto_intern kind,
                              const char *bytes, size_t size, uint64_t key)
{
    struct text *text = idmap_get(&perfetto->interned, key, kind);

    return text && text->size == size && memcmp(text->bytes, bytes, size) == 0 ? text : NULL;
}

uint64_t perfetto_intern(struct trd_perfetto *perfetto, enum perfetto_intern kind,
                         const char *bytes, size_t size)
{
    uint64_t key = hash_bytes(HASH_START, bytes, size);
    struct text *text = find_text(perfetto, kind, bytes, size, key);
    void *old;

    if (text)
        return text->iid;
    if (idmap_get(&perfetto->interned, key, kind)) /* another one of the same hash */
        return 0;
    text = malloc(sizeof(*text) + size);
    if (!text)
        return 0;
    text->iid = perfetto->next_iid;
    text->size = size;
    memcpy(text->bytes, bytes, size);
    if (idmap_set(&perfetto->interned, key, kind, text, &old) != 0) {
        free(text);
        return 0;
    }
    perfetto->next_iid++;
    announce(perfetto, kind, text);
    return text->iid;
}

/* Tracks */

static uint64_t uuid_of(uint64_t kind, uint64_t a, uint64_t b)
{
    const uint64_t key[3] = { kind, a, b };

    return hash_bytes(HASH_START, key, sizeof(key)) | 1;
}

/* Has it been announced with this name? If not, it is now. */
static bool is_announced(struct trd_perfetto *perfetto, uint64_t uuid, uint64_t name_hash)
{
    void *value = (void *)(uintptr_t)(name_hash | 1), *old = NULL;

    if (idmap_get(&perfetto->tracks, uuid, 0) == value)
        return true;
    (void)idmap_set(&perfetto->tracks, uuid, 0, value, &old);
    return false;
}

static uint64_t process_track(struct trd_perfetto *perfetto, int32_t pid)
{
    uint64_t uuid = uuid_of(1, (uint32_t)pid, 0);
    struct proto_out *packet;
    size_t track, process;

    if (is_announced(perfetto, uuid, 0))
        return uuid;
    packet = begin_packet(perfetto);
    track = proto_begin(packet, PACKET_TRACK);
    proto_uint(packet, TRACK_UUID, uuid);
    process = proto_begin(packet, TRACK_PROCESS);
    proto_int(packet, PROCESS_PID, pid);
    proto_end(packet, process);
    proto_end(packet, track);
    end_packet(perfetto);
    return uuid;
}

static uint64_t thread_track(struct trd_perfetto *perfetto, const struct trd_record *record)
{
    uint64_t uuid = uuid_of(2, (uint32_t)record->pid, (uint32_t)record->tid);
    uint64_t name =
        record->thread_size ? hash_bytes(HASH_START, record->thread, record->thread_size) : 0;
    struct proto_out *packet;
    void *old;
    size_t track, thread;

    if (record->tid > 0)
        (void)idmap_set(&perfetto->threads, (uint32_t)record->tid, 0, (void *)(uintptr_t)uuid,
                        &old);
    if (is_announced(perfetto, uuid, name))
        return uuid;
    packet = begin_packet(perfetto);
    track = proto_begin(packet, PACKET_TRACK);
    proto_uint(packet, TRACK_UUID, uuid);
    thread = proto_begin(packet, TRACK_THREAD);
    proto_int(packet, THREAD_PID, record->pid);
    proto_int(packet, THREAD_TID, record->tid);
    if (record->thread_size)
        proto_bytes(packet, THREAD_NAME, record->thread, record->thread_size);
    proto_end(packet, thread);
    proto_end(packet, track);
    end_packet(perfetto);
    return uuid;
}

/* Below another track (0 = the trace itself); `bytes`: of a counter, else 0. */
static uint64_t child_track(struct trd_perfetto *perfetto, uint64_t parent, const char *name,
                            bool is_counter)
{
    uint64_t uuid = uuid_of(3, parent, hash_bytes(HASH_START, name, strlen(name)));
    struct proto_out *packet;
    size_t track, counter;

    if (is_announced(perfetto, uuid, 0))
        return uuid;
    packet = begin_packet(perfetto);
    track = proto_begin(packet, PACKET_TRACK);
    proto_uint(packet, TRACK_UUID, uuid);
    proto_text(packet, TRACK_NAME, name);
    if (parent)
        proto_uint(packet, TRACK_PARENT, parent);
    if (is_counter) {
        counter = proto_begin(packet, TRACK_COUNTER);
        proto_uint(packet, COUNTER_UNIT, UNIT_BYTES);
        proto_end(packet, counter);
    }
    proto_end(packet, track);
    end_packet(perfetto);
    return uuid;
}

/* What lasts side by side with what runs on a thread has a track of its own. */
static uint64_t span_track(struct trd_perfetto *perfetto, const struct trd_record *record,
                           const char *name)
{
    static const struct {
        const char *span, *track;
        bool of_thread;
    } own[] = { { "clr:gc", "GC", false },
                { "clr:gc_pause", "GC pause", false },
                { "clr:suspension", "suspension", false },
                { "clr:jit", "JIT", true } };

    if (record->pid < 0)
        return child_track(perfetto, 0, name, false);
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        if (strcmp(own[i].span, name) == 0)
            return child_track(perfetto,
                               own[i].of_thread ? thread_track(perfetto, record)
                                                : process_track(perfetto, record->pid),
                               own[i].track, false);
    return thread_track(perfetto, record);
}

/* Events */

struct named {
    const char *text;
    size_t size;
    uint64_t iid;
    uint64_t category_iid;
};

/* "clr:gc_start" is gc_start of the category clr. */
static struct named name_of(struct trd_perfetto *perfetto, const char *full)
{
    const char *colon = strchr(full, ':');
    struct named name = { .text = colon ? colon + 1 : full };

    name.size = strlen(name.text);
    name.iid = perfetto_intern(perfetto, PERFETTO_EVENT_NAME, name.text, name.size);
    if (colon)
        name.category_iid =
            perfetto_intern(perfetto, PERFETTO_CATEGORY, full, (size_t)(colon - full));
    return name;
}

static size_t begin_event(struct proto_out *packet, uint64_t ts_ns, unsigned type, uint64_t track)
{
    size_t event;

    put_time(packet, ts_ns);
    event = proto_begin(packet, PACKET_EVENT);
    proto_uint(packet, EVENT_TYPE, type);
    proto_uint(packet, EVENT_TRACK, track);
    return event;
}

static void put_event(struct trd_perfetto *perfetto, const struct trd_record *record, unsigned type,
                      uint64_t track)
{
    const char *full = record->name ? record->name : record->schema->full_name;
    struct named name = name_of(perfetto, full);
    struct proto_out *packet;
    size_t event;

    perfetto_intern_args(perfetto, record);
    packet = begin_packet(perfetto);
    event = begin_event(packet, record->ts_ns, type, track);
    if (name.iid)
        proto_uint(packet, EVENT_NAME_IID, name.iid);
    else
        proto_bytes(packet, EVENT_NAME, name.text, name.size);
    if (name.category_iid)
        proto_uint(packet, EVENT_CATEGORY_IID, name.category_iid);
    perfetto_args(perfetto, packet, record);
    proto_end(packet, event);
    end_packet(perfetto);
}

void perfetto_put_instant(struct trd_perfetto *perfetto, const struct perfetto_instant *instant)
{
    uint64_t name =
        perfetto_intern(perfetto, PERFETTO_EVENT_NAME, instant->name, strlen(instant->name));
    uint64_t category = perfetto_intern(perfetto, PERFETTO_CATEGORY, "sched", strlen("sched"));
    struct proto_out *packet = begin_packet(perfetto);
    size_t event = begin_event(packet, instant->ts_ns, TYPE_INSTANT, instant->track);

    proto_uint(packet, EVENT_NAME_IID, name);
    proto_uint(packet, EVENT_CATEGORY_IID, category);
    proto_fixed64(packet, instant->flow_field, instant->flow);
    proto_end(packet, event);
    end_packet(perfetto);
}

static void put_span(struct trd_perfetto *perfetto, const struct trd_record *record)
{
    uint64_t track = span_track(perfetto, record, record->name);
    struct proto_out *packet;

    put_event(perfetto, record, TYPE_BEGIN, track);
    packet = begin_packet(perfetto);
    proto_end(packet, begin_event(packet, record->ts_ns + record->dur_ns, TYPE_END, track));
    end_packet(perfetto);
}

static void put_loss(struct trd_perfetto *perfetto, const struct trd_record *record)
{
    static const char *const names[] = { "lost: ftrace", "lost: clr", "lost: tracerd" };
    uint64_t track = child_track(perfetto, 0, "lost", false);
    struct named name = name_of(perfetto, names[record->source]);
    struct proto_out *packet = begin_packet(perfetto);
    size_t event = begin_event(packet, record->ts_ns, TYPE_INSTANT, track);
    size_t annotation;

    proto_bytes(packet, EVENT_NAME, name.text, name.size);
    proto_text(packet, EVENT_CATEGORY, "lost");
    annotation = proto_begin(packet, EVENT_ANNOTATION);
    proto_text(packet, ANNOTATION_NAME, record->lost == TRD_LOST_UNKNOWN ? "unknown" : "n");
    proto_uint(packet, ANNOTATION_UINT, record->lost == TRD_LOST_UNKNOWN ? 0 : record->lost);
    proto_end(packet, annotation);
    proto_end(packet, event);
    end_packet(perfetto);
}

static void put_counter(struct trd_perfetto *perfetto, const struct trd_record *record,
                        const char *name, uint64_t value)
{
    uint64_t process = record->pid >= 0 ? process_track(perfetto, record->pid) : 0;
    uint64_t track = child_track(perfetto, process, name, true);
    struct proto_out *packet = begin_packet(perfetto);
    size_t event = begin_event(packet, record->ts_ns, TYPE_COUNTER, track);

    proto_uint(packet, EVENT_COUNTER, value);
    proto_end(packet, event);
    end_packet(perfetto);
}

/* Sizes of the heap are drawn over time as well. */
static void put_heap(struct trd_perfetto *perfetto, const struct trd_record *record)
{
    static const char *const names[] = { "gen0_used", "gen1_used", "gen2_used", "large_used",
                                         "pinned_used" };
    uint64_t value;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (perfetto_number(record, names[i], &value))
            put_counter(perfetto, record, names[i], value);
}

static void put_clr_event(struct trd_perfetto *perfetto, const struct trd_record *record)
{
    const char *full = record->name ? record->name : record->schema->full_name;
    uint64_t track =
        record->pid >= 0 ? thread_track(perfetto, record) : child_track(perfetto, 0, "clr", false);

    put_event(perfetto, record, TYPE_INSTANT, track);
    if (strcmp(full, "clr:gc_heap") == 0)
        put_heap(perfetto, record);
}

static void put_bundle(struct trd_perfetto *perfetto, uint32_t cpu)
{
    struct proto_out *events = &perfetto->cpus[cpu].events;
    struct proto_out *packet = begin_packet(perfetto);
    size_t bundle = proto_begin(packet, PACKET_FTRACE);

    proto_uint(packet, BUNDLE_CPU, cpu);
    proto_raw(packet, events->bytes, events->size);
    proto_end(packet, bundle);
    packet->failed |= events->failed;
    end_packet(perfetto);
    proto_clear(events);
}

static void put_kernel_event(struct trd_perfetto *perfetto, const struct trd_record *record)
{
    uint32_t cpu = record->cpu >= 0 && record->cpu < PERFETTO_CPUS_MAX ? (uint32_t)record->cpu : 0;
    uint64_t track = 0;

    /* So that its thread is known to belong to the process, and by its managed name. */
    if (record->pid >= 0 && record->tid > 0)
        track = thread_track(perfetto, record);
    perfetto_flow(perfetto, record, track);
    perfetto_kernel_event(perfetto, record);
    if (perfetto->cpus[cpu].events.size >= BUNDLE_BYTES)
        put_bundle(perfetto, cpu);
}

int trd_perfetto_anchor(struct trd_perfetto *perfetto, uint64_t mono_ns, uint64_t realtime_ns)
{
    const uint64_t clocks[][2] = { { MONOTONIC, mono_ns },
                                   { BOOTTIME, mono_ns },
                                   { REALTIME, realtime_ns } };
    struct proto_out *packet = begin_packet(perfetto);
    size_t snapshot = proto_begin(packet, PACKET_CLOCKS);

    /* Perfetto takes ftrace's times for CLOCK_BOOTTIME: here it is the same as the other. */
    for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
        size_t clock = proto_begin(packet, CLOCKS_CLOCK);

        proto_uint(packet, CLOCK_ID, clocks[i][0]);
        proto_uint(packet, CLOCK_TIME, clocks[i][1]);
        proto_end(packet, clock);
    }
    proto_uint(packet, CLOCKS_PRIMARY, MONOTONIC);
    proto_end(packet, snapshot);
    end_packet(perfetto);
    return write_out(perfetto);
}

int trd_perfetto_record(struct trd_perfetto *perfetto, const struct trd_record *record)
{
    bool has_name = record->name || record->schema;

    switch (record->kind) {
    case TRD_KIND_EVENT:
        if (record->source == TRD_SOURCE_FTRACE)
            put_kernel_event(perfetto, record);
        else if (has_name)
            put_clr_event(perfetto, record);
        break;
    case TRD_KIND_SPAN:
        put_span(perfetto, record);
        break;
    case TRD_KIND_LOST:
        put_loss(perfetto, record);
        break;
    case TRD_KIND_HEARTBEAT: /* so that little is missing if we are killed */
        return trd_perfetto_flush(perfetto);
    default: /* names stand where they are used */
        break;
    }
    return perfetto->packets.size >= FLUSH_BYTES ? write_out(perfetto) : 0;
}

int trd_perfetto_flush(struct trd_perfetto *perfetto)
{
    for (uint32_t i = 0; i < PERFETTO_CPUS_MAX; i++)
        if (perfetto->cpus[i].events.size > 0)
            put_bundle(perfetto, i);
    return write_out(perfetto);
}
