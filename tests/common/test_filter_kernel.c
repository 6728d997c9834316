/*
 * Filters in the kernel's words. The running kernel is the judge: two instances record the same
 * children at once, one with the kernel's filter and one without; what trd_filter_match then leaves
 * of both must be the same. A third truth, where the text is exact: nothing that the kernel let
 * pass is thrown away afterwards.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "hash.h"
#include "kernel_catalog.h"
#include "tracefs_instance.h"
#include "tracerd/filter.h"
#include "tracerd/page.h"

#define CHILDREN 3
#define EVENTS_MAX 65536
#define PAGE_SIZE 4096

/* Of each filter: does the kernel's text say all of it? What of it comes out for sched_switch? */
static const struct {
    const char *filter, *of_switch;
    bool exact;
} cases[] = {
    { "next_prio < 120", "next_prio < 120", true },
    { "next_prio != -1 && prev_pid > 0", "(next_prio != -1 && prev_pid > 0)", true },
    { "prev_state & (S | D)", "prev_state & 0x3", true },
    { "!(prev_state & 1) || next_pid == 0", "(!(prev_state & 0x1) || next_pid == 0)", true },
    { "next_comm ~ \"kid*\" || prev_comm == \"kid-1\"",
      "(next_comm ~ \"kid*\" || prev_comm == \"kid-1\")", true },
    { "prev_comm != \"kid-1\" && cpu == 0", "(prev_comm != \"kid-1\" && CPU == 0)", true },
    { "prev_comm ~ \"*-2\"", "prev_comm ~ \"*-2*\"", false },
    { "!(prev_comm ~ \"*-2\")", NULL, false },
    { "next_comm !~ \"kid-*\"", "!(next_comm ~ \"kid-*\")", true },
    { "next_comm ~ \"k?d-*\" || next_comm ~ \"*wap*\"", NULL, false },
    { "next_comm ~ \"7*\" || next_comm ~ \"!a*\"", NULL, false },
    { "tid > 5 && thread !~ \"x\"", "(common_pid > 5)", false },
    { "next_prio < 4294967296 && next_pid >= 0", "(next_pid >= 0)", false },
    { "next_pid > 18446744073709551615 || prev_prio > 119", NULL, false },
    { "!(name == \"sched:sched_waking\" || next_prio == 120)", "(next_prio != 120)", true },
    { "name == \"sched:sched_waking\" && target_cpu == 1", "", true },
    { "filename ~ \"*/true\" || filename == \"/bin/echo\"", "", true },
    { "filename ~ \"/bin/*e\" && !(filename ~ \"*ech*\")", "", true },
    { "ret == -2 || ret > 9223372036854775806", "", true },
    { "ret & 0xff && id >= 0", "", true },
    { "id == 39 || args[0] == 1", "", false },
    { "prev_state == 0 && src == \"ftrace\"", "(prev_state == 0)", false },
};

#define CASES (sizeof(cases) / sizeof(cases[0]))

static const char *const events[][2] = {
    { "sched", "sched_switch" },       { "sched", "sched_waking" },
    { "sched", "sched_process_exec" }, { "raw_syscalls", "sys_enter" },
    { "raw_syscalls", "sys_exit" },
};

#define EVENT_COUNT (sizeof(events) / sizeof(events[0]))

static struct trd_catalog *catalog;

struct kept {
    uint64_t hashes[EVENTS_MAX];
    size_t count;
    size_t seen; /* before the filter */
};

static struct trd_filter *make(const char *text)
{
    struct trd_filter *filter;
    char error[256];

    if (trd_filter_create(&filter, text, error, sizeof(error)) != 0)
        fail_msg("%s: %s", text, error);
    return filter;
}

static void test_filter_kernel_text(void **state)
{
    const struct trd_schema *schema = trd_catalog_find_name(catalog, "sched", "sched_switch");

    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        struct trd_filter *filter = make(cases[i].filter);
        char text[TRD_FILTER_KERNEL_MAX];
        enum trd_filter_reach reach = trd_filter_kernel(filter, schema, text);

        if (!cases[i].of_switch)
            assert_int_equal(reach, TRD_FILTER_ALL);
        else if (!cases[i].of_switch[0])
            assert_int_equal(reach, TRD_FILTER_NONE);
        else
            assert_int_equal(reach, TRD_FILTER_SOME);
        if (reach == TRD_FILTER_SOME)
            assert_string_equal(text, cases[i].of_switch);
        trd_filter_destroy(filter);
    }
}

static void test_filter_kernel_text_too_long_lets_all_pass(void **state)
{
    const struct trd_schema *schema = trd_catalog_find_name(catalog, "sched", "sched_switch");
    char expression[TRD_FILTER_TEXT_MAX] = "next_comm==\"a\"";
    char text[TRD_FILTER_KERNEL_MAX];
    struct trd_filter *filter;

    (void)state;
    /* It has more blanks and parentheses than these. */
    for (int i = 0; i < 120; i++)
        strcat(expression, "||next_comm==\"123456789012345\"");
    filter = make(expression);
    assert_int_equal(trd_filter_kernel(filter, schema, text), TRD_FILTER_ALL);
    trd_filter_destroy(filter);
}

/* Beside the kernel */

static void live_child(int number)
{
    static const char *const programs[] = { "/bin/true", "/bin/echo", "/bin/false" };
    char name[16];

    (void)snprintf(name, sizeof(name), "kid-%d", number);
    (void)prctl(PR_SET_NAME, name);
    for (int i = 0; i < 20; i++) {
        (void)usleep(300);
        (void)!access(i % 2 ? "/nothing" : "/", R_OK);
        (void)getppid();
    }
    (void)!freopen("/dev/null", "w", stdout);
    (void)execl(programs[number], programs[number], "x", NULL);
    _exit(1);
}

/* Whatever a child does lies between the two moments that both instances record in. */
static void run_children(pid_t *children)
{
    (void)fflush(stdout); /* or each of them says it again */
    for (int i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        if (children[i] == 0)
            live_child(i);
    }
    for (int i = 0; i < CHILDREN; i++)
        assert_int_equal(waitpid(children[i], NULL, 0), children[i]);
}

static void switch_on(const struct tracefs_instance *instance, const struct trd_filter *filter)
{
    for (size_t i = 0; i < EVENT_COUNT; i++) {
        const struct trd_schema *schema =
            trd_catalog_find_name(catalog, events[i][0], events[i][1]);
        enum trd_filter_reach reach = TRD_FILTER_ALL;
        char text[TRD_FILTER_KERNEL_MAX], file[128];

        (void)snprintf(file, sizeof(file), "events/%s/%s/filter", events[i][0], events[i][1]);
        if (filter)
            reach = trd_filter_kernel(filter, schema, text);
        if (tracefs_write(instance, file, reach == TRD_FILTER_SOME ? text : "0") != 0)
            fail_msg("the kernel refuses for %s: %s", events[i][1], text);
        (void)snprintf(file, sizeof(file), "events/%s/%s/enable", events[i][0], events[i][1]);
        assert_int_equal(tracefs_write(instance, file, reach == TRD_FILTER_NONE ? "0" : "1"), 0);
    }
}

/*
 * Of the fields that both instances saw alike: names, priorities and states (of a task that ends
 * and is reaped meanwhile) are read once for each of them, and may change in between. Holes are of
 * no interest.
 */
static bool is_fixed(const struct trd_field *field)
{
    return field->storage != TRD_STORAGE_CHARS && !strstr(field->name, "prio") &&
           !strstr(field->name, "state");
}

static uint64_t hash_record(const struct trd_record *record)
{
    uint64_t hash = hash_bytes(HASH_START, &record->schema->id, sizeof(record->schema->id));

    for (uint32_t i = record->schema->common_count; i < record->schema->field_count; i++) {
        const struct trd_field *field = &record->schema->fields[i];

        if (is_fixed(field))
            hash = hash_bytes(hash, record->data + field->offset, field->size);
    }
    return hash;
}

static bool is_child(const pid_t *children, pid_t tid)
{
    for (int i = 0; i < CHILDREN; i++)
        if (children[i] == tid)
            return true;
    return false;
}

static void take_page(struct kept *kept, struct trd_filter *filter, const pid_t *children, int cpu,
                      const uint8_t *bytes)
{
    struct trd_page_event event;
    struct trd_page page;

    assert_int_equal(trd_page_init(&page, bytes, PAGE_SIZE, trd_catalog_get_layout(catalog)), 0);
    assert_false(page.lost_events);
    while (trd_page_next(&page, &event) == 1) {
        struct trd_record record;

        trd_record_init(&record);
        record.cpu = cpu;
        if (!trd_page_event_record(catalog, &event, &record) || !is_child(children, record.tid))
            continue;
        kept->seen++;
        if (trd_filter_match(filter, &record) && kept->count < EVENTS_MAX)
            kept->hashes[kept->count++] = hash_record(&record);
    }
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return left < right ? -1 : left > right;
}

static void take(struct kept *kept, const struct tracefs_instance *instance,
                 struct trd_filter *filter, const pid_t *children)
{
    long cpus = sysconf(_SC_NPROCESSORS_CONF);

    kept->count = kept->seen = 0;
    for (int cpu = 0; cpu < cpus; cpu++) {
        char file[64], *pages;
        size_t size = 0;

        (void)snprintf(file, sizeof(file), "per_cpu/cpu%d/trace_pipe_raw", cpu);
        pages = tracefs_read(instance, file, &size);
        for (size_t at = 0; pages && at + PAGE_SIZE <= size; at += PAGE_SIZE)
            take_page(kept, filter, children, cpu, (const uint8_t *)pages + at);
        free(pages);
    }
    assert_true(kept->count < EVENTS_MAX);
    qsort(kept->hashes, kept->count, sizeof(kept->hashes[0]), compare_hashes);
}

static void test_filter_kernel_leaves_the_same_events(void **state)
{
    static struct kept with, without;
    struct tracefs_instance *pair = *state;
    size_t passed = 0;

    for (size_t i = 0; i < CASES; i++) {
        struct trd_filter *filter = make(cases[i].filter);
        pid_t children[CHILDREN];

        switch_on(&pair[0], filter);
        switch_on(&pair[1], NULL);
        for (int j = 0; j < 2; j++)
            assert_int_equal(tracefs_write(&pair[j], "tracing_on", "1"), 0);
        run_children(children);
        for (int j = 0; j < 2; j++)
            assert_int_equal(tracefs_write(&pair[j], "tracing_on", "0"), 0);
        take(&with, &pair[0], filter, children);
        take(&without, &pair[1], filter, children);
        printf("%-52s %5zu of %5zu pass, the kernel left %5zu\n", cases[i].filter, without.count,
               without.seen, with.seen);
        assert_int_equal(with.count, without.count);
        assert_memory_equal(with.hashes, without.hashes, with.count * sizeof(with.hashes[0]));
        if (cases[i].exact)
            assert_int_equal(with.seen, with.count);
        passed += without.count;
        trd_filter_destroy(filter);
    }
    assert_true(passed > 0);
}

static int set_up(void **state)
{
    static struct tracefs_instance pair[2];
    static const char *const names[] = { "filtered", "whole" };

    for (int i = 0; i < 2; i++) {
        if (!tracefs_instance_init(&pair[i], names[i]))
            exit(tracefs_skip_code());
        if (tracefs_write(&pair[i], "tracing_on", "0") != 0 ||
            tracefs_write(&pair[i], "buffer_size_kb", "8192") != 0)
            return -1;
    }
    *state = pair;
    return 0;
}

static int tear_down(void **state)
{
    struct tracefs_instance *pair = *state;

    for (int i = 0; i < 2; i++)
        tracefs_instance_finish(&pair[i]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filter_kernel_text),
        cmocka_unit_test(test_filter_kernel_text_too_long_lets_all_pass),
        cmocka_unit_test(test_filter_kernel_leaves_the_same_events),
    };
    int result;

    catalog = kernel_catalog_create();
    if (!catalog) {
        printf("SKIP: tracefs: the formats of this kernel cannot be read\n");
        return tracefs_skip_code();
    }
    result = cmocka_run_group_tests(tests, set_up, tear_down);
    trd_catalog_destroy(catalog);
    return result;
}
