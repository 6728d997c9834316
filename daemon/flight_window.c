#include "flight_window.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#define ALIGN 32u /* a head: so that one always fits into what is left of the ring */
#define NOWHERE UINT64_MAX
#define LANE_NONE UINT32_MAX /* of what fills the ring's end, and of entries that were taken */

struct entry {
    _Alignas(32) uint32_t size; /* with this head, a multiple of ALIGN */
    uint32_t payload;
    uint32_t lane;
    uint64_t arrival_ns;
    uint64_t next; /* position of the lane's next one */
};

_Static_assert(sizeof(struct entry) == ALIGN, "a head fills one unit");

struct lane {
    uint64_t first, last; /* positions; NOWHERE = empty */
    bool held;
};

/* Positions only grow; a place in memory is position % size. */
struct flight_window {
    uint8_t *bytes; /* owned mapping */
    size_t size;
    uint64_t head, tail; /* of the next entry, of the oldest one */
    struct flight_window_user user;
    uint32_t lane_count;
    struct lane lanes[];
};

int flight_window_create(struct flight_window **out, size_t size_bytes, uint32_t lane_count,
                         const struct flight_window_user *user)
{
    struct flight_window *window =
        calloc(1, sizeof(*window) + lane_count * sizeof(window->lanes[0]));

    if (!window)
        return -ENOMEM;
    window->size = size_bytes / ALIGN * ALIGN;
    window->user = *user;
    window->lane_count = lane_count;
    for (uint32_t i = 0; i < lane_count; i++)
        window->lanes[i].first = window->lanes[i].last = NOWHERE;
    window->bytes = mmap(NULL, window->size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (window->bytes == MAP_FAILED) {
        free(window);
        return -ENOMEM;
    }
    *out = window;
    return 0;
}

void flight_window_destroy(struct flight_window *window)
{
    if (!window)
        return;
    munmap(window->bytes, window->size);
    free(window);
}

static struct entry *at(const struct flight_window *window, uint64_t position)
{
    return (struct entry *)(void *)(window->bytes + position % window->size);
}

static void leave_lane(struct flight_window *window, struct entry *entry)
{
    struct lane *lane = &window->lanes[entry->lane];

    lane->first = entry->next;
    if (lane->first == NOWHERE)
        lane->last = NOWHERE;
    entry->lane = LANE_NONE;
}

/* The oldest entry goes; false if somebody reads its lane. It is the first of its lane: whatever
 * arrived before it is gone. */
static bool drop_oldest(struct flight_window *window)
{
    struct entry *entry = at(window, window->tail);

    if (entry->lane != LANE_NONE) {
        if (window->lanes[entry->lane].held)
            return false;
        window->user.discard(window->user.context, entry->lane, (const uint8_t *)(entry + 1),
                             entry->payload);
        leave_lane(window, entry);
    }
    window->tail += entry->size;
    return true;
}

static bool make_room(struct flight_window *window, size_t size)
{
    while (window->head + size - window->tail > window->size)
        if (!drop_oldest(window) && !window->user.make_room(window->user.context))
            return false;
    return true;
}

static void fill_end(struct flight_window *window, size_t size)
{
    struct entry *entry = at(window, window->head);

    *entry = (struct entry){ .size = (uint32_t)size, .lane = LANE_NONE, .next = NOWHERE };
    window->head += size;
}

uint8_t *flight_window_put(struct flight_window *window, uint32_t lane, uint64_t arrival_ns,
                           size_t size)
{
    size_t whole = (sizeof(struct entry) + size + ALIGN - 1) / ALIGN * ALIGN;
    size_t left = window->size - window->head % window->size;
    struct lane *to = &window->lanes[lane];
    struct entry *entry;

    if (whole > window->size / 2 || !make_room(window, left < whole ? left + whole : whole))
        return NULL;
    if (left < whole)
        fill_end(window, left);
    entry = at(window, window->head);
    *entry = (struct entry){ .size = (uint32_t)whole,
                             .payload = (uint32_t)size,
                             .lane = lane,
                             .arrival_ns = arrival_ns,
                             .next = NOWHERE };
    if (to->last == NOWHERE)
        to->first = window->head;
    else
        at(window, to->last)->next = window->head;
    to->last = window->head;
    window->head += whole;
    return (uint8_t *)(entry + 1);
}

void flight_window_discard(struct flight_window *window, uint64_t before_ns)
{
    while (window->tail < window->head) {
        const struct entry *entry = at(window, window->tail);

        if (entry->lane != LANE_NONE && entry->arrival_ns >= before_ns)
            return;
        if (!drop_oldest(window))
            return;
    }
}

bool flight_window_first(const struct flight_window *window, uint32_t lane,
                         const uint8_t **out_bytes, size_t *out_size)
{
    const struct entry *entry;

    if (window->lanes[lane].first == NOWHERE)
        return false;
    entry = at(window, window->lanes[lane].first);
    *out_bytes = (const uint8_t *)(entry + 1);
    *out_size = entry->payload;
    return true;
}

void flight_window_take(struct flight_window *window, uint32_t lane)
{
    if (window->lanes[lane].first != NOWHERE)
        leave_lane(window, at(window, window->lanes[lane].first));
}

void flight_window_hold(struct flight_window *window, uint32_t lane, bool held)
{
    window->lanes[lane].held = held;
}
