/*
 * The end of a traced process: was it an orderly goodbye, is the process dead, or did only the
 * connection break? What is left in a dead process's arena is delivered; what cannot be is told as
 * lost; then the figures are final.
 */
#include "clr_runtimes.h"
#include "clr_source_private.h"
#include "stream_lines.h"
#include "target_linux.h"

/* How long a process whose connection broke may take to die before it counts as alive. */
#define DEATH_WAIT_MS 2000
#define DEATH_POLL_MS 5

/* Is it known how many events the process began? */
static bool is_complete(const struct clr_source *clr)
{
    return clr->has_goodbye || (clr->is_dead && !clr->is_broken);
}

static uint64_t begun(const struct clr_source *clr)
{
    uint64_t total = clr->has_goodbye ? clr->goodbye.produced : clr_arena_produced(&clr->arena);

    return total > clr->hello.accounted ? total - clr->hello.accounted : 0;
}

void clr_end_account(const struct clr_source *clr, struct ledger *out)
{
    *out = (struct ledger){ .delivered = clr->totals.delivered,
                            .lost = clr->totals.lost,
                            .unknown = clr->totals.bad_records,
                            .stamp_error_ns = clr->clock.error_ns };
    /* A process that lives on without a goodbye knows best what it had still to say. */
    if (clr->ring_count > 0 && clr->state >= CLR_PARTING && !is_complete(clr) && !clr->is_left)
        out->unknown++;
    out->produced = out->delivered + out->lost;
    clr_arena_dropped(&clr->arena, out->dropped);
    for (size_t i = 0; i < TRD_CATEGORY_COUNT; i++)
        out->dropped[i] -= clr->dropped_before[i];
}

void clr_end_on_handle_closed(uv_handle_t *handle)
{
    struct clr_source *clr = handle->data;

    if (--clr->open_handles > 0)
        return;
    if (clr->watch.on_end && clr->ring_count > 0)
        clr->watch.on_end(clr->pid, clr->watch.context);
    pipeline_source_ended(clr->pipeline, &clr->source);
}

static void end(struct clr_source *clr)
{
    clr->state = CLR_ENDED;
    trd_enrich_end_process(pipeline_enrich(clr->pipeline), clr->pid, clr->totals.last_ns);
    uv_close((uv_handle_t *)&clr->timer, clr_end_on_handle_closed);
}

/* What the process began, and nobody delivered or told as lost, is lost too: drops of threads that
 * found no ring, an event that was being written when the process was killed. */
static void tell_rest(struct clr_source *clr)
{
    uint64_t known = clr->totals.delivered + clr->totals.lost;
    uint64_t total = is_complete(clr) ? begun(clr) : 0;
    struct clr_loss rest = { clr->began_ns, clock_now_ns(), total > known ? total - known : 0 };

    if (clr_ring_put_lost(&clr->control, &rest) != 0)
        clr->totals.bad_records++;
}

static void on_dry(uv_timer_t *timer)
{
    struct clr_source *clr = timer->data;

    if (clr->totals.open_inputs == 0) {
        end(clr);
    } else if (clr->totals.open_inputs == 1 && !clr->control.closing) {
        tell_rest(clr);
        clr->control.closing = true;
        pipeline_pump(clr->pipeline);
    }
}

/* Not at once: the caller is the merge. */
void clr_end_on_drained(struct clr_source *clr)
{
    if (clr->totals.open_inputs <= 1)
        uv_timer_start(&clr->timer, on_dry, 0, 0);
}

/* Its sender may have died between sending a LOST whole and taking the count off. */
static void leave_out_what_was_told(const struct clr_ring *ring, struct clr_arena_ring *state)
{
    if (state->is_telling && ring->last_lost.told > state->told &&
        ring->last_lost.count <= state->untold.count)
        state->untold.count -= ring->last_lost.count;
}

/* What its threads had written and its sender had not sent is in the arena; what it had sent and we
 * did not take is there too, as long as nobody wrote over it. */
static void drain_ring(struct clr_source *clr, uint32_t index)
{
    struct clr_arena_ring state;
    struct clr_ring *ring = clr_source_ring(clr, index);
    uint64_t from;

    if (!ring || clr_arena_ring(&clr->arena, index, &state) != 0) {
        clr->totals.bad_records++;
        return;
    }
    from = state.tail;
    if (ring->is_placed && ring->position <= state.head &&
        state.head - ring->position <= clr_arena_ring_max(&clr->arena))
        from = ring->position;
    clr_source_set_owner(clr, ring, state.tid);
    clr_ring_drain(ring, &clr->arena, index, from, state.head);
    leave_out_what_was_told(ring, &state);
    state.untold.from_ns = clr_clock_ns(&clr->clock, state.untold.from_ns);
    state.untold.to_ns = clr_clock_ns(&clr->clock, state.untold.to_ns);
    if (clr_ring_put_lost(ring, &state.untold) != 0)
        clr->totals.bad_records++;
}

static void close_inputs(struct clr_source *clr)
{
    if (clr->is_dead && !clr->has_goodbye && !clr->is_broken)
        for (uint32_t i = 0; i < clr_arena_used(&clr->arena); i++)
            drain_ring(clr, i);
    clr->state = CLR_DRAINING;
    clr_source_stamp(clr);
    for (uint32_t i = 0; i < clr->ring_count; i++)
        if (clr->rings[i])
            clr->rings[i]->closing = true;
    clr_source_set_mark(clr, UINT64_MAX);
    clr_end_on_drained(clr);
    pipeline_pump(clr->pipeline);
}

static void on_parting(uv_timer_t *timer)
{
    struct clr_source *clr = timer->data;

    bool may_die =
        !clr->has_goodbye && !clr->is_broken && !clr->is_left && clr->waited_ms < DEATH_WAIT_MS;

    /* What it leaves when it dies is the newer connection's. */
    clr->is_dead = !clr->is_left && target_is_dead(clr->pid);
    clr->waited_ms += DEATH_POLL_MS;
    if (may_die && !clr->is_dead)
        return;
    uv_timer_stop(timer);
    close_inputs(clr);
}

void clr_end_part(struct clr_source *clr)
{
    if (clr->state >= CLR_PARTING)
        return;
    uv_poll_stop(&clr->poll);
    uv_close((uv_handle_t *)&clr->poll, clr_end_on_handle_closed);
    uv_close((uv_handle_t *)&clr->look, clr_end_on_handle_closed);
    clr_socket_close(&clr->socket);
    uv_timer_stop(&clr->timer);
    if (clr->state == CLR_GREETING) {
        pipeline_remove_input(clr->pipeline, &clr->control.input);
        clr->totals.open_inputs--;
        end(clr);
        return;
    }
    if (!clr->has_told_runtimes) /* it may have come and gone between two looks */
        clr->has_told_runtimes = clr_runtimes_tell(clr->pid);
    clr->state = CLR_PARTING;
    uv_timer_start(&clr->timer, on_parting, 0, DEATH_POLL_MS);
}
