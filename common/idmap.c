#include "idmap.h"

#include <errno.h>
#include <stdlib.h>

void idmap_init(struct idmap *map, size_t limit)
{
    *map = (struct idmap){ .limit = limit };
}

void idmap_finish(struct idmap *map, void (*destroy)(void *value))
{
    for (size_t i = 0; destroy && i < map->capacity; i++)
        if (map->entries[i].value)
            destroy(map->entries[i].value);
    free(map->entries);
    map->entries = NULL;
    map->count = map->capacity = 0;
}

static size_t home(const struct idmap *map, uint64_t a, uint64_t b)
{
    uint64_t hash = (a ^ b * 0xff51afd7ed558ccdu) * 0x9e3779b97f4a7c15u;

    return (size_t)(hash ^ hash >> 32) & (map->capacity - 1);
}

static size_t find(const struct idmap *map, uint64_t a, uint64_t b)
{
    size_t place = home(map, a, b);

    while (map->entries[place].value && (map->entries[place].a != a || map->entries[place].b != b))
        place = (place + 1) & (map->capacity - 1);
    return place;
}

void *idmap_get(const struct idmap *map, uint64_t a, uint64_t b)
{
    return map->count ? map->entries[find(map, a, b)].value : NULL;
}

static int grow(struct idmap *map)
{
    struct idmap bigger = { .capacity = map->capacity ? map->capacity * 2 : 64 };

    bigger.entries = calloc(bigger.capacity, sizeof(*bigger.entries));
    if (!bigger.entries)
        return -ENOMEM;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->entries[i].value)
            bigger.entries[find(&bigger, map->entries[i].a, map->entries[i].b)] = map->entries[i];
    free(map->entries);
    map->entries = bigger.entries;
    map->capacity = bigger.capacity;
    return 0;
}

int idmap_set(struct idmap *map, uint64_t a, uint64_t b, void *value, void **out_old)
{
    size_t place;

    if ((map->count + 1) * 2 > map->capacity && grow(map) != 0)
        return -ENOMEM;
    place = find(map, a, b);
    *out_old = map->entries[place].value;
    if (!*out_old && map->count >= map->limit)
        return -ENOSPC;
    map->count += !*out_old;
    map->entries[place] = (struct idmap_entry){ a, b, value };
    return 0;
}

void *idmap_take(struct idmap *map, uint64_t a, uint64_t b)
{
    size_t mask = map->capacity - 1;
    size_t hole, place;
    void *value;

    if (!map->count)
        return NULL;
    hole = find(map, a, b);
    value = map->entries[hole].value;
    if (!value)
        return NULL;
    /* Whoever was pushed past the hole by probing moves back into it. */
    for (place = (hole + 1) & mask; map->entries[place].value; place = (place + 1) & mask) {
        size_t wanted = home(map, map->entries[place].a, map->entries[place].b);

        if (((place - wanted) & mask) >= ((place - hole) & mask)) {
            map->entries[hole] = map->entries[place];
            hole = place;
        }
    }
    map->entries[hole].value = NULL;
    map->count--;
    return value;
}

void idmap_filter(struct idmap *map, bool (*keep)(const struct idmap_entry *entry, void *context),
                  void *context)
{
    struct idmap kept = { .capacity = map->capacity, .limit = map->limit };

    kept.entries = map->count ? calloc(kept.capacity, sizeof(*kept.entries)) : NULL;
    if (!kept.entries)
        return;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->entries[i].value && keep(&map->entries[i], context)) {
            kept.entries[find(&kept, map->entries[i].a, map->entries[i].b)] = map->entries[i];
            kept.count++;
        }
    free(map->entries);
    *map = kept;
}
