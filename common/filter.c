/*
 * Hot path: record -> does it pass? Budget: one comparison for the schema, then one step per
 * condition that decides; no allocation, no look-up by name. Measured by tests/bench/bench_replay.
 */
#include "tracerd/filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "field.h"
#include "filter_private.h"
#include "idmap.h"
#include "json_args.h"

/* Kernel tracepoints are a few thousand per kernel; beyond this nothing is kept. */
#define PROGRAMS_MAX (1u << 17)

struct trd_filter {
    struct filter_tree tree;
    const struct trd_json_names *names; /* borrowed; NULL = none */
    struct idmap programs;              /* (schema, own name) -> struct filter_program, owned */
    /* That of the last record: neighbours are often of one kind. */
    const struct trd_schema *last_schema;
    const struct filter_program *last;
};

int trd_filter_create(struct trd_filter **out, const char *text, char *error, size_t error_size)
{
    struct trd_filter *filter = calloc(1, sizeof(*filter));
    int result;

    if (!filter) {
        (void)snprintf(error, error_size, "no memory");
        return -ENOMEM;
    }
    idmap_init(&filter->programs, PROGRAMS_MAX);
    result = filter_parse(&filter->tree, text, error, error_size);
    if (result != 0) {
        trd_filter_destroy(filter);
        return result;
    }
    *out = filter;
    return 0;
}

static void destroy_program(void *program)
{
    filter_program_destroy(program);
}

void trd_filter_destroy(struct trd_filter *filter)
{
    if (!filter)
        return;
    idmap_finish(&filter->programs, destroy_program);
    filter_tree_finish(&filter->tree);
    free(filter);
}

void trd_filter_set_names(struct trd_filter *filter, const struct trd_json_names *names)
{
    filter->names = names;
}

const struct filter_tree *filter_tree(const struct trd_filter *filter)
{
    return &filter->tree;
}

bool trd_filter_may_match(const struct trd_filter *filter, const struct trd_schema *schema,
                          const char *name)
{
    struct filter_program *program = filter_bind(&filter->tree, schema, schema == NULL, name);
    bool may = !program || program->entry != FILTER_REJECT;

    filter_program_destroy(program);
    return may;
}

static bool load_element(const struct trd_schema *schema, const struct filter_load *load,
                         const struct trd_record *record, uint64_t *out)
{
    struct field_bytes bytes;

    if (!field_find(schema, load->array, record->data, record->size, &bytes) ||
        load->index >= bytes.size / load->size)
        return false;
    *out = load_int(bytes.at + load->index * load->size, load->size, load->is_signed,
                    load->big_endian);
    return true;
}

static struct json_args_name args_name(const struct filter_node *node)
{
    return (struct json_args_name){ node->text, node->size, node->has_index, node->number };
}

static bool load_args(const struct filter_node *node, const struct trd_record *record,
                      uint64_t *out)
{
    struct json_args_name name = args_name(node);

    return json_args_number(record, &name, out);
}

static bool load_line(const struct filter_load *load, const struct trd_record *record,
                      uint64_t *out)
{
    int32_t number;

    if (load->from == FILTER_FROM_ARGS)
        return load_args(load->name, record, out);
    number = load->from == FILTER_FROM_CPU   ? record->cpu
             : load->from == FILTER_FROM_PID ? record->pid
                                             : record->tid;

    if (load->from == FILTER_FROM_TS)
        *out = record->ts_ns;
    else if (load->from == FILTER_FROM_DUR)
        *out = record->dur_ns;
    else
        *out = (uint64_t)(int64_t)number;
    return load->from == FILTER_FROM_TS ||
           (load->from == FILTER_FROM_DUR ? record->kind == TRD_KIND_SPAN : number >= 0);
}

/* False: unknown. */
static inline bool load(const struct filter_load *load, const struct trd_record *record,
                        uint64_t *out)
{
    if (load->from != FILTER_FROM_FIELD)
        return load_line(load, record, out);
    if (__builtin_expect(load->array != NULL, 0))
        return load_element(record->schema, load, record, out);
    if ((uint32_t)load->offset + load->size > record->size)
        return false;
    *out = load_int(record->data + load->offset, load->size, load->is_signed, load->big_endian);
    return true;
}

static inline bool compare(uint8_t kind, bool is_unsigned, uint64_t left, uint64_t right)
{
    /* With the top bits flipped, unsigned order is signed order. */
    uint64_t flip = is_unsigned ? 0 : UINT64_C(1) << 63;

    switch (kind) {
    case FILTER_EQUAL:
        return left == right;
    case FILTER_NOT_EQUAL:
        return left != right;
    case FILTER_LESS:
        return (left ^ flip) < (right ^ flip);
    case FILTER_LESS_EQUAL:
        return (left ^ flip) <= (right ^ flip);
    case FILTER_GREATER:
        return (left ^ flip) > (right ^ flip);
    default:
        return (left ^ flip) >= (right ^ flip);
    }
}

static bool divide(bool is_unsigned, uint64_t left, uint64_t right, uint64_t *out_quotient,
                   uint64_t *out_remainder)
{
    if (right == 0)
        return false;
    if (is_unsigned) {
        *out_quotient = left / right;
        *out_remainder = left % right;
    } else if (right == UINT64_MAX) { /* INT64_MIN / -1 has no place in C */
        *out_quotient = 0 - left;
        *out_remainder = 0;
    } else {
        *out_quotient = (uint64_t)((int64_t)left / (int64_t)right);
        *out_remainder = (uint64_t)((int64_t)left % (int64_t)right);
    }
    return true;
}

bool filter_compute(uint8_t kind, bool is_unsigned, uint64_t left, uint64_t right, uint64_t *out)
{
    uint64_t other;

    switch (kind) {
    case FILTER_NEGATE:
        *out = 0 - left;
        return true;
    case FILTER_INVERT:
        *out = ~left;
        return true;
    case FILTER_MULTIPLY:
        *out = left * right;
        return true;
    case FILTER_DIVIDE:
        return divide(is_unsigned, left, right, out, &other);
    case FILTER_REMAINDER:
        return divide(is_unsigned, left, right, &other, out);
    case FILTER_ADD:
        *out = left + right;
        return true;
    case FILTER_SUBTRACT:
        *out = left - right;
        return true;
    case FILTER_SHIFT_LEFT:
        *out = left << (right & 63);
        return true;
    case FILTER_SHIFT_RIGHT:
        *out = is_unsigned ? left >> (right & 63) : (uint64_t)((int64_t)left >> (right & 63));
        return true;
    case FILTER_BIT_AND:
        *out = left & right;
        return true;
    case FILTER_BIT_XOR:
        *out = left ^ right;
        return true;
    case FILTER_BIT_OR:
        *out = left | right;
        return true;
    default:
        *out = compare(kind, is_unsigned, left, right);
        return true;
    }
}

static bool run_ops(const struct filter_op *op, uint16_t count, const struct trd_record *record,
                    uint64_t *out)
{
    uint64_t stack[FILTER_STACK_MAX];
    size_t depth = 0;

    for (; count-- > 0; op++) {
        if (op->kind == FILTER_NUMBER) {
            stack[depth++] = op->number;
        } else if (op->kind == FILTER_NAME) {
            if (!load(&op->load, record, &stack[depth++]))
                return false;
        } else {
            uint64_t right = op->kind > FILTER_INVERT ? stack[--depth] : 0;

            if (!filter_compute(op->kind, op->is_unsigned, stack[depth - 1], right,
                                &stack[depth - 1]))
                return false;
        }
    }
    *out = stack[0];
    return true;
}

static bool find_label_text(const struct filter_step *step, const struct trd_record *record,
                            const char **out, size_t *out_size)
{
    const struct trd_field *field = step->field;
    struct field_bytes bytes;
    uint64_t value;

    if (!field_find(record->schema, field, record->data, record->size, &bytes))
        return false;
    value = load_int(bytes.at, field->size, field->is_signed, record->schema->big_endian);
    for (uint32_t i = 0; i < field->names->count; i++)
        if (field->names->entries[i].value == value) {
            *out = field->names->entries[i].name;
            *out_size = strlen(*out);
            return true;
        }
    return false;
}

static bool find_reference(const struct trd_filter *filter, const struct filter_step *step,
                           const struct trd_record *record, const char **out, size_t *out_size)
{
    const struct trd_field *field = step->field;
    const struct trd_json_names *names = filter->names;
    struct field_bytes bytes;

    if (!names || !names->resolve ||
        !field_find(record->schema, field, record->data, record->size, &bytes))
        return false;
    *out = names->resolve(
        names->context, record->pid, (enum trd_meaning)field->meaning,
        load_int(bytes.at, field->size, field->is_signed, record->schema->big_endian), out_size);
    return *out != NULL;
}

/* `buffer` has JSON_ARGS_TEXT_MAX bytes, for texts that are to be decoded. */
static bool find_text(const struct trd_filter *filter, const struct filter_step *step,
                      const struct trd_record *record, char *buffer, const char **out,
                      size_t *out_size)
{
    static const char *const sources[] = { "ftrace", "clr", "tracerd" };
    struct json_args_name name;
    struct field_bytes bytes;

    switch (step->text_from) {
    case FILTER_TEXT_LABEL:
        return find_label_text(step, record, out, out_size);
    case FILTER_TEXT_REFERENCE:
        return find_reference(filter, step, record, out, out_size);
    case FILTER_TEXT_ARGS:
        *out = buffer;
        name = args_name(step->name);
        return json_args_text(record, &name, buffer, JSON_ARGS_TEXT_MAX, out_size);
    case FILTER_TEXT_THREAD:
        *out = record->thread;
        *out_size = record->thread_size;
        return record->thread_size > 0;
    case FILTER_TEXT_NAME:
        *out = record->name ? record->name : record->schema ? record->schema->full_name : NULL;
        *out_size = *out ? strlen(*out) : 0;
        return *out != NULL;
    case FILTER_TEXT_SOURCE:
        *out = sources[record->source];
        *out_size = strlen(*out);
        return true;
    default:
        if (!field_find(record->schema, step->field, record->data, record->size, &bytes))
            return false;
        *out = (const char *)bytes.at;
        *out_size = strnlen(*out, bytes.size);
        return true;
    }
}

static bool holds_text(const struct trd_filter *filter, const struct filter_step *step,
                       const struct trd_record *record)
{
    const struct filter_node *literal = step->literal;
    char buffer[JSON_ARGS_TEXT_MAX];
    const char *text;
    size_t size;

    if (!find_text(filter, step, record, buffer, &text, &size))
        return false;
    switch (step->compare) {
    case FILTER_EQUAL:
        return size == literal->size && memcmp(text, literal->text, size) == 0;
    case FILTER_NOT_EQUAL:
        return size != literal->size || memcmp(text, literal->text, size) != 0;
    case FILTER_MATCH:
        return filter_glob(literal->text, literal->size, text, size);
    default:
        return !filter_glob(literal->text, literal->size, text, size);
    }
}

static bool run(const struct trd_filter *filter, const struct filter_program *program,
                const struct trd_record *record)
{
    uint16_t at = program->entry;

    while (at < FILTER_REJECT) {
        const struct filter_step *step = &program->steps[at];
        uint64_t value;
        bool holds;

        if (step->code == FILTER_STEP_NUMBER)
            holds = load(&step->load, record, &value) &&
                    compare(step->compare, step->is_unsigned, value & step->mask, step->number);
        else if (step->code == FILTER_STEP_TEXT)
            holds = holds_text(filter, step, record);
        else
            holds = run_ops(program->ops + step->first_op, step->op_count, record, &value) &&
                    (value != 0) == step->wanted;
        at = holds ? step->if_true : step->if_false;
    }
    return at == FILTER_ACCEPT;
}

static __attribute__((noinline)) const struct filter_program *
find_program(struct trd_filter *filter, const struct trd_schema *schema, bool own_name)
{
    struct filter_program *program = idmap_get(&filter->programs, (uintptr_t)schema, own_name);
    void *old;

    if (program)
        return program;
    program = filter_bind(&filter->tree, schema, own_name, NULL);
    if (program && idmap_set(&filter->programs, (uintptr_t)schema, own_name, program, &old) != 0) {
        filter_program_destroy(program);
        return NULL;
    }
    return program;
}

bool trd_filter_match(struct trd_filter *filter, const struct trd_record *record)
{
    const struct filter_program *program = filter->last;

    if (record->kind == TRD_KIND_LOST || record->kind == TRD_KIND_DEFINITION ||
        record->kind == TRD_KIND_HEARTBEAT || record->kind == TRD_KIND_ANCHOR)
        return true;
    if (!program || record->name || record->schema != filter->last_schema) {
        program = find_program(filter, record->schema, record->name != NULL);
        filter->last = record->name ? NULL : program;
        filter->last_schema = record->schema;
    }
    return program ? run(filter, program, record) : true;
}
