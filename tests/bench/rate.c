/*
 * rate LIBRARY THREADS PER_SECOND SECONDS: loads the profiler as a runtime does and raises events
 * from several threads at a steady rate, in all PER_SECOND. Run under `tracerd run`, which gives it
 * the socket. Prints one line of JSON: what it raised, how long that took, and what one callback
 * cost its thread.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "attach.h"
#include "fake_info.h"

#define THREADS_MAX 16
#define SLICE_NS                                                                                   \
    UINT64_C(1000000) /* a thread raises what falls into one, then sleeps to the next */
#define GREETING_NS UINT64_C(500000000)

struct object {
    const struct corprof_callback_vtbl *vtbl;
};

struct producer {
    pthread_t thread;
    struct object *object;
    uintptr_t id;
    uint64_t per_slice;
    uint64_t slices;
    uint64_t busy_ns; /* of its processor time */
    uint64_t late;    /* slices that began after their end */
};

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void sleep_until(uint64_t when_ns)
{
    const struct timespec when = { .tv_sec = (time_t)(when_ns / 1000000000u),
                                   .tv_nsec = (long)(when_ns % 1000000000u) };

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) != 0)
        ;
}

/* One that comes late raises what it missed at once: the rate is an average over all. */
static void *produce(void *context)
{
    struct producer *producer = context;
    uint64_t start = read_clock(CLOCK_MONOTONIC);

    for (uint64_t slice = 0; slice < producer->slices; slice++) {
        uint64_t before = read_clock(CLOCK_THREAD_CPUTIME_ID);

        for (uint64_t i = 0; i < producer->per_slice; i++)
            producer->object->vtbl->ThreadCreated(producer->object, producer->id);
        producer->busy_ns += read_clock(CLOCK_THREAD_CPUTIME_ID) - before;
        producer->late += read_clock(CLOCK_MONOTONIC) > start + (slice + 1) * SLICE_NS;
        sleep_until(start + (slice + 1) * SLICE_NS);
    }
    return NULL;
}

static struct object *start_profiler(const char *path)
{
    static const uint8_t main_class[] = TRD_CLSID_MAIN_BYTES;
    static const GUID unknown = IID_IUNKNOWN, factory_id = IID_ICLASSFACTORY;
    void *library = dlopen(path, RTLD_LAZY);
    struct {
        const struct corprof_class_factory_vtbl *vtbl;
    } *factory = NULL;
    struct object *object = NULL;
    HRESULT(*get_class)
    (const void *, const GUID *, void **) =
        library
            ? (HRESULT(*)(const void *, const GUID *, void **))dlsym(library, "DllGetClassObject")
            : NULL;

    if (!get_class || get_class(main_class, &factory_id, (void **)&factory) != S_OK ||
        factory->vtbl->CreateInstance(factory, NULL, &unknown, (void **)&object) != S_OK ||
        object->vtbl->Initialize(object, fake_reset()) != S_OK)
        return NULL;
    return object;
}

int main(int argc, char **argv)
{
    struct producer producers[THREADS_MAX] = { 0 };
    struct object *object = argc == 5 ? start_profiler(argv[1]) : NULL;
    size_t count = object ? strtoul(argv[2], NULL, 10) : 0;
    uint64_t events = 0, busy = 0, late = 0, start;

    if (count == 0 || count > THREADS_MAX) {
        fprintf(stderr, "usage: rate LIBRARY THREADS PER_SECOND SECONDS, or it does not start\n");
        return 1;
    }
    /* What is measured is the steady state: the daemon has been met. */
    sleep_until(read_clock(CLOCK_MONOTONIC) + GREETING_NS);
    start = read_clock(CLOCK_MONOTONIC);
    for (size_t i = 0; i < count; i++) {
        producers[i].object = object;
        producers[i].id = i + 1;
        producers[i].per_slice = strtoull(argv[3], NULL, 10) / count / (1000000000u / SLICE_NS);
        producers[i].slices = strtoull(argv[4], NULL, 10) * (1000000000u / SLICE_NS);
        if (pthread_create(&producers[i].thread, NULL, produce, &producers[i]) != 0)
            return 1;
    }
    for (size_t i = 0; i < count; i++) {
        pthread_join(producers[i].thread, NULL);
        events += producers[i].per_slice * producers[i].slices;
        busy += producers[i].busy_ns;
        late += producers[i].late;
    }
    printf("{\"events\":%" PRIu64 ",\"seconds\":%.3f,\"ns_per_event\":%.1f,\"late\":%" PRIu64 "}\n",
           events, (double)(read_clock(CLOCK_MONOTONIC) - start) / 1e9,
           (double)busy / (double)events, late);
    object->vtbl->Shutdown(object);
    return 0;
}
