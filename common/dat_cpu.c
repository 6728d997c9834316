#include "dat_cpu.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#define RELEASE_STEP (1u << 20) /* mapped bytes kept behind the reading place */
#define HOST_PAGE 4096u

/* Pages of the file that were read go back to the kernel, or a large file would fill the memory. */
static void release_behind(struct dat_cpu *cpu)
{
    uint64_t upto = cpu->at & ~(uint64_t)(HOST_PAGE - 1);

    if (!cpu->dat->mapped || upto < cpu->released + RELEASE_STEP)
        return;
    (void)madvise((void *)(uintptr_t)(cpu->dat->bytes + cpu->released), upto - cpu->released,
                  MADV_DONTNEED);
    cpu->released = upto;
}

static void lose(struct dat_cpu *cpu, uint64_t count)
{
    cpu->lost = !cpu->has_lost                                               ? count
                : count == TRD_LOST_UNKNOWN || cpu->lost == TRD_LOST_UNKNOWN ? TRD_LOST_UNKNOWN
                                                                             : cpu->lost + count;
    cpu->has_lost = true;
}

static void lose_bytes(struct dat_cpu *cpu, uint64_t bytes)
{
    cpu->totals->damaged_bytes += bytes;
    lose(cpu, TRD_LOST_UNKNOWN);
}

/* The rest of this CPU cannot be read. */
static int give_up(struct dat_cpu *cpu, const char *why)
{
    dat_add_damage(cpu->dat, cpu->end - cpu->at, "cpu %d%s%s: %s at offset %llu", cpu->cpu,
                   *cpu->buffer->public.name ? " of " : "", cpu->buffer->public.name, why,
                   (unsigned long long)cpu->at);
    lose_bytes(cpu, cpu->end - cpu->at);
    cpu->at = cpu->end;
    cpu->chunks_left = 0;
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

    if (cpu->chunks_left == 0)
        return 0;
    packed_size = cursor_u32(&cursor);
    size = cursor_u32(&cursor);
    packed = cursor_take(&cursor, packed_size);
    if (!packed)
        return give_up(cpu, "a compressed chunk is cut off");
    if (size > DAT_CHUNK_MAX)
        return give_up(cpu, "a compressed chunk claims an absurd size");
    if (size > cpu->chunk_capacity) {
        uint8_t *chunk = realloc(cpu->chunk, size);

        if (!chunk)
            return give_up(cpu, "no memory for a chunk");
        cpu->chunk = chunk;
        cpu->chunk_capacity = size;
    }
    cpu->chunks_left--;
    cpu->at += cursor.at;
    cpu->chunk_at = 0;
    cpu->chunk_size = size;
    if (codec_decompress(dat->codec, packed, packed_size, cpu->chunk, size) != 0) {
        /* The next chunk stands on its own. */
        cpu->chunk_size = 0;
        lose_bytes(cpu, size);
    }
    release_behind(cpu);
    return 1;
}

/* The bytes of the next page: 1, 0 at the end. */
static int next_page_bytes(struct dat_cpu *cpu, const uint8_t **out, size_t *out_size)
{
    uint32_t page_size = cpu->buffer->public.page_size;

    if (!cpu->buffer->compressed) {
        if (cpu->at >= cpu->end)
            return 0;
        *out = cpu->dat->bytes + cpu->at;
        *out_size = cpu->end - cpu->at < page_size ? (size_t)(cpu->end - cpu->at) : page_size;
        release_behind(cpu);
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
    cpu->in_page =
        trd_page_init(&cpu->page, bytes, size, trd_catalog_get_layout(cpu->dat->catalog)) == 0 ||
        cpu->page.data != NULL;
    if (cpu->page.lost_events)
        lose(cpu, cpu->page.lost);
    return 1;
}

static uint64_t convert_time(const struct dat *dat, uint64_t ts)
{
    if (dat->tsc_mult)
        ts = (uint64_t)((unsigned __int128)ts * dat->tsc_mult >> dat->tsc_shift);
    return ts + (uint64_t)dat->offset_ns;
}

/* The next event of any page: 1, 0 at the end. */
static int next_event(struct dat_cpu *cpu, struct trd_page_event *out)
{
    for (;;) {
        int result = cpu->in_page ? trd_page_next(&cpu->page, out) : 0;

        if (result == 1)
            return 1;
        if (cpu->in_page && cpu->page.damaged)
            lose_bytes(cpu, cpu->page.damaged);
        cpu->in_page = false;
        if (next_page(cpu) == 0)
            return 0;
    }
}

static void fill(const struct dat_cpu *cpu, struct trd_record *record)
{
    trd_record_init(record);
    record->source = TRD_SOURCE_FTRACE;
    record->cpu = cpu->cpu;
    if (*cpu->buffer->public.name)
        record->stream = cpu->buffer->public.name;
}

static int hand_out_loss(struct dat_cpu *cpu, uint64_t ts_ns, struct trd_record *out)
{
    fill(cpu, out);
    out->kind = TRD_KIND_LOST;
    out->lost = cpu->lost;
    out->lost_from_ns = cpu->started ? cpu->last_ts_ns : ts_ns;
    out->ts_ns = ts_ns;
    cpu->has_lost = false;
    return 1;
}

static int hand_out_event(struct dat_cpu *cpu, const struct trd_page_event *event,
                          struct trd_record *out)
{
    fill(cpu, out);
    if (!trd_page_event_record(cpu->dat->catalog, event, out)) {
        cpu->totals->unknown_ids++;
        return 0;
    }
    out->ts_ns = convert_time(cpu->dat, event->ts);
    cpu->last_ts_ns = out->ts_ns;
    cpu->started = true;
    return 1;
}

static int next(struct trd_merge_input *input, struct trd_record *out)
{
    struct dat_cpu *cpu = (struct dat_cpu *)input;
    struct trd_page_event event;

    for (;;) {
        if (cpu->has_held) {
            cpu->has_held = false;
            event = cpu->held;
        } else if (next_event(cpu, &event) == 0) {
            if (cpu->cut) {
                cpu->cut = false;
                lose(cpu, TRD_LOST_UNKNOWN);
            }
            return cpu->has_lost ? hand_out_loss(cpu, cpu->last_ts_ns, out) : 0;
        }
        if (cpu->has_lost) {
            cpu->held = event;
            cpu->has_held = true;
            return hand_out_loss(cpu, convert_time(cpu->dat, event.ts), out);
        }
        if (hand_out_event(cpu, &event, out))
            return 1;
    }
}

int dat_cpu_init(struct dat_cpu *cpu, struct dat *dat, const struct dat_buffer *buffer,
                 const struct dat_cpu_range *range, struct dat_totals *totals)
{
    *cpu = (struct dat_cpu){
        .input = { .next = next, .watermark_ns = 0 },
        .dat = dat,
        .buffer = buffer,
        .totals = totals,
        .cpu = range->cpu,
        .at = range->offset < dat->size ? range->offset : dat->size,
    };
    cpu->end = range->size > dat->size - cpu->at ? dat->size : cpu->at + range->size;
    cpu->released = (cpu->at + HOST_PAGE - 1) & ~(uint64_t)(HOST_PAGE - 1);
    if (range->size > 0 && (range->offset > dat->size || range->size > dat->size - range->offset)) {
        uint64_t missing = range->size - (cpu->end - cpu->at);

        cpu->cut = true;
        dat->truncated = true;
        totals->damaged_bytes += missing;
        dat_add_damage(dat, missing, "cpu %d%s%s: the file was cut, %llu of %llu bytes are missing",
                       cpu->cpu, *buffer->public.name ? " of " : "", buffer->public.name,
                       (unsigned long long)missing, (unsigned long long)range->size);
    }
    if (buffer->compressed && cpu->end - cpu->at >= 4) {
        cpu->chunks_left = load_u32(dat->bytes + cpu->at, dat->big_endian);
        cpu->at += 4;
        /* The count is what writers agree on; early ones give too small a size. */
        cpu->end = dat->size;
    }
    return 0;
}

void dat_cpu_finish(struct dat_cpu *cpu)
{
    free(cpu->chunk);
}
