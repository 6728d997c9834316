#include "ftrace_cpu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream_lines.h"

/* Pages that wait for the merge: beyond it the kernel's ring has to hold them. */
#define QUEUED_BYTES_MAX (32u << 20)
#define READS_MAX 64 /* in one go; the loop has others to serve */
/*
 * Between a writer's stamp and its commit interrupts may run, and a virtual CPU may be taken away.
 * An event that is committed later than this behind its stamp is marked late.
 */
#define COMMIT_SLACK_NS UINT64_C(1000000)

struct ftrace_pages {
    struct ftrace_pages *next;
    size_t size;
    bool has_loss;
    uint64_t kernel_lost; /* the CPU's count just after the page was read, if it has a loss */
    _Alignas(8) uint8_t bytes[];
};

static struct ftrace_cpu *cpu_of(struct trd_merge_input *input)
{
    return (struct ftrace_cpu *)((char *)input - offsetof(struct ftrace_cpu, input));
}

/* Losses */

static uint64_t stat_value(const char *text, const char *key)
{
    const char *line = strstr(text, key);

    return line ? strtoull(line + strlen(key), NULL, 10) : 0;
}

/* What the kernel could not keep: overwritten, dropped since nested too deep, dropped when full. */
static uint64_t count_lost(const struct ftrace_cpu *cpu)
{
    char text[1024];
    ssize_t got = cpu->stats_fd < 0 ? 0 : pread(cpu->stats_fd, text, sizeof(text) - 1, 0);

    if (got <= 0)
        return 0;
    text[got] = '\0';
    return stat_value(text, "\noverrun: ") + stat_value(text, "\ncommit overrun: ") +
           stat_value(text, "\ndropped events: ");
}

/* `known`: the kernel's count by then; `said`: the page's own word. */
static void note_loss(struct ftrace_cpu *cpu, uint64_t known, uint64_t said)
{
    uint64_t untold = known > cpu->kernel_lost ? known - cpu->kernel_lost : 0;
    uint64_t count = said < untold ? said : untold;

    cpu->kernel_lost += count;
    cpu->pending_lost += count;
}

/* Records */

static void fill(const struct ftrace_cpu *cpu, struct trd_record *out)
{
    trd_record_init(out);
    out->source = TRD_SOURCE_FTRACE;
    out->cpu = cpu->cpu;
}

static int hand_out_loss(struct ftrace_cpu *cpu, uint64_t ts_ns, struct trd_record *out)
{
    fill(cpu, out);
    out->kind = TRD_KIND_LOST;
    out->ts_ns = ts_ns;
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

/* The page that was walked: its records are in nobody's hands any more. */
static void recycle_first(struct ftrace_cpu *cpu)
{
    struct ftrace_pages *page = cpu->first;

    cpu->damaged_bytes += cpu->page.damaged;
    cpu->in_page = false;
    cpu->first = page->next;
    if (!cpu->first)
        cpu->last = NULL;
    cpu->queued_bytes -= page->size;
    free(cpu->spare);
    cpu->spare = page;
}

static bool next_page(struct ftrace_cpu *cpu)
{
    struct ftrace_pages *page;

    if (cpu->in_page)
        recycle_first(cpu);
    page = cpu->first;
    if (!page)
        return false;
    /* What does not fit is counted as damaged. */
    (void)trd_page_init(&cpu->page, page->bytes, page->size, trd_catalog_get_layout(cpu->catalog));
    cpu->in_page = true;
    if (page->has_loss)
        note_loss(cpu, page->kernel_lost, cpu->page.lost_events ? cpu->page.lost : 0);
    return true;
}

static int end(struct ftrace_cpu *cpu, struct trd_record *out)
{
    if (!cpu->is_closing)
        return -EAGAIN;
    note_loss(cpu, count_lost(cpu), UINT64_MAX);
    if (cpu->pending_lost > 0)
        return hand_out_loss(cpu, clock_now_ns(), out);
    cpu->on_end(cpu);
    return 0;
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
            if (!next_page(cpu))
                return end(cpu, out);
            continue;
        }
        if (hand_out(cpu, &event, out))
            return 1;
    }
}

/* Reading */

int ftrace_cpu_open(struct ftrace_cpu *cpu, const struct tracefs_instance *instance,
                    uint32_t page_size)
{
    char name[64];

    (void)snprintf(name, sizeof(name), "per_cpu/cpu%d/trace_pipe_raw", cpu->cpu);
    cpu->fd = tracefs_open(instance, name, O_RDONLY | O_NONBLOCK);
    if (cpu->fd < 0)
        return cpu->fd;
    (void)snprintf(name, sizeof(name), "per_cpu/cpu%d/stats", cpu->cpu);
    cpu->stats_fd = tracefs_open(instance, name, O_RDONLY);
    cpu->page_size = page_size;
    cpu->input.next = next;
    /* Where pages go as they are, no record of ours makes others wait. */
    cpu->input.watermark_ns = cpu->on_page ? UINT64_MAX : clock_now_ns();
    return 0;
}

void ftrace_cpu_close(struct ftrace_cpu *cpu)
{
    if (cpu->fd >= 0)
        close(cpu->fd);
    if (cpu->stats_fd >= 0)
        close(cpu->stats_fd);
    cpu->fd = cpu->stats_fd = -1;
    while (cpu->first) {
        struct ftrace_pages *page = cpu->first;

        cpu->first = page->next;
        free(page);
    }
    free(cpu->spare);
    cpu->spare = NULL;
    cpu->in_page = false;
}

/* Pages that were handed out as they are: the kernel knows what was read of its ring. */
static uint64_t count_read(const struct ftrace_cpu *cpu)
{
    char text[1024];
    ssize_t got = cpu->stats_fd < 0 ? 0 : pread(cpu->stats_fd, text, sizeof(text) - 1, 0);

    if (got <= 0)
        return 0;
    text[got] = '\0';
    return stat_value(text, "\nread events: ");
}

/*
 * A page that goes as it is tells its own loss; what it claims beyond the kernel's count is taken
 * out of it. Readers find what no page told in the statistics at the end.
 */
static void cap_loss(struct ftrace_cpu *cpu, uint8_t *bytes, size_t size)
{
    const struct trd_page_layout *layout = trd_catalog_get_layout(cpu->catalog);
    uint64_t known, untold, commit = 0;
    struct trd_page page;

    if (trd_page_init(&page, bytes, size, layout) != 0 || !page.lost_events ||
        page.lost == TRD_LOST_UNKNOWN)
        return;
    known = count_lost(cpu);
    untold = known > cpu->told_by_pages ? known - cpu->told_by_pages : 0;
    if (page.lost <= untold) {
        cpu->told_by_pages += page.lost;
        return;
    }
    cpu->told_by_pages += untold;
    memcpy(bytes + layout->data_offset + page.end, &untold, layout->long_size);
    if (untold > 0)
        return;
    commit = page.end; /* without the marks of a loss */
    memcpy(bytes + layout->commit_offset, &commit, layout->commit_size);
}

static struct ftrace_pages *take_spare(struct ftrace_cpu *cpu)
{
    struct ftrace_pages *page = cpu->spare;

    cpu->spare = NULL;
    return page ? page : malloc(sizeof(*page) + cpu->page_size);
}

static void append(struct ftrace_cpu *cpu, struct ftrace_pages *page, size_t size)
{
    struct trd_page walk;

    page->next = NULL;
    page->size = size;
    page->has_loss =
        trd_page_init(&walk, page->bytes, size, trd_catalog_get_layout(cpu->catalog)) == 0 &&
        walk.lost_events;
    page->kernel_lost = page->has_loss ? count_lost(cpu) : 0;
    if (cpu->last)
        cpu->last->next = page;
    else
        cpu->first = page;
    cpu->last = page;
    cpu->queued_bytes += size;
}

/* Bytes of the page that was queued; 0 = nothing there, or no memory. */
static size_t read_page(struct ftrace_cpu *cpu)
{
    struct ftrace_pages *page = take_spare(cpu);
    ssize_t got;

    if (!page)
        return 0;
    got = read(cpu->fd, page->bytes, cpu->page_size);
    if (got <= 0) {
        cpu->spare = page;
        return 0;
    }
    if (cpu->on_page) {
        cap_loss(cpu, page->bytes, (size_t)got);
        cpu->on_page(cpu, page->bytes, (size_t)got);
        cpu->spare = page;
        return (size_t)got;
    }
    append(cpu, page, (size_t)got);
    return (size_t)got;
}

size_t ftrace_cpu_read(struct ftrace_cpu *cpu)
{
    size_t total = 0;

    for (int i = 0; i < READS_MAX && cpu->queued_bytes < QUEUED_BYTES_MAX; i++) {
        uint64_t before_ns = clock_now_ns();
        size_t got = read_page(cpu);

        total += got;
        if (got > 0)
            continue;
        /* Nothing was there: whatever comes was begun after the slack before this moment. */
        if (!cpu->on_page)
            cpu->input.watermark_ns = before_ns - COMMIT_SLACK_NS;
        break;
    }
    return total;
}

void ftrace_cpu_finish(struct ftrace_cpu *cpu)
{
    while (read_page(cpu) > 0)
        ;
    cpu->is_closing = true;
    if (cpu->on_page)
        cpu->delivered = count_read(cpu);
    cpu->input.watermark_ns = UINT64_MAX;
}
