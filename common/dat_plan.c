#include "dat_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "catalog_private.h"

/* Where the planning stands on one CPU. */
struct planned {
    struct dat_place start; /* for a slice that begins behind the time of the page `last` */
    struct dat_place last;  /* consumed, with events */
    struct dat_place next;
    uint64_t next_ns;     /* time of the page at `next`; DAT_CPU_NO_TIME behind the last */
    struct trd_page page; /* at `next` */
};

struct dat_plan {
    const struct dat_cpu *cpus; /* borrowed */
    size_t cpu_count;
    uint64_t slice_bytes;
    uint64_t from_ns;       /* of the next slice */
    struct planned *cursor; /* owned */
    bool over;
};

int dat_slice_init(struct dat_slice *slice, size_t cpu_count)
{
    *slice = (struct dat_slice){ .places = calloc(cpu_count, sizeof(*slice->places)),
                                 .ends = calloc(cpu_count, sizeof(*slice->ends)) };
    return slice->places && slice->ends ? 0 : -ENOMEM;
}

void dat_slice_finish(struct dat_slice *slice)
{
    free(slice->places);
    free(slice->ends);
}

/* False if the page is not plain. */
static bool look_at(struct planned *cursor, const struct dat_cpu *cpu)
{
    uint64_t at = cursor->next.at;
    uint32_t page_size = cpu->buffer->public.page_size;
    struct trd_page page;
    uint64_t ts_ns;

    if (cpu->end - at < page_size || trd_page_init(&page, cpu->dat->bytes + at, page_size,
                                                   trd_catalog_get_layout(cpu->dat->catalog)) != 0)
        return false;
    if (page.end == 0 && page.lost_events)
        return false;
    ts_ns = page.end == 0 ? cursor->next_ns : dat_cpu_time(cpu, page.ts);
    if (ts_ns < cursor->next_ns)
        return false;
    cursor->next_ns = ts_ns;
    cursor->page = page;
    return true;
}

/* A loss begins where the page before it ends. */
static void set_start(struct planned *cursor)
{
    const struct trd_page *page = &cursor->page;

    if (page->end == 0)
        return;
    cursor->start = page->lost_events ? cursor->last : cursor->next;
    cursor->last = cursor->next;
    if (page->lost_events && page->lost != TRD_LOST_UNKNOWN)
        cursor->next.told += page->lost;
}

/* To the next page of this CPU. */
static bool consume(struct dat_plan *plan, size_t index)
{
    struct planned *cursor = &plan->cursor[index];
    const struct dat_cpu *cpu = &plan->cpus[index];

    set_start(cursor);
    cursor->next.at += cpu->buffer->public.page_size;
    if (cursor->next.at < cpu->end)
        return look_at(cursor, cpu);
    cursor->next_ns = DAT_CPU_NO_TIME;
    return true;
}

static struct planned *first(const struct dat_plan *plan)
{
    struct planned *first = &plan->cursor[0];

    for (size_t i = 1; i < plan->cpu_count; i++)
        if (plan->cursor[i].next_ns < first->next_ns)
            first = &plan->cursor[i];
    return first;
}

static bool start(struct dat_plan *plan, size_t index)
{
    const struct dat_cpu *cpu = &plan->cpus[index];
    struct planned *cursor = &plan->cursor[index];

    if (cpu->buffer->compressed)
        return false;
    cursor->start.at = cursor->last.at = cursor->next.at = cpu->begin;
    if (cpu->begin < cpu->end)
        return look_at(cursor, cpu);
    cursor->next_ns = DAT_CPU_NO_TIME;
    return true;
}

int dat_plan_create(struct dat_plan **out, const struct dat_cpu *cpus, size_t cpu_count,
                    size_t slice_bytes)
{
    struct dat_plan *plan = calloc(1, sizeof(*plan));
    uint64_t one_page_each = 0;
    bool plain = cpu_count > 0;

    if (!plan || !(plan->cursor = calloc(cpu_count ? cpu_count : 1, sizeof(*plan->cursor)))) {
        dat_plan_destroy(plan);
        return -ENOMEM;
    }
    plan->cpus = cpus;
    plan->cpu_count = cpu_count;
    for (size_t i = 0; i < cpu_count && plain; i++) {
        plain = start(plan, i);
        one_page_each += cpus[i].buffer->public.page_size;
    }
    if (!plain) {
        dat_plan_destroy(plan);
        return -ENOTSUP;
    }
    /* Each slice looks again at the page in which it begins, on every CPU. */
    plan->slice_bytes = slice_bytes > one_page_each ? slice_bytes : one_page_each;
    *out = plan;
    return 0;
}

void dat_plan_destroy(struct dat_plan *plan)
{
    if (!plan)
        return;
    free(plan->cursor);
    free(plan);
}

/*
 * Up to the time of the first page that is not consumed, which is later than that of all that are:
 * so the page where the next slice starts on a CPU has all its records' predecessors behind it.
 */
static bool find_end(struct dat_plan *plan, uint64_t *out_until_ns)
{
    uint64_t consumed = 0, latest_ns = plan->from_ns;

    for (;;) {
        struct planned *cursor = first(plan);
        size_t index = (size_t)(cursor - plan->cursor);

        *out_until_ns = cursor->next_ns;
        if (cursor->next_ns == DAT_CPU_NO_TIME)
            return false;
        if (consumed >= plan->slice_bytes && cursor->next_ns > latest_ns)
            return true;
        latest_ns = cursor->next_ns;
        consumed += plan->cpus[index].buffer->public.page_size;
        if (!consume(plan, index))
            return false;
    }
}

void dat_plan_rest(const struct dat_plan *plan, struct dat_slice *out)
{
    out->from_ns = plan->from_ns;
    out->until_ns = DAT_CPU_NO_TIME;
    for (size_t i = 0; i < plan->cpu_count; i++)
        out->places[i] = plan->cursor[i].start;
}

int dat_plan_next(struct dat_plan *plan, struct dat_slice *out)
{
    if (plan->over)
        return 0;
    dat_plan_rest(plan, out);
    plan->over = !find_end(plan, &out->until_ns);
    if (plan->over) {
        out->until_ns = DAT_CPU_NO_TIME;
        return 0;
    }
    plan->from_ns = out->until_ns;
    for (size_t i = 0; i < plan->cpu_count; i++)
        out->ends[i] = plan->cursor[i].last.at;
    return 1;
}
