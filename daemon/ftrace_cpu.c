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
    _Alignas(8) uint8_t bytes[];
};

static struct ftrace_cpu *cpu_of(struct trd_merge_input *input)
{
    return (struct ftrace_cpu *)((char *)input - offsetof(struct ftrace_cpu, input));
}

static uint64_t stat_value(const char *text, const char *key)
{
    const char *line = strstr(text, key);

    return line ? strtoull(line + strlen(key), NULL, 10) : 0;
}

static uint64_t read_stats(const struct ftrace_cpu *cpu, bool with_entries)
{
    char name[64];
    char *text;
    uint64_t lost = 0;

    (void)snprintf(name, sizeof(name), "per_cpu/cpu%d/stats", cpu->cpu);
    text = tracefs_read(cpu->instance, name, NULL);
    if (!text)
        return 0;
    lost = stat_value(text, "\noverrun: ") + stat_value(text, "dropped events: ");
    if (with_entries)
        lost += stat_value(text, "entries: ");
    free(text);
    return lost;
}

uint64_t ftrace_cpu_stat_lost(const struct ftrace_cpu *cpu)
{
    return read_stats(cpu, true);
}

static bool next_page(struct ftrace_cpu *cpu)
{
    struct ftrace_pages *page = cpu->first;

    /* The page just walked: its records are in nobody's hands any more. */
    if (cpu->in_page) {
        cpu->in_page = false;
        cpu->first = page->next;
        if (!cpu->first)
            cpu->last = NULL;
        cpu->queued_bytes -= page->size;
        free(cpu->spare);
        cpu->spare = page;
        page = cpu->first;
    }
    if (!page)
        return false;
    (void)trd_page_init(&cpu->page, page->bytes, page->size, trd_catalog_get_layout(cpu->catalog));
    cpu->in_page = true;
    if (cpu->page.lost_events) {
        uint64_t known = cpu->lost + cpu->pending_lost;
        uint64_t total = cpu->page.lost != TRD_LOST_UNKNOWN ? 0 : read_stats(cpu, false);

        cpu->pending_lost += cpu->page.lost != TRD_LOST_UNKNOWN ? cpu->page.lost
                             : total > known                    ? total - known
                                                                : 0;
    }
    return true;
}

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
    fill(cpu, out);
    if (!trd_page_event_record(cpu->catalog, event, out)) {
        cpu->unknown_ids++;
        return 0;
    }
    out->ts_ns = event->ts;
    cpu->last_ts_ns = event->ts;
    cpu->delivered++;
    cpu->on_event(cpu, out);
    return 1;
}

static int end(struct ftrace_cpu *cpu)
{
    if (!cpu->closing)
        return -EAGAIN;
    cpu->on_dry(cpu);
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
                return end(cpu);
            continue;
        }
        if (cpu->pending_lost > 0) {
            cpu->held = event;
            cpu->has_held = true;
            return hand_out_loss(cpu, event.ts, out);
        }
        if (hand_out(cpu, &event, out))
            return 1;
    }
}

int ftrace_cpu_open(struct ftrace_cpu *cpu)
{
    char name[64];

    (void)snprintf(name, sizeof(name), "per_cpu/cpu%d/trace_pipe_raw", cpu->cpu);
    cpu->fd = tracefs_open(cpu->instance, name, O_RDONLY | O_NONBLOCK);
    if (cpu->fd < 0)
        return cpu->fd;
    cpu->input.next = next;
    cpu->input.watermark_ns = clock_now_ns();
    return 0;
}

void ftrace_cpu_close(struct ftrace_cpu *cpu)
{
    if (cpu->fd >= 0)
        close(cpu->fd);
    cpu->fd = -1;
    while (cpu->first) {
        struct ftrace_pages *page = cpu->first;

        cpu->first = page->next;
        free(page);
    }
    free(cpu->spare);
    cpu->spare = NULL;
    cpu->in_page = false;
}

static struct ftrace_pages *take_spare(struct ftrace_cpu *cpu)
{
    struct ftrace_pages *page = cpu->spare;

    cpu->spare = NULL;
    return page ? page : malloc(sizeof(*page) + cpu->page_size);
}

/* 1 = a page was queued, 0 = nothing there or no room. */
static int read_page(struct ftrace_cpu *cpu)
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
    page->next = NULL;
    page->size = (size_t)got;
    if (cpu->last)
        cpu->last->next = page;
    else
        cpu->first = page;
    cpu->last = page;
    cpu->queued_bytes += page->size;
    return 1;
}

void ftrace_cpu_read(struct ftrace_cpu *cpu)
{
    for (int i = 0; i < READS_MAX && cpu->queued_bytes < QUEUED_BYTES_MAX; i++) {
        uint64_t before = clock_now_ns();

        if (read_page(cpu))
            continue;
        /* Nothing was there: whatever comes was begun after the slack before this moment. */
        cpu->input.watermark_ns = before - COMMIT_SLACK_NS;
        return;
    }
}
