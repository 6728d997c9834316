#include "ftrace_filters.h"

#include <stdio.h>
#include <string.h>

#include "log.h"
#include "tracerd/filter.h"

struct place {
    char system[128], event[128];
};

static struct place split(const char *name)
{
    struct place place;

    (void)snprintf(place.system, sizeof(place.system), "%.*s", (int)strcspn(name, ":"), name);
    (void)snprintf(place.event, sizeof(place.event), "%s", strchr(name, ':') + 1);
    return place;
}

/* False: no record of the event could pass. */
static bool set_filter(const struct tracefs_instance *instance, const struct trd_filter *filter,
                       const struct trd_schema *schema, const struct place *place)
{
    char text[TRD_FILTER_KERNEL_MAX], file[320];
    enum trd_filter_reach reach = trd_filter_kernel(filter, schema, text);
    int result;

    if (reach != TRD_FILTER_SOME)
        return reach == TRD_FILTER_ALL;
    (void)snprintf(file, sizeof(file), "events/%s/%s/filter", place->system, place->event);
    result = tracefs_write(instance, file, text);
    if (result == 0)
        log_verbose("the kernel filters %s: %s", schema->full_name, text);
    else
        log_verbose("the kernel does not take the filter of %s, it is applied here: filter=\"%s\", "
                    "error=\"%s\"",
                    schema->full_name, text, strerror(-result));
    return true;
}

void ftrace_filters_set(const struct tracefs_instance *instance, const struct trd_catalog *catalog,
                        struct ftrace_events *events, const struct trd_enrich *enrich,
                        const struct options *options)
{
    struct trd_filter *filter = NULL;
    size_t kept = 0;
    char error[512];

    /* A stack is an event of its own, which the filter may ask for while it refuses the one that
     * it follows; a span or a trigger may be made of what the filter refuses. */
    if (!options->filter || options->user_stacks || options->flight || options->offcpu_ns ||
        trd_filter_create(&filter, options->filter, error, sizeof(error)) != 0)
        return;
    for (size_t i = 0; i < events->count; i++) {
        struct place place = split(events->names[i]);
        const struct trd_schema *schema = trd_catalog_find_name(catalog, place.system, place.event);

        if (!schema || trd_enrich_reads(enrich, schema) ||
            set_filter(instance, filter, schema, &place))
            events->names[kept++] = events->names[i];
    }
    if (kept < events->count)
        log_verbose("%zu events are not switched on: the filter lets none of them pass",
                    events->count - kept);
    events->count = kept;
    trd_filter_destroy(filter);
}
