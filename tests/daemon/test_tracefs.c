/* Our instance of tracefs: made, used, and removed, also by the next run after a kill -9. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ftrace_catalog.h"
#include "tracefs_linux.h"

static void test_instance_is_named_after_its_process_and_goes(void **state)
{
    struct tracefs_instance instance;
    char expected[64];

    (void)state;
    (void)snprintf(expected, sizeof(expected), "/instances/tracerd-%d-%llu", getpid(),
                   (unsigned long long)process_start_time(getpid()));
    assert_int_equal(tracefs_create(&instance), 0);
    assert_non_null(strstr(instance.path, expected));
    assert_int_equal(tracefs_write(&instance, "events/sched/sched_switch/enable", "1"), 0);
    tracefs_remove(&instance);
    assert_int_not_equal(access(instance.path, F_OK), 0);
}

static void test_instance_that_exists_is_not_taken_over(void **state)
{
    struct tracefs_instance first, second;

    (void)state;
    assert_int_equal(tracefs_create(&first), 0);
    assert_int_equal(tracefs_create(&second), -EEXIST);
    tracefs_remove(&second);
    assert_int_equal(access(first.path, F_OK), 0);
    tracefs_remove(&first);
}

/* A child that makes an instance, switches an event on, and is killed. */
static struct tracefs_instance leave_behind(void)
{
    struct tracefs_instance instance;
    int pipes[2];
    pid_t pid;

    assert_int_equal(pipe(pipes), 0);
    pid = fork();
    if (pid == 0) {
        if (tracefs_create(&instance) != 0 ||
            tracefs_write(&instance, "events/sched/sched_switch/enable", "1") != 0)
            _exit(1);
        (void)!write(pipes[1], &instance, sizeof(instance));
        pause();
    }
    assert_int_equal(read(pipes[0], &instance, sizeof(instance)), sizeof(instance));
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(pipes[0]);
    close(pipes[1]);
    return instance;
}

static void test_instance_of_a_killed_process_is_removed_by_the_next(void **state)
{
    struct tracefs_instance left = leave_behind(), ours;

    (void)state;
    assert_int_equal(access(left.path, F_OK), 0);
    assert_int_equal(tracefs_create(&ours), 0);
    assert_int_not_equal(access(left.path, F_OK), 0);
    tracefs_remove(&ours);
}

/* Its owner may live where we cannot see it: in another pid namespace. */
static void test_instance_that_somebody_holds_open_is_left_alone(void **state)
{
    struct tracefs_instance left = leave_behind(), ours;
    int fd = tracefs_open(&left, "per_cpu/cpu0/trace_pipe_raw", O_RDONLY | O_NONBLOCK);
    char *enabled;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(tracefs_create(&ours), 0);
    enabled = tracefs_read(&left, "events/sched/sched_switch/enable", NULL);
    assert_non_null(enabled);
    assert_int_equal(enabled[0], '1');
    free(enabled);
    close(fd);
    tracefs_remove(&left);
    tracefs_remove(&ours);
}

static void test_pids_are_appended_to_the_filter(void **state)
{
    struct tracefs_instance instance;
    char *text, both[2][16];

    (void)state;
    assert_int_equal(tracefs_create(&instance), 0);
    (void)snprintf(both[0], sizeof(both[0]), "%d ", getpid());
    (void)snprintf(both[1], sizeof(both[1]), "%d ", getppid());
    assert_int_equal(tracefs_append(&instance, "set_event_pid", both[0]), 0);
    assert_int_equal(tracefs_append(&instance, "set_event_pid", both[1]), 0);
    text = tracefs_read(&instance, "set_event_pid", NULL);
    assert_non_null(text);
    for (int i = 0; i < 2; i++) {
        both[i][strlen(both[i]) - 1] = '\0';
        assert_non_null(strstr(text, both[i]));
    }
    free(text);
    tracefs_remove(&instance);
}

static void test_catalog_knows_the_events_and_the_instance_s_pages(void **state)
{
    struct options options = { .events = { "sched:sched_switch" }, .event_count = 1 };
    struct tracefs_instance instance;
    struct ftrace_events events;
    struct ftrace_symbols symbols;
    struct trd_catalog *catalog = NULL;

    (void)state;
    assert_int_equal(tracefs_create(&instance), 0);
    assert_int_equal(ftrace_events_choose(&events, &options,
                                          tracefs_read_root(&instance, "available_events", NULL)),
                     0);
    ftrace_symbols_start(&symbols);
    assert_int_equal(ftrace_catalog_create(&catalog, &instance, &events, &symbols), 0);
    ftrace_symbols_finish(&symbols);
    assert_non_null(trd_catalog_find_name(catalog, "sched", "sched_switch"));
    assert_non_null(trd_catalog_find_name(catalog, "ftrace", "print"));
    assert_null(trd_catalog_find_name(catalog, "sched", "sched_waking"));
    assert_int_equal(trd_catalog_get_layout(catalog)->data_offset, 16);
    trd_catalog_destroy(catalog);
    ftrace_events_finish(&events);
    tracefs_remove(&instance);
}

static void test_missing_file_is_an_error_and_whole_files_are_whole(void **state)
{
    char path[] = "/tmp/tracerd-test-XXXXXX";
    int fd = mkstemp(path);
    size_t size = 0;
    char *text;

    (void)state;
    assert_null(read_whole_file("/nowhere/file", &size));
    assert_int_equal(errno, ENOENT);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(write(fd, "0123456789", 10), 10);
    close(fd);
    text = read_whole_file(path, &size);
    assert_int_equal(size, 1000000);
    assert_int_equal(strlen(text), 1000000);
    free(text);
    unlink(path);
}

static int missing(const char *what)
{
    const char *ci = getenv("CI");

    fprintf(stderr, "SKIP: %s\n", what);
    return ci && strcmp(ci, "true") == 0 ? 1 : 77;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instance_is_named_after_its_process_and_goes),
        cmocka_unit_test(test_instance_that_exists_is_not_taken_over),
        cmocka_unit_test(test_instance_of_a_killed_process_is_removed_by_the_next),
        cmocka_unit_test(test_instance_that_somebody_holds_open_is_left_alone),
        cmocka_unit_test(test_pids_are_appended_to_the_filter),
        cmocka_unit_test(test_catalog_knows_the_events_and_the_instance_s_pages),
        cmocka_unit_test(test_missing_file_is_an_error_and_whole_files_are_whole),
    };
    struct tracefs_instance instance;
    int result = tracefs_create(&instance);

    if (result != 0)
        return missing(result == -ENOENT ? "tracefs" : "permission to use tracefs");
    tracefs_remove(&instance);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
