#include "sender.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "arena.h"
#include "attach.h"
#include "catch_up.h"
#include "connection.h"
#include "frame.h"
#include "info.h"
#include "log.h"
#include "profiler.h"

#define RETRY_FIRST_MS 10
#define RETRY_LAST_MS 1000
#define BUSY_SPINS                                                                                 \
    2000 /* a writer needs some ten nanoseconds; a descheduled one holds the mark                  \
          */

enum wish {
    WISH_RUN,
    WISH_FINISH, /* sweep, say goodbye, end */
};

static struct {
    pthread_t thread;
    char path[TRD_SOCKET_PATH_MAX];
    int wake_fd;
    _Atomic int wish;
    _Atomic bool running;
    sem_t finished;
    struct connection connection;
    bool detaching;
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

/*
 * Records are whole and never wrap, so a batch is one run of bytes. Returns the bytes that make one
 * frame; *out_events is what they account for: their events, and the drops that a `lost` tells.
 */
static uint32_t batch_extent(const uint8_t *bytes, uint64_t available, uint64_t *out_events)
{
    uint32_t size = 0;

    *out_events = 0;
    while (size < available) {
        const struct trd_event_head *head = (const void *)(bytes + size);

        if (size + head->size > CONNECTION_BATCH_MAX)
            break;
        if (head->id == TRD_EV_lost)
            *out_events += ((const struct trd_ev_lost *)(const void *)(head + 1))->count;
        else if (head->id != TRD_EVENT_PADDING)
            *out_events += 1;
        size += head->size;
    }
    return size;
}

static int send_ring(struct trd_arena *arena, uint32_t index, uint64_t head)
{
    struct trd_ring *ring = trd_arena_ring(arena, arena->ring_size, index);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

    while (tail < head) {
        uint64_t place = tail & (arena->ring_size - 1);
        uint64_t run =
            arena->ring_size - place < head - tail ? arena->ring_size - place : head - tail;
        const uint8_t *bytes = trd_ring_bytes(ring) + place;
        struct trd_batch batch = { .ring = index, .tid = ring->tid, .position = tail };
        uint64_t events;
        uint32_t size = batch_extent(bytes, run, &events);
        int result = connection_send(&sender.connection, TRD_FRAME_BATCH, &batch, sizeof(batch),
                                     bytes, size);

        if (result != 0)
            return result;
        tail += size;
        /* The kernel has it all: the writer may use the room again. */
        atomic_fetch_add_explicit(&ring->taken, events, memory_order_relaxed);
        atomic_store_explicit(&ring->tail, tail, memory_order_release);
    }
    return 0;
}

/* Drops of a ring that is quiet now: no event of its own would tell them soon. */
static int send_untold(struct trd_ring *ring, uint32_t index)
{
    struct trd_ring_lost lost = { .ring = index, .tid = ring->tid };

    lost.from_ns = atomic_load_explicit(&ring->untold_from_ns, memory_order_relaxed);
    lost.to_ns = atomic_load_explicit(&ring->untold_to_ns, memory_order_relaxed);
    lost.count = atomic_exchange_explicit(&ring->untold, 0, memory_order_acq_rel);
    if (lost.count == 0)
        return 0;
    atomic_fetch_add_explicit(&ring->taken, lost.count, memory_order_relaxed);
    return connection_send(&sender.connection, TRD_FRAME_LOST, &lost, sizeof(lost), NULL, 0);
}

/* Waits for a writer that is between its clock and its publishing; false if it takes too long. */
static bool ring_settled(struct trd_ring *ring)
{
    for (int i = 0; i < BUSY_SPINS; i++)
        if (!atomic_load_explicit(&ring->writing, memory_order_acquire))
            return true;
    return false;
}

/*
 * Sends everything published before now, and then the promise that nothing earlier follows: the
 * time was taken before the barrier, and every ring was seen settled after it (proto/ring.h).
 */
static int sweep(void)
{
    struct trd_arena *arena = arena_get();
    struct trd_mark mark = { .ts_ns = now_ns() };
    bool settled = true;
    uint32_t used;

    arena_barrier();
    used = atomic_load_explicit(&arena->ring_used, memory_order_acquire);
    for (uint32_t i = 0; i < used; i++) {
        struct trd_ring *ring = trd_arena_ring(arena, arena->ring_size, i);
        bool was_left = atomic_load_explicit(&ring->state, memory_order_acquire) == TRD_RING_LEFT;
        int result;

        settled = ring_settled(ring) && settled;
        result = send_ring(arena, i, atomic_load_explicit(&ring->head, memory_order_acquire));
        if (result == 0 && atomic_load_explicit(&ring->untold, memory_order_relaxed) != 0)
            result = send_untold(ring, i);
        if (result != 0)
            return result;
        if (was_left)
            arena_recycle(ring);
    }
    if (!settled)
        return 0;
    return connection_send(&sender.connection, TRD_FRAME_MARK, &mark, sizeof(mark), NULL, 0);
}

void sender_flush(void)
{
    if (sender.connection.fd >= 0)
        (void)sweep();
}

static void sum_arena(struct trd_goodbye *goodbye, uint64_t *out_accounted)
{
    struct trd_arena *arena = arena_get();
    uint64_t orphans = atomic_load_explicit(&arena->orphan_dropped, memory_order_relaxed);
    uint32_t used = atomic_load_explicit(&arena->ring_used, memory_order_acquire);

    *goodbye = (struct trd_goodbye){ .produced = orphans, .dropped = orphans };
    *out_accounted = 0;
    for (uint32_t i = 0; i < used; i++) {
        struct trd_ring *ring = trd_arena_ring(arena, arena->ring_size, i);

        goodbye->dropped += atomic_load_explicit(&ring->dropped, memory_order_relaxed);
        goodbye->produced += atomic_load_explicit(&ring->produced, memory_order_relaxed);
        *out_accounted += atomic_load_explicit(&ring->taken, memory_order_relaxed);
    }
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

static void fill_hello(struct trd_hello *hello, bool again)
{
    struct profiler *profiler = profiler_get();
    struct info_version version = { 0 };
    struct trd_goodbye sums;

    (void)info_runtime(profiler->info, &version);
    *hello = (struct trd_hello){
        .magic = TRD_PROTOCOL_MAGIC,
        .version = TRD_PROTOCOL_VERSION,
        .flags = (uint16_t)((profiler->attached ? TRD_HELLO_F_ATTACHED : 0) |
                            (profiler->notification_only ? TRD_HELLO_F_NOTIFICATION_ONLY : 0) |
                            (again ? TRD_HELLO_F_RECONNECT : 0)),
        .pid = (uint32_t)getpid(),
        .clock = TRD_CLOCK_MONOTONIC,
        .start_time = start_time(),
        .instance = sender.instance,
        .runtime = { version.major, version.minor, version.build, version.revision },
        .categories = TRD_CATEGORIES_ALL,
        .ring_size = arena_get()->ring_size,
        .ring_count = arena_get()->ring_count,
    };
    sum_arena(&sums, &hello->accounted);
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
            profiler_set_categories(categories.categories);
        return result;
    case TRD_FRAME_PING:
        result = trd_frame_ping(payload, head->size, &ping);
        return result ? result
                      : connection_send(&sender.connection, TRD_FRAME_PONG, &ping, sizeof(ping),
                                        NULL, 0);
    case TRD_FRAME_DETACH:
        sender.detaching = true;
        return 0;
    default:
        return -EBADMSG;
    }
}

static void say_goodbye(void)
{
    struct trd_goodbye goodbye;
    uint64_t accounted;

    if (sweep() != 0)
        return;
    sum_arena(&goodbye, &accounted);
    (void)connection_send(&sender.connection, TRD_FRAME_BYE, &goodbye, sizeof(goodbye), NULL, 0);
}

static bool should_finish(void)
{
    return atomic_load(&sender.wish) == WISH_FINISH || sender.detaching;
}

/* Sleeps until a wake-up, the daemon's word or the next mark. */
static void wait_for_work(int timeout_ms)
{
    struct pollfd fds[2] = { { .fd = sender.wake_fd, .events = POLLIN },
                             { .fd = sender.connection.fd, .events = POLLIN } };
    uint64_t wakes;

    if (poll(fds, sender.connection.fd >= 0 ? 2 : 1, timeout_ms) > 0 && fds[0].revents)
        (void)!read(sender.wake_fd, &wakes, sizeof(wakes));
}

static int serve(int mark_interval_ms)
{
    int result = 0;

    while (result == 0 && !should_finish()) {
        result = sweep();
        if (result == 0)
            wait_for_work(mark_interval_ms);
        if (result == 0)
            result = connection_receive(&sender.connection, obey);
    }
    if (result == 0)
        say_goodbye();
    return result;
}

/* Whether a listener needs to be told what it could not see happen. */
static bool needs_catch_up(bool again)
{
    struct trd_goodbye sums;
    uint64_t accounted;

    sum_arena(&sums, &accounted);
    return again || profiler_get()->attached || sums.dropped > 0;
}

static int converse(bool again)
{
    struct trd_welcome welcome;
    struct trd_hello hello;
    int result;

    fill_hello(&hello, again);
    result = connection_greet(&sender.connection, &hello, arena_fd(), &welcome);
    if (result != 0)
        return result;
    profiler_set_categories(welcome.categories);
    if (needs_catch_up(again)) {
        profiler_emit_runtime_info(TRD_EVENT_F_CATCH_UP);
        catch_up(profiler_get());
    }
    return serve((int)welcome.mark_interval_ms);
}

static void *run(void *argument)
{
    int delay_ms = RETRY_FIRST_MS;
    bool greeted = false;

    (void)argument;
    while (!should_finish()) {
        int result = connection_open(&sender.connection, sender.path, &sender.wish);

        if (result == 0) {
            delay_ms = RETRY_FIRST_MS;
            result = converse(greeted);
            greeted = true;
            log_line("connection to %s ended: %s", sender.path, strerror(-result));
        }
        connection_close(&sender.connection);
        if (should_finish())
            break;
        wait_for_work(delay_ms);
        delay_ms = delay_ms * 2 < RETRY_LAST_MS ? delay_ms * 2 : RETRY_LAST_MS;
    }
    atomic_store(&sender.running, false);
    sem_post(&sender.finished);
    if (sender.detaching)
        profiler_detach();
    return NULL;
}

int sender_start(const char *path)
{
    sigset_t all, before;
    pthread_attr_t attributes;
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
    sem_init(&sender.finished, 0, 0);
    sender.instance = now_ns();
    sender.detaching = false;
    atomic_store(&sender.wish, WISH_RUN);

    /* No signal of the application is ours to handle. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    atomic_store(&sender.running, true);
    result = -pthread_create(&sender.thread, &attributes, run, NULL);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (result != 0)
        atomic_store(&sender.running, false);
    return result;
}

void sender_finish(unsigned timeout_ms)
{
    struct timespec until;

    if (!atomic_load(&sender.running))
        return;
    atomic_store(&sender.wish, WISH_FINISH);
    sender_wake();
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)timeout_ms * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void)sem_timedwait(&sender.finished, &until);
}
