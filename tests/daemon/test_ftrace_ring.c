/* A CPU's ring as merge input, over a made folder of tracefs: what its pages and its statistics
 * say. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "ftrace_cpu.h"
#include "ftrace_reader.h"
#include "page_maker.h"

#define PAGE_SIZE 4096
#define EVENT_ID 7

static const char format[] = "name: thing\nID: 7\nformat:\n"
                             "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                             "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
                             "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;"
                             "\tsigned:0;\n"
                             "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
                             "\tfield:unsigned int n;\toffset:8;\tsize:4;\tsigned:0;\n\n"
                             "print fmt: \"n=%u\", REC->n\n";

struct world {
    struct tracefs_instance instance;
    struct trd_catalog *catalog;
    struct page_pool *pool;
    struct ftrace_cpu cpu;
    unsigned ended;
    FILE *pages;   /* appends to trace_pipe_raw */
    uint32_t next; /* number of the next event */
};

static void on_end(struct ftrace_cpu *cpu)
{
    ((struct world *)cpu->context)->ended++;
}

static FILE *open_file(const struct world *world, const char *name, const char *mode)
{
    char path[2 * TRACEFS_PATH_MAX];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/per_cpu/cpu3/%s", world->instance.path, name);
    file = fopen(path, mode);
    assert_non_null(file);
    return file;
}

static void make_folder(const struct world *world, const char *name)
{
    char path[2 * TRACEFS_PATH_MAX];

    (void)snprintf(path, sizeof(path), "%s/per_cpu/cpu3/%s", world->instance.path, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void set_statistics(const struct world *world, unsigned overrun, unsigned dropped)
{
    FILE *file = open_file(world, "stats", "w");

    fprintf(file,
            "entries: 0\noverrun: %u\ncommit overrun: 0\nbytes: 0\noldest event ts: 0\n"
            "now ts: 0\ndropped events: %u\nread events: 0\n",
            overrun, dropped);
    fclose(file);
}

/* A page of `count` events, a microsecond apart, behind a loss of `lost`. */
static void put_page(struct world *world, unsigned count, uint64_t lost)
{
    uint8_t bytes[PAGE_SIZE] = { 0 };
    struct page_maker page;

    page_maker_init(&page, bytes, sizeof(bytes), false, 8, 1000 * (world->next + 1));
    for (unsigned i = 0; i < count; i++) {
        const uint32_t payload[] = { EVENT_ID, 42, world->next };

        assert_true(page_maker_event(&page, 1000 * (++world->next), payload, sizeof(payload)));
    }
    page_maker_finish(&page, lost);
    assert_int_equal(fwrite(bytes, sizeof(bytes), 1, world->pages), 1);
    assert_int_equal(fflush(world->pages), 0);
}

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    char path[2 * TRACEFS_PATH_MAX];

    strcpy(world->instance.path, "/tmp/test_ftrace_ring.XXXXXX");
    assert_non_null(mkdtemp(world->instance.path));
    (void)snprintf(path, sizeof(path), "%s/per_cpu", world->instance.path);
    assert_int_equal(mkdir(path, 0700), 0);
    (void)snprintf(path, sizeof(path), "%s/per_cpu/cpu3", world->instance.path);
    assert_int_equal(mkdir(path, 0700), 0);
    set_statistics(world, 0, 0);
    world->pages = open_file(world, "trace_pipe_raw", "a");
    assert_int_equal(trd_catalog_create(&world->catalog, false, 8), 0);
    assert_int_equal(trd_catalog_add_format(world->catalog, "made", format, strlen(format)), 0);
    assert_int_equal(page_pool_create(&world->pool, PAGE_SIZE, 4 * PAGE_SIZE), 0);
    world->cpu = (struct ftrace_cpu){ .catalog = world->catalog,
                                      .on_end = on_end,
                                      .context = world,
                                      .ring = { .page_size = PAGE_SIZE,
                                                .layout = trd_catalog_get_layout(world->catalog),
                                                .pool = world->pool } };
    assert_int_equal(ftrace_ring_open(&world->cpu.ring, &world->instance, 3), 0);
    ftrace_cpu_init(&world->cpu);
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    char command[2 * TRACEFS_PATH_MAX];

    ftrace_cpu_close(&world->cpu);
    assert_int_equal(page_pool_percent(world->pool), 0); /* every page was given back */
    page_pool_destroy(world->pool);
    trd_catalog_destroy(world->catalog);
    fclose(world->pages);
    (void)snprintf(command, sizeof(command), "rm -r %s", world->instance.path);
    assert_int_equal(system(command), 0);
    free(world);
    return 0;
}

static enum ftrace_ring_stop read_ring(struct world *world)
{
    enum ftrace_ring_stop stop;

    (void)ftrace_ring_read(&world->cpu.ring, &stop);
    return stop;
}

static int next(struct world *world, struct trd_record *out)
{
    return world->cpu.input.next(&world->cpu.input, out);
}

static void expect_event(struct world *world, uint32_t number)
{
    struct trd_record record;
    uint32_t n;

    assert_int_equal(next(world, &record), 1);
    assert_int_equal(record.kind, TRD_KIND_EVENT);
    assert_int_equal(record.cpu, 3);
    assert_int_equal(record.tid, 42);
    assert_int_equal(record.ts_ns, 1000 * (number + 1));
    memcpy(&n, record.data + 8, sizeof(n));
    assert_int_equal(n, number);
}

static void expect_loss(struct world *world, uint64_t count, uint64_t from_ns, uint64_t to_ns)
{
    struct trd_record record;

    assert_int_equal(next(world, &record), 1);
    assert_int_equal(record.kind, TRD_KIND_LOST);
    assert_int_equal(record.cpu, 3);
    assert_int_equal(record.lost, count);
    assert_int_equal(record.lost_from_ns, from_ns);
    if (to_ns > 0)
        assert_int_equal(record.ts_ns, to_ns);
}

static void expect_nothing(struct world *world)
{
    struct trd_record record;

    assert_int_equal(next(world, &record), -EAGAIN);
}

static void expect_end(struct world *world)
{
    struct trd_record record;

    assert_int_equal(next(world, &record), 0);
    assert_int_equal(world->ended, 1);
}

static void test_ring_loss_stands_between_the_events_around_it(void **state)
{
    struct world *world = *state;

    put_page(world, 2, 0);
    put_page(world, 1, 5);
    set_statistics(world, 5, 0);
    assert_int_equal(read_ring(world), FTRACE_RING_EMPTY);
    expect_event(world, 0);
    expect_event(world, 1);
    expect_loss(world, 5, 2000, 3000);
    expect_event(world, 2);
    expect_nothing(world);
    ftrace_cpu_finish(&world->cpu);
    expect_end(world);
    assert_int_equal(world->cpu.delivered, 3);
    assert_int_equal(world->cpu.lost, 5);
}

static void test_ring_page_that_claims_more_than_the_kernel_counted_is_not_believed(void **state)
{
    struct world *world = *state;

    put_page(world, 1, 0);
    put_page(world, 1, 1000);
    set_statistics(world, 3, 0);
    (void)read_ring(world);
    expect_event(world, 0);
    expect_loss(world, 3, 1000, 2000);
    expect_event(world, 1);
    expect_nothing(world);
}

static void test_ring_page_without_a_count_gets_the_kernels(void **state)
{
    struct world *world = *state;

    put_page(world, 1, 0);
    put_page(world, 1, PAGE_MAKER_LOST_UNKNOWN);
    set_statistics(world, 8, 1);
    (void)read_ring(world);
    expect_event(world, 0);
    expect_loss(world, 9, 1000, 2000);
    expect_event(world, 1);
    expect_nothing(world);
}

/* Dropped in the middle of another event, or since the ring was full: no page has a mark of it. */
static void test_ring_loss_that_no_page_tells_is_told_when_the_ring_is_empty(void **state)
{
    struct world *world = *state;

    put_page(world, 1, 0);
    set_statistics(world, 0, 7);
    (void)read_ring(world);
    expect_event(world, 0);
    expect_nothing(world); /* the statistics are looked at once a second */
    world->cpu.ring.counted_ns = 0;
    (void)read_ring(world);
    expect_loss(world, 7, 1000, 0);
    expect_nothing(world);
    /* Told once; what comes later is told at the end. */
    world->cpu.ring.counted_ns = 0;
    (void)read_ring(world);
    expect_nothing(world);
    set_statistics(world, 0, 9);
    ftrace_cpu_finish(&world->cpu);
    expect_loss(world, 2, 1000, 0);
    expect_end(world);
    assert_int_equal(world->cpu.lost, 9);
}

static void test_ring_promises_what_was_read_before_it_was_found_empty(void **state)
{
    struct world *world = *state;
    uint64_t before = world->cpu.input.watermark_ns;

    usleep(3000);
    put_page(world, 1, 0);
    (void)read_ring(world);
    assert_int_equal(world->cpu.input.watermark_ns, before); /* the merge has not asked yet */
    expect_event(world, 0);
    expect_nothing(world);
    assert_true(world->cpu.input.watermark_ns > before);
}

static void test_ring_with_the_pool_used_up_waits_and_loses_nothing(void **state)
{
    struct world *world = *state;

    for (int i = 0; i < 10; i++)
        put_page(world, 200, 0);
    assert_int_equal(read_ring(world), FTRACE_RING_NO_ROOM);
    assert_int_equal(page_pool_percent(world->pool), 100);
    for (uint32_t i = 0; i < 600; i++)
        expect_event(world, i);
    (void)read_ring(world);
    /* What is left at the end is read as it is asked for. */
    ftrace_cpu_finish(&world->cpu);
    for (uint32_t i = 600; i < 2000; i++) {
        expect_event(world, i);
        assert_true(page_pool_percent(world->pool) <= 100);
    }
    expect_end(world);
    assert_int_equal(world->cpu.delivered, 2000);
}

static void count_reading(void *context)
{
    ++*(_Atomic unsigned *)context;
}

/* A file is always ready, as a ring of kernels without buffer_percent is while anything is in it:
 * the thread then goes by time. */
static void test_reader_brings_all_pages_and_sleeps_between(void **state)
{
    struct world *world = *state;
    struct ftrace_ring *ring = &world->cpu.ring;
    _Atomic unsigned readings = 0;
    const struct ftrace_reader_options options = { UINT64_C(1) << 20, count_reading,
                                                   (void *)&readings };
    struct ftrace_reader *reader = NULL;
    struct trd_record record;
    const pid_t *tids;
    uint32_t got = 0;

    assert_int_equal(ftrace_reader_create(&reader, &ring, 1, &options), 0);
    assert_int_equal(ftrace_reader_tids(reader, &tids), 1);
    assert_true(tids[0] > 0 && tids[0] != getpid());
    for (int i = 0; i < 20; i++)
        put_page(world, 100, 0);
    while (got < 2000) {
        if (next(world, &record) == 1) {
            assert_int_equal(record.ts_ns, 1000 * (uint64_t)++got);
            continue;
        }
        usleep(1000);
    }
    readings = 0;
    usleep(200000);
    assert_true(readings < 100); /* and not some ten thousand */
    ftrace_reader_destroy(reader);
    ftrace_cpu_finish(&world->cpu);
    expect_end(world);
}

#define MANY_CPUS 20

/* Rings of more CPUs than a thread has: each ring has one page, of as many events as its number. */
static void test_reader_shares_many_rings_among_threads(void **state)
{
    struct world *world = *state;
    _Atomic unsigned readings = 0;
    const struct ftrace_reader_options options = { UINT64_C(1) << 20, count_reading,
                                                   (void *)&readings };
    struct ftrace_cpu cpus[MANY_CPUS];
    struct ftrace_ring *rings[MANY_CPUS];
    FILE *unused = world->pages;
    struct ftrace_reader *reader = NULL;
    const pid_t *tids;

    for (unsigned i = 0; i < MANY_CPUS; i++) {
        char name[64];

        cpus[i] = world->cpu;
        cpus[i].ring.queue = (struct page_queue){ NULL };
        (void)snprintf(name, sizeof(name), "../cpu%u", 100 + i);
        make_folder(world, name);
        (void)snprintf(name, sizeof(name), "../cpu%u/trace_pipe_raw", 100 + i);
        world->pages = open_file(world, name, "a");
        world->next = 0;
        put_page(world, i + 1, 0);
        fclose(world->pages);
        assert_int_equal(ftrace_ring_open(&cpus[i].ring, &world->instance, 100 + i), 0);
        ftrace_cpu_init(&cpus[i]);
        rings[i] = &cpus[i].ring;
    }
    world->pages = unused;
    assert_int_equal(ftrace_reader_create(&reader, rings, MANY_CPUS, &options), 0);
    assert_int_equal(ftrace_reader_tids(reader, &tids), 3);
    assert_true(tids[0] != tids[1] && tids[1] != tids[2] && tids[0] != tids[2]);
    for (unsigned i = 0; i < MANY_CPUS; i++) {
        struct trd_record record;

        for (unsigned got = 0; got <= i;) {
            if (cpus[i].input.next(&cpus[i].input, &record) == 1) {
                assert_int_equal(record.cpu, 100 + i);
                assert_int_equal(record.ts_ns, 1000 * (uint64_t)++got);
                continue;
            }
            usleep(1000);
        }
        assert_int_equal(cpus[i].input.next(&cpus[i].input, &record), -EAGAIN);
    }
    ftrace_reader_destroy(reader);
    for (unsigned i = 0; i < MANY_CPUS; i++)
        ftrace_cpu_close(&cpus[i]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_ring_loss_stands_between_the_events_around_it),
        TEST(test_ring_page_that_claims_more_than_the_kernel_counted_is_not_believed),
        TEST(test_ring_page_without_a_count_gets_the_kernels),
        TEST(test_ring_loss_that_no_page_tells_is_told_when_the_ring_is_empty),
        TEST(test_ring_promises_what_was_read_before_it_was_found_empty),
        TEST(test_ring_with_the_pool_used_up_waits_and_loses_nothing),
        TEST(test_reader_brings_all_pages_and_sleeps_between),
        TEST(test_reader_shares_many_rings_among_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
