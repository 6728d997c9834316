#include "sender.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "arena.h"
#include "attach.h"
#include "catch_up.h"
#include "connection.h"
#include "eventpipe_source.h"
#include "elt.h"
#include "frame.h"
#include "gate.h"
#include "in_flight.h"
#include "log.h"
#include "profiler.h"
#include "stamp.h"
#include "resolve.h"
#include "sweep.h"

#define RETRY_FIRST_MS 10
#define RETRY_LAST_MS 1000
/* For callbacks that were past the gate when it closed. */
#define QUIET_POLL_MS 1
#define QUIET_DETACH_MAX_MS 2000
#define QUIET_SHUTDOWN_MAX_MS 5 /* of the nine that the application waits */

enum wish {
    WISH_RUN,
    WISH_FINISH, /* sweep, say goodbye, end */
};

static struct {
    char path[TRD_SOCKET_PATH_MAX];
    int wake_fd;
    _Atomic int wish;
    _Atomic uint32_t running; /* a futex: sender_finish waits for 0 */
    struct connection connection;
    bool detaching;
    bool greeted; /* by any daemon, since this load of the profiler */
    uint64_t instance;
} sender = { .wake_fd = -1, .connection = { .fd = -1 } };

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void sender_wake(void)
{
    uint64_t one = 1;

    (void)!write(sender.wake_fd, &one, sizeof(one));
}

static bool should_finish(void)
{
    return atomic_load(&sender.wish) == WISH_FINISH || sender.detaching;
}

bool sender_flush(void)
{
    return !should_finish() && sweep(&sender.connection) == 0;
}

static uint64_t start_time(void)
{
    char text[1024];
    unsigned long long ticks = 0;
    FILE *file = fopen("/proc/self/stat", "re");
    size_t size = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
    const char *behind_name;

    if (file)
        fclose(file);
    text[size] = '\0';
    behind_name = strrchr(text, ')');
    if (behind_name)
        (void)sscanf(
            behind_name + 1,
            " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
            &ticks);
    return ticks;
}

static void fill_hello(struct trd_hello *hello)
{
    struct profiler *profiler = profiler_get();
    const struct info_version *runtime = &profiler->runtime;
    struct sweep_sums sums;
    struct stamp_pair now;

    sweep_sum(&sums);
    *hello = (struct trd_hello){
        .magic = TRD_PROTOCOL_MAGIC,
        .version = TRD_PROTOCOL_VERSION,
        .flags = (uint16_t)((profiler->attached ? TRD_HELLO_F_ATTACHED : 0) |
                            (profiler->notification_only ? TRD_HELLO_F_NOTIFICATION_ONLY : 0) |
                            (sender.greeted ? TRD_HELLO_F_RECONNECT : 0) | TRD_HELLO_F_SWEEPS),
        .pid = (uint32_t)getpid(),
        .clock = stamp_is_tsc ? TRD_CLOCK_TSC : TRD_CLOCK_MONOTONIC,
        .start_time = start_time(),
        .instance = sender.instance,
        .runtime = { runtime->major, runtime->minor, runtime->build, runtime->revision },
        .categories = TRD_CATEGORIES_ALL,
        .ring_size = arena_get()->ring_size,
        .ring_count = arena_get()->ring_count,
        .events_revision = TRD_EVENTS_REVISION,
        .accounted = sums.taken,
    };
    if (!stamp_is_tsc)
        return;
    stamp_read_pair(&now);
    hello->started =
        (struct trd_clock_pair){ stamp_started.tsc, stamp_started.ns, stamp_started.window };
    hello->now = (struct trd_clock_pair){ now.tsc, now.ns, now.window };
}

/* What the daemon wants, and what it could not know of what it wants. */
static void set_categories(uint32_t categories, bool is_new_listener)
{
    uint32_t fresh = profiler_set_categories(categories);

    if (!should_finish())
        catch_up(profiler_get(), is_new_listener ? categories : fresh);
}

static int resolve(const uint8_t *payload, size_t size)
{
    uint64_t addresses[TRD_RESOLVE_MAX];
    struct trd_resolve request;
    int result = trd_frame_resolve(payload, size, &request, addresses);

    if (result == 0 && !should_finish())
        resolve_addresses(profiler_get(), &request, addresses);
    return result;
}

static int obey(const struct trd_frame_head *head, const uint8_t *payload)
{
    struct trd_categories categories;
    struct trd_ping ping;
    int result;

    switch (head->type) {
    case TRD_FRAME_CATEGORIES:
        result = trd_frame_categories(payload, head->size, &categories);
        if (result == 0)
            set_categories(categories.categories, false);
        return result;
    case TRD_FRAME_PING:
        result = trd_frame_ping(payload, head->size, &ping);
        return result ? result
                      : connection_send(&sender.connection, TRD_FRAME_PONG, &ping, sizeof(ping),
                                        NULL, 0);
    case TRD_FRAME_PROVIDERS:
        result = trd_frame_providers(payload, head->size);
        if (result == 0)
            profiler_set_providers((const char *)payload, head->size);
        return result;
    case TRD_FRAME_RESOLVE:
        return resolve(payload, head->size);
    case TRD_FRAME_SWEEP:
        return 0; /* as after every word */
    case TRD_FRAME_DETACH:
        gate_close();
        sender.detaching = true;
        return 0;
    default:
        return -EBADMSG;
    }
}

/* The gate is closed; false if somebody who had passed it does not come out. */
static bool wait_for_callbacks(void)
{
    for (int waited_ms = 0; !in_flight_none(); waited_ms += QUIET_POLL_MS) {
        bool shuts_down = atomic_load(&sender.wish) == WISH_FINISH;

        if (waited_ms >= (shuts_down ? QUIET_SHUTDOWN_MAX_MS : QUIET_DETACH_MAX_MS))
            return false;
        (void)poll(NULL, 0, QUIET_POLL_MS);
    }
    return true;
}

/* Without it, when something may still come, the daemon waits for the end of the process and finds
 * the rest in the arena. */
static void say_goodbye(void)
{
    struct trd_goodbye goodbye;
    struct sweep_sums sums;

    if (!wait_for_callbacks()) {
        log_line("no goodbye: a callback is still under way");
        return;
    }
    if (sweep(&sender.connection) != 0)
        return;
    sweep_sum(&sums);
    goodbye = (struct trd_goodbye){ .produced = sums.produced, .dropped = sums.dropped };
    (void)connection_send(&sender.connection, TRD_FRAME_BYE, &goodbye, sizeof(goodbye), NULL, 0);
}

/* Sleeps until a wake-up, the daemon's word or the next mark (-1: none is due); whether the daemon
 * has spoken. */
static bool wait_for_work(int timeout_ms)
{
    struct pollfd fds[2] = { { .fd = sender.wake_fd, .events = POLLIN },
                             { .fd = sender.connection.fd, .events = POLLIN } };
    nfds_t count = sender.connection.fd >= 0 ? 2 : 1;
    uint64_t wakes;

    if (poll(fds, count, timeout_ms) <= 0)
        return false;
    if (fds[0].revents)
        (void)!read(sender.wake_fd, &wakes, sizeof(wakes));
    return count == 2 && fds[1].revents;
}

/* A daemon that looks into the arena itself asks for what it finds: then this thread sleeps until
 * it is asked. */
static int mark_interval_ms(const struct trd_welcome *welcome)
{
    if (!(welcome->flags & TRD_WELCOME_F_LOOKS))
        return (int)welcome->mark_interval_ms;
    arena_admit_barrier();
    return -1;
}

static int serve(const struct trd_welcome *welcome)
{
    int interval_ms = mark_interval_ms(welcome);
    bool has_spoken = true; /* a word may have come together with WELCOME */
    int result = 0;

    while (result == 0 && !should_finish()) {
        if (has_spoken)
            result = connection_receive(&sender.connection, obey);
        if (result == 0)
            result = sweep(&sender.connection);
        elt_tell_untold();
        /* Whoever was told to detach is woken by nobody. */
        if (result == 0 && !should_finish())
            has_spoken = wait_for_work(interval_ms);
    }
    if (result == 0)
        say_goodbye();
    return result;
}

/* Whether events went to an earlier daemon, or to nobody. */
static bool has_missed_events(void)
{
    struct sweep_sums sums;

    sweep_sum(&sums);
    return sender.greeted || sums.dropped > 0;
}

/* *out_greeted: whether it came as far as the daemon's WELCOME. */
static int converse(bool *out_greeted)
{
    bool missed = has_missed_events();
    struct trd_welcome welcome;
    struct trd_hello hello;
    int result;

    fill_hello(&hello);
    result = connection_greet(&sender.connection, &hello, arena_fd(), &welcome);
    if (result != 0)
        return result;
    *out_greeted = true;
    if (missed)
        profiler_emit_runtime_info(TRD_EVENT_F_CATCH_UP);
    /* After an attach the runtime has a past that nobody saw. */
    set_categories(welcome.categories, missed || profiler_get()->attached);
    return serve(&welcome);
}

/* One try to have a daemon; whether one said WELCOME. */
static bool try_connection(void)
{
    bool greeted = false;
    int result = connection_open(&sender.connection, sender.path, &sender.wish);

    if (result == 0) {
        result = converse(&greeted);
        log_line("connection to %s ended: %s", sender.path, strerror(-result));
    }
    connection_close(&sender.connection);
    /* What is written from now on is for another listener, who was told no description. */
    if (greeted)
        eventpipe_source_forget();
    return greeted;
}

static int next_delay_ms(int delay_ms, bool greeted)
{
    if (greeted || delay_ms == 0)
        return RETRY_FIRST_MS;
    return delay_ms * 2 < RETRY_LAST_MS ? delay_ms * 2 : RETRY_LAST_MS;
}

/* Until the application ends, or a daemon wants us to leave. */
static void seek_daemons(int delay_ms)
{
    /* Once at least: a process that ends at once still hands over its arena. */
    do {
        bool greeted = try_connection();

        sender.greeted = sender.greeted || greeted;
        delay_ms = next_delay_ms(delay_ms, greeted);
        if (!should_finish())
            (void)wait_for_work(delay_ms);
    } while (!should_finish());
}

/* Whoever waits for this thread, or attaches anew, must not find it any more. */
static void be_gone(void)
{
    atomic_store(&sender.running, 0);
    (void)syscall(SYS_futex, &sender.running, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *run(void *argument)
{
    (void)argument;
    (void)prctl(PR_SET_NAME, TRD_SENDER_NAME);
    seek_daemons(0);
    be_gone();
    while (sender.detaching && !profiler_detach()) {
        sender.detaching = false;
        atomic_store(&sender.running, 1);
        /* Not at once, or the one that wished us gone would have us back. */
        (void)wait_for_work(RETRY_LAST_MS);
        seek_daemons(RETRY_LAST_MS);
        be_gone();
    }
    return NULL;
}

int sender_start(const char *path)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;
    int result;

    if (atomic_load(&sender.running))
        return 0;
    if (strlen(path) >= sizeof(sender.path))
        return -ENAMETOOLONG;
    strcpy(sender.path, path);
    if (sender.wake_fd < 0)
        sender.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (sender.wake_fd < 0)
        return -errno;
    sender.instance = now_ns();
    sender.detaching = false;
    sender.greeted = false;
    atomic_store(&sender.wish, WISH_RUN);

    /* No signal of the application is ours to handle. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    atomic_store(&sender.running, 1);
    result = -pthread_create(&thread, &attributes, run, NULL);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (result != 0)
        atomic_store(&sender.running, 0);
    return result;
}

void sender_finish(unsigned timeout_ms)
{
    uint64_t until_ns = now_ns() + timeout_ms * UINT64_C(1000000), left_ns;

    if (!atomic_load(&sender.running))
        return;
    atomic_store(&sender.wish, WISH_FINISH);
    sender_wake();
    /* Neither a signal of the application nor a clock that is set makes it shorter or longer. */
    while (atomic_load(&sender.running) &&
           (left_ns = until_ns - now_ns()) <= timeout_ms * UINT64_C(1000000)) {
        struct timespec left = { .tv_sec = (time_t)(left_ns / 1000000000),
                                 .tv_nsec = (long)(left_ns % 1000000000) };

        (void)syscall(SYS_futex, &sender.running, FUTEX_WAIT_PRIVATE, 1, &left, NULL, 0);
    }
}
