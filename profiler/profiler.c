#include "profiler.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach.h"
#include "arena.h"
#include "callbacks.h"
#include "exception_steps.h"
#include "elt.h"
#include "eventpipe.h"
#include "environment.h"
#include "gate.h"
#include "in_flight.h"
#include "log.h"
#include "names_known.h"
#include "sender.h"
#include "stamp.h"
#include "writer.h"

#define SHUTDOWN_TIMEOUT_MS 9  /* the application may be held up for ten at its end */
#define DETACH_EXPECTED_MS 100 /* callbacks are short; the runtime looks again if not */

enum life {
    LIFE_LOADED,
    LIFE_RUNNING,
    LIFE_ENDING, /* by shutdown, for good; by detach, until the runtime has let go */
};

static struct profiler profiler = { .vtbl = &profiler_callbacks };
static _Atomic enum life life; /* changed by the runtime's load and by detach, one at a time */
static uint32_t wanted;        /* categories; the sender's, once that runs */
static DWORD kept_flags;       /* event flags that cannot be changed after Initialize */

struct profiler *profiler_get(void)
{
    return &profiler;
}

static uint32_t parse_categories(const char *list)
{
    uint32_t mask = 0;

    if (!list || !*list)
        return TRD_CATEGORIES_DEFAULT;
    while (*list) {
        size_t length = strcspn(list, ",");

        mask |= trd_categories_find(list, length);
        list += length + (list[length] == ',');
    }
    return mask;
}

/* `said` by who attached; what is not said is as the environment has it. */
static struct trd_buffer buffer_wanted(const struct trd_buffer *said)
{
    const char *text = getenv(TRD_ENV_BUFFER);
    struct trd_buffer buffer = { TRD_BUFFER_TOTAL_DEFAULT, TRD_RING_SIZE_DEFAULT };

    if (said->total_bytes > 0)
        return *said;
    if (text && *text && trd_buffer_parse(text, &buffer) != 0)
        log_line("%s=%s is not " TRD_BUFFER_HINT "; the default is taken", TRD_ENV_BUFFER, text);
    return buffer;
}

static int create_arena(const struct trd_buffer *said)
{
    struct trd_buffer buffer = buffer_wanted(said);

    return arena_create(buffer.total_bytes, buffer.ring_bytes, TRD_RING_COUNT_DEFAULT);
}

/* Events of these refer to neither method nor type. */
#define NAMELESS (TRD_CATEGORY_BIT(RUNTIME) | TRD_CATEGORY_BIT(THREAD) | TRD_CATEGORY_BIT(GC))

static void set_event_mask(uint32_t categories)
{
    DWORD low = kept_flags | elt_event_mask(), high = 0;
    HRESULT hr;

    if (categories & TRD_CATEGORY_BIT(THREAD))
        low |= COR_PRF_MONITOR_THREADS;
    if (categories & TRD_CATEGORY_BIT(LOADER))
        low |= COR_PRF_MONITOR_APPDOMAIN_LOADS | COR_PRF_MONITOR_ASSEMBLY_LOADS;
    /* Names are forgotten with any module: their ids come again. */
    if (categories & ~NAMELESS || elt_event_mask() != 0)
        low |= COR_PRF_MONITOR_MODULE_LOADS;
    if (categories & TRD_CATEGORY_BIT(CLASS))
        low |= COR_PRF_MONITOR_CLASS_LOADS;
    if (categories & TRD_CATEGORY_BIT(JIT)) {
        /* Code ends with its module. */
        low |= COR_PRF_MONITOR_JIT_COMPILATION | COR_PRF_MONITOR_MODULE_LOADS;
        high |= COR_PRF_HIGH_MONITOR_DYNAMIC_FUNCTION_UNLOADS;
    }
    if (categories & TRD_CATEGORY_BIT(INLINING))
        low |= COR_PRF_MONITOR_JIT_COMPILATION |
               (profiler.attached ? 0 : COR_PRF_MONITOR_CACHE_SEARCHES);
    if (categories & (TRD_CATEGORY_BIT(EXCEPTION) | TRD_CATEGORY_BIT(UNWIND)))
        low |= COR_PRF_MONITOR_EXCEPTIONS;
    if (categories & EVENTPIPE_CATEGORIES && eventpipe_is_available(&profiler))
        high |= COR_PRF_HIGH_MONITOR_EVENT_PIPE;
    if (categories & TRD_CATEGORY_BIT(GC)) {
        low |= COR_PRF_MONITOR_SUSPENDS;
        high |= COR_PRF_HIGH_BASIC_GC;
    }
    if (categories & TRD_CATEGORY_BIT(GCHEAP) && gc_tells_survivors())
        high |= COR_PRF_HIGH_BASIC_GC | COR_PRF_HIGH_MONITOR_GC_MOVED_OBJECTS;
    hr = info_set_events(profiler.info, low, high);
    if (!SUCCEEDED(hr))
        log_line("SetEventMask2(0x%x, 0x%x) failed: 0x%08x", low, high, (unsigned)hr);
}

uint32_t profiler_set_categories(uint32_t categories)
{
    uint32_t before = wanted;

    /* Shutdown and detach closed the gate for good; a late word of the daemon does not open it. */
    if (life != LIFE_RUNNING)
        return 0;
    if (categories != before)
        set_event_mask(categories);
    /* A new listener knows no name yet, and a module may have gone while nobody asked to be told:
     * then its ids are those of something else, and its metadata lies there no more. */
    names_forget();
    wanted = categories;
    gate_open(categories);
    eventpipe_set(&profiler, categories);
    return categories & ~before;
}

void profiler_set_providers(const char *list, size_t size)
{
    if (life != LIFE_RUNNING)
        return;
    eventpipe_set_providers(list, size);
    eventpipe_set(&profiler, wanted);
}

static size_t read_command(char *text, size_t capacity)
{
    FILE *file = fopen("/proc/self/cmdline", "re");
    size_t size = file ? fread(text, 1, capacity, file) : 0;

    if (file)
        fclose(file);
    while (size > 0 && text[size - 1] == '\0')
        size--;
    for (size_t i = 0; i < size; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    return size;
}

void profiler_emit_runtime_info(uint16_t flags)
{
    struct info_version *version = &profiler.runtime;
    struct trd_ev_runtime_info *event;
    struct writer writer;
    char command[TRD_TEXT_MAX + 1]; /* one byte more than fits: then it is marked as cut */
    size_t size = read_command(command, sizeof(command));

    event = WRITER_BEGIN(&writer, runtime_info, RUNTIME, (uint32_t)size + 1);
    if (!event)
        return;
    event->major = version->major;
    event->minor = version->minor;
    event->build = version->build;
    event->revision = version->revision;
    event->mode = profiler.attached;
    event->notification_only = profiler.notification_only;
    event->callback_version = (uint8_t)profiler.callback_version;
    event->info_version = (uint8_t)profiler.info_version;
    writer_text(&writer, &event->command, command, size);
    writer_flag(&writer, flags);
    writer_commit(&writer);
}

/*
 * A late callback, a thread-exit destructor or the sender must never find the code gone, so the
 * library stays for good once it has run; a later attach finds it with its arena.
 */
static void stay_mapped(void)
{
    Dl_info self;

    if (dladdr((void *)(uintptr_t)stay_mapped, &self) && self.dli_fname)
        (void)dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/* What may be asked for in Initialize only, and not given back later; hooks by the main one. */
static void choose_for_good(uint32_t categories)
{
    elt_choose(!profiler.attached && !profiler.notification_only);
    kept_flags = !profiler.attached && categories & TRD_CATEGORY_BIT(TRANSITION)
                     ? COR_PRF_MONITOR_CODE_TRANSITIONS
                     : 0;
}

static HRESULT start(void *unknown, const char *path, uint32_t categories,
                     const struct trd_buffer *buffer, bool attached)
{
    int result;

    log_init();
    profiler.attached = attached;
    profiler.info = info_query(unknown, &profiler.info_version);
    if (!profiler.info)
        return E_FAIL;
    (void)info_runtime(profiler.info, &profiler.runtime);
    if (!stamp_init())
        log_line("%s=%s cannot be had here: CLOCK_MONOTONIC it is", TRD_ENV_STAMP,
                 getenv(TRD_ENV_STAMP));
    result = gate_init();
    if (result == 0)
        result = in_flight_init();
    if (result == 0)
        result = create_arena(buffer);
    if (result == 0)
        result = writer_init(sender_wake);
    if (result == 0)
        result = exception_steps_init();
    if (result != 0) {
        log_line("cannot start: %s", strerror(-result));
        return CORPROF_E_PROFILER_CANCEL_ACTIVATION;
    }

    stay_mapped();
    life = LIFE_RUNNING;
    profiler_emit_runtime_info(0);
    choose_for_good(categories);
    (void)profiler_set_categories(categories);
    if (elt_event_mask() != 0 && !elt_start(profiler.info))
        set_event_mask(categories);
    result = sender_start(path);
    if (result != 0) {
        log_line("cannot start the sender: %s", strerror(-result));
        gate_close();
        profiler_detached();
        return CORPROF_E_PROFILER_CANCEL_ACTIVATION;
    }
    return S_OK;
}

/* Of this runtime or of another one in the process: there is one profiler, and nothing of it
 * changes. */
static bool is_taken(void)
{
    if (life == LIFE_LOADED)
        return false;
    log_line("a runtime that started or attached later is not traced: this profiler serves the one "
             "before");
    return true;
}

HRESULT profiler_start(void *unknown)
{
    const char *path = getenv(TRD_ENV_SOCKET), *providers = getenv(TRD_ENV_PROVIDERS);
    const struct trd_buffer not_said = { 0 };
    HRESULT hr;

    if (is_taken())
        return CORPROF_E_PROFILER_CANCEL_ACTIVATION;
    if (providers)
        eventpipe_set_providers(providers, strlen(providers));
    hr = start(unknown, path && *path ? path : TRD_SOCKET_DEFAULT,
               parse_categories(getenv(TRD_ENV_CATEGORIES)), &not_said, false);
    /* Everything in it has been read. */
    if (SUCCEEDED(hr))
        environment_clear(profiler.info, profiler.info_version);
    return hr;
}

HRESULT profiler_attach(void *unknown, const void *client_data, UINT size)
{
    char path[TRD_SOCKET_PATH_MAX] = TRD_SOCKET_DEFAULT;
    struct trd_attach attach = { .categories = TRD_CATEGORIES_DEFAULT };

    if (is_taken())
        return CORPROF_E_PROFILER_CANCEL_ACTIVATION;
    /* Whoever attaches without our client data gets the service's socket. */
    if (client_data && size > 0 && trd_attach_decode(client_data, size, &attach, path) != 0)
        return E_FAIL;
    return start(unknown, path, attach.categories, &attach.buffer, true);
}

/*
 * Other managed threads may still call in: nothing is freed, the gate only closes. What the sender
 * does not manage in time the daemon takes from the arena. A forked child finds the gate closed.
 */
void profiler_shutdown(void)
{
    struct trd_ev_shutdown *event;
    struct writer writer;

    if (life != LIFE_RUNNING || !gate_is_open())
        return;
    life = LIFE_ENDING;
    event = WRITER_BEGIN(&writer, shutdown, RUNTIME, 0);
    if (event) {
        event->collections = profiler.collections;
        writer_commit(&writer);
    }
    gate_close();
    sender_finish(SHUTDOWN_TIMEOUT_MS);
}

bool profiler_detach(void)
{
    HRESULT hr;

    if (life != LIFE_RUNNING)
        return true;
    life = LIFE_ENDING;
    gate_close();
    eventpipe_stop(&profiler);
    eventpipe_set_providers("", 0); /* whoever attaches next has a list of his own */
    set_event_mask(0);
    hr = info_request_detach(profiler.info, DETACH_EXPECTED_MS);
    if (SUCCEEDED(hr))
        return true;
    log_line("RequestProfilerDetach failed: 0x%08x", (unsigned)hr);
    /* It stays, with the gate closed, for a daemon to come. Nothing is wanted of it until then. */
    wanted = 0;
    life = LIFE_RUNNING;
    return false;
}

void profiler_detached(void)
{
    profiler.info = NULL;
    profiler.callback_version = 0;
    wanted = 0;
    life = LIFE_LOADED;
}
