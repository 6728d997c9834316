#include "exception_steps.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Deeper nesting forgets the outermost: their ends are then without a method. */
#define DEPTH_MAX 64

struct steps {
    unsigned depth;
    struct {
        FunctionID method;
        enum exception_step step;
    } open[DEPTH_MAX];
};

static pthread_key_t key;
static bool key_made;

int exception_steps_init(void)
{
    if (!key_made && pthread_key_create(&key, free) != 0)
        return -EAGAIN;
    key_made = true;
    return 0;
}

static __attribute__((cold, noinline)) struct steps *make_steps(void)
{
    struct steps *steps = calloc(1, sizeof(*steps));

    if (steps && pthread_setspecific(key, steps) != 0) {
        free(steps);
        return NULL;
    }
    return steps;
}

/* NULL if there is no memory: then the steps are told without what is remembered here. */
static struct steps *own_steps(void)
{
    struct steps *steps = pthread_getspecific(key);

    return __builtin_expect(steps != NULL, 1) ? steps : make_steps();
}

void exception_steps_begin(enum exception_step step, FunctionID method)
{
    struct steps *steps = own_steps();

    if (!steps)
        return;
    if (steps->depth == DEPTH_MAX) {
        memmove(&steps->open[0], &steps->open[1], (DEPTH_MAX - 1) * sizeof(steps->open[0]));
        steps->depth--;
    }
    steps->open[steps->depth].method = method;
    steps->open[steps->depth++].step = step;
}

FunctionID exception_steps_end(enum exception_step step)
{
    struct steps *steps = own_steps();

    for (unsigned i = steps ? steps->depth : 0; i-- > 0;)
        if (steps->open[i].step == step) {
            steps->depth = i;
            return steps->open[i].method;
        }
    return 0;
}
