#include "info_heap.h"

#include <string.h>

#include "module_metadata.h"

/* A region is 4 MiB or more: what 16 GiB of heap consist of. Touched as far as it is used. */
#define RANGES_MAX 4096
/* More fields than any class has whose field is asked for here. */
#define FIELDS_MAX 64
/* Beyond any layout there is: an offset larger than this is no answer. */
#define OFFSET_MAX 4096
/* Longer than any that is asked for. */
#define FIELD_NAME_MAX 64

bool info_heap(struct corprof_info *info, struct info_heap *out)
{
    static COR_PRF_GC_GENERATION_RANGE ranges[RANGES_MAX];
    ULONG count = 0, filled;

    memset(out, 0, sizeof(*out));
    if (!SUCCEEDED(info->vtbl->GetGenerationBounds(info, RANGES_MAX, &count, ranges)) || count == 0)
        return false;
    filled = count < RANGES_MAX ? count : RANGES_MAX;
    for (ULONG i = 0; i < filled; i++) {
        uint32_t generation = (uint32_t)ranges[i].generation;

        if (generation >= INFO_GENERATIONS)
            continue;
        out->used[generation] += ranges[i].rangeLength;
        out->reserved[generation] += ranges[i].rangeLengthReserved;
    }
    out->ranges = count;
    out->partial = count > filled;
    return true;
}

bool info_class_parent(struct corprof_info *info, ClassID class_id, ClassID *out_parent)
{
    ModuleID module = 0;
    mdTypeDef token = 0;
    ClassID parent = 0;

    if (!SUCCEEDED(
            info->vtbl->GetClassIDInfo2(info, class_id, &module, &token, &parent, 0, NULL, NULL)) ||
        !module)
        return false;
    *out_parent = parent;
    return true;
}

/* The fields that the class declares itself. */
static ULONG class_fields(struct corprof_info *info, ClassID class_id,
                          COR_FIELD_OFFSET fields[FIELDS_MAX])
{
    ULONG count = 0, size = 0;

    memset(fields, 0, FIELDS_MAX * sizeof(fields[0]));
    if (!SUCCEEDED(info->vtbl->GetClassLayout(info, class_id, fields, FIELDS_MAX, &count, &size)))
        return 0;
    return count < FIELDS_MAX ? count : FIELDS_MAX;
}

static bool is_usable(const COR_FIELD_OFFSET *field)
{
    return field->ridOfField != 0 && field->ulOffset >= sizeof(void *) &&
           field->ulOffset <= OFFSET_MAX && field->ulOffset % sizeof(void *) == 0;
}

bool info_field_offset(struct corprof_info *info, ClassID class_id, const char *name,
                       uint32_t *out_offset)
{
    COR_FIELD_OFFSET fields[FIELDS_MAX];
    struct module_metadata metadata;
    char field_name[FIELD_NAME_MAX];
    ModuleID module;
    mdTypeDef token;
    ULONG count, at;
    size_t size = strlen(name);

    if (!info_class(info, class_id, &module, &token))
        return false;
    count = class_fields(info, class_id, fields);
    module_metadata_open(info, module, &metadata);
    for (at = 0; at < count; at++)
        if (is_usable(&fields[at]) &&
            module_metadata_field(&metadata, fields[at].ridOfField, field_name,
                                  sizeof(field_name)) == size &&
            memcmp(field_name, name, size) == 0)
            break;
    module_metadata_close(&metadata);
    if (at == count)
        return false;
    *out_offset = fields[at].ulOffset;
    return true;
}

bool info_string_layout(struct corprof_info *info, struct info_string_layout *out)
{
    ULONG length = 0, buffer = 0;

    if (!SUCCEEDED(info->vtbl->GetStringLayout2(info, &length, &buffer)) ||
        length < sizeof(void *) || length > OFFSET_MAX || length % sizeof(ULONG) != 0 ||
        buffer <= length || buffer > OFFSET_MAX || buffer % sizeof(WCHAR) != 0)
        return false;
    *out = (struct info_string_layout){ .length = length, .buffer = buffer };
    return true;
}
