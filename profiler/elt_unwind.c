/*
 * Frames that exceptions take away: no leave hook runs in them, so the second pass of the
 * exception tells. The runtime names a frame when it begins to unwind it and says no name when it
 * is done; in between its finally blocks run, which may throw and catch on their own. Hence a stack
 * per thread. One that is caught in a frame ends in it without a word; one that a finally block
 * replaces by its own never ends, and what it left behind lies below all that is asked for again.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "elt.h"
#include "elt_hooks.h"
#include "gate.h"

#define FRAMES_MAX 32 /* finally blocks that throw, one inside the other; then the oldest goes */

struct unwinding {
    size_t depth;
    FunctionID frames[FRAMES_MAX];
};

static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static bool has_key;

static void make_key(void)
{
    has_key = pthread_key_create(&key, free) == 0;
}

static struct unwinding *get(void)
{
    (void)pthread_once(&key_once, make_key);
    return has_key ? pthread_getspecific(key) : NULL;
}

/* An exception has just been made: memory is asked for all the time around it. */
static struct unwinding *get_or_make(void)
{
    struct unwinding *unwinding = get();

    if (unwinding || !has_key)
        return unwinding;
    unwinding = calloc(1, sizeof(*unwinding));
    if (unwinding && pthread_setspecific(key, unwinding) != 0) {
        free(unwinding);
        return NULL;
    }
    return unwinding;
}

void elt_unwind_enter(FunctionID function)
{
    struct unwinding *unwinding;

    if (!elt_is_active() || !gate_wants(TRD_CATEGORY_METHOD) || !(unwinding = get_or_make()))
        return;
    if (unwinding->depth == FRAMES_MAX)
        memmove(unwinding->frames, unwinding->frames + 1,
                --unwinding->depth * sizeof(unwinding->frames[0]));
    unwinding->frames[unwinding->depth++] = function;
}

static FunctionID take(void)
{
    struct unwinding *unwinding = elt_is_active() ? get() : NULL;

    return unwinding && unwinding->depth > 0 ? unwinding->frames[--unwinding->depth] : 0;
}

void elt_unwind_leave(void)
{
    FunctionID function = take();

    if (function && elt_takes(function))
        elt_write_unwound(function);
}

void elt_unwind_caught(void)
{
    (void)take();
}
