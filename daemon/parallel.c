#include "parallel.h"

#include <sched.h>
#include <stdlib.h>

#include "selection.h"

#define THREADS_MAX 8 /* more would wait for the one that writes */

struct thread {
    struct selection selection;
    struct summary *summary; /* owned; NULL without --summary */
};

struct parallel {
    struct trd_lines *lines; /* owned */
    unsigned thread_count;
    struct thread threads[THREADS_MAX];
};

static unsigned core_count(void)
{
    cpu_set_t cores;
    int count = sched_getaffinity(0, sizeof(cores), &cores) == 0 ? CPU_COUNT(&cores) : 1;

    return count > THREADS_MAX ? THREADS_MAX : (unsigned)count;
}

static bool select_record(void *state, struct trd_record *record)
{
    return selection_find(&((struct thread *)state)->selection, record) != NULL;
}

static void note_record(void *state, const struct trd_record *record)
{
    struct thread *thread = state;

    tally_find(&thread->selection.tally, record)->count += record->kind == TRD_KIND_EVENT;
    if (thread->summary)
        summary_note(thread->summary, record);
}

static int start(struct parallel *parallel, struct trd_reader *reader,
                 const struct options *options, uint64_t seq)
{
    struct trd_lines_rules rules = { .select = select_record,
                                     .note = note_record,
                                     .threads = parallel->thread_count };
    int result = 0;

    for (unsigned i = 0; i < parallel->thread_count && result == 0; i++) {
        struct thread *thread = &parallel->threads[i];

        rules.states[i] = thread;
        result = selection_init(&thread->selection, options);
        if (result == 0 && options->summary)
            result = summary_create(&thread->summary);
    }
    return result ? result : trd_lines_create(&parallel->lines, reader, &rules, seq);
}

struct parallel *parallel_create(struct trd_reader *reader, const struct options *options,
                                 uint64_t seq)
{
    struct parallel *parallel = calloc(1, sizeof(*parallel));

    if (!parallel)
        return NULL;
    parallel->thread_count = core_count();
    if (start(parallel, reader, options, seq) == 0)
        return parallel;
    parallel_destroy(parallel);
    return NULL;
}

int parallel_next(struct parallel *parallel, bool stopping, struct trd_lines_batch *out)
{
    if (stopping)
        trd_lines_stop(parallel->lines);
    return trd_lines_next(parallel->lines, out);
}

void parallel_sum_up(struct parallel *parallel, struct tally *tally, struct summary *summary)
{
    for (unsigned i = 0; i < parallel->thread_count; i++) {
        tally_add(tally, &parallel->threads[i].selection.tally);
        if (summary)
            summary_add(summary, parallel->threads[i].summary);
    }
}

void parallel_destroy(struct parallel *parallel)
{
    if (!parallel)
        return;
    trd_lines_destroy(parallel->lines);
    for (unsigned i = 0; i < parallel->thread_count; i++) {
        selection_finish(&parallel->threads[i].selection);
        summary_destroy(parallel->threads[i].summary);
    }
    free(parallel);
}
