/*
 * What one throw and catch costs the thread in the profiler's callbacks, without a runtime: the
 * calls that .NET makes for an exception that crosses one frame, on objects that lie as its own do.
 * Beside it the same calls into empty functions, and a clock reading. The ring is emptied between
 * slices, unmeasured; nothing is dropped. One line of JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "arena.h"
#include "attach.h"
#include "fake_info.h"
#include "profiler.h"

#define SLICES 2000
#define SLICE 64 /* throws that fit the ring */

struct object {
    const struct corprof_callback_vtbl *vtbl; /* as a struct profiler begins */
};

/* An exception as the fake says they lie. */
static struct {
    uintptr_t type;
    const void *message;
} thrown;

static HRESULT ignore(void *self)
{
    (void)self;
    return S_OK;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-function-type"
static const struct corprof_callback_vtbl empty = {
#define CORPROF_SLOT(slot, method, ...) .method = (HRESULT(*)(void *, ##__VA_ARGS__))(void *)ignore,
#include "callback_slots.def"
#undef CORPROF_SLOT
};
#pragma GCC diagnostic pop

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void throw_and_catch(struct object *object)
{
    const struct corprof_callback_vtbl *vtbl = object->vtbl;

    vtbl->ExceptionThrown(object, (ObjectID)&thrown);
    vtbl->ExceptionSearchFunctionEnter(object, 0x40);
    vtbl->ExceptionSearchFunctionLeave(object);
    vtbl->ExceptionSearchFunctionEnter(object, 0x48);
    vtbl->ExceptionSearchCatcherFound(object, 0x48);
    vtbl->ExceptionSearchFunctionLeave(object);
    vtbl->ExceptionUnwindFunctionEnter(object, 0x40);
    vtbl->ExceptionUnwindFunctionLeave(object);
    vtbl->ExceptionUnwindFunctionEnter(object, 0x48);
    vtbl->ExceptionCatcherEnter(object, 0x48, (ObjectID)&thrown);
    vtbl->ExceptionCatcherLeave(object);
}

static void read_clock(struct object *object)
{
    (void)object;
    (void)now_ns();
}

static void empty_rings(void)
{
    for (uint32_t i = 0; i < arena_get()->ring_used; i++) {
        struct trd_ring *ring = trd_arena_ring(arena_get(), arena_get()->ring_size, i);

        ring->tail = ring->head;
    }
}

/* The best slice: what the path costs, without what else the machine did. */
static double measure(void (*body)(struct object *object), struct object *object)
{
    uint64_t best = UINT64_MAX;

    for (int slice = 0; slice < SLICES; slice++) {
        uint64_t start = now_ns(), taken;

        for (int i = 0; i < SLICE; i++)
            body(object);
        taken = now_ns() - start;
        if (taken < best)
            best = taken;
        empty_rings();
    }
    return (double)best / SLICE;
}

static struct object *start_profiler(void)
{
    struct object *object = (struct object *)(void *)profiler_get();

    (void)fake_reset();
    fake.objects = true;
    thrown.type = (uintptr_t)&thrown + FAKE_CLASS_OF_OBJECT;
    /* Nobody listens: the rings are this program's to empty. */
    setenv(TRD_ENV_SOCKET, "/nonexistent", 1);
    return object->vtbl->Initialize(object, fake_info()) == S_OK ? object : NULL;
}

int main(void)
{
    struct object nothing = { &empty }, *object = start_profiler();
    double clock_ns, empty_ns, throw_ns;

    if (!object)
        return 1;
    clock_ns = measure(read_clock, object);
    empty_ns = measure(throw_and_catch, &nothing);
    throw_ns = measure(throw_and_catch, object);
    for (uint32_t i = 0; i < arena_get()->ring_used; i++)
        if (trd_arena_ring(arena_get(), arena_get()->ring_size, i)->dropped > 0)
            return 1;
    printf("{\"bench\":\"exception\",\"clock_ns\":%.1f,\"empty_ns\":%.1f,\"throw_ns\":%.1f,"
           "\"throw_per_clock\":%.2f}\n",
           clock_ns, empty_ns, throw_ns, throw_ns / clock_ns);
    return 0;
}
