#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "page_pool.h"

#define PAGE_SIZE 4096

static void test_page_pool_limit_holds_but_for_what_is_needed(void **state)
{
    struct page_pool *pool = NULL;
    struct page_buffer *pages[4];

    (void)state;
    assert_int_equal(page_pool_create(&pool, PAGE_SIZE, 2 * PAGE_SIZE), 0);
    pages[0] = page_pool_take(pool, false);
    assert_int_equal(page_pool_percent(pool), 50);
    pages[1] = page_pool_take(pool, false);
    assert_non_null(pages[0]);
    assert_non_null(pages[1]);
    assert_null(page_pool_take(pool, false));
    pages[2] = page_pool_take(pool, true);
    assert_non_null(pages[2]);
    assert_int_equal(page_pool_percent(pool), 150);
    page_pool_give(pool, pages[1]);
    assert_null(page_pool_take(pool, false));
    page_pool_give(pool, pages[0]);
    pages[3] = page_pool_take(pool, false);
    assert_non_null(pages[3]);
    memset(pages[3]->bytes, 1, PAGE_SIZE);
    page_pool_give(pool, pages[2]);
    page_pool_give(pool, pages[3]);
    page_pool_give(pool, NULL);
    assert_int_equal(page_pool_percent(pool), 0);
    page_pool_destroy(pool);
    page_pool_destroy(NULL);
}

static void test_page_queue_keeps_the_order(void **state)
{
    struct page_pool *pool = NULL;
    struct page_queue queue = { NULL };
    struct page_buffer *page;
    uint32_t next = 0;

    (void)state;
    assert_int_equal(page_pool_create(&pool, PAGE_SIZE, 100 * PAGE_SIZE), 0);
    assert_null(page_queue_take_all(&queue));
    for (uint32_t i = 0; i < 10; i++) {
        page = page_pool_take(pool, false);
        page->size = i;
        page_queue_push(&queue, page);
    }
    page = page_queue_take_all(&queue);
    assert_null(page_queue_take_all(&queue));
    while (page) {
        struct page_buffer *after = page->next;

        assert_int_equal(page->size, next++);
        page_pool_give(pool, page);
        page = after;
    }
    assert_int_equal(next, 10);
    page_pool_destroy(pool);
}

#define MANY 20000

struct shared {
    struct page_pool *pool;
    struct page_queue queue;
};

static void *push_many(void *context)
{
    struct shared *shared = context;

    for (uint32_t i = 0; i < MANY;) {
        struct page_buffer *page = page_pool_take(shared->pool, false);

        if (!page) {
            sched_yield();
            continue;
        }
        page->size = i;
        memcpy(page->bytes, &i, sizeof(i));
        page_queue_push(&shared->queue, page);
        i++;
    }
    return NULL;
}

static void test_page_queue_between_threads_loses_and_mixes_nothing(void **state)
{
    struct shared shared = { 0 };
    uint32_t next = 0;
    pthread_t thread;

    (void)state;
    assert_int_equal(page_pool_create(&shared.pool, PAGE_SIZE, 16 * PAGE_SIZE), 0);
    assert_int_equal(pthread_create(&thread, NULL, push_many, &shared), 0);
    while (next < MANY) {
        struct page_buffer *page = page_queue_take_all(&shared.queue);

        if (!page)
            sched_yield();
        while (page) {
            struct page_buffer *after = page->next;
            uint32_t held;

            memcpy(&held, page->bytes, sizeof(held));
            assert_int_equal(page->size, next);
            assert_int_equal(held, next++);
            page_pool_give(shared.pool, page);
            page = after;
        }
    }
    pthread_join(thread, NULL);
    assert_int_equal(page_pool_percent(shared.pool), 0);
    page_pool_destroy(shared.pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_page_pool_limit_holds_but_for_what_is_needed),
        cmocka_unit_test(test_page_queue_keeps_the_order),
        cmocka_unit_test(test_page_queue_between_threads_loses_and_mixes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
