#include "il_map.h"

#include "info_code.h"
#include "sender.h"
#include "writer.h"

#define INFO_VERSION_MAP 9
#define SLICE 64 /* entries between two sweeps: 64 bytes each */

static bool body_holds(struct corprof_info *info, UINT_PTR start, UINT_PTR address)
{
    COR_PRF_CODE_INFO parts[INFO_PARTS_MAX];
    size_t count = info_code_parts(info, start, parts);

    for (size_t i = 0; i < count; i++)
        if (address - parts[i].startAddress < parts[i].size)
            return true;
    return false;
}

bool il_map_find(struct profiler *profiler, FunctionID function, ReJITID rejit, UINT_PTR address,
                 struct il_map *out)
{
    UINT_PTR starts[INFO_BODIES_MAX];
    size_t bodies = 0;

    if (profiler->info_version >= INFO_VERSION_MAP)
        bodies = info_code_starts(profiler->info, function, rejit, starts);
    out->function = function;
    for (size_t i = 0; i < bodies; i++)
        if (starts[i] && body_holds(profiler->info, starts[i], address)) {
            out->start = starts[i];
            out->count =
                info_il_map(profiler->info, starts[i], out->entries, IL_MAP_MAX, &out->is_cut);
            return out->count > 0;
        }
    return false;
}

static void emit_entry(const struct il_map *map, const COR_DEBUG_IL_TO_NATIVE_MAP *entry,
                       uint16_t flags)
{
    struct trd_ev_il_offset *event;
    struct writer writer;

    event = WRITER_BEGIN(&writer, il_offset, JIT, 0);
    if (!event)
        return;
    event->method = map->function;
    event->address = map->start;
    event->from = entry->nativeStartOffset;
    event->until = entry->nativeEndOffset;
    event->il = (int32_t)entry->ilOffset;
    writer_flag(&writer, flags);
    writer_commit(&writer);
}

bool il_map_tell(const struct il_map *map)
{
    for (size_t i = 0; i < map->count; i++) {
        bool cut = map->is_cut && i + 1 == map->count;

        emit_entry(map, &map->entries[i],
                   (uint16_t)(TRD_EVENT_F_CATCH_UP | (cut ? TRD_EVENT_F_CUT : 0)));
        if (i % SLICE == SLICE - 1 && !sender_flush())
            return false;
    }
    return true;
}
