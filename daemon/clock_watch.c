#include "clock_watch.h"

#include <errno.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Far enough away to never expire. */
static int arm(int fd)
{
    const struct itimerspec never = { .it_value = { .tv_sec = (time_t)1 << 33 } };

    return timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL);
}

static void on_cancelled(uv_poll_t *poll, int status, int events)
{
    struct clock_watch *watch = poll->data;
    uint64_t expirations;

    (void)status;
    (void)events;
    /* Nothing else than a step makes it readable; reading says ECANCELED and takes it back. */
    if (read(watch->fd, &expirations, sizeof(expirations)) < 0 && errno == EAGAIN)
        return;
    if (arm(watch->fd) != 0)
        (void)uv_poll_stop(poll);
    watch->stepped(watch->context);
}

void clock_watch_start(struct clock_watch *watch, uv_loop_t *loop, void (*stepped)(void *context),
                       void *context)
{
    watch->stepped = stepped;
    watch->context = context;
    watch->fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (watch->fd < 0)
        return;
    if (arm(watch->fd) != 0 || uv_poll_init(loop, &watch->poll, watch->fd) != 0) {
        close(watch->fd);
        watch->fd = -1;
        return;
    }
    watch->poll.data = watch;
    (void)uv_poll_start(&watch->poll, UV_READABLE, on_cancelled);
    uv_unref((uv_handle_t *)&watch->poll);
}

void clock_watch_stop(struct clock_watch *watch)
{
    if (watch->fd < 0)
        return;
    uv_close((uv_handle_t *)&watch->poll, NULL);
    close(watch->fd);
    watch->fd = -1;
}
