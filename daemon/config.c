#include "config.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event.h"
#include "log.h"
#include "option_values.h"

struct config {
    json_t *root; /* owned */
};

static int wrong(const char *path, const char *key, const char *what)
{
    log_error("%s: \"%s\" must be %s", path, key, what);
    return EXIT_USAGE;
}

static int set_runtime_dir(const char *path, const char *key, const json_t *value,
                           struct options *options)
{
    const char *directory = json_string_value(value);

    if (!directory || directory[0] != '/')
        return wrong(path, key, "an absolute path");
    options->runtime_dir = directory;
    return 0;
}

static int set_events(const char *path, const char *key, const json_t *value,
                      struct options *options)
{
    size_t i;
    json_t *item;

    if (!json_is_array(value) || json_array_size(value) > OPTIONS_LIST_MAX)
        return wrong(path, key, "a list of at most 64 globs like \"sched:*\"");
    options->event_count = 0;
    json_array_foreach(value, i, item)
    {
        if (!json_is_string(item) || !option_is_event(json_string_value(item)))
            return wrong(path, key, "a list of globs like \"sched:*\"");
        options->events[options->event_count++] = json_string_value(item);
    }
    if (options->event_count == 0)
        return wrong(path, key, "a list of at least one glob; \"kernel\": false switches all off");
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
        uint32_t mask = json_is_string(item)
                            ? trd_categories_find(json_string_value(item), json_string_length(item))
                            : 0;

        if (mask == 0)
            return wrong(path, key, "a list of: " OPTION_CATEGORIES);
        options->clr_categories |= mask;
    }
    options->no_clr |= json_array_size(value) == 0;
    return 0;
}

static int set_providers(const char *path, const char *key, const json_t *value,
                         struct options *options)
{
    char list[TRD_PROVIDERS_SIZE_MAX + 1];
    size_t i;
    json_t *item;

    if (!json_is_array(value) || json_array_size(value) > OPTIONS_LIST_MAX)
        return wrong(path, key, "a list of EventSources like \"System.Net.Http\"");
    options->provider_count = 0;
    json_array_foreach(value, i, item)
    {
        if (!json_is_string(item) || !option_is_provider(json_string_value(item)))
            return wrong(path, key, "a list of NAME[:KEYWORDS[:LEVEL]], as in \"My-Source:3f:4\"");
        options->providers[options->provider_count++] = json_string_value(item);
    }
    if (!option_join_providers(options->providers, options->provider_count, list))
        return wrong(path, key, "a list of at most 16 EventSources and some hundred characters");
    return 0;
}

static int set_kernel(const char *path, const char *key, const json_t *value,
                      struct options *options)
{
    if (!json_is_boolean(value))
        return wrong(path, key, "true or false");
    options->no_kernel |= json_is_false(value);
    return 0;
}

static int set_kernel_buffer(const char *path, const char *key, const json_t *value,
                             struct options *options)
{
    uint64_t bytes = 0;

    if (!json_is_string(value) || !option_size(json_string_value(value), &bytes))
        return wrong(path, key, "a size like \"4M\" or \"512K\"");
    if (options->kernel_buffer_bytes == 0) /* the command line goes before the file */
        options->kernel_buffer_bytes = bytes;
    return 0;
}

static bool is_output(const json_t *value)
{
    return json_is_string(value) && json_string_value(value)[0] == '/';
}

static int set_output(const char *path, const char *key, const json_t *value,
                      struct options *options)
{
    size_t i;
    json_t *item;

    if (is_output(value)) {
        options->outputs[options->output_count++] = json_string_value(value);
        return 0;
    }
    if (!json_is_array(value) || json_array_size(value) > OPTIONS_LIST_MAX)
        return wrong(path, key, "the absolute path of a file, or a list of such");
    json_array_foreach(value, i, item)
    {
        if (!is_output(item))
            return wrong(path, key, "a list of absolute paths of files");
        options->outputs[options->output_count++] = json_string_value(item);
    }
    return 0;
}

static int set_rotate(const char *path, const char *key, const json_t *value,
                      struct options *options)
{
    size_t i;
    json_t *item;

    if (json_is_string(value) &&
        option_rotation(json_string_value(value), &options->rotate_bytes, &options->rotate_ns))
        return 0;
    if (!json_is_array(value))
        return wrong(path, key, "a size like \"256M\", a time like \"10m\", or a list of both");
    json_array_foreach(value, i, item)
    {
        if (!json_is_string(item) ||
            !option_rotation(json_string_value(item), &options->rotate_bytes, &options->rotate_ns))
            return wrong(path, key, "a list of a size like \"256M\" and a time like \"10m\"");
    }
    return 0;
}

static int set_keep(const char *path, const char *key, const json_t *value, struct options *options)
{
    if (!json_is_string(value) || !option_size(json_string_value(value), &options->keep_bytes))
        return wrong(path, key, "a size like \"2G\"");
    return 0;
}

static int set_clients_max(const char *path, const char *key, const json_t *value,
                           struct options *options)
{
    if (!json_is_integer(value) || json_integer_value(value) < 1 ||
        json_integer_value(value) > CLIENTS_MAX_LIMIT)
        return wrong(path, key, "a number from 1 to 1024");
    options->clients_max = (unsigned)json_integer_value(value);
    return 0;
}

static const struct {
    const char *key;
    int (*set)(const char *path, const char *key, const json_t *value, struct options *options);
} keys[] = {
    { "runtime_dir", set_runtime_dir }, { "events", set_events },
    { "clr", set_categories },          { "providers", set_providers },
    { "kernel", set_kernel },           { "kernel_buffer", set_kernel_buffer },
    { "clients_max", set_clients_max }, { "output", set_output },
    { "rotate", set_rotate },           { "keep", set_keep },
};

static int set_key(const char *path, const char *key, const json_t *value, struct options *options)
{
    char known[256] = "";
    size_t used = 0;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strcmp(keys[i].key, key) == 0)
            return keys[i].set(path, key, value, options);
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
                                 keys[i].key);
    }
    log_error("%s: there is no key \"%s\"; known are %s", path, key, known);
    return EXIT_USAGE;
}

/* After all keys, which may stand in any order. */
static int check_providers(const char *path, struct options *options)
{
    if (options->provider_count == 0)
        return 0;
    if (options->no_clr)
        return wrong(path, "providers", "absent where \"clr\" is an empty list");
    options->clr_categories |= TRD_CATEGORY_BIT(PROVIDER);
    return 0;
}

int config_load(struct config **out, struct options *options)
{
    const char *path = options->config_path ? options->config_path : CONFIG_DEFAULT_PATH;
    struct config *config = calloc(1, sizeof(*config));
    json_error_t error;
    const char *key;
    json_t *value;
    int result = 0;

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
        result = set_key(path, key, value, options);
        if (result != 0)
            return result;
    }
    result = check_providers(path, options);
    return result != 0 ? result : options_check_rotation(options);
}

void config_destroy(struct config *config)
{
    if (!config)
        return;
    json_decref(config->root);
    free(config);
}
