/*
 * Hooked methods that tell what they are given and return: the slow road, asked for by
 * TRD_ENV_ARGUMENTS. The runtime has saved the registers and calls these as ordinary functions, in
 * cooperative mode: its arguments lie where the collector does not see them, so nothing here may
 * wait or allocate. The id is what elt_id_of made of the method's.
 */
#include <stdalign.h>
#include <stdatomic.h>

#include "elt_hooks.h"
#include "elt_plan.h"
#include "gate.h"
#include "info_elt.h"
#include "profiler.h"
#include "writer.h"

/* Plans are aligned, and so are method descriptors: a bit tells them apart. */
#define NO_PLAN 1u

#define RANGES_FIRST 8 /* what is asked for first: few methods have more */

/*
 * What 3.1 calls itself. It says that a struct returned in registers lies where only a part of it
 * does; of the registers that hold floating-point arguments it saves the first two, and a struct in
 * registers reaches the method as something else.
 */
#define RUNTIME_3_1 4
#define REGISTER_STRUCT_MAX 16
#define REGISTERS_SAVED 2

static struct value_reader reader;
static bool is_3_1;

UINT_PTR elt_id_of(FunctionID function)
{
    const struct elt_plan *plan = elt_plan_get(reader.info, function);

    return plan && plan->is_known ? (UINT_PTR)plan : function | NO_PLAN;
}

bool elt_call_allows(FunctionID function)
{
    const struct elt_plan *plan = is_3_1 ? elt_plan_get(reader.info, function) : NULL;
    unsigned registers = 0;

    if (!is_3_1)
        return true;
    if (!plan || !plan->is_known)
        return false;
    for (size_t i = 0; i < plan->count; i++) {
        uint8_t kind = plan->values[i].type.kind;

        registers += kind == VALUE_FLOAT ? 1 : kind == VALUE_BYTES ? REGISTERS_SAVED + 1 : 0;
    }
    return registers <= REGISTERS_SAVED;
}

/* `{"a":1,"b":2` and a brace, of which there is always room for the last. */
static bool add(struct value_text *text, const struct elt_plan *plan, size_t index,
                const COR_PRF_FUNCTION_ARGUMENT_RANGE *range)
{
    const struct elt_value *value = &plan->values[index];
    size_t before = text->used;

    if (value_append_raw(text, index ? "," : "{", 1) &&
        value_append_raw(text, plan->keys + value->key, (size_t)(value[1].key - value->key)) &&
        value_append(text, &reader, value->type, (const void *)range->startAddress, range->length))
        return true;
    text->used = before;
    text->is_cut = true;
    return false;
}

static void write_enter(const struct elt_plan *plan, const COR_PRF_FUNCTION_ARGUMENT_INFO *given)
{
    char bytes[TRD_TEXT_MAX];
    struct value_text text = { .bytes = bytes, .capacity = sizeof(bytes) - 2 };
    struct trd_ev_method_enter *event;
    struct writer writer;
    size_t i = 0;

    while (i < plan->count && add(&text, plan, i, &given->ranges[i]))
        i++;
    text.capacity++;
    (void)value_append_raw(&text, i ? "}" : "{}", i ? 1 : 2);
    event = WRITER_BEGIN(&writer, method_enter, METHOD, (uint32_t)text.used + 1);
    if (!event)
        return;
    *event = (struct trd_ev_method_enter){ .method = plan->function };
    writer_text(&writer, &event->arguments, text.bytes, text.used);
    if (text.is_cut)
        writer_flag(&writer, TRD_EVENT_F_CUT);
    writer_commit(&writer);
}

/* The runtime tells how much it needs. */
static __attribute__((noinline)) void enter_with_many(const struct elt_plan *plan,
                                                      COR_PRF_ELT_INFO call, ULONG size)
{
    alignas(COR_PRF_FUNCTION_ARGUMENT_INFO) uint8_t room[INFO_RANGES_SIZE(INFO_RANGES_MAX)];
    COR_PRF_FUNCTION_ARGUMENT_INFO *given = (void *)room;

    if (size <= sizeof(room) && info_arguments(reader.info, plan->function, call, given, &size) &&
        given->numRanges == plan->count)
        write_enter(plan, given);
    else
        elt_on_enter(plan->function);
}

static void on_enter(UINT_PTR method, COR_PRF_ELT_INFO call)
{
    alignas(COR_PRF_FUNCTION_ARGUMENT_INFO) uint8_t room[INFO_RANGES_SIZE(RANGES_FIRST)];
    COR_PRF_FUNCTION_ARGUMENT_INFO *given = (void *)room;
    const struct elt_plan *plan = (const struct elt_plan *)method;
    ULONG size = sizeof(room);

    if (!gate_wants(TRD_CATEGORY_METHOD))
        return;
    if (method & NO_PLAN)
        elt_on_enter(method & ~(UINT_PTR)NO_PLAN);
    else if (info_arguments(reader.info, plan->function, call, given, &size) &&
             given->numRanges == plan->count)
        write_enter(plan, given);
    else if (size > sizeof(room))
        enter_with_many(plan, call, size);
    else
        elt_on_enter(plan->function);
}

static bool is_told(const struct elt_plan *plan, const COR_PRF_FUNCTION_ARGUMENT_RANGE *result)
{
    if (!result->startAddress)
        return false;
    return !is_3_1 || plan->result.kind != VALUE_BYTES || result->length > REGISTER_STRUCT_MAX;
}

static void write_leave(const struct elt_plan *plan, const COR_PRF_FUNCTION_ARGUMENT_RANGE *result)
{
    char bytes[TRD_TEXT_MAX];
    struct value_text text = { .bytes = bytes, .capacity = sizeof(bytes) - 1 };
    struct trd_ev_method_leave *event;
    struct writer writer;

    if (!is_told(plan, result) ||
        !value_append(&text, &reader, plan->result, (const void *)result->startAddress,
                      result->length)) {
        text.used = 0;
        text.is_cut = true;
    }
    event = WRITER_BEGIN(&writer, method_leave, METHOD, (uint32_t)text.used + 1);
    if (!event)
        return;
    *event = (struct trd_ev_method_leave){ .method = plan->function };
    if (text.used > 0)
        writer_text(&writer, &event->returned, text.bytes, text.used);
    if (text.is_cut)
        writer_flag(&writer, TRD_EVENT_F_CUT);
    writer_commit(&writer);
}

static void on_leave(UINT_PTR method, COR_PRF_ELT_INFO call)
{
    const struct elt_plan *plan = (const struct elt_plan *)method;
    COR_PRF_FUNCTION_ARGUMENT_RANGE result;

    if (!gate_wants(TRD_CATEGORY_METHOD))
        return;
    if (method & NO_PLAN)
        elt_on_leave(method & ~(UINT_PTR)NO_PLAN);
    else if (plan->result.kind != VALUE_NONE &&
             info_result(reader.info, plan->function, call, &result))
        write_leave(plan, &result);
    else
        elt_on_leave(plan->function);
}

static void on_tailcall(UINT_PTR method, COR_PRF_ELT_INFO call)
{
    (void)call;
    elt_on_tailcall(method & NO_PLAN ? method & ~(UINT_PTR)NO_PLAN
                                     : ((const struct elt_plan *)method)->function);
}

bool elt_call_start(struct corprof_info *info)
{
    reader.info = info;
    reader.has_string = info_string_layout(info, &reader.string);
    is_3_1 = profiler_get()->runtime.major == RUNTIME_3_1;
    return info_set_hooks_with_info(info, on_enter, on_leave, on_tailcall);
}
