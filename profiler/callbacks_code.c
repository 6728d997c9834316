/* Where the code of methods lies: told when the JIT finished one, to a listener who comes later,
 * and for addresses that somebody asks about. */
#include "callbacks.h"

#include "gate.h"
#include "info.h"
#include "info_code.h"
#include "names_known.h"
#include "profiler.h"
#include "writer.h"

#define INFO_VERSION_BODIES 9

/* Values of the table code_kind in names.def. */
enum code_kind {
    CODE_UNKNOWN,
    CODE_JIT,
    CODE_RECOMPILED,
    CODE_DYNAMIC,
    CODE_PRECOMPILED,
};

struct body {
    FunctionID function;
    ReJITID rejit;
    uint32_t version;
    enum code_kind kind;
    bool is_new; /* the JIT made it just now, so nobody need look where it lies */
    uint16_t flags;
};

static void emit_part(const struct body *body, const COR_PRF_CODE_INFO *part, uint8_t index)
{
    struct trd_ev_code *event;
    struct writer writer;

    event = WRITER_BEGIN(&writer, code, JIT, 0);
    if (!event)
        return;
    event->method = body->function;
    event->address = part->startAddress;
    event->size = part->size;
    event->rejit = body->rejit;
    event->version = body->version;
    event->kind = (uint8_t)body->kind;
    event->part = index;
    writer_flag(&writer, body->flags);
    writer_commit(&writer);
}

static bool is_dynamic(struct corprof_info *info, FunctionID function, ModuleID *out_module)
{
    mdToken token;

    *out_module = 0;
    return !info_function(info, function, out_module, &token);
}

/* The first body of a method may have come with its module; every later one was compiled. */
static enum code_kind kind_of(struct corprof_info *info, const struct body *body, UINT_PTR start)
{
    ModuleID module;

    if (is_dynamic(info, body->function, &module))
        return CODE_DYNAMIC;
    if (body->version > 0 || body->rejit)
        return CODE_RECOMPILED;
    if (body->is_new)
        return CODE_JIT;
    return info_module_has(info, module, start) ? CODE_PRECOMPILED : CODE_JIT;
}

static void emit_parts(const struct body *body, const COR_PRF_CODE_INFO *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        emit_part(body, &parts[i], (uint8_t)i);
}

static void emit_body(struct corprof_info *info, struct body *body, UINT_PTR start)
{
    COR_PRF_CODE_INFO parts[INFO_PARTS_MAX];
    size_t count = info_code_parts(info, start, parts);

    body->kind = kind_of(info, body, start);
    emit_parts(body, parts, count);
}

/* The runtime lists the first body, then the others from the newest to the oldest (measured on all
 * runtimes): numbers that a body keeps go by when it was made. */
static uint32_t version_at(size_t place, size_t count)
{
    return place == 0 ? 0 : (uint32_t)(count - place);
}

/* Before Info9, and for what has no list of bodies. */
static void emit_only_body(struct corprof_info *info, struct body *body)
{
    COR_PRF_CODE_INFO part;

    if (!info_code(info, body->function, &part))
        return;
    body->kind = kind_of(info, body, part.startAddress);
    emit_part(body, &part, 0);
}

static bool emit_bodies(struct corprof_info *info, struct body *body, const UINT_PTR *starts,
                        size_t count)
{
    bool any = false;

    for (size_t i = 0; i < count; i++)
        if (starts[i]) {
            body->version = version_at(i, count);
            emit_body(info, body, starts[i]);
            any = true;
        }
    return any;
}

void emit_code(FunctionID function, ReJITID rejit, uint16_t flags)
{
    struct profiler *profiler = profiler_get();
    struct body body = { .function = function, .rejit = rejit, .flags = flags };
    UINT_PTR starts[INFO_BODIES_MAX];
    size_t count = 0;

    if (profiler->info_version >= INFO_VERSION_BODIES)
        count = info_code_starts(profiler->info, function, rejit, starts);
    emit_method_flagged(function, TRD_CATEGORY_JIT, flags);
    if (!emit_bodies(profiler->info, &body, starts, count))
        emit_only_body(profiler->info, &body);
}

/* The newest that is there: newer ones may be under way on other threads. */
static UINT_PTR newest_of(const UINT_PTR *starts, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (starts[i])
            return starts[i];
    return count > 0 ? starts[0] : 0;
}

void jitted_find(struct jitted *out, FunctionID function, bool dynamic)
{
    struct profiler *profiler = profiler_get();
    UINT_PTR newest;

    out->function = function;
    out->dynamic = dynamic;
    out->count = 0;
    out->part_count = 0;
    if (profiler->info_version >= INFO_VERSION_BODIES)
        out->count = info_code_starts(profiler->info, function, 0, out->starts);
    newest = newest_of(out->starts, out->count);
    if (newest)
        out->part_count = info_code_parts(profiler->info, newest, out->parts);
    if (out->part_count == 0)
        out->part_count = info_code(profiler->info, function, &out->parts[0]);
}

/* The usual one, a method's first, has been asked for already. Of later ones all are told: the
 * first may have come with its module, of which no event tells. */
void emit_jitted(const struct jitted *jitted)
{
    struct corprof_info *info = profiler_get()->info;
    struct body body = { .function = jitted->function,
                         .kind = jitted->dynamic ? CODE_DYNAMIC : CODE_JIT };

    if (jitted->count > 1) {
        (void)emit_bodies(info, &body, jitted->starts, jitted->count);
        return;
    }
    emit_parts(&body, jitted->parts, jitted->part_count);
}

void emit_no_code(uint64_t address)
{
    struct body nobody = { .flags = TRD_EVENT_F_CATCH_UP };
    COR_PRF_CODE_INFO nothing = { .startAddress = (UINT_PTR)address };

    emit_part(&nobody, &nothing, 0);
}

HRESULT on_dynamic_method_unloaded(void *self, FunctionID function)
{
    struct trd_ev_method_unload *event;
    struct writer writer;

    (void)self;
    if (!gate_wants(TRD_CATEGORY_JIT))
        return S_OK;
    event = WRITER_BEGIN(&writer, method_unload, JIT, 0);
    if (event) {
        event->method = function;
        writer_commit(&writer);
    }
    names_forget_one(NAMES_METHODS, function);
    return S_OK;
}
