/*
 * Pages and whole files beside the tools people use now, in one run on the same bytes: records per
 * second of the page walker and of kbuffer, events per second of the reader and of `trace-cmd
 * report`, with the peak memory of each. TRACERD_BENCH_FILE names a file of one's own; without it
 * one of TRACERD_BENCH_EVENTS made-up events is written.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <kbuffer.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dat_maker.h"
#include "tracerd/page.h"
#include "tracerd/reader.h"

#define EVENTS_DEFAULT 1000000
#define PAGE_SIZE 4096
#define WALKS 10

struct outcome {
    double seconds;
    long peak_kib;
    uint64_t events;
};

static double now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static uint64_t walk_pages(const uint8_t *bytes, size_t size)
{
    struct trd_page_layout layout = page_maker_layout(false, 8);
    struct trd_page page;
    struct trd_page_event event;
    uint64_t events = 0;

    for (size_t at = 0; at + PAGE_SIZE <= size; at += PAGE_SIZE) {
        (void)trd_page_init(&page, bytes + at, PAGE_SIZE, &layout);
        while (trd_page_next(&page, &event) == 1)
            events++;
    }
    return events;
}

static uint64_t walk_pages_with_kbuffer(const uint8_t *bytes, size_t size)
{
    struct kbuffer *kbuffer = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_LITTLE);
    unsigned long long ts;
    uint64_t events = 0;

    for (size_t at = 0; kbuffer && at + PAGE_SIZE <= size; at += PAGE_SIZE) {
        void *data;

        (void)kbuffer_load_subbuffer(kbuffer, (void *)(uintptr_t)(bytes + at));
        for (data = kbuffer_read_event(kbuffer, &ts); data; data = kbuffer_next_event(kbuffer, &ts))
            events++;
    }
    kbuffer_free(kbuffer);
    return events;
}

/* The best of several walks over the same pages. */
static double rate(uint64_t (*walk)(const uint8_t *, size_t), const uint8_t *bytes, size_t size,
                   uint64_t *out_events)
{
    double best = 0;

    for (int i = 0; i < WALKS; i++) {
        double start = now();

        *out_events = walk(bytes, size);
        start = (double)*out_events / (now() - start);
        if (start > best)
            best = start;
    }
    return best;
}

static uint64_t read_file(const char *path)
{
    struct trd_reader *reader;
    struct trd_record record;
    char error[256];
    uint64_t events = 0;

    if (trd_reader_open(&reader, path, error, sizeof(error)) != 0) {
        fprintf(stderr, "cannot read %s: %s\n", path, error);
        return 0;
    }
    while (trd_reader_next(reader, &record) == 1)
        events += record.kind == TRD_KIND_EVENT;
    trd_reader_destroy(reader);
    return events;
}

/* In a process of its own, for its own peak. `command` NULL: our reader. */
static struct outcome run(const char *path, const char *command)
{
    struct outcome outcome = { 0 };
    struct rusage usage;
    double start = now();
    int status, ends[2];
    pid_t child;

    if (pipe(ends) != 0 || (child = fork()) < 0)
        exit(1);
    if (child == 0) {
        if (command) {
            (void)execl("/bin/sh", "sh", "-c", command, "sh", path, NULL);
            _exit(127);
        }
        outcome.events = read_file(path);
        _exit(write(ends[1], &outcome.events, sizeof(outcome.events)) < 0);
    }
    (void)close(ends[1]);
    (void)wait4(child, &status, 0, &usage);
    outcome.seconds = now() - start;
    outcome.peak_kib = usage.ru_maxrss;
    if (!command && read(ends[0], &outcome.events, sizeof(outcome.events)) < 0)
        outcome.events = 0;
    (void)close(ends[0]);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        outcome.seconds = 0;
    return outcome;
}

static void write_file(const char *path, const struct dat_maker_bytes *bytes)
{
    FILE *file = fopen(path, "w");

    if (!file || fwrite(bytes->bytes, 1, bytes->size, file) != bytes->size || fclose(file) != 0)
        exit(1);
}

static void fill(struct dat_maker *maker, const char *codec, uint32_t events)
{
    struct dat_maker_buffer *top;

    dat_maker_init(maker, 7, codec);
    top = dat_maker_buffer(maker, "", "mono", PAGE_SIZE, 2);
    for (uint32_t i = 0; i < events; i++)
        dat_maker_tick(maker, top, i / 7 % 2, 1000000000 + (uint64_t)i * 100, 100, i);
}

/* False if the reader did not give all events. trace-cmd can be missing; it is only a comparison.
 */
static bool compare(const char *name, const char *path, uint64_t expected)
{
    struct outcome ours = run(path, NULL);
    struct outcome theirs = run(path, "exec trace-cmd report -N -i \"$1\" >/dev/null 2>&1");

    printf("%-6s reader %.2f M events/s, peak %ld KiB", name,
           (double)ours.events / ours.seconds / 1e6, ours.peak_kib);
    if (theirs.seconds > 0)
        printf("; trace-cmd report %.2f M events/s, peak %ld KiB: %.0f times as fast",
               (double)ours.events / theirs.seconds / 1e6, theirs.peak_kib,
               theirs.seconds / ours.seconds);
    else
        printf("; trace-cmd cannot be run on it here");
    printf("\n");
    return ours.seconds > 0 && ours.events > 0 && (!expected || ours.events == expected);
}

static bool compare_made(uint32_t events)
{
    static const char *const codecs[] = { "none", "zstd" };
    bool right = true;

    for (size_t i = 0; i < 2; i++) {
        char path[] = "/tmp/tracerd-bench-XXXXXX";
        int fd = mkstemp(path);
        struct dat_maker maker;
        uint64_t ours = 0, theirs = 0;

        if (fd < 0)
            return false;
        (void)close(fd);
        fill(&maker, codecs[i], events);
        write_file(path, dat_maker_write(&maker));
        if (i == 0) {
            const struct dat_maker_bytes *pages = &maker.buffers[0].cpus[0].pages;
            double fast = rate(walk_pages, pages->bytes, pages->size, &ours);
            double kbuffer = rate(walk_pages_with_kbuffer, pages->bytes, pages->size, &theirs);

            printf("pages  walker %.1f M records/s; kbuffer %.1f M records/s: %.1f times as fast\n",
                   fast / 1e6, kbuffer / 1e6, fast / kbuffer);
            right = ours == theirs && ours > 0;
        }
        dat_maker_finish(&maker);
        right = compare(codecs[i], path, events) && right;
        (void)unlink(path);
    }
    return right;
}

int main(void)
{
    const char *path = getenv("TRACERD_BENCH_FILE");
    const char *events = getenv("TRACERD_BENCH_EVENTS");

    (void)setvbuf(stdout, NULL, _IOLBF, 0); /* nothing waits in the buffer across a fork */
    if (path)
        return compare("file", path, 0) ? 0 : 1;
    return compare_made(events ? (uint32_t)strtoul(events, NULL, 10) : EVENTS_DEFAULT) ? 0 : 1;
}
