/*
 * A ring of slots, one for each slice under way, in stream order. Every thread does the same: takes
 * the next slice, gathers its records, waits until the slices before it have said how many lines
 * they are, formats. The caller hands out the first slot once it is done. One lock guards the ring;
 * it is held for some microseconds per slice, while a slice is worth some hundred.
 */
#include "tracerd/lines.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "dat_range.h"
#include "lines_block.h"
#include "reader_private.h"

enum state {
    STATE_FREE,
    STATE_BUSY,
    STATE_DONE,
};

struct slot {
    struct dat_slice slice;
    struct lines_block block;
    struct lines_text *text; /* with its lines; from its thread */
    struct thread *thread;
    enum state state;
};

struct thread {
    struct trd_lines *lines;
    struct dat_range range;
    struct trd_json *json;    /* owned; plans are each thread's own */
    void *state;              /* borrowed; the rules' */
    struct lines_text *texts; /* owned; that hold nothing now: the one written last comes first */
    pthread_t id;
};

struct trd_lines {
    struct trd_reader *reader; /* borrowed */
    struct trd_lines_rules rules;
    struct dat_plan *plan;
    struct slot *slots; /* owned */
    size_t slot_count;
    struct dat_slice rest;
    /* Slices since the beginning; slot = number % slot_count. */
    uint64_t taken;
    uint64_t counted; /* whose first line has its number */
    uint64_t handed_out;
    uint64_t next_seq;
    bool over;   /* no slice is to be taken any more */
    bool broken; /* slice number `counted` is not plain: it and what follows is not for us */
    bool stopping;
    bool holds_batch;   /* the caller looks at the first slot */
    uint64_t first_ns;  /* of the first record */
    uint64_t *released; /* owned; of each CPU, below this the mapping was given back */
    pthread_mutex_t lock;
    pthread_cond_t work; /* a slot is free, or the end has come */
    pthread_cond_t turn; /* `counted` or `broken` changed */
    pthread_cond_t done; /* a slice is done */

    struct thread *threads; /* owned; the first is the caller's */
    unsigned running;       /* others that were started */
};

static struct slot *slot_of(const struct trd_lines *lines, uint64_t number)
{
    return &lines->slots[number % lines->slot_count];
}

/* With the lock held. */
static void end_taking(struct trd_lines *lines)
{
    lines->over = true;
    pthread_cond_broadcast(&lines->work);
    pthread_cond_signal(&lines->done);
}

/* With the lock held. NULL if there is nothing to take now. */
static struct slot *take(struct trd_lines *lines, uint64_t *out_number)
{
    struct slot *slot = slot_of(lines, lines->taken);

    if (lines->over || slot->state != STATE_FREE)
        return NULL;
    if (dat_plan_next(lines->plan, &slot->slice) == 0) {
        struct dat_slice rest = slot->slice;

        slot->slice = lines->rest;
        lines->rest = rest;
        end_taking(lines);
        return NULL;
    }
    slot->state = STATE_BUSY;
    *out_number = lines->taken++;
    return slot;
}

static inline void count_read(struct trd_lines_batch *batch, const struct trd_record *record)
{
    batch->read_ns = record->ts_ns;
    if (__builtin_expect(record->kind == TRD_KIND_EVENT, 1))
        batch->events++;
    else if (record->lost == TRD_LOST_UNKNOWN)
        batch->unknown_lost++;
    else
        batch->lost += record->lost;
}

/* False if the slice is not plain, or has no room in memory. */
static bool gather(const struct trd_lines_rules *rules, struct thread *thread, struct slot *slot)
{
    struct trd_lines_batch *batch = &slot->block.batch;
    struct trd_record record;

    lines_block_clear(&slot->block);
    dat_range_start(&thread->range, &slot->slice);
    while (dat_range_next(&thread->range, &record)) {
        if (batch->read_ns == 0)
            batch->first_ns = record.ts_ns;
        count_read(batch, &record);
        if (rules->select && !rules->select(thread->state, &record))
            batch->filtered += record.kind == TRD_KIND_EVENT;
        else if (lines_block_add(&slot->block, &record) != 0)
            return false;
    }
    return dat_range_is_plain(&thread->range);
}

static struct lines_text *take_text(struct thread *thread)
{
    struct lines_text *text = thread->texts;

    if (!text)
        return calloc(1, sizeof(*text));
    thread->texts = text->next;
    return text;
}

/* With the lock held. Waits until the slices before it are counted; false if one was not plain. */
static bool wait_for_turn(struct trd_lines *lines, uint64_t number)
{
    while (lines->counted != number && !lines->broken && !lines->stopping)
        pthread_cond_wait(&lines->turn, &lines->lock);
    return lines->counted == number && !lines->broken && !lines->stopping;
}

/* With the lock held; without it where time is spent. */
static void process(struct trd_lines *lines, struct thread *thread, struct slot *slot,
                    uint64_t number)
{
    uint64_t seq;
    bool plain;

    pthread_mutex_unlock(&lines->lock);
    plain = gather(&lines->rules, thread, slot);
    pthread_mutex_lock(&lines->lock);
    if (!wait_for_turn(lines, number))
        return;
    slot->text = take_text(thread);
    slot->thread = thread;
    if (!plain || !slot->text) {
        lines->broken = true;
        pthread_cond_broadcast(&lines->turn);
        end_taking(lines);
        return;
    }
    if (lines->first_ns == 0)
        lines->first_ns = slot->block.batch.first_ns;
    slot->block.batch.first_ns = 0;
    seq = lines->next_seq;
    lines->next_seq += slot->block.count;
    lines->counted++;
    pthread_cond_broadcast(&lines->turn);

    pthread_mutex_unlock(&lines->lock);
    lines_block_format(&slot->block, thread->json, slot->text, seq, &lines->rules, thread->state);
    pthread_mutex_lock(&lines->lock);
    slot->state = STATE_DONE;
    pthread_cond_signal(&lines->done);
}

static void *work(void *context)
{
    struct thread *thread = context;
    struct trd_lines *lines = thread->lines;
    uint64_t number;

    pthread_mutex_lock(&lines->lock);
    while (!lines->stopping && !lines->over) {
        struct slot *slot = take(lines, &number);

        if (slot)
            process(lines, thread, slot, number);
        else if (!lines->over)
            pthread_cond_wait(&lines->work, &lines->lock);
    }
    pthread_mutex_unlock(&lines->lock);
    return NULL;
}

/* Nobody reads before these places again. */
static void release(struct trd_lines *lines, const struct dat_slice *slice)
{
    const struct trd_reader *reader = lines->reader;

    for (size_t i = 0; i < reader->cpu_count; i++)
        if (slice->places[i].at >= lines->released[i] + reader->cpus[i].release_step) {
            dat_release(&reader->dat, lines->released[i], slice->places[i].at);
            lines->released[i] = slice->places[i].at;
        }
}

/* With the lock held: the batch the caller had is his no more. */
static void take_back(struct trd_lines *lines)
{
    struct slot *slot = slot_of(lines, lines->handed_out);

    if (!lines->holds_batch)
        return;
    lines->holds_batch = false;
    slot->text->next = slot->thread->texts;
    slot->thread->texts = slot->text;
    slot->text = NULL;
    release(lines, &slot->slice);
    slot->state = STATE_FREE;
    lines->handed_out++;
    pthread_cond_signal(&lines->work);
}

static void stop(struct trd_lines *lines)
{
    pthread_mutex_lock(&lines->lock);
    lines->stopping = true;
    pthread_cond_broadcast(&lines->work);
    pthread_cond_broadcast(&lines->turn);
    pthread_mutex_unlock(&lines->lock);
    for (; lines->running > 0; lines->running--)
        pthread_join(lines->threads[lines->running].id, NULL);
}

/* Everything plain is out. */
static void leave_rest(struct trd_lines *lines)
{
    if (lines->stopping)
        return;
    stop(lines);
    reader_go_on(lines->reader,
                 lines->broken ? &slot_of(lines, lines->counted)->slice : &lines->rest,
                 lines->first_ns);
}

static bool is_at_end(const struct trd_lines *lines)
{
    return lines->over && lines->handed_out == (lines->broken ? lines->counted : lines->taken);
}

int trd_lines_next(struct trd_lines *lines, struct trd_lines_batch *out)
{
    pthread_mutex_lock(&lines->lock);
    take_back(lines);
    while (!is_at_end(lines)) {
        struct slot *first = slot_of(lines, lines->handed_out), *slot;
        uint64_t number;

        if (lines->handed_out < lines->taken && first->state == STATE_DONE) {
            lines->holds_batch = true;
            *out = first->block.batch;
            pthread_mutex_unlock(&lines->lock);
            return 1;
        }
        slot = take(lines, &number);
        if (slot)
            process(lines, &lines->threads[0], slot, number);
        else if (!is_at_end(lines))
            pthread_cond_wait(&lines->done, &lines->lock);
    }
    pthread_mutex_unlock(&lines->lock);
    leave_rest(lines);
    return 0;
}

void trd_lines_stop(struct trd_lines *lines)
{
    pthread_mutex_lock(&lines->lock);
    if (!lines->over)
        dat_plan_rest(lines->plan, &lines->rest);
    end_taking(lines);
    pthread_mutex_unlock(&lines->lock);
}

/* Signals are for the caller's own threads. */
static int start_thread(struct thread *thread)
{
    sigset_t all, before;
    int result;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    result = -pthread_create(&thread->id, NULL, work, thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

static int init_thread(struct trd_lines *lines, unsigned index)
{
    struct trd_reader *reader = lines->reader;
    struct thread *thread = &lines->threads[index];
    int result = dat_range_init(&thread->range, reader->cpus, reader->cpu_count);

    thread->lines = lines;
    thread->state = lines->rules.states[index];
    if (result == 0)
        result = trd_json_create(&thread->json, NULL);
    if (result == 0)
        trd_json_add_catalog(thread->json, trd_reader_catalog(reader));
    return result;
}

static int init_slots(struct trd_lines *lines)
{
    size_t cpu_count = lines->reader->cpu_count;

    lines->slots = calloc(lines->slot_count, sizeof(*lines->slots));
    lines->released = calloc(cpu_count, sizeof(*lines->released));
    if (!lines->slots || !lines->released)
        return -ENOMEM;
    for (size_t i = 0; i < cpu_count; i++)
        lines->released[i] = lines->reader->cpus[i].begin;
    for (size_t i = 0; i < lines->slot_count; i++)
        if (dat_slice_init(&lines->slots[i].slice, cpu_count) != 0)
            return -ENOMEM;
    return dat_slice_init(&lines->rest, cpu_count);
}

static int start(struct trd_lines *lines)
{
    unsigned count = lines->rules.threads;
    int result = init_slots(lines);

    lines->threads = calloc(count, sizeof(*lines->threads));
    if (!lines->threads)
        return -ENOMEM;
    for (unsigned i = 0; i < count && result == 0; i++)
        result = init_thread(lines, i);
    for (unsigned i = 1; i < count && result == 0; i++) {
        result = start_thread(&lines->threads[i]);
        lines->running += result == 0;
    }
    return result;
}

/* Events of the CLR name threads and code of what follows: they are read in their order. */
static bool has_clr(const struct trd_reader *reader)
{
    for (size_t i = 0; i < reader->cpu_count; i++)
        if (reader->cpus[i].is_clr)
            return true;
    return false;
}

int trd_lines_create(struct trd_lines **out, struct trd_reader *reader,
                     const struct trd_lines_rules *rules, uint64_t seq)
{
    struct trd_lines *lines;
    int result;

    if (rules->threads < 1 || rules->threads > TRD_LINES_THREADS_MAX)
        return -EINVAL;
    if (has_clr(reader))
        return -ENOTSUP;
    lines = calloc(1, sizeof(*lines));
    if (!lines)
        return -ENOMEM;
    pthread_mutex_init(&lines->lock, NULL);
    pthread_cond_init(&lines->work, NULL);
    pthread_cond_init(&lines->turn, NULL);
    pthread_cond_init(&lines->done, NULL);
    lines->reader = reader;
    lines->rules = *rules;
    lines->next_seq = seq;
    lines->slot_count = 2 * (size_t)rules->threads;
    result = dat_plan_create(&lines->plan, reader->cpus, reader->cpu_count,
                             rules->slice_bytes ? rules->slice_bytes : DAT_PLAN_SLICE_BYTES);
    if (result == 0)
        result = start(lines);
    if (result != 0) {
        trd_lines_destroy(lines);
        return result;
    }
    *out = lines;
    return 0;
}

static void finish_thread(struct thread *thread)
{
    struct lines_text *next;

    for (struct lines_text *text = thread->texts; text; text = next) {
        next = text->next;
        free(text->bytes);
        free(text);
    }
    dat_range_finish(&thread->range);
    trd_json_destroy(thread->json);
}

static void finish_slot(struct slot *slot)
{
    if (slot->text)
        free(slot->text->bytes);
    free(slot->text);
    dat_slice_finish(&slot->slice);
    lines_block_finish(&slot->block);
}

void trd_lines_destroy(struct trd_lines *lines)
{
    if (!lines)
        return;
    stop(lines);
    for (unsigned i = 0; lines->threads && i < lines->rules.threads; i++)
        finish_thread(&lines->threads[i]);
    for (size_t i = 0; lines->slots && i < lines->slot_count; i++)
        finish_slot(&lines->slots[i]);
    dat_plan_destroy(lines->plan);
    free(lines->threads);
    free(lines->slots);
    dat_slice_finish(&lines->rest);
    free(lines->released);
    pthread_cond_destroy(&lines->work);
    pthread_cond_destroy(&lines->turn);
    pthread_cond_destroy(&lines->done);
    pthread_mutex_destroy(&lines->lock);
    free(lines);
}
