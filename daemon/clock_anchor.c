#include "clock_anchor.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "line_values.h"

#define ANCHOR_TRIES 10

uint64_t clock_now_ns(void)
{
    return clock_read_ns(CLOCK_MONOTONIC);
}

void clock_anchor_take(struct clock_anchor *out)
{
    out->error_ns = UINT64_MAX;
    for (int i = 0; i < ANCHOR_TRIES; i++) {
        uint64_t before = clock_now_ns();
        uint64_t realtime = clock_read_ns(CLOCK_REALTIME);
        uint64_t boot = clock_read_ns(CLOCK_BOOTTIME);
        uint64_t half = (clock_now_ns() - before) / 2;

        if (half < out->error_ns)
            *out = (struct clock_anchor){ before + half, realtime, boot, half };
    }
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return (int64_t)(a - b) < 0 ? b - a : a - b;
}

bool clock_anchor_has_moved(const struct clock_anchor *from, const struct clock_anchor *to)
{
    uint64_t error = from->error_ns + to->error_ns;

    return distance(from->realtime_ns - from->mono_ns, to->realtime_ns - to->mono_ns) > error ||
           distance(from->boot_ns - from->mono_ns, to->boot_ns - to->mono_ns) > error;
}

/* RFC 3339 in UTC. */
static json_t *utc_text(uint64_t realtime_ns)
{
    time_t seconds = (time_t)(realtime_ns / 1000000000u);
    struct tm parts;
    char text[64], whole[48];

    gmtime_r(&seconds, &parts);
    strftime(whole, sizeof(whole), "%Y-%m-%dT%H:%M:%S", &parts);
    (void)snprintf(text, sizeof(text), "%s.%09uZ", whole, (unsigned)(realtime_ns % 1000000000u));
    return json_string(text);
}

json_t *clock_anchor_object(const struct clock_anchor *anchor)
{
    json_t *object = json_pack("{s:o,s:o}", "mono", line_wide(anchor->mono_ns), "realtime",
                               line_wide(anchor->realtime_ns));

    if (anchor->boot_ns)
        (void)json_object_set_new(object, "boot", line_wide(anchor->boot_ns));
    (void)json_object_set_new(object, "error_ns", line_wide(anchor->error_ns));
    (void)json_object_set_new(object, "utc", utc_text(anchor->realtime_ns));
    return object;
}

static bool get_wide(const json_t *object, const char *key, uint64_t *out)
{
    const char *text = json_string_value(json_object_get(object, key));
    char *end = NULL;

    if (!text || *text < '0' || *text > '9')
        return false;
    *out = strtoull(text, &end, 10);
    return *end == '\0';
}

bool clock_anchor_parse(struct clock_anchor *out, const json_t *object)
{
    struct clock_anchor anchor = { 0 };

    if (!get_wide(object, "mono", &anchor.mono_ns) ||
        !get_wide(object, "realtime", &anchor.realtime_ns) ||
        !get_wide(object, "error_ns", &anchor.error_ns))
        return false;
    (void)get_wide(object, "boot", &anchor.boot_ns);
    *out = anchor;
    return true;
}

/* Clocks to write in */

static const char *const names[] = {
    [OUTPUT_CLOCK_AS_IS] = NULL,
    [OUTPUT_CLOCK_MONO] = "mono",
    [OUTPUT_CLOCK_REALTIME] = "realtime",
    [OUTPUT_CLOCK_BOOT] = "boot",
};

enum output_clock output_clock_find(const char *name)
{
    for (size_t i = 1; name && i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], name) == 0)
            return (enum output_clock)i;
    return OUTPUT_CLOCK_AS_IS;
}

const char *output_clock_name(enum output_clock clock)
{
    return names[clock];
}

int64_t output_clock_offset(enum output_clock clock, const struct clock_anchor *anchor)
{
    if (anchor && clock == OUTPUT_CLOCK_REALTIME)
        return (int64_t)(anchor->realtime_ns - anchor->mono_ns);
    if (anchor && clock == OUTPUT_CLOCK_BOOT)
        return (int64_t)(anchor->boot_ns - anchor->mono_ns);
    return 0;
}
