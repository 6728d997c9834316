/*
 * A ring of blocks in stream order: the caller fills the last one, threads take the oldest that
 * waits, the caller hands out the first once it is done. One lock guards the states of all; it is
 * held for a few instructions per block, while a block is worth some hundred microseconds.
 */
#include "tracerd/lines.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "lines_block.h"

enum state {
    STATE_FREE,    /* the caller's: empty or being filled */
    STATE_WAITING, /* full */
    STATE_BUSY,    /* somebody formats it */
    STATE_DONE,
};

struct slot {
    struct lines_block block;
    enum state state;
};

struct worker {
    struct trd_lines *lines;
    struct trd_json *json; /* owned; plans are each thread's own */
    pthread_t thread;
};

struct trd_lines {
    struct slot *slots; /* owned */
    size_t slot_count;
    /* Blocks since the beginning; slot = number % slot_count. */
    uint64_t filling;    /* the caller's alone */
    uint64_t handed_out; /* the caller's alone */
    uint64_t taken;      /* next to be formatted */
    bool stopping;
    pthread_mutex_t lock; /* guards states, taken and stopping */
    pthread_cond_t work;  /* a block waits, or the end has come */
    pthread_cond_t done;

    struct worker *workers; /* owned */
    unsigned worker_count;  /* that run */
    unsigned json_count;    /* of workers with a writer */
    struct trd_json *json;  /* owned; the caller's thread */
    struct trd_json_names names;
    char *line; /* owned; one that needed names */
    void (*ready)(void *context, const struct trd_lines_batch *batch);
    void *context;
};

static struct slot *slot_of(const struct trd_lines *lines, uint64_t number)
{
    return &lines->slots[number % lines->slot_count];
}

/* With the lock held. NULL if no block waits. */
static struct slot *take(struct trd_lines *lines)
{
    struct slot *slot = slot_of(lines, lines->taken);

    if (slot->state != STATE_WAITING)
        return NULL;
    slot->state = STATE_BUSY;
    lines->taken++;
    return slot;
}

/* With the lock held; without it meanwhile. The block is the formatting thread's alone. */
static void format(struct trd_lines *lines, struct slot *slot, struct trd_json *json)
{
    pthread_mutex_unlock(&lines->lock);
    lines_block_format(&slot->block, json);
    pthread_mutex_lock(&lines->lock);
    slot->state = STATE_DONE;
}

static void *work(void *context)
{
    struct worker *worker = context;
    struct trd_lines *lines = worker->lines;

    pthread_mutex_lock(&lines->lock);
    while (!lines->stopping) {
        struct slot *slot = take(lines);

        if (slot) {
            format(lines, slot, worker->json);
            pthread_cond_signal(&lines->done);
        } else {
            pthread_cond_wait(&lines->work, &lines->lock);
        }
    }
    pthread_mutex_unlock(&lines->lock);
    return NULL;
}

/* With the lock held: the oldest block leaves. Only the caller's thread makes slots free. */
static void hand_out(struct trd_lines *lines, struct slot *slot)
{
    pthread_mutex_unlock(&lines->lock);
    lines->ready(lines->context, &slot->block.batch);
    pthread_mutex_lock(&lines->lock);
    slot->state = STATE_FREE;
    lines->handed_out++;
}

/* Hands out blocks, formatting some, until all up to `number` are out; those done behind it, too.
 */
static void advance(struct trd_lines *lines, uint64_t number)
{
    while (lines->handed_out < lines->filling) {
        struct slot *first = slot_of(lines, lines->handed_out), *waiting;

        if (first->state == STATE_DONE) {
            hand_out(lines, first);
            continue;
        }
        if (lines->handed_out >= number)
            return;
        waiting = take(lines);
        if (waiting)
            format(lines, waiting, lines->json);
        else
            pthread_cond_wait(&lines->done, &lines->lock);
    }
}

/* The block that was filled goes to the workers; the next slot is free afterwards. */
static void submit(struct trd_lines *lines)
{
    struct slot *slot = slot_of(lines, lines->filling);
    uint64_t next = lines->filling + 1;

    pthread_mutex_lock(&lines->lock);
    slot->state = STATE_WAITING;
    lines->filling = next;
    pthread_cond_signal(&lines->work);
    advance(lines, next < lines->slot_count ? 0 : next - lines->slot_count + 1);
    pthread_mutex_unlock(&lines->lock);
}

void trd_lines_flush(struct trd_lines *lines)
{
    if (slot_of(lines, lines->filling)->block.count > 0)
        submit(lines);
    pthread_mutex_lock(&lines->lock);
    advance(lines, lines->filling);
    pthread_mutex_unlock(&lines->lock);
}

/* Names change with the stream: lines that may hold one are written while it stands here. */
static int put_line(struct trd_lines *lines, struct lines_block *block,
                    const struct trd_record *record, uint64_t seq)
{
    int64_t size = trd_json_line(lines->json, record, seq, lines->line, TRD_JSON_LINE_MAX);

    if (size < 0) /* larger ones are ready args, which name nothing */
        return lines_block_add(block, record, seq);
    return lines_block_add_line(block, record->ts_ns, seq, lines->line, (size_t)size);
}

int trd_lines_put(struct trd_lines *lines, const struct trd_record *record, uint64_t seq)
{
    struct lines_block *block = &slot_of(lines, lines->filling)->block;
    bool may_name =
        record->schema &&
        ((lines->names.resolve && record->schema->is_clr) ||
         (lines->names.knows_code && lines->names.knows_code(lines->names.context, record->pid)));
    int result =
        may_name ? put_line(lines, block, record, seq) : lines_block_add(block, record, seq);

    if (lines_block_is_full(block))
        submit(lines);
    return result;
}

void trd_lines_add_catalog(struct trd_lines *lines, const struct trd_catalog *catalog)
{
    /* Afterwards every worker is idle and takes the lock before it looks at its writer again. */
    trd_lines_flush(lines);
    pthread_mutex_lock(&lines->lock);
    trd_json_add_catalog(lines->json, catalog);
    for (unsigned i = 0; i < lines->json_count; i++)
        trd_json_add_catalog(lines->workers[i].json, catalog);
    pthread_mutex_unlock(&lines->lock);
}

/* Signals are for the caller's own threads. */
static int start_worker(struct worker *worker)
{
    sigset_t all, before;
    int result;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    result = -pthread_create(&worker->thread, NULL, work, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

static int start(struct trd_lines *lines, unsigned workers)
{
    int result = trd_json_create(&lines->json, &lines->names);

    for (size_t i = 0; i < lines->slot_count && result == 0; i++)
        result = lines_block_init(&lines->slots[i].block);
    for (; lines->json_count < workers && result == 0; lines->json_count += result == 0) {
        lines->workers[lines->json_count].lines = lines;
        result = trd_json_create(&lines->workers[lines->json_count].json, NULL);
    }
    for (; lines->worker_count < workers && result == 0; lines->worker_count += result == 0)
        result = start_worker(&lines->workers[lines->worker_count]);
    return result;
}

int trd_lines_create(struct trd_lines **out, unsigned workers, const struct trd_json_names *names,
                     void (*ready)(void *context, const struct trd_lines_batch *batch),
                     void *context)
{
    struct trd_lines *lines;
    int result;

    if (workers == 0 || workers > TRD_LINES_WORKERS_MAX)
        return -EINVAL;
    lines = calloc(1, sizeof(*lines));
    if (!lines)
        return -ENOMEM;
    pthread_mutex_init(&lines->lock, NULL);
    pthread_cond_init(&lines->work, NULL);
    pthread_cond_init(&lines->done, NULL);
    if (names)
        lines->names = *names;
    lines->ready = ready;
    lines->context = context;
    /* One is being filled, each thread has one, and one waits for each. */
    lines->slot_count = 2 * (size_t)workers + 2;
    lines->slots = calloc(lines->slot_count, sizeof(*lines->slots));
    lines->workers = calloc(workers, sizeof(*lines->workers));
    lines->line = malloc(TRD_JSON_LINE_MAX);
    result = lines->slots && lines->workers && lines->line ? start(lines, workers) : -ENOMEM;
    if (result != 0) {
        trd_lines_destroy(lines);
        return result;
    }
    *out = lines;
    return 0;
}

static void stop(struct trd_lines *lines)
{
    pthread_mutex_lock(&lines->lock);
    lines->stopping = true;
    pthread_cond_broadcast(&lines->work);
    pthread_mutex_unlock(&lines->lock);
    for (unsigned i = 0; i < lines->worker_count; i++)
        pthread_join(lines->workers[i].thread, NULL);
}

void trd_lines_destroy(struct trd_lines *lines)
{
    if (!lines)
        return;
    stop(lines);
    for (unsigned i = 0; i < lines->json_count; i++)
        trd_json_destroy(lines->workers[i].json);
    for (size_t i = 0; lines->slots && i < lines->slot_count; i++)
        lines_block_finish(&lines->slots[i].block);
    trd_json_destroy(lines->json);
    free(lines->slots);
    free(lines->workers);
    free(lines->line);
    pthread_cond_destroy(&lines->done);
    pthread_cond_destroy(&lines->work);
    pthread_mutex_destroy(&lines->lock);
    free(lines);
}
