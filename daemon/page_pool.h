/*
 * Buffers for sub-buffers of the kernel's rings, one sub-buffer each, and the queues they wait in.
 * Who reads the rings takes them and fills them, who decodes or writes gives them back; both may be
 * any thread. The pool bounds the memory: where it is used up the kernel's ring has to hold what
 * comes, until buffers come back.
 */
#ifndef TRACERD_DAEMON_PAGE_POOL_H
#define TRACERD_DAEMON_PAGE_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page_buffer {
    struct page_buffer *next; /* in whatever list it is; the pool's while it is nobody's */
    uint32_t cpu;
    uint32_t size;        /* of what was read into it; 0 = a word about losses only */
    bool has_loss;        /* the page says that something is missing before it */
    uint64_t kernel_lost; /* with has_loss: the CPU's count just after the page was read */
    uint64_t until_ns;    /* with no size: what was lost had happened by then */
    _Alignas(64) uint8_t bytes[];
};

struct page_pool;

/* `bytes_max` of pages may be out at once. 0 or -ENOMEM. */
int page_pool_create(struct page_pool **out, uint32_t page_size, uint64_t bytes_max);
/* Every buffer has been given back. */
void page_pool_destroy(struct page_pool *pool);
/* An empty buffer, the caller's until it is given back or handed on; NULL if the pool is used up or
 * there is no memory. `needed`: also beyond the limit, for a CPU whose turn all others wait for. */
struct page_buffer *page_pool_take(struct page_pool *pool, bool needed);
void page_pool_give(struct page_pool *pool, struct page_buffer *page); /* NULL is fine */
/* How much of bytes_max is out now, of a hundred; above with `needed` ones. */
unsigned page_pool_percent(const struct page_pool *pool);

/* A queue without a lock: several may push, one takes. Zeroed is empty. */
struct page_queue {
    _Atomic(struct page_buffer *) last; /* of those that wait, the newest first */
};

void page_queue_push(struct page_queue *queue, struct page_buffer *page);
/* All that wait, the oldest first; NULL if none. */
struct page_buffer *page_queue_take_all(struct page_queue *queue);

#endif
