#include "stream_clock.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"

static void put_in_force(struct stream_clock *clock, const struct clock_anchor *anchor)
{
    clock->anchor = *anchor;
    clock->offset_ns = output_clock_offset(clock->clock, anchor);
}

static void on_stepped(void *context)
{
    stream_clock_check(context);
}

void stream_clock_init_live(struct stream_clock *clock, uv_loop_t *loop, const char *name)
{
    struct clock_anchor anchor;

    *clock = (struct stream_clock){ .clock = output_clock_find(name), .is_live = true };
    clock_anchor_take(&anchor);
    put_in_force(clock, &anchor);
    clock_watch_start(&clock->watch, loop, on_stepped, clock);
}

static bool can_be_told(enum output_clock clock, bool is_mono, const struct clock_anchor *anchor)
{
    switch (clock) {
    case OUTPUT_CLOCK_MONO:
        return is_mono;
    case OUTPUT_CLOCK_REALTIME:
        return is_mono && anchor->realtime_ns;
    case OUTPUT_CLOCK_BOOT:
        return is_mono && anchor->boot_ns;
    default:
        return true;
    }
}

int stream_clock_init_replay(struct stream_clock *clock, const struct source *reference,
                             const char *name)
{
    bool is_mono = reference && reference->clock && strcmp(reference->clock, "mono") == 0;
    struct clock_anchor anchor = { 0 };

    *clock = (struct stream_clock){ .clock = output_clock_find(name), .watch.fd = -1 };
    if (!reference)
        return 0;
    if (clock->clock == OUTPUT_CLOCK_AS_IS)
        clock->clock = reference->written_clock;
    (void)clock_anchor_parse(&anchor, json_object_get(reference->origin, "anchor"));
    put_in_force(clock, &anchor);
    if (can_be_told(clock->clock, is_mono, &anchor))
        return 0;
    log_error(
        "--clock %s: %s is on the clock \"%s\" and holds no anchor to that one, as recordings "
        "of tracerd in JSON lines do",
        name, reference->name, reference->clock ? reference->clock : "unknown");
    return EXIT_USAGE;
}

void stream_clock_finish(struct stream_clock *clock)
{
    free(clock->text);
    clock->text = NULL;
}

void stream_clock_check(struct stream_clock *clock)
{
    const struct clock_anchor *newest =
        clock->waiting_count ? &clock->waiting[clock->waiting_count - 1] : &clock->anchor;
    struct clock_anchor now;

    if (!clock->is_live)
        return;
    clock_anchor_take(&now);
    if (!clock_anchor_has_moved(newest, &now))
        return;
    log_verbose("the clocks moved against each other, there is a new anchor: mono=%" PRIu64
                ", realtime=%" PRIu64,
                now.mono_ns, now.realtime_ns);
    if (clock->waiting_count == ANCHORS_WAITING_MAX)
        clock->waiting_count--;
    clock->waiting[clock->waiting_count++] = now;
}

int stream_clock_next(struct stream_clock *clock, uint64_t ts_ns, struct trd_record *out)
{
    json_t *object;

    if (clock->waiting_count == 0 || clock->waiting[0].mono_ns > ts_ns)
        return 0;
    put_in_force(clock, &clock->waiting[0]);
    clock->waiting_count--;
    memmove(clock->waiting, clock->waiting + 1, clock->waiting_count * sizeof(clock->waiting[0]));
    object = clock_anchor_object(&clock->anchor);
    free(clock->text);
    clock->text = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    if (!clock->text)
        return 0;
    trd_record_init(out);
    out->kind = TRD_KIND_ANCHOR;
    out->source = TRD_SOURCE_TRACERD;
    out->ts_ns = clock->anchor.mono_ns;
    out->args_json = clock->text;
    out->args_json_size = (uint32_t)strlen(clock->text);
    return 1;
}

void stream_clock_take(struct stream_clock *clock, const struct trd_record *record)
{
    json_t *object = json_loadb(record->args_json, record->args_json_size, 0, NULL);
    struct clock_anchor anchor;

    if (!(record->flags & TRD_RECORD_F_UNALIGNED) && clock_anchor_parse(&anchor, object))
        put_in_force(clock, &anchor);
    json_decref(object);
}
