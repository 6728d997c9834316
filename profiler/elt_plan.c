#include "elt_plan.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "info_signature.h"
#include "value_types.h"

#define TABLE_SIZE (2u * ELT_PLANS_MAX) /* never more than half full */
#define KEYS_MAX 8192

static struct elt_plan *_Atomic table[TABLE_SIZE];
static _Atomic unsigned made;

struct draft {
    struct value_text keys;
    char key_bytes[KEYS_MAX];
    struct elt_plan plan; /* without its keys; last, as its end is open */
};

static bool begin_key(struct draft *draft, struct value_type type)
{
    struct elt_value *value = &draft->plan.values[draft->plan.count++];

    value->type = type;
    value->key = (uint16_t)draft->keys.used;
    return value_append_raw(&draft->keys, "\"", 1);
}

static bool is_taken(const struct draft *draft)
{
    const struct elt_value *last = &draft->plan.values[draft->plan.count - 1];
    size_t size = draft->keys.used - last->key;

    for (const struct elt_value *value = draft->plan.values; value < last; value++)
        if (value[1].key - value->key == (int)(size + 2) &&
            memcmp(draft->key_bytes + value->key, draft->key_bytes + last->key, size) == 0)
            return true;
    return false;
}

/* A key of JSON stands once: a name that is taken (@this) gets a line below it. */
static bool end_key(struct draft *draft)
{
    while (is_taken(draft))
        if (!value_append_raw(&draft->keys, "_", 1))
            return false;
    return value_append_raw(&draft->keys, "\":", 2);
}

static bool add_this(struct draft *draft, const struct value_context *context, mdTypeDef type)
{
    return begin_key(draft, value_type_of_this(context, type)) &&
           value_append_raw(&draft->keys, "this", 4) && end_key(draft);
}

/* A parameter without a name is called by its number, from 0. */
static bool add_parameter(struct draft *draft, const struct value_context *context, mdToken method,
                          const struct signature_type *type, unsigned index)
{
    struct info_name name;
    char digits[12];
    size_t size = 0;

    if (!begin_key(draft, value_type_of(context, type)))
        return false;
    if (metadata_argument(context->import, method, index + 1, &name))
        return value_append_units(&draft->keys, name.units, name.length) && end_key(draft);
    do
        digits[sizeof(digits) - ++size] = (char)('0' + index % 10);
    while ((index /= 10) > 0);
    return value_append_raw(&draft->keys, digits + sizeof(digits) - size, size) && end_key(draft);
}

static bool add_all(struct draft *draft, const struct value_context *context, mdToken method)
{
    struct signature signature;
    mdTypeDef type;

    if (!metadata_signature(context->import, method, &type, &signature))
        return false;
    draft->plan.result = value_type_of(context, &signature.result);
    if (signature.has_this && !add_this(draft, context, type))
        return false;
    for (unsigned i = 0; i < signature.count; i++)
        if (!add_parameter(draft, context, method, &signature.parameters[i], i))
            return false;
    draft->plan.values[draft->plan.count].key = (uint16_t)draft->keys.used;
    return true;
}

static void fill(struct draft *draft, struct corprof_info *info, FunctionID function)
{
    struct value_context context = { .info = info };
    ClassID class_id = 0;
    ModuleID module;
    mdTypeDef type;
    mdToken method;

    if ((!info_function_types(info, function, &draft->plan.module, &method, &class_id,
                              &context.of_method) &&
         !info_function(info, function, &draft->plan.module, &method)) ||
        !(context.import = info_metadata(info, draft->plan.module)))
        return;
    if (class_id)
        (void)info_class_types(info, class_id, &module, &type, &context.of_type);
    draft->plan.is_known = add_all(draft, &context, method);
    (void)context.import->vtbl->Release(context.import);
}

static struct elt_plan *make(struct corprof_info *info, FunctionID function)
{
    struct draft *draft = calloc(1, sizeof(*draft));
    struct elt_plan *plan;

    if (!draft)
        return NULL;
    draft->keys = (struct value_text){ .bytes = draft->key_bytes, .capacity = KEYS_MAX };
    atomic_init(&draft->plan.function, function);
    fill(draft, info, function);
    plan = malloc(sizeof(*plan) + draft->keys.used);
    if (plan) {
        memcpy(plan, &draft->plan, sizeof(*plan));
        memcpy(plan->keys, draft->key_bytes, draft->keys.used);
    }
    free(draft);
    return plan;
}

static size_t place_of(FunctionID function, size_t probe)
{
    size_t hash = (size_t)((function >> 3) * 0x9e3779b97f4a7c15u >> 32);

    return (hash + probe) & (TABLE_SIZE - 1);
}

/* *out_place is where it is or may be put. */
static struct elt_plan *find(FunctionID function, size_t *out_place)
{
    for (size_t i = 0;; i++) {
        struct elt_plan *plan;

        *out_place = place_of(function, i);
        plan = atomic_load_explicit(&table[*out_place], memory_order_acquire);
        if (!plan || atomic_load_explicit(&plan->function, memory_order_relaxed) == function)
            return plan;
    }
}

const struct elt_plan *elt_plan_get(struct corprof_info *info, FunctionID function)
{
    struct elt_plan *plan, *other = NULL;
    size_t place;

    plan = find(function, &place);
    if (plan)
        return plan;
    if (atomic_fetch_add(&made, 1) >= ELT_PLANS_MAX || !(plan = make(info, function))) {
        atomic_fetch_sub(&made, 1);
        return NULL;
    }
    /* Whoever finds it there sees it whole. */
    while (!atomic_compare_exchange_strong_explicit(&table[place], &other, plan,
                                                    memory_order_release, memory_order_acquire)) {
        other = find(function, &place);
        if (other) { /* of another thread, meanwhile */
            free(plan);
            atomic_fetch_sub(&made, 1);
            return other;
        }
    }
    return plan;
}

void elt_plans_forget(ModuleID module)
{
    for (size_t i = 0; module && i < TABLE_SIZE; i++) {
        struct elt_plan *plan = atomic_load_explicit(&table[i], memory_order_acquire);

        if (plan && plan->module == module)
            atomic_store_explicit(&plan->function, 0, memory_order_relaxed);
    }
}
