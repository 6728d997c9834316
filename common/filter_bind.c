/*
 * The expression for one schema: names become places in the record, negations move into the
 * comparisons, and what is left is a row of steps, each with the next one if it holds and if not.
 * A step that cannot be decided goes where a false one goes: with no negation left above it, the
 * whole holds exactly if it holds without the unknown.
 */
#include <stdlib.h>
#include <string.h>

#include "filter_private.h"

struct binder {
    const struct filter_tree *tree;
    const struct trd_schema *schema;
    bool own_name;
    const char *name; /* of every record that comes; NULL = not known beforehand */
    struct filter_program *program;
    uint16_t labels[FILTER_NODES_MAX]; /* label -> step */
    uint16_t label_count;
};

/* The names that bare words beside this operand may come from. */
static const struct trd_names *names_in(const struct binder *binder, uint16_t index)
{
    const struct filter_node *node = &binder->tree->nodes[index];
    const struct trd_field *field = filter_field(binder->schema, node);
    const struct trd_names *names;

    if (node->kind <= FILTER_NAME)
        return field && filter_has_labels(field) ? field->names : NULL;
    names = names_in(binder, node->left);
    return names || node->kind <= FILTER_INVERT ? names : names_in(binder, node->right);
}

static struct filter_op *push(struct binder *binder, uint8_t kind, bool is_unsigned)
{
    struct filter_op *op = &binder->program->ops[binder->program->op_count++];

    *op = (struct filter_op){ .kind = kind, .is_unsigned = is_unsigned };
    return op;
}

static bool push_number(struct binder *binder, uint64_t number)
{
    push(binder, FILTER_NUMBER, number > INT64_MAX)->number = number;
    return true;
}

static bool push_name(struct binder *binder, const struct filter_node *node,
                      const struct trd_names *names)
{
    const struct filter_line_name *line = filter_line_name(node);
    struct filter_load load;
    uint64_t value;

    /* Only what has a name of its own lasts. */
    if (line && line->from == FILTER_FROM_DUR && binder->schema && !binder->own_name)
        return false;
    if (filter_find_load(binder->schema, node, &load)) {
        push(binder, FILTER_NAME, !load.is_signed && load.size == 8)->load = load;
        return true;
    }
    return !line && !node->is_argument && !node->has_index &&
           filter_find_label(names, node->text, &value) && push_number(binder, value);
}

/* The operand's own constants are computed here. */
static bool fold(struct binder *binder, uint8_t kind, bool is_unsigned, unsigned operands)
{
    struct filter_program *program = binder->program;
    struct filter_op *first = &program->ops[program->op_count - operands];
    uint64_t right = operands == 2 ? first[1].number : 0, value;

    if (first->kind != FILTER_NUMBER || (operands == 2 && first[1].kind != FILTER_NUMBER) ||
        !filter_compute(kind, is_unsigned, first->number, right, &value))
        return false;
    program->op_count = (uint16_t)(program->op_count - operands);
    push(binder, FILTER_NUMBER, is_unsigned)->number = value;
    return true;
}

/* Ops that leave the number on the stack; false if it is unknown for every record. The last op says
 * whether it is unsigned. */
static bool push_value(struct binder *binder, uint16_t index, const struct trd_names *names)
{
    const struct filter_node *node = &binder->tree->nodes[index];
    struct filter_program *program = binder->program;
    const struct trd_names *beside;
    bool left_unsigned, is_unsigned;
    uint16_t start, middle;
    uint64_t value;

    switch (node->kind) {
    case FILTER_NUMBER:
        return push_number(binder, node->number);
    case FILTER_TEXT:
        return filter_find_label(names, node->text, &value) && push_number(binder, value);
    case FILTER_NAME:
        return push_name(binder, node, names);
    default:
        break;
    }
    start = program->op_count;
    beside = node->kind > FILTER_INVERT ? names_in(binder, node->right) : NULL;
    if (!push_value(binder, node->left, beside ? beside : names))
        return false;
    left_unsigned = program->ops[program->op_count - 1].is_unsigned;
    if (node->kind <= FILTER_INVERT) {
        if (program->op_count - start > 1 || !fold(binder, node->kind, left_unsigned, 1))
            (void)push(binder, node->kind, left_unsigned);
        return true;
    }
    middle = program->op_count;
    beside = names_in(binder, node->left);
    if (!push_value(binder, node->right, beside ? beside : names))
        return false;
    /* As in C, a shift has the type of what is shifted. */
    is_unsigned =
        left_unsigned || (program->ops[program->op_count - 1].is_unsigned &&
                          node->kind != FILTER_SHIFT_LEFT && node->kind != FILTER_SHIFT_RIGHT);
    if (middle - start > 1 || program->op_count - middle > 1 ||
        !fold(binder, node->kind, is_unsigned, 2))
        (void)push(binder, node->kind, is_unsigned);
    return true;
}

/* Conditions */

static uint8_t opposite(uint8_t kind)
{
    switch (kind) {
    case FILTER_LESS:
        return FILTER_GREATER_EQUAL;
    case FILTER_LESS_EQUAL:
        return FILTER_GREATER;
    case FILTER_GREATER:
        return FILTER_LESS_EQUAL;
    case FILTER_GREATER_EQUAL:
        return FILTER_LESS;
    case FILTER_EQUAL:
        return FILTER_NOT_EQUAL;
    case FILTER_NOT_EQUAL:
        return FILTER_EQUAL;
    case FILTER_MATCH:
        return FILTER_NOT_MATCH;
    default:
        return FILTER_MATCH;
    }
}

/* `field`, `field & constant`, and either compared with a constant need no stack. */
static bool shorten(struct filter_step *step, const struct filter_op *ops, unsigned count,
                    bool negated)
{
    uint8_t compare = FILTER_NOT_EQUAL;

    step->mask = UINT64_MAX;
    if (count == 0 || ops[0].kind != FILTER_NAME)
        return false;
    if (filter_is_condition(ops[count - 1].kind)) {
        if (ops[count - 2].kind != FILTER_NUMBER)
            return false;
        compare = ops[count - 1].kind;
        step->is_unsigned = ops[count - 1].is_unsigned;
        step->number = ops[count - 2].number;
        count -= 2;
    }
    if (count == 3 && ops[1].kind == FILTER_NUMBER && ops[2].kind == FILTER_BIT_AND)
        step->mask = ops[1].number;
    else if (count != 1)
        return false;
    step->code = FILTER_STEP_NUMBER;
    step->compare = negated ? opposite(compare) : compare;
    step->load = ops[0].load;
    return true;
}

static void bind_number(struct binder *binder, struct filter_step *step, uint16_t index,
                        bool negated)
{
    struct filter_program *program = binder->program;
    uint16_t first = program->op_count;

    if (!push_value(binder, index, NULL)) {
        program->op_count = first;
        return;
    }
    if (program->op_count - first == 1 && program->ops[first].kind == FILTER_NUMBER) {
        step->code =
            (program->ops[first].number != 0) != negated ? FILTER_STEP_ALWAYS : FILTER_STEP_NEVER;
        program->op_count = first;
        return;
    }
    if (shorten(step, program->ops + first, program->op_count - first, negated)) {
        program->op_count = first;
        return;
    }
    step->code = FILTER_STEP_OPS;
    step->wanted = !negated;
    step->first_op = first;
    step->op_count = (uint16_t)(program->op_count - first);
}

/* The name is known now. */
static void decide_name(const struct binder *binder, struct filter_step *step)
{
    const struct filter_node *literal = step->literal;
    const char *name = binder->name;
    bool positive = step->compare == FILTER_EQUAL || step->compare == FILTER_MATCH;
    bool same = step->compare == FILTER_EQUAL || step->compare == FILTER_NOT_EQUAL
                    ? strcmp(literal->text, name) == 0
                    : filter_glob(literal->text, literal->size, name, strlen(name));

    step->code = same == positive ? FILTER_STEP_ALWAYS : FILTER_STEP_NEVER;
}

/* Flags have many names at a time; one compared with == is their value. */
static void bind_flag(const struct binder *binder, struct filter_step *step,
                      const struct filter_node *name)
{
    const struct trd_names *names = filter_field(binder->schema, name)->names;

    step->is_unsigned = true;
    step->mask = names->mask;
    if ((step->compare == FILTER_EQUAL || step->compare == FILTER_NOT_EQUAL) &&
        filter_find_label(names, step->literal->text, &step->number) &&
        filter_find_load(binder->schema, name, &step->load))
        step->code = FILTER_STEP_NUMBER;
}

static void bind_text(struct binder *binder, struct filter_step *step,
                      const struct filter_node *node, bool negated)
{
    const struct filter_node *name = &binder->tree->nodes[node->left];
    const struct filter_line_name *line = filter_line_name(name);
    const struct trd_field *field = filter_field(binder->schema, name);

    step->compare = negated ? opposite(node->kind) : node->kind;
    step->literal = &binder->tree->nodes[node->right];
    step->field = field;
    if (line) {
        step->code = line->is_text ? FILTER_STEP_TEXT : FILTER_STEP_NEVER;
        step->text_from = line->from;
        if (line->is_text && line->from == FILTER_TEXT_NAME && binder->name)
            decide_name(binder, step);
    } else if (field && filter_has_labels(field) && field->meaning == TRD_MEANING_FLAGS) {
        bind_flag(binder, step, name);
    } else if (field && filter_field_is_text(field) && !name->has_index) {
        step->code = FILTER_STEP_TEXT;
        step->text_from = filter_has_labels(field)     ? FILTER_TEXT_LABEL
                          : filter_is_reference(field) ? FILTER_TEXT_REFERENCE
                                                       : FILTER_TEXT_FIELD;
    } else if (!binder->schema) {
        step->code = FILTER_STEP_TEXT;
        step->text_from = FILTER_TEXT_ARGS;
        step->name = name;
    }
}

static bool compares_text(const struct binder *binder, const struct filter_node *node)
{
    return node->kind >= FILTER_EQUAL && node->kind <= FILTER_NOT_MATCH &&
           binder->tree->nodes[node->right].kind == FILTER_TEXT;
}

/* if_true and if_false are labels, ACCEPT or REJECT. */
static void bind_condition(struct binder *binder, uint16_t index, bool negated, uint16_t if_true,
                           uint16_t if_false)
{
    const struct filter_node *node = &binder->tree->nodes[index];
    struct filter_program *program = binder->program;
    struct filter_step *step;
    uint16_t label;
    bool is_and;

    if (node->kind == FILTER_NOT) {
        bind_condition(binder, node->left, !negated, if_true, if_false);
        return;
    }
    if (node->kind == FILTER_AND || node->kind == FILTER_OR) {
        is_and = (node->kind == FILTER_AND) != negated;
        label = binder->label_count++;
        bind_condition(binder, node->left, negated, is_and ? label : if_true,
                       is_and ? if_false : label);
        binder->labels[label] = program->step_count;
        bind_condition(binder, node->right, negated, if_true, if_false);
        return;
    }
    step = &program->steps[program->step_count++];
    *step =
        (struct filter_step){ .code = FILTER_STEP_NEVER, .if_true = if_true, .if_false = if_false };
    if (compares_text(binder, node))
        bind_text(binder, step, node, negated);
    else
        bind_number(binder, step, index, negated);
}

/* Behind steps that are decided already. */
static uint16_t follow(const struct filter_program *program, uint16_t step)
{
    while (step < FILTER_REJECT && program->steps[step].code >= FILTER_STEP_NEVER)
        step = program->steps[step].code == FILTER_STEP_ALWAYS ? program->steps[step].if_true
                                                               : program->steps[step].if_false;
    return step;
}

/* Jumps lead forward only, so those behind are final when a step is looked at. */
static void resolve_jumps(const struct binder *binder)
{
    struct filter_program *program = binder->program;

    for (uint16_t i = program->step_count; i-- > 0;) {
        struct filter_step *step = &program->steps[i];

        if (step->if_true < FILTER_REJECT)
            step->if_true = follow(program, binder->labels[step->if_true]);
        if (step->if_false < FILTER_REJECT)
            step->if_false = follow(program, binder->labels[step->if_false]);
    }
    program->entry = follow(program, 0);
}

struct filter_program *filter_bind(const struct filter_tree *tree, const struct trd_schema *schema,
                                   bool own_name, const char *name)
{
    struct filter_program *program = calloc(1, sizeof(*program));
    struct binder binder = { .tree = tree,
                             .schema = schema,
                             .own_name = own_name,
                             .name = schema && !own_name ? schema->full_name : name,
                             .program = program };

    if (!program)
        return NULL;
    program->steps = calloc(tree->count, sizeof(*program->steps));
    program->ops = calloc(tree->count, sizeof(*program->ops));
    if (!program->steps || !program->ops) {
        filter_program_destroy(program);
        return NULL;
    }
    bind_condition(&binder, tree->root, false, FILTER_ACCEPT, FILTER_REJECT);
    resolve_jumps(&binder);
    return program;
}

void filter_program_destroy(struct filter_program *program)
{
    if (!program)
        return;
    free(program->steps);
    free(program->ops);
    free(program);
}
