#include "config.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event.h"
#include "log.h"

struct config {
    json_t *root; /* owned */
};

static int wrong(const char *path, const char *key, const char *what)
{
    log_error("%s: \"%s\" must be %s", path, key, what);
    return EXIT_USAGE;
}

static int set_text(const char *path, const char *key, const json_t *value, const char **out)
{
    if (!json_is_string(value))
        return wrong(path, key, "a string");
    *out = json_string_value(value);
    return 0;
}

static int set_events(const char *path, const char *key, const json_t *value,
                      struct options *options)
{
    size_t i;
    json_t *item;

    if (!json_is_array(value) || json_array_size(value) > OPTIONS_LIST_MAX)
        return wrong(path, key, "a list of at most 64 globs like \"sched:*\"");
    json_array_foreach(value, i, item)
    {
        if (!json_is_string(item) || !strchr(json_string_value(item), ':'))
            return wrong(path, key, "a list of globs like \"sched:*\"");
        options->events[options->event_count++] = json_string_value(item);
    }
    return 0;
}

static int set_categories(const char *path, const char *key, const json_t *value,
                          struct options *options)
{
    size_t i;
    json_t *item;

    if (!json_is_array(value))
        return wrong(path, key, "a list of CLR categories");
    options->clr_categories = TRD_CATEGORY_BIT(RUNTIME);
    json_array_foreach(value, i, item)
    {
        int category = json_is_string(item)
                           ? trd_category_find(json_string_value(item), json_string_length(item))
                           : -1;

        if (category < 0)
            return wrong(path, key, "a list of: thread, loader, jit, gc, exception");
        options->clr_categories |= 1u << category;
    }
    options->no_clr = json_array_size(value) == 0;
    return 0;
}

static int set_key(const char *path, const char *key, const json_t *value, struct options *options)
{
    if (strcmp(key, "runtime_dir") == 0)
        return set_text(path, key, value, &options->runtime_dir);
    if (strcmp(key, "events") == 0)
        return set_events(path, key, value, options);
    if (strcmp(key, "clr") == 0)
        return set_categories(path, key, value, options);
    if (strcmp(key, "kernel") == 0) {
        if (!json_is_boolean(value))
            return wrong(path, key, "true or false");
        options->no_kernel = json_is_false(value);
        return 0;
    }
    if (strcmp(key, "kernel_buffer") == 0) {
        if (!json_is_integer(value) || json_integer_value(value) <= 0)
            return wrong(path, key, "a number of bytes");
        options->kernel_buffer_bytes = (uint64_t)json_integer_value(value);
        return 0;
    }
    log_error("%s: there is no key \"%s\"; runtime_dir, events, clr, kernel and kernel_buffer are "
              "known",
              path, key);
    return EXIT_USAGE;
}

int config_load(struct config **out, struct options *options)
{
    const char *path = options->config_path ? options->config_path : CONFIG_DEFAULT_PATH;
    struct config *config = calloc(1, sizeof(*config));
    json_error_t error;
    const char *key;
    json_t *value;

    *out = config;
    if (!config)
        return EXIT_USAGE;
    if (!options->config_path && access(path, F_OK) != 0)
        return 0;
    config->root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!config->root) {
        log_error("%s: %s (line %d)", path, error.text, error.line);
        return EXIT_USAGE;
    }
    if (!json_is_object(config->root)) {
        log_error("%s: an object is expected", path);
        return EXIT_USAGE;
    }
    json_object_foreach(config->root, key, value)
    {
        int result = set_key(path, key, value, options);

        if (result != 0)
            return result;
    }
    return 0;
}

void config_destroy(struct config *config)
{
    if (!config)
        return;
    json_decref(config->root);
    free(config);
}
