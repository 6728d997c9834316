/*
 * Hot path: file -> record. Budget: no allocation and no system call per event; measured by
 * tests/bench/bench_reader.c in events per second.
 */
#include "dat_cpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "catalog_private.h"
#include "dat_clr.h"
#include "page_next.h"

/* What all CPUs together may keep mapped behind their reading places: half of it is released at a
 * time, so that whoever still looks at data that stays need not have it mapped again. */
#define RELEASE_TOTAL (8u << 20)
#define RELEASE_MIN (64u << 10)
#define CHUNK_COUNT_SIZE 4

static void release_behind(struct dat_cpu *cpu)
{
    if (cpu->at < cpu->released + 2 * cpu->release_step)
        return;
    dat_release(cpu->dat, cpu->released, cpu->at - cpu->release_step);
    cpu->released = cpu->at - cpu->release_step;
}

static void lose(struct dat_cpu *cpu, uint64_t count)
{
    if (!cpu->has_lost)
        cpu->lost = count;
    else if (count == TRD_LOST_UNKNOWN || cpu->lost >= TRD_LOST_UNKNOWN - count)
        cpu->lost = TRD_LOST_UNKNOWN;
    else
        cpu->lost += count;
    cpu->has_lost = true;
}

static void lose_bytes(struct dat_cpu *cpu, uint64_t bytes)
{
    cpu->totals->damaged_bytes += bytes;
    lose(cpu, TRD_LOST_UNKNOWN);
}

static void free_chunk(struct dat_cpu *cpu)
{
    cpu->totals->chunk_bytes -= cpu->chunk_capacity;
    cpu->chunk_capacity = cpu->chunk_size = cpu->chunk_at = 0;
    free(cpu->chunk);
    cpu->chunk = NULL;
}

/* The rest of this CPU cannot be read. */
static int give_up(struct dat_cpu *cpu, const char *why)
{
    uint64_t left = cpu->end - cpu->at;

    dat_add_damage(cpu->dat, left, "cpu %d%s%s: %s at offset %llu; the rest of it is missing",
                   cpu->cpu, *cpu->buffer->public.name ? " of " : "", cpu->buffer->public.name, why,
                   (unsigned long long)cpu->at);
    lose(cpu, TRD_LOST_UNKNOWN);
    cpu->cut = false;
    cpu->at = cpu->end;
    cpu->chunks_left = 0;
    return 0;
}

static int reserve_chunk(struct dat_cpu *cpu, uint32_t size)
{
    struct dat_totals *totals = cpu->totals;

    if (size <= cpu->chunk_capacity)
        return 0;
    if (size > DAT_CHUNK_MAX || size > DAT_CHUNKS_MAX - totals->chunk_bytes)
        return -E2BIG;
    free_chunk(cpu);
    cpu->chunk = malloc(size);
    if (!cpu->chunk)
        return -ENOMEM;
    cpu->chunk_capacity = size;
    totals->chunk_bytes += size;
    return 0;
}

/* 1 = a chunk is there, 0 = none left. */
static int next_chunk(struct dat_cpu *cpu)
{
    struct dat *dat = cpu->dat;
    struct cursor cursor = { dat->bytes + cpu->at, (size_t)(cpu->end - cpu->at), 0, dat->big_endian,
                             false };
    uint32_t packed_size, size;
    const uint8_t *packed;

    if (cpu->chunks_left == 0) {
        free_chunk(cpu);
        return 0;
    }
    packed_size = cursor_u32(&cursor);
    size = cursor_u32(&cursor);
    packed = cursor_take(&cursor, packed_size);
    if (!packed)
        return give_up(cpu, "a compressed chunk is cut off");
    if (reserve_chunk(cpu, size) != 0)
        return give_up(cpu, "there is no room for a compressed chunk as large as it claims");
    cpu->chunks_left--;
    cpu->at += cursor.at;
    cpu->chunk_at = 0;
    cpu->chunk_size = size;
    if (codec_decompress(&dat->codec, packed, packed_size, cpu->chunk, size) != 0) {
        /* The next chunk stands on its own. */
        cpu->chunk_size = 0;
        lose_bytes(cpu, packed_size);
    }
    release_behind(cpu);
    return 1;
}

/* The bytes of the next page: 1, 0 at the end. */
static int next_page_bytes(struct dat_cpu *cpu, const uint8_t **out, size_t *out_size)
{
    uint32_t page_size = cpu->buffer->public.page_size;

    if (!cpu->buffer->compressed) {
        release_behind(cpu);
        if (cpu->at >= cpu->end)
            return 0;
        *out = cpu->dat->bytes + cpu->at;
        *out_size = cpu->end - cpu->at < page_size ? (size_t)(cpu->end - cpu->at) : page_size;
        cpu->at += *out_size;
        return 1;
    }
    while (cpu->chunk_at >= cpu->chunk_size)
        if (next_chunk(cpu) == 0)
            return 0;
    *out = cpu->chunk + cpu->chunk_at;
    *out_size =
        cpu->chunk_size - cpu->chunk_at < page_size ? cpu->chunk_size - cpu->chunk_at : page_size;
    cpu->chunk_at += *out_size;
    return 1;
}

static int next_page(struct dat_cpu *cpu)
{
    const uint8_t *bytes;
    size_t size;

    if (next_page_bytes(cpu, &bytes, &size) == 0)
        return 0;
    (void)trd_page_init(&cpu->page, bytes, size, trd_catalog_get_layout(cpu->dat->catalog));
    /* What a cut file lacks has been told. */
    if (cpu->cut && size < cpu->buffer->public.page_size)
        cpu->page.damaged = 0;
    if (cpu->page.lost_events)
        lose(cpu, cpu->page.lost);
    return 1;
}

/* The next event of any page: 1, 0 at the end. */
static int next_event(struct dat_cpu *cpu, struct trd_page_event *out)
{
    for (;;) {
        if (page_next(&cpu->page, out) == 1)
            return 1;
        if (cpu->page.damaged)
            lose_bytes(cpu, cpu->page.damaged);
        cpu->page.damaged = 0;
        if (next_page(cpu) == 0)
            return 0;
    }
}

static inline uint64_t convert_time(const struct dat_cpu *cpu, uint64_t ts)
{
    if (__builtin_expect(cpu->plain_time, 1))
        return ts + (uint64_t)cpu->dat->conversion.offset_ns;
    return dat_clock_convert(&cpu->dat->conversion, ts, cpu->cpu, cpu->ticks);
}

static void count_unknown(struct dat_cpu *cpu, const struct trd_page_event *event)
{
    struct dat_totals *totals = cpu->totals;
    uint32_t id;

    if (event->size < 2) {
        totals->short_records++;
        return;
    }
    id = load_u16(event->data, cpu->dat->big_endian);
    for (size_t i = 0; i < totals->unknown_id_count; i++)
        if (totals->unknown_ids[i].id == id) {
            totals->unknown_ids[i].count++;
            return;
        }
    if (totals->unknown_id_count == DAT_UNKNOWN_IDS_MAX)
        totals->unknown_others++;
    else
        totals->unknown_ids[totals->unknown_id_count++] = (struct dat_unknown_id){ id, 1 };
}

/* Or the first event: last_ts_ns is DAT_CPU_NO_TIME then. */
static __attribute__((cold, noinline)) void note_step_back(struct dat_cpu *cpu)
{
    if (cpu->last_ts_ns != DAT_CPU_NO_TIME)
        cpu->totals->disordered = true;
    if (cpu->first_ts_ns == DAT_CPU_NO_TIME)
        cpu->first_ts_ns = cpu->ts_ns;
}

static void reset_head(struct dat_cpu *cpu)
{
    trd_record_init(&cpu->head);
    cpu->head.source = TRD_SOURCE_FTRACE;
    cpu->head.cpu = cpu->cpu;
    cpu->head.data_stays = !cpu->buffer->compressed;
    if (*cpu->buffer->public.name)
        cpu->head.stream = cpu->buffer->public.name;
}

/* Of the buffer "clr"; one of somebody else's events there stays what it is. */
static __attribute__((noinline)) void take_clr(struct dat_cpu *cpu)
{
    if (!cpu->clr)
        cpu->clr = malloc(DAT_CLR_RECORD_MAX);
    reset_head(cpu);
    cpu->head.ts_ns = cpu->ts_ns;
    if (!cpu->clr || !dat_clr_get(cpu->schema, cpu->data, cpu->size, cpu->clr, &cpu->head))
        return;
    cpu->schema = cpu->head.schema;
    cpu->data = cpu->head.data;
    cpu->size = cpu->head.size;
    cpu->tid = cpu->head.tid;
}

static inline int take_event(struct dat_cpu *cpu, const struct trd_page_event *event)
{
    const struct trd_catalog *catalog = cpu->dat->catalog;

    cpu->schema = catalog_find_event(catalog, event);
    if (__builtin_expect(!cpu->schema, 0)) {
        count_unknown(cpu, event);
        return 0;
    }
    cpu->data = event->data;
    cpu->size = event->size;
    cpu->tid = catalog_event_tid(catalog, event);
    cpu->ts_ns = convert_time(cpu, event->ts);
    if (__builtin_expect(cpu->ts_ns < cpu->last_ts_ns, 0))
        note_step_back(cpu);
    cpu->last_ts_ns = cpu->ts_ns;
    if (__builtin_expect(cpu->is_clr, 0))
        take_clr(cpu);
    return 1;
}

static void forget_event(struct dat_cpu *cpu)
{
    cpu->schema = NULL;
    cpu->data = NULL;
    cpu->size = 0;
    cpu->tid = -1;
}

static int take_loss(struct dat_cpu *cpu, uint64_t from_ns, uint64_t ts_ns)
{
    forget_event(cpu);
    reset_head(cpu);
    cpu->head.kind = TRD_KIND_LOST;
    cpu->head.lost = cpu->lost;
    cpu->head.lost_from_ns = from_ns < ts_ns ? from_ns : ts_ns; /* a damaged page goes back */
    cpu->ts_ns = ts_ns;
    if (cpu->lost != TRD_LOST_UNKNOWN)
        cpu->told += cpu->lost;
    cpu->has_lost = false;
    return 1;
}

/* Behind the last event: what the file does not hold, then what the kernel counted beyond what the
 * pages told (no room for a count, dropped by a full ring), whose place nobody knows. */
static int take_end(struct dat_cpu *cpu)
{
    uint64_t counted;

    if (cpu->cut) {
        cpu->cut = false;
        lose(cpu, TRD_LOST_UNKNOWN);
    }
    if (cpu->has_lost)
        return take_loss(cpu, cpu->last_ts_ns, cpu->last_ts_ns);
    counted = dat_counted_losses(cpu->dat, cpu->buffer, cpu->cpu);
    if (counted <= cpu->told)
        return 0;
    lose(cpu, counted - cpu->told);
    return take_loss(cpu, cpu->first_ts_ns, cpu->last_ts_ns);
}

/* Page by page, with losses before their events. */
__attribute__((noinline)) static int next_slow(struct dat_cpu *cpu)
{
    struct trd_page_event event;

    if (cpu->head.kind != TRD_KIND_EVENT) {
        forget_event(cpu);
        reset_head(cpu);
    }
    for (;;) {
        if (cpu->has_held) {
            cpu->has_held = false;
            event = cpu->held;
        } else if (next_event(cpu, &event) == 0) {
            return take_end(cpu);
        }
        if (cpu->has_lost) {
            uint64_t ts_ns = convert_time(cpu, event.ts);

            cpu->held = event;
            cpu->has_held = true;
            return take_loss(cpu, cpu->last_ts_ns != DAT_CPU_NO_TIME ? cpu->last_ts_ns : ts_ns,
                             ts_ns);
        }
        if (take_event(cpu, &event))
            return 1;
    }
}

int dat_cpu_next(struct dat_cpu *cpu)
{
    struct trd_page_event event;

    if (cpu->has_held || cpu->has_lost || cpu->head.kind != TRD_KIND_EVENT)
        return next_slow(cpu);
    if (page_next(&cpu->page, &event) == 1 && take_event(cpu, &event))
        return 1;
    return next_slow(cpu);
}

uint64_t dat_cpu_time(const struct dat_cpu *cpu, uint64_t ts)
{
    return convert_time(cpu, ts);
}

int dat_cpu_start(struct dat_cpu *cpu, struct dat_place place, uint64_t from_ns)
{
    int result;

    if (cpu->head.kind == TRD_KIND_LOST && cpu->ts_ns == DAT_CPU_NO_TIME)
        return 1; /* nothing else will ever be found on it */
    if (cpu->has_held && cpu->first_ts_ns == DAT_CPU_NO_TIME &&
        catalog_find_event(cpu->dat->catalog, &cpu->held))
        cpu->first_ts_ns = convert_time(cpu, cpu->held.ts);
    cpu->at = cpu->released = place.at;
    cpu->told = place.told;
    cpu->page = (struct trd_page){ 0 };
    cpu->has_lost = false;
    cpu->has_held = false;
    cpu->last_ts_ns = DAT_CPU_NO_TIME;
    forget_event(cpu);
    reset_head(cpu);
    do
        result = dat_cpu_next(cpu);
    while (result == 1 && cpu->ts_ns < from_ns);
    /* A loss whose beginning lies before the place: not where the place was found by plain pages.
     */
    if (result == 1 && cpu->has_held && cpu->last_ts_ns == DAT_CPU_NO_TIME &&
        place.at != cpu->begin)
        cpu->totals->disordered = true;
    return result;
}

static bool counts_ticks(const char *clock)
{
    return !*clock || strcmp(clock, "x86-tsc") == 0 || strcmp(clock, "tsc2nsec") == 0;
}

static void find_end(struct dat_cpu *cpu, const struct dat_cpu_range *range)
{
    struct dat *dat = cpu->dat;
    uint64_t missing;

    cpu->begin = cpu->at = range->offset < dat->size ? range->offset : dat->size;
    cpu->end = range->size > dat->size - cpu->at ? dat->size : cpu->at + range->size;
    missing = range->size - (cpu->end - cpu->at);
    cpu->cut = range->cut || missing > 0;
    if (missing > 0)
        dat_add_damage(dat, missing, "cpu %d%s%s: the file was cut, %llu of %llu bytes are missing",
                       cpu->cpu, *cpu->buffer->public.name ? " of " : "", cpu->buffer->public.name,
                       (unsigned long long)missing, (unsigned long long)range->size);
}

/* The number of chunks, which writers up to 3.1 leave out of the size. */
static void find_chunks(struct dat_cpu *cpu, const struct dat_cpu_range *range)
{
    if (cpu->end - cpu->at < CHUNK_COUNT_SIZE)
        return;
    cpu->chunks_left = load_u32(cpu->dat->bytes + cpu->at, cpu->dat->big_endian);
    cpu->at += CHUNK_COUNT_SIZE;
    if (cpu->dat->size - cpu->end < CHUNK_COUNT_SIZE)
        cpu->end = cpu->dat->size;
    else
        cpu->end += CHUNK_COUNT_SIZE;
    if (cpu->chunks_left > 0 || range->size <= CHUNK_COUNT_SIZE)
        return;
    dat_add_damage(cpu->dat, range->size, "cpu %d%s%s: its data claims to be empty", cpu->cpu,
                   *cpu->buffer->public.name ? " of " : "", cpu->buffer->public.name);
    cpu->cut = true;
}

void dat_cpu_init(struct dat_cpu *cpu, struct dat *dat, const struct dat_buffer *buffer,
                  const struct dat_cpu_range *range, struct dat_totals *totals)
{
    const struct dat_clock *clock = &dat->conversion;

    *cpu = (struct dat_cpu){
        .dat = dat,
        .buffer = buffer,
        .totals = totals,
        .cpu = range->cpu,
        .first_ts_ns = DAT_CPU_NO_TIME,
        .last_ts_ns = DAT_CPU_NO_TIME,
    };
    forget_event(cpu);
    reset_head(cpu);
    find_end(cpu, range);
    cpu->is_clr = cpu->end > cpu->begin && strcmp(buffer->public.name, DAT_CLR_BUFFER) == 0;
    cpu->ticks = clock->tsc_mult && counts_ticks(buffer->public.clock);
    cpu->plain_time = !cpu->ticks && clock->cpu_count == 0;
    cpu->released = cpu->at;
    cpu->release_step = RELEASE_TOTAL / (dat->stream_count ? dat->stream_count : 1);
    if (cpu->release_step > DAT_RELEASE_STEP)
        cpu->release_step = DAT_RELEASE_STEP;
    if (cpu->release_step < RELEASE_MIN)
        cpu->release_step = RELEASE_MIN;
    if (buffer->compressed)
        find_chunks(cpu, range);
}

void dat_cpu_finish(struct dat_cpu *cpu)
{
    free(cpu->chunk);
    free(cpu->clr);
}
