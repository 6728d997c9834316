#include "eventpipe_provider.h"

#include <stdatomic.h>
#include <string.h>

#include "info_eventpipe.h"

/*
 * A word per provider: its address, and its kind in the two low bits, which an address leaves free.
 * So an entry is published and forgotten whole. Programs have some dozen providers; those beyond
 * the table are asked for their name each time.
 */
#define PROVIDERS_KNOWN 256u
#define PROBES_MAX 8u
#define KIND_MASK UINT64_C(3)

static _Atomic uint64_t known[PROVIDERS_KNOWN];

static _Atomic uint64_t *slot_of(EVENTPIPE_PROVIDER provider, size_t probe)
{
    size_t hash = (size_t)((provider >> 4) * 0x9e3779b97f4a7c15u >> 32);

    return &known[(hash + probe) & (PROVIDERS_KNOWN - 1)];
}

static bool is_named(const struct info_name *name, const char *text)
{
    if (name->length != strlen(text))
        return false;
    for (size_t i = 0; i < name->length; i++)
        if (name->units[i] != (WCHAR)text[i])
            return false;
    return true;
}

static __attribute__((cold, noinline)) enum eventpipe_provider_kind ask(struct corprof_info *info,
                                                                        EVENTPIPE_PROVIDER provider)
{
    enum eventpipe_provider_kind kind = EVENTPIPE_PROVIDER_OTHER;
    struct info_name name;

    if (!info_provider(info, provider, &name))
        return kind;
    if (is_named(&name, "Microsoft-Windows-DotNETRuntime"))
        kind = EVENTPIPE_PROVIDER_RUNTIME;
    else if (is_named(&name, "System.Diagnostics.Eventing.FrameworkEventSource"))
        kind = EVENTPIPE_PROVIDER_FRAMEWORK;
    for (size_t i = 0; i < PROBES_MAX; i++) {
        uint64_t empty = 0;

        if (atomic_compare_exchange_strong_explicit(slot_of(provider, i), &empty,
                                                    provider | (uint64_t)kind, memory_order_relaxed,
                                                    memory_order_relaxed))
            break;
    }
    return kind;
}

enum eventpipe_provider_kind eventpipe_provider_kind(struct corprof_info *info,
                                                     EVENTPIPE_PROVIDER provider)
{
    for (size_t i = 0; i < PROBES_MAX; i++) {
        uint64_t word = atomic_load_explicit(slot_of(provider, i), memory_order_relaxed);

        if ((word & ~KIND_MASK) == provider)
            return (enum eventpipe_provider_kind)(word & KIND_MASK);
    }
    return ask(info, provider);
}

void eventpipe_provider_forget(EVENTPIPE_PROVIDER provider)
{
    for (size_t i = 0; i < PROBES_MAX; i++) {
        _Atomic uint64_t *slot = slot_of(provider, i);
        uint64_t word = atomic_load_explicit(slot, memory_order_relaxed);

        if ((word & ~KIND_MASK) == provider)
            atomic_store_explicit(slot, 0, memory_order_relaxed);
    }
}
