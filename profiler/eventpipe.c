#include "eventpipe.h"

#include <stdatomic.h>
#include <string.h>

#include "info_eventpipe.h"
#include "log.h"
#include "provider.h"
#include "text.h"
#include "writer.h"

#define RUNTIME_PROVIDER "Microsoft-Windows-DotNETRuntime"

/* Keywords of the runtime's provider; source: ClrEtwAll.man. */
#define KEYWORD_GC UINT64_C(0x1)
#define KEYWORD_CONTENTION UINT64_C(0x4000)
#define KEYWORD_THREADING UINT64_C(0x10000)
#define KEYWORD_ALLOCATION_SAMPLING UINT64_C(0x80000000000)
#define LEVEL_INFORMATIONAL 4
#define LEVEL_VERBOSE 5
#define SAMPLING_SINCE 10 /* major version; before it AllocationTick, which is verbose */

#define CONFIGS_MAX (TRD_PROVIDERS_MAX + 1)

struct config {
    WCHAR name[TRD_PROVIDER_NAME_MAX + 1];
    uint64_t keywords;
    uint64_t level; /* 64 bits, so that nothing lies between and memcmp compares */
};

struct configs {
    struct config all[CONFIGS_MAX];
    size_t count;
};

static struct {
    char providers[TRD_PROVIDERS_SIZE_MAX];
    size_t providers_size;
    EVENTPIPE_SESSION session; /* 0 = none */
    struct configs current;    /* of that session */
    bool told;                 /* that there can be none */
    _Atomic bool names_runtime;
} eventpipe;

bool eventpipe_is_available(const struct profiler *profiler)
{
    return profiler->info_version >= INFO_EVENTPIPE_VERSION;
}

void eventpipe_set_providers(const char *list, size_t size)
{
    if (size > sizeof(eventpipe.providers))
        size = 0;
    memcpy(eventpipe.providers, list, size);
    eventpipe.providers_size = size;
}

/* The config of that name, a new one if there is none; NULL if there is no room. */
static struct config *find_config(struct configs *configs, const char *name, size_t size)
{
    struct config wanted = { 0 };

    if (size > TRD_PROVIDER_NAME_MAX)
        return NULL;
    (void)text_to_utf16(name, size, wanted.name, TRD_PROVIDER_NAME_MAX);
    for (size_t i = 0; i < configs->count; i++)
        if (memcmp(configs->all[i].name, wanted.name, sizeof(wanted.name)) == 0)
            return &configs->all[i];
    if (configs->count == CONFIGS_MAX)
        return NULL;
    configs->all[configs->count] = wanted;
    return &configs->all[configs->count++];
}

/* A provider has one config in a session, so what is asked of it twice becomes one. */
static void want(struct configs *configs, const char *name, size_t size, uint64_t keywords,
                 uint32_t level)
{
    struct config *config = find_config(configs, name, size);

    if (!config)
        return;
    config->keywords |= keywords;
    if (level > config->level)
        config->level = level;
}

static void want_of_runtime(struct configs *configs, uint64_t keywords, uint32_t level)
{
    want(configs, RUNTIME_PROVIDER, strlen(RUNTIME_PROVIDER), keywords, level);
}

bool eventpipe_names_runtime(void)
{
    return atomic_load_explicit(&eventpipe.names_runtime, memory_order_relaxed);
}

static void want_providers(struct configs *configs)
{
    bool names_runtime = false;
    const char *list = eventpipe.providers;
    size_t size = eventpipe.providers_size;
    struct trd_provider provider;

    while (trd_provider_next(&list, &size, &provider) == 1) {
        want(configs, provider.name, provider.name_size, provider.keywords, provider.level);
        names_runtime |= provider.name_size == strlen(RUNTIME_PROVIDER) &&
                         memcmp(provider.name, RUNTIME_PROVIDER, provider.name_size) == 0;
    }
    atomic_store_explicit(&eventpipe.names_runtime, names_runtime, memory_order_relaxed);
}

static void collect(struct configs *configs, const struct profiler *profiler, uint32_t categories)
{
    memset(configs, 0, sizeof(*configs));
    if (categories & TRD_CATEGORY_BIT(CONTENTION))
        want_of_runtime(configs, KEYWORD_CONTENTION, LEVEL_INFORMATIONAL);
    if (categories & TRD_CATEGORY_BIT(THREADPOOL))
        want_of_runtime(configs, KEYWORD_THREADING, LEVEL_INFORMATIONAL);
    if (categories & TRD_CATEGORY_BIT(ALLOCATION) && profiler->runtime.major >= SAMPLING_SINCE)
        want_of_runtime(configs, KEYWORD_ALLOCATION_SAMPLING, LEVEL_INFORMATIONAL);
    else if (categories & TRD_CATEGORY_BIT(ALLOCATION))
        want_of_runtime(configs, KEYWORD_GC, LEVEL_VERBOSE);
    if (categories & TRD_CATEGORY_BIT(GCHEAP))
        want_of_runtime(configs, KEYWORD_GC, LEVEL_INFORMATIONAL);
    if (categories & TRD_CATEGORY_BIT(PROVIDER))
        want_providers(configs);
}

static void tell_unavailable(uint32_t categories, HRESULT hr)
{
    struct trd_ev_unavailable *event;
    struct writer writer;

    if (eventpipe.told)
        return;
    eventpipe.told = true;
    log_line("no EventPipe for 0x%x: 0x%08x", categories, (unsigned)hr);
    event = WRITER_BEGIN(&writer, unavailable, RUNTIME, 0);
    if (!event)
        return;
    event->categories = categories;
    event->status = hr;
    writer_commit(&writer);
}

static void start(struct profiler *profiler, const struct configs *configs, uint32_t categories)
{
    COR_PRF_EVENTPIPE_PROVIDER_CONFIG wanted[CONFIGS_MAX];
    HRESULT hr;

    for (size_t i = 0; i < configs->count; i++)
        wanted[i] = (COR_PRF_EVENTPIPE_PROVIDER_CONFIG){
            .providerName = configs->all[i].name,
            .keywords = configs->all[i].keywords,
            .loggingLevel = (uint32_t)configs->all[i].level,
        };
    if (info_start_session(profiler->info, wanted, (uint32_t)configs->count, &eventpipe.session,
                           &hr))
        eventpipe.current = *configs;
    else
        tell_unavailable(categories, hr);
}

void eventpipe_set(struct profiler *profiler, uint32_t categories)
{
    struct configs configs;

    categories &= EVENTPIPE_CATEGORIES;
    if (!eventpipe_is_available(profiler)) {
        if (categories)
            tell_unavailable(categories, E_NOINTERFACE);
        return;
    }
    collect(&configs, profiler, categories);
    if (memcmp(&configs, &eventpipe.current, sizeof(configs)) == 0)
        return;
    eventpipe_stop(profiler);
    if (configs.count > 0)
        start(profiler, &configs, categories);
}

void eventpipe_stop(struct profiler *profiler)
{
    if (eventpipe.session)
        info_stop_session(profiler->info, eventpipe.session);
    eventpipe.session = 0;
    eventpipe.told = false;
    memset(&eventpipe.current, 0, sizeof(eventpipe.current));
}
