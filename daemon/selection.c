#include "selection.h"

#include <stdlib.h>

#include "log.h"

int selection_init(struct selection *selection, const struct options *options)
{
    char error[512];

    *selection = (struct selection){ .has_unknown_fields = options->provider_count > 0 };
    tally_init(&selection->tally, options);
    if (!options->filter ||
        trd_filter_create(&selection->filter, options->filter, error, sizeof(error)) == 0)
        return 0;
    log_error("--filter: %s", error);
    return EXIT_USAGE;
}

void selection_finish(struct selection *selection)
{
    tally_finish(&selection->tally);
    trd_filter_destroy(selection->filter);
    free(selection->catalogs);
}

/* Without memory for it, its names are not known to the check. */
void selection_add_catalog(struct selection *selection, const struct trd_catalog *catalog)
{
    const struct trd_catalog **catalogs =
        realloc(selection->catalogs, (selection->catalog_count + 1) * sizeof(*catalogs));

    if (!catalogs)
        return;
    selection->catalogs = catalogs;
    catalogs[selection->catalog_count++] = catalog;
}

void selection_set_names(struct selection *selection, const struct trd_json_names *names)
{
    if (selection->filter)
        trd_filter_set_names(selection->filter, names);
}

int selection_check(const struct selection *selection)
{
    char error[512];

    if (!selection->filter || selection->has_unknown_fields ||
        trd_filter_check(selection->filter, selection->catalogs, selection->catalog_count, error,
                         sizeof(error)) == 0)
        return 0;
    log_error("--filter: %s", error);
    return EXIT_USAGE;
}
