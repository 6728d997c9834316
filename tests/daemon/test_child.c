/* The command of `run`, its environment, and the directory of its socket. */
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

#include "attach.h"
#include "child.h"
#include "copy_file.h"
#include "event.h"
#include "profiler_environment.h"
#include "runtime_dir.h"
#include "tracefs_linux.h"

#define SHELL(script) ((char *[]){ "sh", "-c", script, NULL })

static int status_of(char **arguments)
{
    struct child child;

    assert_int_equal(child_fork(&child, arguments, NULL, NULL), 0);
    assert_int_equal(child_release(&child), 0);
    child_wait(&child);
    assert_true(child.has_ended);
    return child.status;
}

static void test_status_is_what_a_shell_would_say(void **state)
{
    (void)state;
    assert_int_equal(status_of(SHELL("exit 7")), 7);
    assert_int_equal(status_of(SHELL("kill -9 $$")), 128 + SIGKILL);
}

static void test_command_waits_at_the_barrier(void **state)
{
    char path[] = "/tmp/tracerd-test-XXXXXX", script[128];
    struct child child;

    (void)state;
    close(mkstemp(path));
    (void)snprintf(script, sizeof(script), "rm %s", path);
    assert_int_equal(child_fork(&child, SHELL(script), NULL, NULL), 0);
    assert_false(child_poll(&child));
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(child_release(&child), 0);
    child_wait(&child);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void test_command_that_is_never_released_does_nothing(void **state)
{
    char path[] = "/tmp/tracerd-test-XXXXXX", script[128];
    struct child child;

    (void)state;
    close(mkstemp(path));
    (void)snprintf(script, sizeof(script), "rm %s", path);
    assert_int_equal(child_fork(&child, SHELL(script), NULL, NULL), 0);
    child_wait(&child);
    assert_int_equal(unlink(path), 0);
}

static void test_reason_of_a_failed_execution_comes_back(void **state)
{
    char path[] = "/tmp/tracerd-test-XXXXXX"; /* no x in its mode */
    struct child child;

    (void)state;
    close(mkstemp(path));
    assert_int_equal(child_fork(&child, (char *[]){ "/nowhere/x", NULL }, NULL, NULL), 0);
    assert_int_equal(child_release(&child), -ENOENT);
    child_wait(&child);
    assert_int_equal(child_fork(&child, (char *[]){ path, NULL }, NULL, NULL), 0);
    assert_int_equal(child_release(&child), -EACCES);
    child_wait(&child);
    unlink(path);
}

/* A broken pipe kills the command as it would without us, who ignore the signal. */
static void test_command_has_its_own_sigpipe(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(status_of(SHELL("kill -PIPE $$; exit 0")), 128 + SIGPIPE);
    signal(SIGPIPE, SIG_DFL);
}

/* Environment */

static int clear_profilers(void **state)
{
    static const char *const names[] = {
        "CORECLR_ENABLE_PROFILING",       "CORECLR_PROFILER",
        "CORECLR_PROFILER_PATH",          "CORECLR_PROFILER_PATH_64",
        "CORECLR_NOTIFICATION_PROFILERS", "CORECLR_ENABLE_NOTIFICATION_PROFILERS"
    };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
    return 0;
}

static void test_profiler_takes_a_free_main_slot(void **state)
{
    (void)state;
    setenv("CORECLR_ENABLE_PROFILING", "0", 1);
    setenv("CORECLR_PROFILER", "{x}", 1);
    setenv("CORECLR_PROFILER_PATH_64", "/other.so", 1);
    assert_int_equal(profiler_environment_set("/p.so", "/s.sock",
                                              TRD_CATEGORY_BIT(RUNTIME) | TRD_CATEGORY_BIT(GC),
                                              true),
                     0);
    assert_string_equal(getenv("CORECLR_ENABLE_PROFILING"), "1");
    assert_string_equal(getenv("CORECLR_PROFILER"), TRD_CLSID_MAIN_TEXT);
    assert_string_equal(getenv("CORECLR_PROFILER_PATH"), "/p.so");
    assert_null(getenv("CORECLR_PROFILER_PATH_64")); /* it would be looked at first */
    assert_null(getenv("CORECLR_NOTIFICATION_PROFILERS"));
    assert_string_equal(getenv(TRD_ENV_SOCKET), "/s.sock");
    assert_string_equal(getenv(TRD_ENV_CATEGORIES), "runtime,gc");
    assert_string_equal(getenv(TRD_ENV_FOLLOW), "1");
}

static void test_profiler_joins_one_that_is_named_already(void **state)
{
    (void)state;
    setenv("CORECLR_ENABLE_PROFILING", "0x1", 1);
    setenv("CORECLR_PROFILER", "{x}", 1);
    setenv("CORECLR_PROFILER_PATH", "/apm.so", 1);
    setenv("CORECLR_NOTIFICATION_PROFILERS", "/n.so={n}", 1);
    assert_int_equal(profiler_environment_set("/p.so", "/s.sock", TRD_CATEGORIES_ALL, false), 0);
    assert_string_equal(getenv("CORECLR_PROFILER_PATH"), "/apm.so");
    assert_string_equal(getenv("CORECLR_PROFILER"), "{x}");
    /* Each entry ends with a semicolon: .NET 9 and 10 ignore one that does not. */
    assert_string_equal(getenv("CORECLR_NOTIFICATION_PROFILERS"),
                        "/n.so={n};/p.so=" TRD_CLSID_NOTIFICATION_TEXT ";");
    assert_string_equal(getenv("CORECLR_ENABLE_NOTIFICATION_PROFILERS"), "1");
    assert_null(getenv(TRD_ENV_FOLLOW));
}

static void test_path_the_runtime_cannot_take_is_refused(void **state)
{
    char path[1100];

    (void)state;
    memset(path, 'p', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(profiler_environment_set(path, "/s", 1, false), -ENAMETOOLONG);
    assert_null(getenv("CORECLR_PROFILER_PATH"));
}

/* Directory */

static void test_directory_is_private_and_goes_with_its_files(void **state)
{
    char path[RUNTIME_DIR_MAX], file[RUNTIME_DIR_MAX + 16];
    struct stat status;

    (void)state;
    assert_int_equal(runtime_dir_create(path, "", "/nowhere"), 0);
    assert_int_equal(strncmp(path, "/tmp/", 5), 0);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    (void)snprintf(file, sizeof(file), "%s/library", path);
    assert_int_equal(copy_file("/etc/hostname", file, 0755), 0);
    assert_int_equal(copy_file("/etc/hostname", file, 0755), -EEXIST);
    runtime_dir_remove(path);
    assert_int_not_equal(access(path, F_OK), 0);
    runtime_dir_remove("");
}

static void test_directory_of_a_dead_process_is_removed_by_the_next(void **state)
{
    char base[] = "/tmp/tracerd-test-XXXXXX", path[RUNTIME_DIR_MAX];
    char stale[128], living[128], foreign[128];
    pid_t pid = fork();

    (void)state;
    if (pid == 0)
        _exit(0);
    waitpid(pid, NULL, 0);
    assert_non_null(mkdtemp(base));
    (void)snprintf(stale, sizeof(stale), "%s/tracerd-%d-1-abcdef", base, pid);
    (void)snprintf(living, sizeof(living), "%s/tracerd-%d-%llu-abcdef", base, getpid(),
                   (unsigned long long)process_start_time(getpid()));
    (void)snprintf(foreign, sizeof(foreign), "%s/tracerd-notes", base);
    assert_int_equal(mkdir(stale, 0700) | mkdir(living, 0700) | mkdir(foreign, 0700), 0);
    assert_int_equal(runtime_dir_create(path, "", base), 0);
    assert_int_not_equal(access(stale, F_OK), 0);
    assert_int_equal(rmdir(living), 0);
    assert_int_equal(rmdir(foreign), 0);
    runtime_dir_remove(path);
    assert_int_equal(rmdir(base), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status_is_what_a_shell_would_say),
        cmocka_unit_test(test_command_waits_at_the_barrier),
        cmocka_unit_test(test_command_that_is_never_released_does_nothing),
        cmocka_unit_test(test_reason_of_a_failed_execution_comes_back),
        cmocka_unit_test(test_command_has_its_own_sigpipe),
        cmocka_unit_test_setup(test_profiler_takes_a_free_main_slot, clear_profilers),
        cmocka_unit_test_setup(test_profiler_joins_one_that_is_named_already, clear_profilers),
        cmocka_unit_test_setup(test_path_the_runtime_cannot_take_is_refused, clear_profilers),
        cmocka_unit_test(test_directory_is_private_and_goes_with_its_files),
        cmocka_unit_test(test_directory_of_a_dead_process_is_removed_by_the_next),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
