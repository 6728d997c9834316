#include "clr_maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A process with more executable areas is known in part. */
#define RANGES_MAX (1u << 16)
#define LINE_SIZE (4096 + 128) /* a path and what stands before it */

static bool ends_with(const char *text, size_t size, const char *end)
{
    size_t end_size = strlen(end);

    return size >= end_size && memcmp(text + size - end_size, end, end_size) == 0;
}

/*
 * Code of the JIT lies in anonymous memory or, doubly mapped for W^X, in a memfd; code that was
 * compiled ahead lies in the image of its assembly. Everything else that has a name is native:
 * libraries, programs, [vdso].
 */
static bool may_be_managed(const char *name, size_t size)
{
    return size == 0 || strncmp(name, "/memfd:doublemapper", strlen("/memfd:doublemapper")) == 0 ||
           strncmp(name, "/dev/shm/doublemapper", strlen("/dev/shm/doublemapper")) == 0 ||
           strncmp(name, "[anon:", strlen("[anon:")) == 0 || ends_with(name, size, ".dll") ||
           ends_with(name, size, ".exe");
}

bool clr_maps_parse(const char *line, struct clr_range *out)
{
    char permissions[5];
    int name_at = 0;
    const char *name;

    /* from-to rwxp offset device inode name */
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %*s %*u %n", &out->from, &out->to,
               permissions, &name_at) < 3 ||
        name_at == 0 || permissions[2] != 'x')
        return false;
    name = line + name_at;
    return may_be_managed(name, strcspn(name, "\n"));
}

static bool add(struct clr_maps *maps, const struct clr_range *range)
{
    struct clr_range *last = maps->count ? &maps->ranges[maps->count - 1] : NULL;

    if (last && last->to == range->from) {
        last->to = range->to;
        return true;
    }
    if (maps->count == maps->capacity) {
        size_t capacity = maps->capacity ? maps->capacity * 2 : 64;
        struct clr_range *ranges =
            capacity <= RANGES_MAX ? realloc(maps->ranges, capacity * sizeof(*ranges)) : NULL;

        if (!ranges)
            return false;
        maps->ranges = ranges;
        maps->capacity = capacity;
    }
    maps->ranges[maps->count++] = *range;
    return true;
}

void clr_maps_read(struct clr_maps *maps, pid_t pid, uint64_t now_ns)
{
    char path[64], line[LINE_SIZE];
    struct clr_range range;
    FILE *file;

    maps->count = 0;
    maps->read_ns = now_ns;
    (void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    file = fopen(path, "re");
    if (!file)
        return;
    while (fgets(line, sizeof(line), file))
        if (clr_maps_parse(line, &range) && !add(maps, &range))
            break;
    fclose(file);
}

void clr_maps_finish(struct clr_maps *maps)
{
    free(maps->ranges);
}

bool clr_maps_has(const struct clr_maps *maps, uint64_t address)
{
    size_t low = 0, high = maps->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (maps->ranges[middle].to <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < maps->count && address >= maps->ranges[low].from;
}
