/*
 * Records per second through the merge with 2, 16 and 128 inputs whose times interleave at random,
 * as the per-CPU buffers of a file do. The best of several rounds counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tracerd/merge.h"

#define RECORDS (1 << 21)
#define ROUNDS 3

struct counted {
    struct trd_merge_input input;
    uint64_t ts_ns;
    uint32_t left;
    uint32_t random;
};

static int next(struct trd_merge_input *input, struct trd_record *out)
{
    struct counted *counted = (struct counted *)input;

    if (counted->left == 0)
        return 0;
    counted->left--;
    counted->random = counted->random * 1664525u + 1013904223u;
    counted->ts_ns += counted->random >> 16;
    trd_record_init(out);
    out->ts_ns = counted->ts_ns;
    return 1;
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Records per second; 0 if what came out is not what went in. */
static double run(uint32_t inputs)
{
    struct counted *all = calloc(inputs, sizeof(*all));
    struct trd_merge *merge;
    struct trd_record record;
    uint64_t last = 0, count = 0;
    double start;

    if (!all || trd_merge_create(&merge, 0) != 0)
        exit(1);
    for (uint32_t i = 0; i < inputs; i++) {
        all[i] = (struct counted){ { .next = next }, i, RECORDS / inputs, i * 7919 };
        if (trd_merge_add(merge, &all[i].input) != 0)
            exit(1);
    }
    start = now();
    while (trd_merge_next(merge, 0, &record) == 1) {
        count += record.ts_ns >= last;
        last = record.ts_ns;
    }
    start = now() - start;
    trd_merge_destroy(merge);
    free(all);
    return count == RECORDS ? RECORDS / start : 0;
}

int main(void)
{
    static const uint32_t inputs[] = { 2, 16, 128 };

    for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
        double best = 0;

        for (int round = 0; round < ROUNDS; round++) {
            double rate = run(inputs[i]);

            if (rate == 0) {
                fprintf(stderr, "bench_merge: records are missing or out of order\n");
                return 1;
            }
            best = rate > best ? rate : best;
        }
        printf("bench_merge: %3u inputs: %.1f M records/s (%.0f ns)\n", inputs[i], best / 1e6,
               1e9 / best);
    }
    return 0;
}
