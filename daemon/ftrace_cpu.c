#include "ftrace_cpu.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "stream_lines.h"

static struct ftrace_cpu *cpu_of(struct trd_merge_input *input)
{
    return (struct ftrace_cpu *)((char *)input - offsetof(struct ftrace_cpu, input));
}

/* Pages */

/* The page that was walked or handed over: its records are in nobody's hands any more. */
static void drop_first(struct ftrace_cpu *cpu)
{
    struct page_buffer *page = cpu->first;

    cpu->first = page->next;
    ftrace_ring_give(&cpu->ring, page);
}

/* Once nobody else reads the ring, it is read when its turn comes: so the pool's limit holds for
 * what is left in it, too. */
static bool take_pages(struct ftrace_cpu *cpu)
{
    enum ftrace_ring_stop stop;

    if (!cpu->first)
        cpu->first = page_queue_take_all(&cpu->ring.queue);
    if (!cpu->first && cpu->is_closing) {
        (void)ftrace_ring_read(&cpu->ring, &stop);
        cpu->first = page_queue_take_all(&cpu->ring.queue);
    }
    return cpu->first != NULL;
}

/* Losses */

/* `known`: the kernel's count by then; `said`: the page's own word. What of it is news. */
static uint64_t note_loss(struct ftrace_cpu *cpu, uint64_t known, uint64_t said)
{
    uint64_t untold = known > cpu->kernel_lost ? known - cpu->kernel_lost : 0;
    uint64_t count = said < untold ? said : untold;

    cpu->kernel_lost += count;
    return count;
}

static void note_rest(struct ftrace_cpu *cpu)
{
    struct ftrace_ring_stats stats;

    ftrace_ring_count(&cpu->ring, &stats);
    cpu->pending_lost += note_loss(cpu, stats.lost, UINT64_MAX);
}

/* Records */

static void fill(const struct ftrace_cpu *cpu, struct trd_record *out)
{
    trd_record_init(out);
    out->source = TRD_SOURCE_FTRACE;
    out->cpu = (int32_t)cpu->ring.cpu;
}

static int hand_out_loss(struct ftrace_cpu *cpu, uint64_t ts_ns, struct trd_record *out)
{
    fill(cpu, out);
    out->kind = TRD_KIND_LOST;
    out->ts_ns = ts_ns > cpu->last_ts_ns ? ts_ns : cpu->last_ts_ns;
    out->lost_from_ns = cpu->last_ts_ns ? cpu->last_ts_ns : ts_ns;
    out->lost = cpu->pending_lost;
    cpu->lost += cpu->pending_lost;
    cpu->pending_lost = 0;
    return 1;
}

static int hand_out(struct ftrace_cpu *cpu, const struct trd_page_event *event,
                    struct trd_record *out)
{
    if (cpu->pending_lost > 0) {
        cpu->held = *event;
        cpu->has_held = true;
        return hand_out_loss(cpu, event->ts, out);
    }
    cpu->last_ts_ns = event->ts;
    fill(cpu, out);
    /* An id without a format cannot be shown: a loss of our own. */
    if (!trd_page_event_record(cpu->catalog, event, out)) {
        cpu->pending_lost++;
        return 0;
    }
    out->ts_ns = event->ts;
    cpu->delivered++;
    return 1;
}

static bool next_page(struct ftrace_cpu *cpu)
{
    struct page_buffer *page;

    if (cpu->in_page) {
        cpu->damaged_bytes += cpu->page.damaged;
        cpu->in_page = false;
        drop_first(cpu);
    }
    if (!take_pages(cpu))
        return false;
    page = cpu->first;
    /* What does not fit is counted as damaged. */
    (void)trd_page_init(&cpu->page, page->bytes, page->size, cpu->ring.layout);
    cpu->in_page = true;
    if (page->has_loss)
        cpu->pending_lost +=
            note_loss(cpu, page->kernel_lost, page->size > 0 ? cpu->page.lost : TRD_LOST_UNKNOWN);
    return true;
}

static int end(struct ftrace_cpu *cpu, struct trd_record *out)
{
    note_rest(cpu);
    if (cpu->pending_lost > 0)
        return hand_out_loss(cpu, clock_now_ns(), out);
    cpu->on_end(cpu);
    return 0;
}

/* With pages handed over as they are, there are no records, and nobody is to wait for them. */
static int next_without(struct trd_merge_input *input, struct trd_record *out)
{
    struct ftrace_cpu *cpu = cpu_of(input);

    return cpu->is_closing ? end(cpu, out) : -EAGAIN;
}

static int next(struct trd_merge_input *input, struct trd_record *out)
{
    struct ftrace_cpu *cpu = cpu_of(input);
    struct trd_page_event event;

    for (;;) {
        if (cpu->has_held) {
            cpu->has_held = false;
            event = cpu->held;
        } else if (!cpu->in_page || trd_page_next(&cpu->page, &event) != 1) {
            /* Before the queue is looked at: see there. */
            uint64_t watermark_ns =
                atomic_load_explicit(&cpu->ring.watermark_ns, memory_order_acquire);

            if (next_page(cpu)) {
                if (cpu->first->size == 0 && cpu->pending_lost > 0)
                    return hand_out_loss(cpu, cpu->first->until_ns, out);
                continue;
            }
            if (cpu->is_closing)
                return end(cpu, out);
            input->watermark_ns = watermark_ns;
            return -EAGAIN;
        }
        if (hand_out(cpu, &event, out))
            return 1;
    }
}

void ftrace_cpu_init(struct ftrace_cpu *cpu)
{
    cpu->input.next = cpu->on_page ? next_without : next;
    cpu->input.watermark_ns =
        cpu->on_page ? UINT64_MAX
                     : atomic_load_explicit(&cpu->ring.watermark_ns, memory_order_relaxed);
}

void ftrace_cpu_close(struct ftrace_cpu *cpu)
{
    while (cpu->first)
        drop_first(cpu);
    cpu->in_page = false;
    ftrace_ring_close(&cpu->ring);
}

/* Pages as they are */

/*
 * A page that goes as it is tells its own loss; what it claims beyond the kernel's count is taken
 * out of it. Readers find what no page told in the statistics at the end.
 */
static void cap_loss(struct ftrace_cpu *cpu, struct page_buffer *buffer)
{
    const struct trd_page_layout *layout = cpu->ring.layout;
    uint64_t commit, known;
    struct trd_page page;

    if (!buffer->has_loss || trd_page_init(&page, buffer->bytes, buffer->size, layout) != 0 ||
        page.lost == TRD_LOST_UNKNOWN)
        return;
    known = note_loss(cpu, buffer->kernel_lost, page.lost);
    if (page.lost == known)
        return;
    memcpy(buffer->bytes + layout->data_offset + page.end, &known, layout->long_size);
    if (known > 0)
        return;
    commit = page.end; /* without the marks of a loss */
    memcpy(buffer->bytes + layout->commit_offset, &commit, layout->commit_size);
}

bool ftrace_cpu_hand_over(struct ftrace_cpu *cpu, unsigned pages_max)
{
    /* Before the queue is looked at: see there. */
    uint64_t watermark_ns = atomic_load_explicit(&cpu->ring.watermark_ns, memory_order_acquire);

    for (; pages_max > 0 && take_pages(cpu); pages_max--) {
        cap_loss(cpu, cpu->first);
        if (cpu->first->size > 0)
            cpu->on_page(cpu, cpu->first->bytes, cpu->first->size);
        drop_first(cpu);
    }
    if (take_pages(cpu))
        return true;
    cpu->on_reached(cpu, watermark_ns);
    return false;
}

void ftrace_cpu_finish(struct ftrace_cpu *cpu)
{
    struct ftrace_ring_stats stats;

    cpu->is_closing = true;
    if (!cpu->on_page)
        return;
    (void)ftrace_cpu_hand_over(cpu, UINT_MAX);
    cpu->on_reached(cpu, UINT64_MAX);
    /* What the pages held is only known to the kernel. */
    ftrace_ring_count(&cpu->ring, &stats);
    cpu->delivered = stats.read;
    cpu->kernel_lost = 0; /* all of it is the ledger's: the file has it */
}
