/* What /proc tells of a process, against processes that we made for it. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "clr_tids.h"
#include "profiler_library.h"
#include "target_linux.h"
#include "tracefs_linux.h"

/* A child that waits to be killed, after `prepare` has run in it. */
static pid_t make_child(void (*prepare)(void))
{
    int ready[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        if (prepare)
            prepare();
        (void)!write(ready[1], "r", 1);
        for (;;)
            pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

static void end_child(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void *sleep_for_ever(void *context)
{
    for (;;)
        pause();
    return context;
}

static void make_three_threads(void)
{
    pthread_t thread;

    for (int i = 0; i < 3; i++)
        pthread_create(&thread, NULL, sleep_for_ever, NULL);
}

static void test_threads_are_listed_with_the_first(void **state)
{
    pid_t pid = make_child(make_three_threads);
    size_t count = 0;
    bool has_first = false;
    pid_t *tids = target_threads(pid, &count);

    (void)state;
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++)
        has_first |= tids[i] == pid;
    assert_true(has_first);
    free(tids);
    end_child(pid);
    assert_null(target_threads(pid, &count));
}

static void test_process_that_waits_to_be_reaped_is_dead(void **state)
{
    pid_t pid = make_child(NULL);
    siginfo_t info;

    (void)state;
    assert_false(target_is_dead(pid));
    kill(pid, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    assert_true(target_is_dead(pid));
    waitpid(pid, NULL, 0);
    assert_true(target_is_dead(pid));
    assert_int_equal(process_start_time(pid), 0);
}

static int first_thread_ready[2];

static void *outlive(void *context)
{
    char path[64], line[256] = "";

    (void)context;
    (void)snprintf(path, sizeof(path), "/proc/%d/stat", getpid());
    while (!strstr(line, ") Z")) {
        FILE *file = fopen(path, "r");

        if (!file || !fgets(line, sizeof(line), file))
            _exit(1);
        fclose(file);
    }
    (void)!write(first_thread_ready[1], "r", 1);
    return sleep_for_ever(NULL);
}

static void test_process_whose_first_thread_has_ended_is_alive(void **state)
{
    pthread_t thread;
    char byte;
    pid_t pid;

    (void)state;
    assert_int_equal(pipe(first_thread_ready), 0);
    pid = fork();
    if (pid == 0) {
        pthread_create(&thread, NULL, outlive, NULL);
        pthread_exit(NULL);
    }
    close(first_thread_ready[1]);
    assert_int_equal(read(first_thread_ready[0], &byte, 1), 1);
    close(first_thread_ready[0]);
    assert_false(target_is_dead(pid));
    end_child(pid);
}

static void test_name_with_parentheses_does_not_confuse(void **state)
{
    pid_t pid;
    FILE *file;
    char path[64];

    (void)state;
    pid = make_child(NULL);
    (void)snprintf(path, sizeof(path), "/proc/%d/comm", pid);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs("a) Z 1 (", file);
    fclose(file);
    assert_false(target_is_dead(pid));
    assert_true(process_start_time(pid) > 0);
    end_child(pid);
}

static void test_user_group_and_environment_are_its_own(void **state)
{
    uid_t user = 1;
    gid_t group = 1;
    char *path = target_environment(getpid(), "PATH");

    (void)state;
    assert_int_equal(target_user(getpid(), &user, &group), 0);
    assert_int_equal(user, geteuid());
    assert_int_equal(group, getegid());
    assert_string_equal(path, getenv("PATH"));
    free(path);
    assert_null(target_environment(getpid(), "PAT"));
    assert_int_equal(target_user(0x7ffffffe, &user, &group), -ESRCH);
}

static void test_maps_match_whole_file_names(void **state)
{
    (void)state;
    assert_int_equal(target_maps(getpid(), "/test_target"), 1);
    assert_int_equal(target_maps(getpid(), "/test_targe"), 0);
    assert_true(target_maps(0x7ffffffe, "/x") < 0);
}

static void test_library_is_ours_in_every_version(void **state)
{
    static const struct {
        const char *path;
        bool is_ours;
    } cases[] = {
        { "/usr/lib/tracerd/libtracerd_profiler.so", true },
        { "/usr/lib/tracerd/libtracerd_profiler-0123456789abcdef.so", true },
        { "/tmp/x/libtracerd_profiler-00ff.so (deleted)", true },
        { "libtracerd_profiler.so", true },
        { "/usr/lib/libtracerd_profiler_asan.so", false },
        { "/usr/lib/libtracerd_profiler-else.so", false },
        { "/usr/lib/libtracerd_profiler.so.1", false },
        { "/usr/lib/libtracerd_profiler", false },
        { "/libtracerd_profiler.so/other.so", false },
        { "", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (profiler_library_is_ours(cases[i].path) != cases[i].is_ours)
            fail_msg("%s", cases[i].path);
}

/* Namespaces */

static void skip_without_root(void)
{
    if (geteuid() == 0)
        return;
    fprintf(stderr, "SKIP: root, for namespaces\n");
    if (getenv("CI") && strcmp(getenv("CI"), "true") == 0)
        fail();
    skip();
}

static void leave_mounts(void)
{
    if (unshare(CLONE_NEWNS) != 0)
        _exit(1);
}

static void test_other_mount_namespace_is_another_root(void **state)
{
    pid_t pid;

    (void)state;
    assert_int_equal(target_has_own_root(getpid()), 0);
    skip_without_root();
    pid = make_child(leave_mounts);
    assert_int_equal(target_has_own_root(pid), 1);
    end_child(pid);
}

/* One number each, all in a moment: a thread may live for less than a pause between two looks. */
static void test_threads_of_another_pid_namespace_are_found_at_once(void **state)
{
    struct clr_tids tids;
    pid_t pids[2];
    int own;

    (void)state;
    skip_without_root();
    own = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
    assert_int_equal(unshare(CLONE_NEWPID), 0);
    pids[0] = make_child(make_three_threads);
    pids[1] = make_child(make_three_threads);
    assert_int_equal(setns(own, CLONE_NEWPID), 0);
    close(own);
    clr_tids_init(&tids, pids[0], 1);
    assert_int_equal(clr_tids_host(&tids, 99), -1); /* looked, and that long ago */
    assert_int_equal(clr_tids_host(&tids, 1), pids[0]);
    tids.pid = pids[1]; /* as if these had just come */
    assert_int_equal(clr_tids_host(&tids, (uint32_t)target_inner_pid(pids[1])), pids[1]);
    assert_int_equal(clr_tids_host(&tids, 98), -1);
    end_child(pids[1]);
    end_child(pids[0]); /* the namespace's first process ends when all others have */
    clr_tids_finish(&tids);
}

static void test_thread_of_another_pid_namespace_has_two_numbers(void **state)
{
    struct clr_tids tids;
    size_t count = 0;
    pid_t pid, *threads;
    int own;

    (void)state;
    skip_without_root();
    own = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
    assert_int_equal(unshare(CLONE_NEWPID), 0);
    pid = make_child(make_three_threads);          /* numbers 1 to 4 in there */
    assert_int_equal(setns(own, CLONE_NEWPID), 0); /* later children are ours again */
    close(own);
    assert_int_equal(target_inner_pid(pid), 1);
    threads = target_threads(pid, &count);
    assert_int_equal(count, 4);
    clr_tids_init(&tids, pid, 1);
    assert_false(tids.same);
    assert_int_equal(clr_tids_host(&tids, 1), pid);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(clr_tids_host(&tids, (uint32_t)target_inner_tid(pid, threads[i])),
                         threads[i]);
    assert_int_equal(clr_tids_host(&tids, 99), -1);
    end_child(pid);
    /* The last records of a thread come when it is gone. */
    assert_int_equal(clr_tids_host(&tids, 1), pid);
    clr_tids_finish(&tids);
    free(threads);
}

static void test_thread_of_our_namespace_has_one_number(void **state)
{
    struct clr_tids tids;

    (void)state;
    clr_tids_init(&tids, 77, 77);
    assert_int_equal(clr_tids_host(&tids, 123456), 123456);
    clr_tids_finish(&tids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_are_listed_with_the_first),
        cmocka_unit_test(test_process_that_waits_to_be_reaped_is_dead),
        cmocka_unit_test(test_process_whose_first_thread_has_ended_is_alive),
        cmocka_unit_test(test_name_with_parentheses_does_not_confuse),
        cmocka_unit_test(test_user_group_and_environment_are_its_own),
        cmocka_unit_test(test_maps_match_whole_file_names),
        cmocka_unit_test(test_library_is_ours_in_every_version),
        cmocka_unit_test(test_thread_of_our_namespace_has_one_number),
        cmocka_unit_test(test_other_mount_namespace_is_another_root),
        cmocka_unit_test(test_threads_of_another_pid_namespace_are_found_at_once),
        /* Last: children of this program live in another namespace from here on. */
        cmocka_unit_test(test_thread_of_another_pid_namespace_has_two_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
