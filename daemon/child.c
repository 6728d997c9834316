#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_UNRELEASED 126 /* seen by nobody but child_wait */

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void be_the_command(struct child *child, char **arguments, void (*prepare)(void *context),
                           void *context)
{
    char go;
    int error;

    close_end(&child->barrier[1]);
    close_end(&child->failure[0]);
    if (read(child->barrier[0], &go, 1) != 1)
        _exit(EXIT_UNRELEASED);
    signal(SIGPIPE, SIG_DFL); /* main ignores it */
    if (prepare)
        prepare(context);
    execvp(arguments[0], arguments);
    error = errno;
    (void)!write(child->failure[1], &error, sizeof(error));
    _exit(EXIT_UNRELEASED);
}

int child_fork(struct child *child, char **arguments, void (*prepare)(void *context), void *context)
{
    int result = 0;

    *child = (struct child){ .barrier = { -1, -1 }, .failure = { -1, -1 } };
    if (pipe2(child->barrier, O_CLOEXEC) == 0 && pipe2(child->failure, O_CLOEXEC) == 0)
        child->pid = fork();
    else
        child->pid = -1;
    if (child->pid < 0)
        result = -errno;
    if (child->pid == 0)
        be_the_command(child, arguments, prepare, context);
    close_end(&child->barrier[0]);
    close_end(&child->failure[1]);
    if (result == 0)
        return 0;
    child->pid = 0;
    close_end(&child->barrier[1]);
    close_end(&child->failure[0]);
    return result;
}

int child_release(struct child *child)
{
    int error = 0;
    ssize_t got;

    (void)!write(child->barrier[1], "g", 1);
    close_end(&child->barrier[1]);
    do
        got = read(child->failure[0], &error, sizeof(error)); /* ends when exec closes the pipe */
    while (got < 0 && errno == EINTR);
    close_end(&child->failure[0]);
    return got == (ssize_t)sizeof(error) ? -error : 0;
}

static void take_status(struct child *child, int status)
{
    child->has_ended = true;
    child->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool child_poll(struct child *child)
{
    int status;

    if (!child->has_ended && waitpid(child->pid, &status, WNOHANG) == child->pid)
        take_status(child, status);
    return child->has_ended;
}

void child_wait(struct child *child)
{
    int status;
    pid_t ended;

    close_end(&child->barrier[1]);
    close_end(&child->failure[0]);
    if (child->has_ended || child->pid == 0)
        return;
    do
        ended = waitpid(child->pid, &status, 0);
    while (ended < 0 && errno == EINTR);
    if (ended == child->pid)
        take_status(child, status);
}
