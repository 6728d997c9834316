#include "option_values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit time_units[] = {
    { "ns", 1 },         { "us", 1000 },       { "ms", 1000000 },
    { "s", 1000000000 }, { "m", 60000000000 }, { "h", 3600000000000 },
};
static const struct unit size_units[] = {
    { "", 1 }, { "K", 1u << 10 }, { "M", 1u << 20 }, { "G", 1u << 30 }
};

/* Digits and one of the units; false for anything else, zero and what does not fit. */
static bool parse(const char *text, const struct unit *units, size_t count, uint64_t *out)
{
    char *rest;
    unsigned long long number;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    number = strtoull(text, &rest, 10);
    if (errno != 0 || number == 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(rest, units[i].name) == 0 && number <= INT64_MAX / units[i].factor) {
            *out = number * units[i].factor;
            return true;
        }
    return false;
}

bool option_time(const char *text, uint64_t *out_ns)
{
    return parse(text, time_units, sizeof(time_units) / sizeof(time_units[0]), out_ns);
}

bool option_size(const char *text, uint64_t *out_bytes)
{
    return parse(text, size_units, sizeof(size_units) / sizeof(size_units[0]), out_bytes);
}

bool option_rotation(const char *text, uint64_t *out_bytes, uint64_t *out_ns)
{
    return option_size(text, out_bytes) || option_time(text, out_ns);
}

bool option_window(const char *text, uint64_t *out_ns, uint64_t *out_bytes)
{
    const char *comma = strchr(text, ',');
    char time[32];

    if (!comma)
        return option_time(text, out_ns);
    if ((size_t)(comma - text) >= sizeof(time))
        return false;
    memcpy(time, text, (size_t)(comma - text));
    time[comma - text] = '\0';
    return option_size(comma + 1, out_bytes) && option_time(time, out_ns);
}

bool option_number(const char *text, uint64_t *out)
{
    return parse(text, size_units, 1, out);
}

bool option_is_event(const char *text)
{
    const char *colon = strchr(text, ':');

    return colon && colon != text && colon[1] != '\0' && !strchr(colon + 1, ':');
}

bool option_is_provider(const char *text)
{
    size_t size = strlen(text);
    struct trd_provider provider;

    return trd_provider_next(&text, &size, &provider) == 1 && size == 0 && text[-1] != ',';
}

bool option_join_providers(const char *const *providers, size_t count,
                           char out[TRD_PROVIDERS_SIZE_MAX + 1])
{
    size_t used = 0;

    out[0] = '\0';
    if (count > TRD_PROVIDERS_MAX)
        return false;
    for (size_t i = 0; i < count; i++) {
        size_t size = strlen(providers[i]) + (i > 0);

        if (size > TRD_PROVIDERS_SIZE_MAX - used)
            return false;
        (void)snprintf(out + used, size + 1, "%s%s", i > 0 ? "," : "", providers[i]);
        used += size;
    }
    return true;
}

bool option_categories(const char *list, uint32_t *out_mask, const char **out_bad,
                       size_t *out_bad_size)
{
    uint32_t mask = TRD_CATEGORY_BIT(RUNTIME);

    do {
        size_t length = strcspn(list, ",");
        uint32_t named = trd_categories_find(list, length);

        if (named == 0) {
            *out_bad = list;
            *out_bad_size = length;
            return false;
        }
        mask |= named;
        list += length;
    } while (*list++ == ',');
    *out_mask = mask;
    return true;
}
