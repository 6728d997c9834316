#include "tracerd/codemap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coderanges.h"
#include "idmap.h"

/* What belongs to one method: where its runs begin. A run may have ended or gone over since. */
struct owner {
    uint64_t module;
    size_t count;
    size_t capacity;
    uint64_t *starts; /* owned */
};

struct trd_codemap {
    struct coderanges living; /* do not overlap */
    struct coderanges ended;
    struct idmap owners; /* (method, 0) -> struct owner */
    size_t limit;
    size_t starts_bytes;
    uint64_t forgotten;
    uint64_t refused;
};

int trd_codemap_create(struct trd_codemap **out, size_t limit)
{
    struct trd_codemap *map = calloc(1, sizeof(*map));

    if (!map)
        return -ENOMEM;
    map->limit = limit;
    /* Methods that are named and have no code here, too; table entries are smaller than runs. */
    idmap_init(&map->owners, limit);
    *out = map;
    return 0;
}

static void destroy_owner(void *value)
{
    struct owner *owner = value;

    free(owner->starts);
    free(owner);
}

void trd_codemap_destroy(struct trd_codemap *map)
{
    if (!map)
        return;
    coderanges_finish(&map->living);
    coderanges_finish(&map->ended);
    idmap_finish(&map->owners, destroy_owner);
    free(map);
}

static struct owner *get_owner(struct trd_codemap *map, uint64_t method)
{
    struct owner *owner = idmap_get(&map->owners, method, 0);
    void *old;

    if (owner)
        return owner;
    owner = calloc(1, sizeof(*owner));
    if (owner && idmap_set(&map->owners, method, 0, owner, &old) != 0) {
        free(owner);
        return NULL;
    }
    return owner;
}

static bool has_start(const struct owner *owner, uint64_t start)
{
    for (size_t i = 0; i < owner->count; i++)
        if (owner->starts[i] == start)
            return true;
    return false;
}

static int add_start(struct trd_codemap *map, struct owner *owner, uint64_t start)
{
    if (has_start(owner, start))
        return 0;
    if (owner->count == owner->capacity) {
        size_t capacity = owner->capacity ? owner->capacity * 2 : 1;
        uint64_t *starts = realloc(owner->starts, capacity * sizeof(*starts));

        if (!starts)
            return -ENOMEM;
        map->starts_bytes += (capacity - owner->capacity) * sizeof(*starts);
        owner->starts = starts;
        owner->capacity = capacity;
    }
    owner->starts[owner->count++] = start;
    return 0;
}

static void end_run(struct trd_codemap *map, struct coderanges_place place, uint64_t ts_ns)
{
    struct trd_code code = *coderanges_at(&map->living, place);

    coderanges_remove(&map->living, place);
    code.until_ns = ts_ns > code.from_ns ? ts_ns : code.from_ns;
    if (coderanges_insert(&map->ended, &code) != 0)
        map->forgotten++;
}

static bool is_same(const struct trd_code *a, const struct trd_code *b)
{
    return a->address == b->address && a->size == b->size && a->method == b->method;
}

/* Ends what lives within the run. True if that is this very run: it lives on. */
static bool make_way(struct trd_codemap *map, const struct trd_code *code, uint64_t now_ns)
{
    uint64_t last = code->address + code->size - 1;
    struct coderanges_place place;

    while (coderanges_below(&map->living, last, &place)) {
        struct trd_code *other = coderanges_at(&map->living, place);

        if (is_same(other, code)) {
            if (code->from_ns < other->from_ns)
                other->from_ns = code->from_ns;
            return true;
        }
        if (other->address + (other->size - 1) < code->address)
            break;
        end_run(map, place, now_ns);
    }
    return false;
}

static bool has_room(struct trd_codemap *map)
{
    if (map->living.count + map->ended.count < map->limit)
        return true;
    map->forgotten += map->ended.count;
    coderanges_finish(&map->ended);
    return map->living.count < map->limit;
}

int trd_codemap_add(struct trd_codemap *map, const struct trd_code *code, uint64_t now_ns)
{
    struct trd_code living = *code;
    struct owner *owner;
    int result = -ENOMEM;

    if (code->size == 0 || code->address + code->size < code->address)
        return -EINVAL;
    if (make_way(map, code, now_ns))
        return 0;
    if (!has_room(map)) {
        map->refused++;
        return -ENOSPC;
    }
    living.until_ns = UINT64_MAX;
    owner = get_owner(map, code->method);
    if (owner)
        result = add_start(map, owner, code->address);
    if (result == 0)
        result = coderanges_insert(&map->living, &living);
    map->refused += result != 0;
    return result;
}

int trd_codemap_set_module(struct trd_codemap *map, uint64_t method, uint64_t module)
{
    struct owner *owner = get_owner(map, method);

    if (!owner)
        return -ENOMEM;
    owner->module = module;
    return 0;
}

/* Its runs end; it keeps nothing that needs freeing but itself. */
static void end_owner(struct trd_codemap *map, uint64_t method, struct owner *owner, uint64_t ts_ns)
{
    struct coderanges_place place;

    for (size_t i = 0; i < owner->count; i++) {
        const struct trd_code *code;

        if (!coderanges_below(&map->living, owner->starts[i], &place))
            continue;
        code = coderanges_at(&map->living, place);
        if (code->address == owner->starts[i] && code->method == method)
            end_run(map, place, ts_ns);
    }
    map->starts_bytes -= owner->capacity * sizeof(*owner->starts);
}

void trd_codemap_unload_method(struct trd_codemap *map, uint64_t method, uint64_t ts_ns)
{
    struct owner *owner = idmap_take(&map->owners, method, 0);

    if (!owner)
        return;
    end_owner(map, method, owner, ts_ns);
    destroy_owner(owner);
}

struct unload {
    struct trd_codemap *map;
    uint64_t module;
    uint64_t ts_ns;
};

static bool outlives(const struct idmap_entry *entry, void *context)
{
    struct unload *unload = context;
    struct owner *owner = entry->value;

    if (owner->module != unload->module)
        return true;
    end_owner(unload->map, entry->a, owner, unload->ts_ns);
    destroy_owner(owner);
    return false;
}

void trd_codemap_unload_module(struct trd_codemap *map, uint64_t module, uint64_t ts_ns)
{
    struct unload unload = { map, module, ts_ns };

    if (module != 0)
        idmap_filter(&map->owners, outlives, &unload);
}

bool trd_codemap_find(const struct trd_codemap *map, uint64_t address, uint64_t ts_ns,
                      struct trd_code *out)
{
    const struct trd_code *code = NULL, *ended;
    struct coderanges_place place;

    if (coderanges_below(&map->living, address, &place)) {
        code = coderanges_at(&map->living, place);
        if (address - code->address >= code->size || ts_ns < code->from_ns)
            code = NULL;
    }
    ended = coderanges_at_time(&map->ended, address, ts_ns);
    if (ended && (!code || ended->from_ns > code->from_ns))
        code = ended;
    if (!code)
        return false;
    *out = *code;
    return true;
}

void trd_codemap_count(const struct trd_codemap *map, struct trd_codemap_counts *out)
{
    *out = (struct trd_codemap_counts){
        .living = map->living.count,
        .ended = map->ended.count,
        .forgotten = map->forgotten,
        .refused = map->refused,
        .bytes = coderanges_bytes(&map->living) + coderanges_bytes(&map->ended) +
                 map->owners.capacity * sizeof(struct idmap_entry) +
                 map->owners.count * sizeof(struct owner) + map->starts_bytes,
    };
}
