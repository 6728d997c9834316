#include "page_pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "priority_lock.h"

struct page_pool {
    pthread_mutex_t lock;
    struct page_buffer *spare; /* owned list */
    uint32_t page_size;
    uint64_t count_max;
    _Atomic uint64_t out_count;
};

int page_pool_create(struct page_pool **out, uint32_t page_size, uint64_t bytes_max)
{
    struct page_pool *pool = calloc(1, sizeof(*pool));

    if (!pool)
        return -ENOMEM;
    priority_lock_init(&pool->lock);
    pool->page_size = page_size;
    pool->count_max = bytes_max / page_size > 0 ? bytes_max / page_size : 1;
    *out = pool;
    return 0;
}

void page_pool_destroy(struct page_pool *pool)
{
    if (!pool)
        return;
    while (pool->spare) {
        struct page_buffer *page = pool->spare;

        pool->spare = page->next;
        free(page);
    }
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

static struct page_buffer *take_spare(struct page_pool *pool)
{
    struct page_buffer *page;

    pthread_mutex_lock(&pool->lock);
    page = pool->spare;
    if (page)
        pool->spare = page->next;
    pthread_mutex_unlock(&pool->lock);
    return page;
}

struct page_buffer *page_pool_take(struct page_pool *pool, bool needed)
{
    struct page_buffer *page = NULL;

    if (atomic_fetch_add_explicit(&pool->out_count, 1, memory_order_relaxed) < pool->count_max ||
        needed) {
        page = take_spare(pool);
        if (!page)
            page = malloc(sizeof(*page) + pool->page_size);
    }
    if (!page)
        atomic_fetch_sub_explicit(&pool->out_count, 1, memory_order_relaxed);
    return page;
}

void page_pool_give(struct page_pool *pool, struct page_buffer *page)
{
    if (!page)
        return;
    pthread_mutex_lock(&pool->lock);
    page->next = pool->spare;
    pool->spare = page;
    pthread_mutex_unlock(&pool->lock);
    atomic_fetch_sub_explicit(&pool->out_count, 1, memory_order_relaxed);
}

unsigned page_pool_percent(const struct page_pool *pool)
{
    return (unsigned)(atomic_load_explicit(&pool->out_count, memory_order_relaxed) * 100 /
                      pool->count_max);
}

void page_queue_push(struct page_queue *queue, struct page_buffer *page)
{
    page->next = atomic_load_explicit(&queue->last, memory_order_relaxed);
    /* The page and what lies behind it become visible to whoever takes; nobody else touches it. */
    while (!atomic_compare_exchange_weak_explicit(&queue->last, &page->next, page,
                                                  memory_order_release, memory_order_relaxed))
        ;
}

struct page_buffer *page_queue_take_all(struct page_queue *queue)
{
    struct page_buffer *page = atomic_exchange_explicit(&queue->last, NULL, memory_order_acquire);
    struct page_buffer *first = NULL;

    while (page) {
        struct page_buffer *older = page->next;

        page->next = first;
        first = page;
        page = older;
    }
    return first;
}
