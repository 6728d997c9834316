/*
 * The memory of the flight recorder: one ring of bytes that holds entries in the order they
 * arrived, each on a lane (a CPU's pages, the CLR's events). The oldest goes when it is older than
 * the window or when its room is needed; whoever reads lanes for a recording takes entries out
 * from their front meanwhile. One thread.
 */
#ifndef TRACERD_DAEMON_FLIGHT_WINDOW_H
#define TRACERD_DAEMON_FLIGHT_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flight_window;

struct flight_window_user {
    /* The oldest entry of a lane leaves unread; its bytes are borrowed for the call. */
    void (*discard)(void *context, uint32_t lane, const uint8_t *bytes, size_t size);
    /* Room is needed that a lane which is held occupies: its reader shall take what it can. False
     * if it took nothing. */
    bool (*make_room)(void *context);
    void *context;
};

/* -ENOMEM. `size_bytes` is all the memory it will ever need, and is touched as it fills. */
int flight_window_create(struct flight_window **out, size_t size_bytes, uint32_t lane_count,
                         const struct flight_window_user *user);
void flight_window_destroy(struct flight_window *window);

/* Room for an entry that the caller fills at once, aligned to 32; NULL if the window cannot hold
 * it. `arrival_ns` never goes back. */
uint8_t *flight_window_put(struct flight_window *window, uint32_t lane, uint64_t arrival_ns,
                           size_t size);
/* Entries that arrived before are discarded, but for those of held lanes and what came behind. */
void flight_window_discard(struct flight_window *window, uint64_t before_ns);

/* The oldest entry of a lane; false if there is none. Stays where it is until it is taken; an entry
 * of a lane that is not held until the next put or discard only. */
bool flight_window_first(const struct flight_window *window, uint32_t lane,
                         const uint8_t **out_bytes, size_t *out_size);
void flight_window_take(struct flight_window *window, uint32_t lane);
/* A lane that is held is read by somebody: nothing of it is discarded. */
void flight_window_hold(struct flight_window *window, uint32_t lane, bool held);

#endif
