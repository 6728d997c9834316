#include "stalls.h"

/* A source that is behind since we were not let run ourselves is not to blame: by the second look
 * its news have been read. */
#define LOOKS_MIN 2

static void note(void *context, const struct trd_merge_input *input)
{
    struct source *source = input->owner;
    struct stall *stall = &source->stall;

    (void)context;
    /* Of several inputs the one that is furthest behind; as it was when the stall began. */
    if (!stall->told && (!stall->found || input->watermark_ns < stall->since_ns))
        stall->since_ns = input->watermark_ns;
    stall->found = true;
}

void stalls_end(struct source *source, uint64_t now_ns, stall_teller tell,
                struct pipeline *pipeline)
{
    if (source->stall.told)
        tell(pipeline, source, now_ns);
    source->stall = (struct stall){ 0 };
}

static void settle(struct source *source, uint64_t now_ns, stall_teller tell,
                   struct pipeline *pipeline)
{
    struct stall *stall = &source->stall;

    if (!stall->found) {
        stalls_end(source, now_ns, tell, pipeline);
        return;
    }
    stall->found = false;
    if (stall->told || ++stall->looks < LOOKS_MIN)
        return;
    stall->told = true;
    tell(pipeline, source, 0);
}

void stalls_look(struct source *sources, const struct trd_merge *merge, uint64_t now_ns,
                 stall_teller tell, struct pipeline *pipeline)
{
    trd_merge_stalled(merge, now_ns, note, NULL);
    for (struct source *source = sources; source; source = source->next)
        if (!source->ended)
            settle(source, now_ns, tell, pipeline);
}
