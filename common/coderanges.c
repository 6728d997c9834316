#include "coderanges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void coderanges_finish(struct coderanges *ranges)
{
    for (size_t i = 0; i < ranges->chunk_count; i++)
        free(ranges->chunks[i]);
    free(ranges->chunks);
    *ranges = (struct coderanges){ 0 };
}

/* How many chunks begin at or below the address. */
static size_t chunks_below(const struct coderanges *ranges, uint64_t address)
{
    size_t low = 0, high = ranges->chunk_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (ranges->chunks[middle]->codes[0].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t codes_below(const struct coderanges_chunk *chunk, uint64_t address)
{
    size_t low = 0, high = chunk->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (chunk->codes[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool coderanges_below(const struct coderanges *ranges, uint64_t address,
                      struct coderanges_place *out)
{
    size_t chunks = chunks_below(ranges, address);

    if (chunks == 0)
        return false;
    out->chunk = chunks - 1;
    out->index = codes_below(ranges->chunks[out->chunk], address) - 1;
    return true;
}

struct trd_code *coderanges_at(const struct coderanges *ranges, struct coderanges_place place)
{
    return &ranges->chunks[place.chunk]->codes[place.index];
}

static int add_chunk(struct coderanges *ranges, size_t at)
{
    struct coderanges_chunk *chunk;

    if (ranges->chunk_count == ranges->chunk_capacity) {
        size_t capacity = ranges->chunk_capacity ? ranges->chunk_capacity * 2 : 8;
        struct coderanges_chunk **chunks =
            realloc(ranges->chunks, capacity * sizeof(*ranges->chunks));

        if (!chunks)
            return -ENOMEM;
        ranges->chunks = chunks;
        ranges->chunk_capacity = capacity;
    }
    chunk = malloc(sizeof(*chunk));
    if (!chunk)
        return -ENOMEM;
    chunk->count = 0;
    chunk->end = 0;
    memmove(ranges->chunks + at + 1, ranges->chunks + at,
            (ranges->chunk_count - at) * sizeof(*ranges->chunks));
    ranges->chunks[at] = chunk;
    ranges->chunk_count++;
    return 0;
}

/* A full last chunk that is appended to stays full: code mostly comes in ascending order. */
static int split(struct coderanges *ranges, struct coderanges_place *place)
{
    struct coderanges_chunk *low = ranges->chunks[place->chunk], *high;
    bool appends = place->chunk + 1 == ranges->chunk_count && place->index == low->count;
    size_t kept = appends ? low->count : low->count / 2;
    int result = add_chunk(ranges, place->chunk + 1);

    if (result != 0)
        return result;
    high = ranges->chunks[place->chunk + 1];
    high->count = low->count - kept;
    high->end = low->end;
    memcpy(high->codes, low->codes + kept, high->count * sizeof(high->codes[0]));
    low->count = kept;
    if (place->index > kept || appends) {
        place->chunk++;
        place->index -= kept;
    }
    return 0;
}

int coderanges_insert(struct coderanges *ranges, const struct trd_code *code)
{
    struct coderanges_place place = { 0, 0 };
    struct coderanges_chunk *chunk;
    int result = 0;

    if (coderanges_below(ranges, code->address, &place))
        place.index++;
    if (ranges->chunk_count == 0)
        result = add_chunk(ranges, 0);
    else if (ranges->chunks[place.chunk]->count == CODERANGES_CHUNK)
        result = split(ranges, &place);
    if (result != 0)
        return result;
    chunk = ranges->chunks[place.chunk];
    memmove(chunk->codes + place.index + 1, chunk->codes + place.index,
            (chunk->count - place.index) * sizeof(chunk->codes[0]));
    chunk->codes[place.index] = *code;
    chunk->count++;
    if (code->address + code->size > chunk->end)
        chunk->end = code->address + code->size;
    ranges->count++;
    return 0;
}

static void drop_chunk(struct coderanges *ranges, size_t at)
{
    free(ranges->chunks[at]);
    ranges->chunk_count--;
    memmove(ranges->chunks + at, ranges->chunks + at + 1,
            (ranges->chunk_count - at) * sizeof(*ranges->chunks));
}

/* Two neighbours that fill half a chunk together become one: removals leave no hollow chunks. */
static void join(struct coderanges *ranges, size_t at)
{
    struct coderanges_chunk *low, *high;

    if (at + 1 >= ranges->chunk_count)
        return;
    low = ranges->chunks[at];
    high = ranges->chunks[at + 1];
    if (low->count + high->count > CODERANGES_CHUNK / 2)
        return;
    memcpy(low->codes + low->count, high->codes, high->count * sizeof(high->codes[0]));
    low->count += high->count;
    if (high->end > low->end)
        low->end = high->end;
    drop_chunk(ranges, at + 1);
}

void coderanges_remove(struct coderanges *ranges, struct coderanges_place place)
{
    struct coderanges_chunk *chunk = ranges->chunks[place.chunk];

    chunk->count--;
    memmove(chunk->codes + place.index, chunk->codes + place.index + 1,
            (chunk->count - place.index) * sizeof(chunk->codes[0]));
    ranges->count--;
    if (chunk->count == 0)
        drop_chunk(ranges, place.chunk);
    else
        join(ranges, place.chunk);
}

const struct trd_code *coderanges_at_time(const struct coderanges *ranges, uint64_t address,
                                          uint64_t ts_ns)
{
    const struct trd_code *best = NULL;

    for (size_t i = 0; i < chunks_below(ranges, address); i++) {
        const struct coderanges_chunk *chunk = ranges->chunks[i];

        for (size_t k = 0; chunk->end > address && k < chunk->count; k++) {
            const struct trd_code *code = &chunk->codes[k];

            if (address - code->address < code->size && ts_ns >= code->from_ns &&
                ts_ns < code->until_ns && (!best || code->from_ns >= best->from_ns))
                best = code;
        }
    }
    return best;
}

size_t coderanges_bytes(const struct coderanges *ranges)
{
    return ranges->chunk_capacity * sizeof(*ranges->chunks) +
           ranges->chunk_count * sizeof(struct coderanges_chunk);
}
