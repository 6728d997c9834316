#include "ftrace_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream_lines.h"

#define READS_MAX 64 /* in one go; others are to be read as well */
/* Pages a CPU may have out whatever the pool's limit: the merge waits for all CPUs, so one that has
 * nothing to show would hold back those who fill the pool. */
#define PAGES_NEEDED 2
/* Readings that end behind a page less than this full, of 4: it is the one being written. */
#define FULL_QUARTERS 3
#define SHORT_READS_MAX 2
/*
 * Between a writer's stamp and its commit interrupts may run, and a virtual CPU may be taken away.
 * An event that is committed later than this behind its stamp is marked late.
 */
#define COMMIT_SLACK_NS UINT64_C(1000000)
/* The statistics know of losses that no page tells. */
#define COUNT_NS UINT64_C(1000000000)

int ftrace_ring_open(struct ftrace_ring *ring, const struct tracefs_instance *instance,
                     uint32_t cpu)
{
    char name[64];

    (void)snprintf(name, sizeof(name), "per_cpu/cpu%u/trace_pipe_raw", cpu);
    ring->fd = tracefs_open(instance, name, O_RDONLY | O_NONBLOCK);
    if (ring->fd < 0)
        return ring->fd;
    (void)snprintf(name, sizeof(name), "per_cpu/cpu%u/stats", cpu);
    ring->stats_fd = tracefs_open(instance, name, O_RDONLY);
    ring->cpu = cpu;
    ring->counted_ns = clock_now_ns();
    atomic_store(&ring->watermark_ns, ring->counted_ns);
    return 0;
}

void ftrace_ring_close(struct ftrace_ring *ring)
{
    struct page_buffer *page = page_queue_take_all(&ring->queue);

    while (page) {
        struct page_buffer *next = page->next;

        page_pool_give(ring->pool, page);
        page = next;
    }
    if (ring->fd >= 0)
        close(ring->fd);
    if (ring->stats_fd >= 0)
        close(ring->stats_fd);
    ring->fd = ring->stats_fd = -1;
}

/* Statistics */

static uint64_t stat_value(const char *text, const char *key)
{
    const char *line = strstr(text, key);

    return line ? strtoull(line + strlen(key), NULL, 10) : 0;
}

void ftrace_ring_count(const struct ftrace_ring *ring, struct ftrace_ring_stats *out)
{
    char text[1024];
    ssize_t got = ring->stats_fd < 0 ? 0 : pread(ring->stats_fd, text, sizeof(text) - 1, 0);

    *out = (struct ftrace_ring_stats){ 0 };
    if (got <= 0)
        return;
    text[got] = '\0';
    out->lost = stat_value(text, "\noverrun: ") + stat_value(text, "\ncommit overrun: ") +
                stat_value(text, "\ndropped events: ");
    out->read = stat_value(text, "\nread events: ");
}

/* Reading */

static void set_watermark(struct ftrace_ring *ring, uint64_t ns)
{
    /* Whoever sees it finds the pages of before in the queue. */
    if (ns > atomic_load_explicit(&ring->watermark_ns, memory_order_relaxed))
        atomic_store_explicit(&ring->watermark_ns, ns, memory_order_release);
}

static void push(struct ftrace_ring *ring, struct page_buffer *page, size_t size)
{
    page->cpu = ring->cpu;
    page->size = (uint32_t)size;
    atomic_fetch_add_explicit(&ring->queued, 1, memory_order_relaxed);
    page_queue_push(&ring->queue, page);
}

/*
 * The ring was found empty, so every page that could tell of a loss is in the queue. What the
 * kernel counts beyond them has no page: dropped since it came in the middle of another one, or
 * since the ring takes no new ones while it is full. Takes the page.
 */
static void tell_losses(struct ftrace_ring *ring, struct page_buffer *page, uint64_t now_ns)
{
    struct ftrace_ring_stats stats = { .lost = ring->counted_lost };

    if (now_ns - ring->counted_ns >= COUNT_NS) {
        ring->counted_ns = now_ns;
        ftrace_ring_count(ring, &stats);
    }
    if (stats.lost == ring->counted_lost) {
        page_pool_give(ring->pool, page);
        return;
    }
    ring->counted_lost = page->kernel_lost = stats.lost;
    page->has_loss = true;
    page->until_ns = now_ns - COMMIT_SLACK_NS;
    push(ring, page, 0);
}

/* Its loss, its time, and whether it was one that is still being written. */
static bool append(struct ftrace_ring *ring, struct page_buffer *page, size_t size)
{
    struct ftrace_ring_stats stats;
    struct trd_page walk;
    uint32_t quarters;
    uint64_t begin_ns;

    page->has_loss = trd_page_init(&walk, page->bytes, size, ring->layout) == 0 && walk.lost_events;
    if (page->has_loss) {
        ftrace_ring_count(ring, &stats);
        page->kernel_lost = stats.lost;
    }
    quarters = walk.end * 4 / ring->page_size;
    begin_ns = walk.ts;
    push(ring, page, size);
    set_watermark(ring, begin_ns); /* the next page cannot begin before this one */
    return quarters >= FULL_QUARTERS;
}

size_t ftrace_ring_read(struct ftrace_ring *ring, enum ftrace_ring_stop *out_stop)
{
    size_t total = 0;
    int shorts = 0;

    *out_stop = FTRACE_RING_LIMIT;
    for (int i = 0; i < READS_MAX && shorts < SHORT_READS_MAX; i++) {
        bool needed = atomic_load_explicit(&ring->queued, memory_order_relaxed) < PAGES_NEEDED;
        struct page_buffer *page = page_pool_take(ring->pool, needed);
        uint64_t before_ns = clock_now_ns();
        ssize_t got;

        if (!page) {
            *out_stop = FTRACE_RING_NO_ROOM;
            return total;
        }
        got = read(ring->fd, page->bytes, ring->page_size);
        if (got <= 0) {
            tell_losses(ring, page, before_ns);
            /* Nothing was there: whatever comes was begun after the slack before this moment. */
            set_watermark(ring, before_ns - COMMIT_SLACK_NS);
            *out_stop = FTRACE_RING_EMPTY;
            return total;
        }
        total += (size_t)got;
        shorts += !append(ring, page, (size_t)got);
    }
    if (shorts > 0)
        *out_stop = FTRACE_RING_EMPTY;
    return total;
}

void ftrace_ring_give(struct ftrace_ring *ring, struct page_buffer *page)
{
    atomic_fetch_sub_explicit(&ring->queued, 1, memory_order_relaxed);
    page_pool_give(ring->pool, page);
}
