#include "clr_tids.h"

#include <stdlib.h>

#include "stream_lines.h"
#include "target_linux.h"

/* A process that asks for a number nobody has must not make us read /proc all day. */
#define ASK_AGAIN_NS UINT64_C(10000000)
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
        pair->alive = true;
        return;
    }
    if (tids->count == PAIRS_MAX)
        tids->count = 0;
    if (tids->count < tids->capacity || grow(tids) == 0)
        tids->pairs[tids->count++] = (struct clr_tid_pair){ inner, host, true };
}

static int by_number(const void *left, const void *right)
{
    pid_t a = *(const pid_t *)left, b = *(const pid_t *)right;

    return (a > b) - (a < b);
}

/* Which threads of the sorted list are known already; one that is not in the list is gone. */
static void mark_known(struct clr_tids *tids, const pid_t *threads, size_t count, bool *out_known)
{
    for (size_t i = 0; i < tids->count; i++) {
        struct clr_tid_pair *pair = &tids->pairs[i];
        const pid_t *found;

        if (!pair->alive)
            continue;
        found = bsearch(&pair->host, threads, count, sizeof(*threads), by_number);
        pair->alive = found != NULL;
        if (found)
            out_known[found - threads] = true;
    }
}

/* `all`: reads those again that seem known; the kernel may have given a number a second time. */
static void scan(struct clr_tids *tids, bool all)
{
    size_t count = 0;
    pid_t *threads = target_threads(tids->pid, &count);
    bool *known = calloc(count + 1, sizeof(*known));

    if (threads && known) {
        qsort(threads, count, sizeof(*threads), by_number);
        mark_known(tids, threads, count, known);
    }
    for (size_t i = 0; i < count; i++) {
        pid_t inner = known && known[i] && !all ? 0 : target_inner_tid(tids->pid, threads[i]);

        if (inner > 0)
            note(tids, inner, threads[i]);
    }
    free(known);
    free(threads);
}

static struct clr_tid_missed *find_missed(struct clr_tids *tids, int32_t inner)
{
    for (size_t i = 0; i < CLR_TIDS_MISSED; i++)
        if (tids->missed[i].inner == inner)
            return &tids->missed[i];
    return NULL;
}

static struct clr_tid_pair *look_up(struct clr_tids *tids, int32_t inner)
{
    struct clr_tid_missed *missed = find_missed(tids, inner);
    uint64_t now_ns = clock_now_ns();
    struct clr_tid_pair *pair;

    if (missed && now_ns - missed->asked_ns < ASK_AGAIN_NS)
        return NULL;
    scan(tids, missed != NULL);
    pair = find(tids, inner);
    if (pair)
        return pair;
    if (!missed)
        missed = &tids->missed[tids->missed_next++ % CLR_TIDS_MISSED];
    *missed = (struct clr_tid_missed){ inner, now_ns };
    return NULL;
}

int32_t clr_tids_host(struct clr_tids *tids, uint32_t inner)
{
    struct clr_tid_pair *pair;

    if (tids->same)
        return (int32_t)inner;
    if ((int32_t)inner <= 0)
        return -1;
    pair = find(tids, (int32_t)inner);
    if (!pair)
        pair = look_up(tids, (int32_t)inner);
    return pair ? pair->host : -1;
}
