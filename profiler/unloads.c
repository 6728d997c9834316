#include "unloads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "gate.h"

#define NS_PER_MS 1000000
#define NS_PER_S 1000000000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t unloads;
static _Atomic int64_t last_ns; /* of a callback; 0 = none yet */

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

bool unloads_are_quiet(void)
{
    int64_t last = atomic_load(&last_ns);

    return last == 0 || now_ns() - last >= (int64_t)UNLOADS_QUIET_MS * NS_PER_MS;
}

uint64_t unloads_count(void)
{
    return atomic_load(&unloads);
}

bool unloads_hold(uint64_t count)
{
    pthread_mutex_lock(&lock);
    if (atomic_load(&unloads) == count)
        return true;
    pthread_mutex_unlock(&lock);
    return false;
}

void unloads_let_go(void)
{
    pthread_mutex_unlock(&lock);
}

static bool lock_in_time(void)
{
    struct timespec until;

    if (pthread_mutex_trylock(&lock) == 0)
        return true;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += UNLOADS_WAIT_MS * NS_PER_MS;
    if (until.tv_nsec >= NS_PER_S) {
        until.tv_sec++;
        until.tv_nsec -= NS_PER_S;
    }
    return pthread_mutex_timedlock(&lock, &until) == 0;
}

/*
 * Counted before the lock: no question begins now that relies on an older list. The one under way
 * is waited for; should the runtime hold it up behind this very thread, the wait ends by its limit.
 */
HRESULT on_module_unload_started(void *self, ModuleID module)
{
    (void)self;
    (void)module;
    if (!gate_is_open()) /* as in a forked child, where nobody may be there to let go */
        return S_OK;
    atomic_store(&last_ns, now_ns());
    atomic_fetch_add(&unloads, 1);
    if (lock_in_time())
        pthread_mutex_unlock(&lock);
    return S_OK;
}

void unloads_note_finished(void)
{
    atomic_store(&last_ns, now_ns());
}
