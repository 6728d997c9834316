#include "clr_tids.h"

#include <stdlib.h>

#include "stream_lines.h"
#include "target_linux.h"

/* A process that asks for numbers nobody has must not make us read /proc all day. */
#define SCAN_INTERVAL_NS UINT64_C(10000000)
/* Threads that are remembered: as many as a kernel has at once by default. */
#define PAIRS_MAX 32768

void clr_tids_init(struct clr_tids *tids, pid_t pid, uint32_t inner_pid)
{
    *tids = (struct clr_tids){ .pid = pid, .same = (uint32_t)pid == inner_pid };
}

void clr_tids_finish(struct clr_tids *tids)
{
    free(tids->pairs);
}

static struct clr_tid_pair *find(const struct clr_tids *tids, int32_t inner)
{
    for (size_t i = 0; i < tids->count; i++)
        if (tids->pairs[i].inner == inner)
            return &tids->pairs[i];
    return NULL;
}

static int grow(struct clr_tids *tids)
{
    size_t capacity = tids->capacity ? tids->capacity * 2 : 64;
    struct clr_tid_pair *pairs = realloc(tids->pairs, capacity * sizeof(*pairs));

    if (!pairs)
        return -1;
    tids->pairs = pairs;
    tids->capacity = capacity;
    return 0;
}

static void note(struct clr_tids *tids, int32_t inner, int32_t host)
{
    struct clr_tid_pair *pair = find(tids, inner);

    if (pair) {
        pair->host = host;
        return;
    }
    if (tids->count == PAIRS_MAX)
        tids->count = 0;
    if (tids->count < tids->capacity || grow(tids) == 0)
        tids->pairs[tids->count++] = (struct clr_tid_pair){ inner, host };
}

static void scan(struct clr_tids *tids)
{
    size_t count = 0;
    pid_t *threads = target_threads(tids->pid, &count);

    for (size_t i = 0; i < count; i++) {
        pid_t inner = target_inner_tid(tids->pid, threads[i]);

        if (inner > 0)
            note(tids, inner, threads[i]);
    }
    free(threads);
}

int32_t clr_tids_host(struct clr_tids *tids, uint32_t inner)
{
    struct clr_tid_pair *pair;
    uint64_t now_ns;

    if (tids->same)
        return (int32_t)inner;
    pair = find(tids, (int32_t)inner);
    now_ns = clock_now_ns();
    if (!pair && now_ns - tids->scanned_ns >= SCAN_INTERVAL_NS) {
        tids->scanned_ns = now_ns;
        scan(tids);
        pair = find(tids, (int32_t)inner);
    }
    return pair ? pair->host : -1;
}
