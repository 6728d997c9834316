/*
 * Preloaded into a program: its time of day is ahead of CLOCK_MONOTONIC by the nanoseconds that the
 * file named in CLOCK_SHIM tells, at each reading anew, and CLOCK_BOOTTIME by those of its second
 * line. So nothing that really sets the clock meanwhile is seen.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void add(struct timespec *time, long long ns)
{
    ns += time->tv_nsec;
    time->tv_sec += ns / 1000000000;
    time->tv_nsec = ns % 1000000000;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    const char *path = getenv("CLOCK_SHIM");
    char text[64] = "", *end;
    long long realtime, boot;
    int fd, result;

    if (!path || (clock != CLOCK_REALTIME && clock != CLOCK_BOOTTIME))
        return (int)syscall(SYS_clock_gettime, clock, out);
    result = (int)syscall(SYS_clock_gettime, CLOCK_MONOTONIC, out);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
        text[0] = '\0';
    if (fd >= 0)
        close(fd);
    realtime = strtoll(text, &end, 10);
    boot = strtoll(end, NULL, 10);
    add(out, clock == CLOCK_REALTIME ? realtime : boot);
    return result;
}
