#include "tracerd/chrome.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "idmap.h"

#define THREADS_MAX (1u << 20)
#define HEAD_MAX 1024
#define BUFFER_SIZE (2 * TRD_JSON_LINE_MAX)
#define FLUSH_SIZE TRD_JSON_LINE_MAX

struct trd_chrome {
    struct trd_json *json; /* owned; writes the args */
    int (*write)(void *context, const void *bytes, size_t size);
    void *context;
    char *buffer; /* owned */
    size_t used;
    char *line; /* owned; one of ours, whose args are taken */
    uint64_t first_ns;
    bool begun;
    struct idmap threads; /* (pid, tid) -> hash of the name that was told */
};

int trd_chrome_create(struct trd_chrome **out, const struct trd_json_names *names,
                      int (*write)(void *context, const void *bytes, size_t size), void *context)
{
    struct trd_chrome *chrome = calloc(1, sizeof(*chrome));
    int result = -ENOMEM;

    if (!chrome)
        return -ENOMEM;
    idmap_init(&chrome->threads, THREADS_MAX);
    chrome->write = write;
    chrome->context = context;
    chrome->buffer = malloc(BUFFER_SIZE);
    chrome->line = malloc(TRD_JSON_LINE_MAX);
    if (chrome->buffer && chrome->line)
        result = trd_json_create(&chrome->json, names);
    if (result != 0) {
        trd_chrome_destroy(chrome);
        return result;
    }
    *out = chrome;
    return 0;
}

void trd_chrome_destroy(struct trd_chrome *chrome)
{
    if (!chrome)
        return;
    trd_json_destroy(chrome->json);
    idmap_finish(&chrome->threads, NULL);
    free(chrome->buffer);
    free(chrome->line);
    free(chrome);
}

void trd_chrome_add_catalog(struct trd_chrome *chrome, const struct trd_catalog *catalog)
{
    trd_json_add_catalog(chrome->json, catalog);
}

static int flush(struct trd_chrome *chrome)
{
    int result = chrome->write(chrome->context, chrome->buffer, chrome->used);

    chrome->used = 0;
    return result;
}

static void put(struct trd_chrome *chrome, const char *bytes, size_t size)
{
    memcpy(chrome->buffer + chrome->used, bytes, size);
    chrome->used += size;
}

static void put_text(struct trd_chrome *chrome, const char *text)
{
    put(chrome, text, strlen(text));
}

static void put_string(struct trd_chrome *chrome, const char *bytes, size_t size)
{
    chrome->used +=
        trd_json_string(bytes, size, chrome->buffer + chrome->used, BUFFER_SIZE - chrome->used);
}

/* Microseconds; a span that began before the first record has a negative time. */
static void put_time(struct trd_chrome *chrome, const char *key, int64_t ns)
{
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    char text[64];

    put(chrome, text,
        (size_t)snprintf(text, sizeof(text), ",\"%s\":%s%" PRIu64 ".%03u", key, ns < 0 ? "-" : "",
                         size / 1000, (unsigned)(size % 1000)));
}

static void put_place(struct trd_chrome *chrome, int32_t pid, int32_t tid)
{
    char text[64];

    put(chrome, text,
        (size_t)snprintf(text, sizeof(text), ",\"pid\":%d,\"tid\":%d", pid >= 0 ? pid : 0,
                         tid >= 0 ? tid : 0));
}

static void begin(struct trd_chrome *chrome)
{
    put_text(chrome, chrome->begun ? ",\n" : "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    chrome->begun = true;
}

/* Viewers show the last name that a thread was given. */
static void name_thread(struct trd_chrome *chrome, const struct trd_record *record)
{
    void *name =
             (void *)(uintptr_t)(hash_bytes(HASH_START, record->thread, record->thread_size) | 1),
         *old;

    if (record->thread_size == 0 || record->pid < 0 ||
        idmap_get(&chrome->threads, (uint32_t)record->pid, (uint32_t)record->tid) == name)
        return;
    (void)idmap_set(&chrome->threads, (uint32_t)record->pid, (uint32_t)record->tid, name, &old);
    begin(chrome);
    put_text(chrome, "{\"ph\":\"M\",\"name\":\"thread_name\"");
    put_place(chrome, record->pid, record->tid);
    put_text(chrome, ",\"args\":{\"name\":");
    put_string(chrome, record->thread, record->thread_size);
    put_text(chrome, "}}");
}

/* The args as they stand in the line of the same record; NULL if it has none. */
static const char *args_of(struct trd_chrome *chrome, const struct trd_record *record,
                           size_t *out_size)
{
    static const char needle[] = "\"args\":";
    int64_t size;
    char *args;

    if (record->args_json) {
        *out_size = record->args_json_size;
        return record->args_json_size ? record->args_json : NULL;
    }
    size = trd_json_line(chrome->json, record, 0, chrome->line, TRD_JSON_LINE_MAX);
    args = size > 0 ? memmem(chrome->line, (size_t)size, needle, sizeof(needle) - 1) : NULL;
    if (!args)
        return NULL;
    args += sizeof(needle) - 1;
    *out_size = (size_t)(chrome->line + size - args) - 2; /* "}\n" of the line */
    return args;
}

static void put_event(struct trd_chrome *chrome, const struct trd_record *record)
{
    const char *name = record->name ? record->name : record->schema->full_name;
    size_t size = 0;
    const char *args = args_of(chrome, record, &size);

    begin(chrome);
    put_text(chrome, record->kind == TRD_KIND_SPAN ? "{\"ph\":\"X\",\"name\":"
                                                   : "{\"ph\":\"i\",\"s\":\"t\",\"name\":");
    put_string(chrome, name, strlen(name));
    put_text(chrome, ",\"cat\":");
    put_string(chrome, name, strcspn(name, ":"));
    put_time(chrome, "ts", (int64_t)(record->ts_ns - chrome->first_ns));
    if (record->kind == TRD_KIND_SPAN)
        put_time(chrome, "dur", (int64_t)record->dur_ns);
    put_place(chrome, record->pid >= 0 ? record->pid : record->tid, record->tid);
    if (args && size < BUFFER_SIZE - chrome->used - HEAD_MAX) {
        put_text(chrome, ",\"args\":");
        put(chrome, args, size);
    }
    put_text(chrome, "}");
}

static void put_loss(struct trd_chrome *chrome, const struct trd_record *record)
{
    char text[64];

    begin(chrome);
    put_text(chrome, "{\"ph\":\"i\",\"s\":\"g\",\"name\":\"lost\",\"cat\":\"lost\"");
    put_time(chrome, "ts", (int64_t)(record->ts_ns - chrome->first_ns));
    put_place(chrome, record->pid, record->tid);
    if (record->lost == TRD_LOST_UNKNOWN)
        put_text(chrome, ",\"args\":{\"n\":null}}");
    else
        put(chrome, text,
            (size_t)snprintf(text, sizeof(text), ",\"args\":{\"n\":%" PRIu64 "}}", record->lost));
}

int trd_chrome_record(struct trd_chrome *chrome, const struct trd_record *record)
{
    int result = 0;

    if (record->kind == TRD_KIND_HEARTBEAT) /* so that little is missing if we are killed */
        return flush(chrome);
    if (record->kind != TRD_KIND_EVENT && record->kind != TRD_KIND_SPAN &&
        record->kind != TRD_KIND_LOST)
        return 0;
    if (chrome->first_ns == 0)
        chrome->first_ns = record->ts_ns;
    if (chrome->used >= FLUSH_SIZE - HEAD_MAX)
        result = flush(chrome);
    if (result != 0)
        return result;
    if (record->kind == TRD_KIND_LOST) {
        put_loss(chrome, record);
        return 0;
    }
    if (!record->name && !record->schema)
        return 0;
    name_thread(chrome, record);
    put_event(chrome, record);
    return 0;
}

int trd_chrome_end(struct trd_chrome *chrome)
{
    if (!chrome->begun)
        put_text(chrome, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    put_text(chrome, "\n]}\n");
    return flush(chrome);
}
