#include "alignment.h"

#include <jansson.h>
#include <string.h>

#include "log.h"

static const struct source *choose_reference(const struct source *sources)
{
    for (const struct source *source = sources; source; source = source->next)
        if (source->clock && strcmp(source->clock, "mono") == 0)
            return source;
    return sources;
}

static const char *boot_of(const struct source *source)
{
    return json_string_value(json_object_get(source->origin, "boot_id"));
}

/* A file that does not tell its boot is believed to be of the same one. */
static bool shares_clock(const struct source *a, const struct source *b)
{
    const char *boot_a = boot_of(a), *boot_b = boot_of(b);

    return a->clock && b->clock && strcmp(a->clock, b->clock) == 0 &&
           (!boot_a || !boot_b || strcmp(boot_a, boot_b) == 0);
}

const struct source *alignment_decide(struct source *sources)
{
    const struct source *reference = choose_reference(sources);

    for (struct source *source = sources; source; source = source->next) {
        if (source == reference || shares_clock(source, reference))
            continue;
        source->unaligned = true;
        log_notice("%s and %s have no clock in common: the records of the first are marked as "
                   "unaligned",
                   source->name, reference->name);
    }
    return reference;
}
