#include "clr_resolve.h"

#include "clr_source_private.h"
#include "frame.h"
#include "stream_lines.h"

/* Memory that is younger than what was read last is looked for again, but not all the time. */
#define MAPS_LIFE_NS UINT64_C(200000000)

static bool lies_in_managed_memory(struct clr_source *clr, uint64_t address, uint64_t now_ns)
{
    if (clr_maps_has(&clr->maps, address))
        return true;
    if (clr->maps.read_ns != 0 && now_ns - clr->maps.read_ns < MAPS_LIFE_NS)
        return false;
    clr_maps_read(&clr->maps, clr->pid, now_ns);
    return clr_maps_has(&clr->maps, address);
}

void clr_resolve_wanted(struct clr_source *clr)
{
    struct {
        struct trd_resolve head;
        uint64_t addresses[TRD_RESOLVE_MAX];
    } request = { .head = { 0 } };
    uint64_t wanted[TRD_RESOLVE_MAX], now_ns = clock_now_ns();
    size_t count =
        trd_enrich_wanted(pipeline_enrich(clr->pipeline), clr->pid, wanted, TRD_RESOLVE_MAX);

    for (size_t i = 0; i < count; i++)
        if (lies_in_managed_memory(clr, wanted[i], now_ns))
            request.addresses[request.head.count++] = wanted[i];
    if (request.head.count > 0)
        (void)clr_socket_send(&clr->socket, TRD_FRAME_RESOLVE, &request,
                              sizeof(request.head) +
                                  request.head.count * sizeof(request.addresses[0]));
}
