#include "stream_lines.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define ANCHOR_TRIES 10

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t clock_now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

void clock_anchor_take(struct clock_anchor *out)
{
    out->error_ns = UINT64_MAX;
    for (int i = 0; i < ANCHOR_TRIES; i++) {
        uint64_t before = clock_now_ns();
        uint64_t realtime = read_clock(CLOCK_REALTIME);
        uint64_t half = (clock_now_ns() - before) / 2;

        if (half < out->error_ns)
            *out = (struct clock_anchor){ before + half, realtime, half };
    }
}

static json_t *wide(uint64_t value)
{
    char digits[24];

    (void)snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
    return json_string(digits);
}

static void set_file_text(json_t *object, const char *key, const char *path)
{
    char text[128] = "";
    FILE *file = fopen(path, "re");

    if (!file)
        return;
    if (fgets(text, sizeof(text), file)) {
        text[strcspn(text, "\n")] = '\0';
        json_object_set_new(object, key, json_string(text));
    }
    fclose(file);
}

static void set_session(json_t *object)
{
    uint8_t bytes[16];
    char text[33];

    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
        return;
    for (size_t i = 0; i < sizeof(bytes); i++)
        (void)snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    json_object_set_new(object, "session", json_string(text));
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

static char *finish_line(json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT);
    char *line = NULL;

    json_decref(object);
    if (text && asprintf(&line, "%s\n", text) < 0)
        line = NULL;
    free(text);
    return line;
}

char *hello_line(const struct options *options, bool live)
{
    json_t *object = json_pack("{s:i,s:s,s:i,s:i,s:s}", "v", 1, "k", "hello", "seq", 0, "schema", 1,
                               "program", "tracerd " TRACERD_VERSION);
    struct clock_anchor anchor;
    char host[256] = "";

    (void)options;
    if (!object)
        return NULL;
    set_session(object);
    if (live) {
        (void)gethostname(host, sizeof(host) - 1);
        json_object_set_new(object, "host", json_string(host));
        set_file_text(object, "boot_id", "/proc/sys/kernel/random/boot_id");
        json_object_set_new(object, "clock", json_string("mono"));
        clock_anchor_take(&anchor);
        json_object_set_new(object, "anchor",
                            json_pack("{s:o,s:o,s:o,s:o}", "mono", wide(anchor.mono_ns), "realtime",
                                      wide(anchor.realtime_ns), "error_ns", wide(anchor.error_ns),
                                      "utc", utc_text(anchor.realtime_ns)));
    }
    return finish_line(object);
}

static json_t *ledger_object(const struct ledger *ledger)
{
    json_t *object = json_pack("{s:o,s:o,s:o}", "produced", wide(ledger->produced), "delivered",
                               wide(ledger->delivered), "lost", wide(ledger->lost));

    if (ledger->unknown)
        json_object_set_new(object, "losses_uncounted", wide(ledger->unknown));
    if (ledger->damaged_bytes)
        json_object_set_new(object, "damaged_bytes", wide(ledger->damaged_bytes));
    return object;
}

char *bye_line(const struct bye *bye)
{
    json_t *sources = json_array();
    struct ledger total = { 0 };
    json_t *object;

    for (size_t i = 0; i < bye->source_count; i++) {
        const struct ledger *ledger = &bye->sources[i].ledger;
        json_t *row = ledger_object(ledger);

        json_object_set_new(row, "source", json_string(bye->sources[i].name));
        if (bye->sources[i].clock)
            json_object_set_new(row, "clock", json_string(bye->sources[i].clock));
        json_array_append_new(sources, row);
        total.produced += ledger->produced;
        total.delivered += ledger->delivered;
        total.lost += ledger->lost;
        total.unknown += ledger->unknown;
        total.damaged_bytes += ledger->damaged_bytes;
    }
    object = ledger_object(&total);
    json_object_set_new(object, "v", json_integer(1));
    json_object_set_new(object, "k", json_string("bye"));
    json_object_set_new(object, "seq", json_integer((json_int_t)bye->seq));
    json_object_set_new(object, "lines", wide(bye->lines));
    json_object_set_new(object, "filtered", wide(bye->filtered));
    json_object_set_new(object, "late", wide(bye->late));
    json_object_set_new(object, "sources", sources);
    return finish_line(object);
}
