/*
 * Switches that two recordings share. Of each CPU, a run of successive switches that occurs once in
 * either recording is the same moment in both. One recording may hold only what concerns some
 * threads: compared are the kinds of switches (who left, who came) that occur in both; of these
 * each holds all, since who is limited to threads keeps or drops a kind as a whole.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "align_private.h"

/* Long runs tell repetitive work apart, short ones bear more losses. */
static const unsigned run_lengths[] = { 6, 16, 48 };
#define RUN_FACTOR UINT64_C(0x9e3779b97f4a7c15)

struct run {
    uint64_t hash;
    uint64_t ts; /* of its last switch */
};

struct side {
    struct align_switch *switches; /* owned; by CPU, of kinds that both have */
    size_t count;
    struct run *runs; /* owned; by hash, each once */
    size_t run_count;
};

static int compare_keys(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return left < right ? -1 : left > right;
}

/* The kinds of a recording, sorted; allocated. */
static uint32_t *list_keys(const struct trd_evidence *evidence, size_t *out_count)
{
    uint32_t *keys = malloc((evidence->switch_count + 1) * sizeof(*keys));
    size_t kept = 0;

    if (!keys)
        return NULL;
    for (size_t i = 0; i < evidence->switch_count; i++)
        keys[i] = evidence->switches[i].key;
    qsort(keys, evidence->switch_count, sizeof(*keys), compare_keys);
    for (size_t i = 0; i < evidence->switch_count; i++)
        if (kept == 0 || keys[i] != keys[kept - 1])
            keys[kept++] = keys[i];
    *out_count = kept;
    return keys;
}

static bool is_shared(const struct align_switch *one, const uint32_t *keys, size_t key_count)
{
    return bsearch(&one->key, keys, key_count, sizeof(*keys), compare_keys) != NULL;
}

/* In the order of CPUs; on each, of the recording. */
static bool side_take(struct side *side, const struct trd_evidence *evidence, const uint32_t *keys,
                      size_t key_count)
{
    size_t *starts = calloc(ALIGN_CPUS_MAX + 1, sizeof(*starts));

    side->switches = malloc((evidence->switch_count + 1) * sizeof(*side->switches));
    side->runs = malloc((evidence->switch_count + 1) * sizeof(*side->runs));
    if (!starts || !side->switches || !side->runs) {
        free(starts);
        return false;
    }
    for (size_t i = 0; i < evidence->switch_count; i++)
        starts[evidence->switches[i].cpu + 1] += is_shared(&evidence->switches[i], keys, key_count);
    for (size_t cpu = 1; cpu <= ALIGN_CPUS_MAX; cpu++)
        starts[cpu] += starts[cpu - 1];
    side->count = starts[ALIGN_CPUS_MAX];
    for (size_t i = 0; i < evidence->switch_count; i++)
        if (is_shared(&evidence->switches[i], keys, key_count))
            side->switches[starts[evidence->switches[i].cpu]++] = evidence->switches[i];
    free(starts);
    return true;
}

static void side_finish(struct side *side)
{
    free(side->switches);
    free(side->runs);
}

static int compare_runs(const void *a, const void *b)
{
    const struct run *left = a, *right = b;

    return left->hash < right->hash ? -1 : left->hash > right->hash;
}

/* Those that occur once. */
static void side_find_runs(struct side *side, unsigned length)
{
    uint64_t hash = 0, leaving = 1;
    size_t begin = 0, kept = 0, at;

    for (unsigned i = 0; i < length; i++)
        leaving *= RUN_FACTOR;
    side->run_count = 0;
    for (size_t i = 0; i < side->count; i++) {
        const struct align_switch *one = &side->switches[i];

        if (i == 0 || one->cpu != one[-1].cpu) {
            begin = i;
            hash = 0;
        }
        hash = hash * RUN_FACTOR + one->key + 1;
        if (i - begin >= length)
            hash -= leaving * ((uint64_t)one[-(ptrdiff_t)length].key + 1);
        if (i - begin + 1 >= length)
            side->runs[side->run_count++] = (struct run){ hash + one->cpu * leaving, one->ts };
    }
    qsort(side->runs, side->run_count, sizeof(*side->runs), compare_runs);
    for (size_t i = 0; i < side->run_count; i = at) {
        for (at = i + 1; at < side->run_count && side->runs[at].hash == side->runs[i].hash; at++)
            ;
        if (at == i + 1)
            side->runs[kept++] = side->runs[i];
    }
    side->run_count = kept;
}

static size_t join(const struct side *from, const struct side *to, struct align_point *out)
{
    size_t count = 0;

    for (size_t i = 0, k = 0; i < from->run_count && k < to->run_count;) {
        const struct run *a = &from->runs[i], *b = &to->runs[k];

        if (a->hash == b->hash)
            out[count++] = (struct align_point){ a->ts, b->ts, 0 };
        i += a->hash <= b->hash;
        k += b->hash <= a->hash;
    }
    return count;
}

/* The length of runs that gives most. */
static int64_t find(struct side *from, struct side *to, struct align_point *out)
{
    size_t best = 0, best_count = 0, count;

    for (size_t i = 0; i < sizeof(run_lengths) / sizeof(run_lengths[0]); i++) {
        side_find_runs(from, run_lengths[i]);
        side_find_runs(to, run_lengths[i]);
        count = join(from, to, out);
        if (count > best_count) {
            best = i;
            best_count = count;
        }
    }
    side_find_runs(from, run_lengths[best]);
    side_find_runs(to, run_lengths[best]);
    return (int64_t)join(from, to, out);
}

int64_t align_find_switches(const struct trd_evidence *from, const struct trd_evidence *to,
                            struct align_point **out)
{
    struct align_point *points = malloc((from->switch_count + 1) * sizeof(*points));
    size_t from_count = 0, to_count = 0;
    uint32_t *from_keys = list_keys(from, &from_count), *to_keys = list_keys(to, &to_count);
    struct side a = { 0 }, b = { 0 };
    int64_t count = -ENOMEM;

    if (points && from_keys && to_keys && side_take(&a, from, to_keys, to_count) &&
        side_take(&b, to, from_keys, from_count))
        count = find(&a, &b, points);
    side_finish(&a);
    side_finish(&b);
    free(from_keys);
    free(to_keys);
    if (count < 0)
        free(points);
    else
        *out = points;
    return count;
}
