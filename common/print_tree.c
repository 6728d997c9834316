#include "print_tree.h"

#include <stdlib.h>
#include <string.h>

#include "print_eval.h"

/* Half of all formats need less than the first chunk; each is twice as large as the one before. */
#define CHUNK_SIZE 960u

struct chunk {
    struct chunk *next;
    size_t used;
    size_t size;
    _Alignas(16) char bytes[];
};

struct print_arena {
    struct chunk *chunks;
    size_t total;
};

struct print_arena *print_arena_create(void)
{
    return calloc(1, sizeof(struct print_arena));
}

void print_arena_destroy(struct print_arena *arena)
{
    struct chunk *next;

    if (!arena)
        return;
    for (struct chunk *chunk = arena->chunks; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(arena);
}

void *print_arena_take(struct print_arena *arena, size_t size)
{
    struct chunk *chunk = arena->chunks;
    void *taken;

    size = (size + 15) & ~(size_t)15;
    if (size > PRINT_MEMORY_MAX)
        return NULL;
    if (!chunk || chunk->size - chunk->used < size) {
        size_t room = chunk ? 2 * chunk->size : CHUNK_SIZE;

        if (room < size || arena->total + room > PRINT_MEMORY_MAX)
            room = size;
        if (arena->total + room > PRINT_MEMORY_MAX)
            return NULL;
        chunk = calloc(1, sizeof(*chunk) + room);
        if (!chunk)
            return NULL;
        chunk->size = room;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
        arena->total += room;
    }
    taken = chunk->bytes + chunk->used;
    chunk->used += size;
    return taken;
}

uint64_t ctype_convert(const struct ctype *type, uint64_t bits)
{
    if (type->kind == CTYPE_BOOL)
        return bits != 0;
    switch (type->size) {
    case 1:
        return type->is_signed ? (uint64_t)(int64_t)(int8_t)bits : (uint8_t)bits;
    case 2:
        return type->is_signed ? (uint64_t)(int64_t)(int16_t)bits : (uint16_t)bits;
    case 4:
        return type->is_signed ? (uint64_t)(int64_t)(int32_t)bits : (uint32_t)bits;
    default:
        return bits;
    }
}

static void *fail(struct tree *tree, const char *error)
{
    if (!tree->error)
        tree->error = error;
    return NULL;
}

struct node *node_new(struct tree *tree, enum node_kind kind, struct ctype type)
{
    struct node *node = print_arena_take(tree->arena, sizeof(*node));

    if (!node)
        return fail(tree, "too large");
    node->kind = (uint8_t)kind;
    node->type = type;
    node->cost = 1;
    node->depth = 1;
    return node;
}

/* Counts an operand into its parent; false beyond the limits. */
static bool adopt(struct tree *tree, struct node *parent, const struct node *child)
{
    parent->cost += child->cost;
    if (child->depth >= parent->depth)
        parent->depth = (uint16_t)(child->depth + 1);
    if (parent->cost > PRINT_COST_MAX || parent->depth > PRINT_DEPTH_MAX) {
        (void)fail(tree, "nested too deeply");
        return false;
    }
    return true;
}

struct node *node_const(struct tree *tree, struct ctype type, uint64_t bits)
{
    struct node *node = node_new(tree, NODE_CONST, type);

    if (node)
        node->bits = ctype_convert(&type, bits);
    return node;
}

struct node *node_string(struct tree *tree, const char *text, size_t size)
{
    struct ctype type = {
        .kind = CTYPE_POINTER, .size = tree->long_size, .target_signed = true, .target_size = 1
    };
    struct node *node = node_new(tree, NODE_STRING, type);
    char *copy = node ? print_arena_take(tree->arena, size + 1) : NULL;

    if (!copy)
        return fail(tree, "too large");
    memcpy(copy, text, size);
    node->string.text = copy;
    node->string.size = (uint32_t)size;
    return node;
}

/* A node whose operands are constants becomes one, unless its value is marked as impossible. */
static void fold(struct node *node)
{
    const struct node *operands[] = { node->operand.a, node->operand.b, node->operand.c };
    struct print_record nothing = { 0 };
    struct print_value value;

    for (size_t i = 0; i < 3; i++)
        if (operands[i] && operands[i]->kind != NODE_CONST)
            return;
    value = print_eval(&nothing, node);
    if (value.fault)
        return;
    node->kind = NODE_CONST;
    node->bits = value.bits;
    node->cost = node->depth = 1;
}

static const struct node *node_operands(struct tree *tree, enum node_kind kind, uint8_t op,
                                        struct ctype type, const struct node *a,
                                        const struct node *b, const struct node *c)
{
    struct node *node = node_new(tree, kind, type);

    if (!node)
        return NULL;
    node->op = op;
    node->operand.a = a;
    node->operand.b = b;
    node->operand.c = c;
    if (!adopt(tree, node, a) || (b && !adopt(tree, node, b)) || (c && !adopt(tree, node, c)))
        return NULL;
    if (kind != NODE_DEREF)
        fold(node);
    return node;
}

/* C11 6.3.1.1: what fits an int becomes one. */
static struct ctype promote(const struct ctype *type)
{
    return type->kind == CTYPE_BOOL || type->size < 4 ? ctype_int(4, true) : *type;
}

/* C11 6.3.1.8. Widths decide: types of the same width differ in their sign only. */
static struct ctype common_type(const struct ctype *a, const struct ctype *b)
{
    struct ctype left = promote(a), right = promote(b);

    if (left.size != right.size)
        return left.size > right.size ? left : right;
    return ctype_int(left.size, left.is_signed && right.is_signed);
}

static bool is_scalar(const struct node *node)
{
    return ctype_is_integer(&node->type) || node->type.kind == CTYPE_POINTER;
}

const struct node *node_unary(struct tree *tree, enum node_op op, const struct node *a)
{
    struct ctype type;

    if (!a)
        return NULL;
    if (!is_scalar(a) || (op != OP_NOT && !ctype_is_integer(&a->type)))
        return fail(tree, "operator on something that is no number");
    if (op == OP_SWAP)
        type = a->type;
    else
        type = op == OP_NOT ? ctype_int(4, true) : promote(&a->type);
    return node_operands(tree, NODE_UNARY, (uint8_t)op, type, a, NULL, NULL);
}

static bool is_comparison(enum node_op op)
{
    return op >= OP_LESS && op <= OP_LOGICAL_OR;
}

static const struct node *pointer_binary(struct tree *tree, enum node_op op, const struct node *a,
                                         const struct node *b)
{
    const struct node *pointer = a->type.kind == CTYPE_POINTER ? a : b;
    const struct node *other = pointer == a ? b : a;
    bool two = other->type.kind == CTYPE_POINTER;

    if (is_comparison(op))
        return node_operands(tree, NODE_BINARY, (uint8_t)op, ctype_int(4, true), a, b, NULL);
    if (op == OP_SUBTRACT && two)
        return node_operands(tree, NODE_BINARY, (uint8_t)op, ctype_int(tree->long_size, true), a, b,
                             NULL);
    if (two || (op != OP_ADD && !(op == OP_SUBTRACT && pointer == a)))
        return fail(tree, "arithmetic on a pointer");
    return node_operands(tree, NODE_BINARY, (uint8_t)op, pointer->type, a, b, NULL);
}

const struct node *node_binary(struct tree *tree, enum node_op op, const struct node *a,
                               const struct node *b)
{
    struct ctype type;

    if (!a || !b)
        return NULL;
    if (!is_scalar(a) || !is_scalar(b))
        return fail(tree, "operator on something that is no number");
    if (op == OP_LOGICAL_AND || op == OP_LOGICAL_OR)
        return node_operands(tree, NODE_BINARY, (uint8_t)op, ctype_int(4, true), a, b, NULL);
    if (a->type.kind == CTYPE_POINTER || b->type.kind == CTYPE_POINTER)
        return pointer_binary(tree, op, a, b);
    if (op == OP_SHIFT_LEFT || op == OP_SHIFT_RIGHT)
        return node_operands(tree, NODE_BINARY, (uint8_t)op, promote(&a->type), a, b, NULL);
    type = common_type(&a->type, &b->type);
    a = node_cast(tree, type, a);
    b = node_cast(tree, type, b);
    if (!a || !b)
        return NULL;
    if (is_comparison(op))
        type = ctype_int(4, true);
    return node_operands(tree, NODE_BINARY, (uint8_t)op, type, a, b, NULL);
}

const struct node *node_ternary(struct tree *tree, const struct node *a, const struct node *b,
                                const struct node *c)
{
    struct ctype type;

    if (!a || !b || !c)
        return NULL;
    if (!is_scalar(a))
        return fail(tree, "condition that is no number");
    type = b->type;
    if (ctype_is_integer(&b->type) && ctype_is_integer(&c->type)) {
        type = common_type(&b->type, &c->type);
        b = node_cast(tree, type, b);
        c = node_cast(tree, type, c);
        if (!b || !c)
            return NULL;
    } else if (c->type.kind == CTYPE_POINTER) {
        type = c->type; /* `x ? pointer : 0`, or both pointers */
    }
    if (a->kind == NODE_CONST) /* so that only the branch that counts must be computable */
        return a->bits ? b : c;
    return node_operands(tree, NODE_TERNARY, 0, type, a, b, c);
}

static bool same_type(const struct ctype *a, const struct ctype *b)
{
    return a->kind == b->kind && a->size == b->size && a->is_signed == b->is_signed &&
           a->target_size == b->target_size && a->target_signed == b->target_signed &&
           a->target_pointer == b->target_pointer;
}

const struct node *node_cast(struct tree *tree, struct ctype type, const struct node *a)
{
    if (!a)
        return NULL;
    if (type.kind == CTYPE_VOID || same_type(&type, &a->type))
        return a;
    if (type.kind == CTYPE_OTHER || !is_scalar(a))
        return fail(tree, "cast to or from a struct");
    return node_operands(tree, NODE_CAST, 0, type, a, NULL, NULL);
}

const struct node *node_deref(struct tree *tree, const struct node *pointer,
                              const struct node *index)
{
    struct ctype type;

    if (!pointer || !index)
        return NULL;
    if (pointer->kind == NODE_UNKNOWN) /* an array of the kernel's: so is its element */
        return pointer;
    if (pointer->type.kind != CTYPE_POINTER || !ctype_is_integer(&index->type))
        return fail(tree, "index into something that is no array");
    switch (pointer->type.target_size) {
    case 1:
    case 2:
    case 4:
    case 8:
        break;
    default:
        return fail(tree, "index into an array of structs");
    }
    type = ctype_int((uint8_t)pointer->type.target_size, pointer->type.target_signed);
    if (pointer->type.target_pointer)
        type.kind = CTYPE_POINTER;
    return node_operands(tree, NODE_DEREF, 0, type, pointer, index, NULL);
}

const struct node *node_call(struct tree *tree, enum node_kind kind, struct ctype type,
                             const struct node *const *list, uint32_t count)
{
    struct node *node = node_new(tree, kind, type);
    const struct node **copy =
        print_arena_take(tree->arena, (count ? count : 1) * sizeof(struct node *));

    if (!node || !copy)
        return fail(tree, "too large");
    for (uint32_t i = 0; i < count; i++) {
        copy[i] = list[i];
        if (!adopt(tree, node, list[i]))
            return NULL;
    }
    node->call.list = copy;
    node->call.count = count;
    return node;
}
