#include "ftrace_reader.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "priority_lock.h"
#include "stream_lines.h"

/* One thread copies 8 GB/s: it could do for all, but for the time it takes to come to each. */
#define THREAD_RINGS 8
#define WAIT_MIN_MS 1
#define WAIT_MAX_MS 35
#define WAIT_NO_ROOM_MS 2
#define MISLED_MAX 8
#define READER_NICE (-15)
#define LOOP_PRIORITY 1
/* Nothing can be waited for on a ring that is not there yet: its CPU is off. */
#define ABSENT_NS UINT64_C(1000000000)

struct reader_thread {
    struct ftrace_reader *reader;
    pthread_t thread;
    bool is_started;
    pthread_mutex_t lock;       /* who has it reads */
    struct ftrace_ring **rings; /* owned array of borrowed ones */
    size_t count;
    struct pollfd *polls; /* owned; of the rings, then what ends the thread */
    _Atomic uint64_t read_ns;
    unsigned wait_ms;
    unsigned misled;      /* times in a row that the kernel woke us for nothing */
    _Atomic bool no_room; /* the pool is used up: waiting for a ring would not wait */
    uint64_t absent_ns;
};

struct ftrace_reader {
    struct ftrace_reader_options options;
    int end_fd;
    struct reader_thread *threads; /* owned */
    pid_t *tids;                   /* owned; set by the threads */
    size_t thread_count;
    sem_t ready;
    _Atomic int policy; /* the least that a thread got */
};

enum reader_policy {
    POLICY_FIRST,
    POLICY_NICE,
    POLICY_NONE
};

/* Reading */

/* The most that one ring gave. */
static size_t read_rings(struct reader_thread *thread)
{
    size_t most = 0;
    bool more = true, no_room = false;

    while (more) {
        more = false;
        for (size_t i = 0; i < thread->count; i++) {
            enum ftrace_ring_stop stop;
            size_t got = ftrace_ring_read(thread->rings[i], &stop);

            most = got > most ? got : most;
            more |= stop == FTRACE_RING_LIMIT;
            no_room |= stop == FTRACE_RING_NO_ROOM;
        }
    }
    atomic_store_explicit(&thread->no_room, no_room, memory_order_relaxed);
    atomic_store_explicit(&thread->read_ns, clock_now_ns(), memory_order_relaxed);
    return most;
}

/* So that a ring is a quarter full at the next reading. */
static void choose_wait(struct reader_thread *thread, size_t most)
{
    uint64_t wanted = thread->reader->options.ring_bytes * FTRACE_READER_PERCENT / 100;
    uint64_t wait_ms = most > 0 ? thread->wait_ms * wanted / most : WAIT_MAX_MS;

    /* No more than twice as long at once: what comes may come in bursts. */
    if (wait_ms > thread->wait_ms * 2u)
        wait_ms = thread->wait_ms * 2u;
    wait_ms = wait_ms > WAIT_MIN_MS ? wait_ms : WAIT_MIN_MS;
    thread->wait_ms = (unsigned)(wait_ms < WAIT_MAX_MS ? wait_ms : WAIT_MAX_MS);
}

/* A kernel that says a ring is ready whenever anything is in it would never let us sleep. */
static void judge_poll(struct reader_thread *thread, bool woken, size_t most)
{
    if (woken && most < thread->reader->options.ring_bytes / 16)
        thread->misled++;
    else if (woken)
        thread->misled = 0;
}

/* Until the next reading by time, whoever did the last; 0 = now. */
static int time_left_ms(struct reader_thread *thread)
{
    uint64_t age_ns = clock_now_ns() - atomic_load_explicit(&thread->read_ns, memory_order_relaxed);
    uint64_t wait_ns = thread->wait_ms * UINT64_C(1000000);

    return age_ns < wait_ns ? (int)((wait_ns - age_ns + 999999) / 1000000) : 0;
}

static void wait_for(struct reader_thread *thread, bool *out_woken)
{
    size_t count = thread->count;
    uint64_t now_ns = clock_now_ns();
    struct pollfd *end = &thread->polls[count];
    bool no_room = atomic_load_explicit(&thread->no_room, memory_order_relaxed);

    *out_woken = false;
    if (now_ns - thread->absent_ns >= ABSENT_NS) {
        thread->absent_ns = now_ns;
        for (size_t i = 0; i < count; i++)
            thread->polls[i].fd = thread->rings[i]->fd;
    }
    if (no_room || thread->misled >= MISLED_MAX) {
        (void)poll(end, 1, no_room ? WAIT_NO_ROOM_MS : time_left_ms(thread));
        return;
    }
    if (poll(thread->polls, count + 1, time_left_ms(thread)) <= 0)
        return;
    for (size_t i = 0; i < count; i++) {
        *out_woken |= (thread->polls[i].revents & POLLIN) != 0;
        if (thread->polls[i].revents & (POLLERR | POLLHUP | POLLNVAL))
            thread->polls[i].fd = -1;
    }
}

/* Priority */

/* Before the loop when that hurries, and before who was started as real-time already. */
static int go_first(void)
{
    struct sched_param param;
    int policy;

    if (pthread_getschedparam(pthread_self(), &policy, &param) == 0 &&
        param.sched_priority + LOOP_PRIORITY < sched_get_priority_max(SCHED_FIFO)) {
        param.sched_priority += LOOP_PRIORITY + 1;
        if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &param) == 0)
            return POLICY_FIRST;
    }
    return setpriority(PRIO_PROCESS, (id_t)gettid(), READER_NICE) == 0 ? POLICY_NICE : POLICY_NONE;
}

static void start_thread(struct reader_thread *thread)
{
    struct ftrace_reader *reader = thread->reader;
    int policy = go_first();

    reader->tids[thread - reader->threads] = gettid();
    if (policy > atomic_load(&reader->policy))
        atomic_store(&reader->policy, policy);
    sem_post(&reader->ready);
}

static void *run(void *context)
{
    struct reader_thread *thread = context;
    struct ftrace_reader *reader = thread->reader;
    struct pollfd *end = &thread->polls[thread->count];

    start_thread(thread);
    while (!(end->revents & POLLIN)) {
        bool woken;
        size_t most;

        wait_for(thread, &woken);
        if (!woken && time_left_ms(thread) > 0)
            continue; /* the loop has read meanwhile */
        pthread_mutex_lock(&thread->lock);
        most = read_rings(thread);
        pthread_mutex_unlock(&thread->lock);
        judge_poll(thread, woken, most);
        choose_wait(thread, most);
        reader->options.on_read(reader->options.context);
    }
    return NULL;
}

void ftrace_reader_refresh(struct ftrace_reader *reader, uint64_t age_ns)
{
    for (size_t i = 0; i < reader->thread_count; i++) {
        struct reader_thread *thread = &reader->threads[i];

        if (clock_now_ns() - atomic_load_explicit(&thread->read_ns, memory_order_relaxed) <
                age_ns ||
            pthread_mutex_trylock(&thread->lock) != 0)
            continue;
        (void)read_rings(thread);
        pthread_mutex_unlock(&thread->lock);
    }
}

/* Threads */

static int init_thread(struct reader_thread *thread, struct ftrace_reader *reader,
                       struct ftrace_ring *const *rings, size_t count)
{
    thread->reader = reader;
    priority_lock_init(&thread->lock);
    thread->rings = calloc(count, sizeof(struct ftrace_ring *));
    thread->polls = calloc(count + 1, sizeof(*thread->polls));
    if (!thread->rings || !thread->polls)
        return -ENOMEM;
    thread->count = count;
    thread->wait_ms = WAIT_MIN_MS;
    thread->absent_ns = clock_now_ns();
    for (size_t i = 0; i < count; i++) {
        thread->rings[i] = rings[i];
        thread->polls[i] = (struct pollfd){ .fd = rings[i]->fd, .events = POLLIN };
    }
    thread->polls[count] = (struct pollfd){ .fd = reader->end_fd, .events = POLLIN };
    return 0;
}

/* Signals are the loop's. */
static int start_threads(struct ftrace_reader *reader)
{
    sigset_t all, before;
    int result = 0;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (size_t i = 0; i < reader->thread_count && result == 0; i++) {
        result = -pthread_create(&reader->threads[i].thread, NULL, run, &reader->threads[i]);
        reader->threads[i].is_started = result == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    for (size_t i = 0; i < reader->thread_count; i++)
        while (reader->threads[i].is_started && sem_wait(&reader->ready) != 0)
            ;
    return result;
}

static int create(struct ftrace_reader *reader, struct ftrace_ring *const *rings, size_t count)
{
    int result = 0;

    reader->end_fd = eventfd(0, EFD_CLOEXEC);
    if (reader->end_fd < 0)
        return -errno;
    reader->threads = calloc(count / THREAD_RINGS + 1, sizeof(*reader->threads));
    reader->tids = calloc(count / THREAD_RINGS + 1, sizeof(*reader->tids));
    if (!reader->threads || !reader->tids)
        return -ENOMEM;
    for (size_t at = 0; at < count && result == 0; at += THREAD_RINGS) {
        size_t some = count - at < THREAD_RINGS ? count - at : THREAD_RINGS;

        result = init_thread(&reader->threads[reader->thread_count++], reader, rings + at, some);
    }
    return result == 0 ? start_threads(reader) : result;
}

int ftrace_reader_create(struct ftrace_reader **out, struct ftrace_ring *const *rings, size_t count,
                         const struct ftrace_reader_options *options)
{
    struct ftrace_reader *reader = calloc(1, sizeof(*reader));
    int result;

    if (!reader)
        return -ENOMEM;
    reader->options = *options;
    sem_init(&reader->ready, 0, 0);
    result = create(reader, rings, count);
    if (result != 0)
        ftrace_reader_destroy(reader);
    else
        *out = reader;
    return result;
}

void ftrace_reader_destroy(struct ftrace_reader *reader)
{
    const uint64_t one = 1;

    if (!reader)
        return;
    if (reader->end_fd >= 0)
        (void)!write(reader->end_fd, &one, sizeof(one));
    for (size_t i = 0; i < reader->thread_count; i++) {
        struct reader_thread *thread = &reader->threads[i];

        if (thread->is_started)
            pthread_join(thread->thread, NULL);
        pthread_mutex_destroy(&thread->lock);
        free(thread->rings);
        free(thread->polls);
    }
    if (reader->end_fd >= 0)
        close(reader->end_fd);
    sem_destroy(&reader->ready);
    free(reader->threads);
    free(reader->tids);
    free(reader);
}

size_t ftrace_reader_tids(const struct ftrace_reader *reader, const pid_t **out_tids)
{
    *out_tids = reader->tids;
    return reader->thread_count;
}

const char *ftrace_reader_priority(const struct ftrace_reader *reader)
{
    static const char *const names[] = { "first", "nice", NULL };

    return names[atomic_load(&reader->policy)];
}
