#include "print_eval.h"

#include "bytes.h"
#include "field.h"

static struct print_value fault(enum print_fault kind)
{
    return (struct print_value){ .fault = (uint8_t)kind };
}

const char *print_fault_text(uint8_t fault)
{
    switch (fault) {
    case PRINT_FAULT_DIVISION:
        return "<division by zero>";
    case PRINT_FAULT_SHORT:
        return "<record too short>";
    default:
        return "<known to the kernel only>";
    }
}

static struct print_value number(const struct node *node, uint64_t bits)
{
    return (struct print_value){ .bits = ctype_convert(&node->type, bits) };
}

static struct print_value load(const struct print_record *record, const struct node *node)
{
    const struct trd_field *field = node->field;

    if ((size_t)field->offset + field->size > record->size)
        return fault(PRINT_FAULT_SHORT);
    return number(node, load_int(record->data + field->offset, field->size, false,
                                 record->schema->big_endian));
}

/* The address of a field, or of what its dynamic word points to. */
static struct print_value address(const struct print_record *record, const struct node *node)
{
    struct trd_field plain = *node->field;
    struct field_bytes bytes;

    if (node->kind == NODE_BYTES && plain.storage >= TRD_STORAGE_DYN_INTS &&
        plain.storage <= TRD_STORAGE_DYN_BYTES)
        plain.storage = TRD_STORAGE_INT; /* the word itself */
    if (!field_find(record->schema, &plain, record->data, record->size, &bytes))
        return fault(PRINT_FAULT_SHORT);
    /* A pointer may run on to the end of the record, as it may in the kernel. */
    return (struct print_value){ .bits = (uint64_t)(bytes.at - record->data) + 1,
                                 .bytes = bytes.at,
                                 .size = node->kind == NODE_DYNAMIC
                                             ? bytes.size
                                             : (size_t)(record->data + record->size - bytes.at) };
}

static struct print_value length(const struct print_record *record, const struct node *node)
{
    if ((size_t)node->field->offset + 4 > record->size)
        return fault(PRINT_FAULT_SHORT);
    return number(node,
                  load_u32(record->data + node->field->offset, record->schema->big_endian) >> 16);
}

static struct print_value unary(const struct print_record *record, const struct node *node)
{
    struct print_value a = print_eval(record, node->operand.a);

    if (a.fault)
        return a;
    switch (node->op) {
    case OP_NEGATE:
        return number(node, 0 - a.bits);
    case OP_COMPLEMENT:
        return number(node, ~a.bits);
    case OP_SWAP:
        return number(node, __builtin_bswap64(a.bits) >> (64 - 8 * node->type.size));
    default:
        return number(node, !a.bits);
    }
}

static struct print_value divide(const struct node *node, uint64_t a, uint64_t b)
{
    bool modulo = node->op == OP_MODULO;

    if (b == 0)
        return fault(PRINT_FAULT_DIVISION);
    if (!node->type.is_signed)
        return number(node, modulo ? a % b : a / b);
    if (b == UINT64_MAX) /* by -1: the one quotient that can overflow */
        return number(node, modulo ? 0 : 0 - a);
    return number(node, modulo ? (uint64_t)((int64_t)a % (int64_t)b)
                               : (uint64_t)((int64_t)a / (int64_t)b));
}

static struct print_value shift(const struct node *node, uint64_t a, uint64_t b)
{
    b &= node->type.size * 8u - 1;
    if (node->op == OP_SHIFT_LEFT)
        return number(node, a << b);
    return number(node, node->type.is_signed ? (uint64_t)((int64_t)a >> b) : a >> b);
}

/* `is_signed` is of the operands, which have been converted to one type. */
static bool compare(uint8_t op, uint64_t a, uint64_t b, bool is_signed)
{
    bool less = is_signed ? (int64_t)a < (int64_t)b : a < b;

    switch (op) {
    case OP_LESS:
        return less;
    case OP_LESS_EQUAL:
        return less || a == b;
    case OP_GREATER:
        return !less && a != b;
    case OP_GREATER_EQUAL:
        return !less;
    case OP_EQUAL:
        return a == b;
    default:
        return a != b;
    }
}

/* Bytes an addition of `count` elements moves a pointer; void counts in bytes, as with gcc. */
static uint64_t stride(const struct ctype *pointer, uint64_t count)
{
    return count * (pointer->target_size ? pointer->target_size : 1);
}

static struct print_value move_pointer(struct print_value pointer, uint64_t distance)
{
    pointer.bits += distance;
    if (pointer.bytes && distance <= pointer.size) {
        pointer.bytes += distance;
        pointer.size -= distance;
    } else if (pointer.bytes) {
        return fault(PRINT_FAULT_SHORT);
    }
    return pointer;
}

static struct print_value pointer_binary(const struct node *node, struct print_value a,
                                         struct print_value b)
{
    const struct ctype *left = &node->operand.a->type, *right = &node->operand.b->type;

    if (node->type.kind != CTYPE_POINTER) /* a difference */
        return number(node, (uint64_t)((int64_t)(a.bits - b.bits) / (int64_t)stride(left, 1)));
    if (left->kind != CTYPE_POINTER)
        return move_pointer(b, stride(right, a.bits));
    return move_pointer(a,
                        node->op == OP_SUBTRACT ? 0 - stride(left, b.bits) : stride(left, b.bits));
}

static struct print_value logical(const struct print_record *record, const struct node *node)
{
    struct print_value a = print_eval(record, node->operand.a);

    if (a.fault)
        return a;
    if ((a.bits != 0) == (node->op == OP_LOGICAL_OR))
        return number(node, a.bits != 0);
    a = print_eval(record, node->operand.b);
    return a.fault ? a : number(node, a.bits != 0);
}

static struct print_value binary(const struct print_record *record, const struct node *node)
{
    struct print_value a, b;

    if (node->op == OP_LOGICAL_AND || node->op == OP_LOGICAL_OR)
        return logical(record, node);
    a = print_eval(record, node->operand.a);
    if (a.fault)
        return a;
    b = print_eval(record, node->operand.b);
    if (b.fault)
        return b;
    if (node->op >= OP_LESS && node->op <= OP_NOT_EQUAL)
        return number(node, compare(node->op, a.bits, b.bits, node->operand.a->type.is_signed));
    if (node->operand.a->type.kind == CTYPE_POINTER || node->operand.b->type.kind == CTYPE_POINTER)
        return pointer_binary(node, a, b);
    switch (node->op) {
    case OP_ADD:
        return number(node, a.bits + b.bits);
    case OP_SUBTRACT:
        return number(node, a.bits - b.bits);
    case OP_MULTIPLY:
        return number(node, a.bits * b.bits);
    case OP_AND:
        return number(node, a.bits & b.bits);
    case OP_OR:
        return number(node, a.bits | b.bits);
    case OP_XOR:
        return number(node, a.bits ^ b.bits);
    case OP_SHIFT_LEFT:
    case OP_SHIFT_RIGHT:
        return shift(node, a.bits, b.bits);
    default:
        return divide(node, a.bits, b.bits);
    }
}

static struct print_value cast(const struct print_record *record, const struct node *node)
{
    struct print_value a = print_eval(record, node->operand.a);

    if (a.fault || (node->type.kind == CTYPE_POINTER && a.bytes))
        return a;
    return number(node, a.bits);
}

static struct print_value deref(const struct print_record *record, const struct node *node)
{
    struct print_value pointer = print_eval(record, node->operand.a);
    struct print_value index = print_eval(record, node->operand.b);
    /* Bytes of a literal have no order of their own; they are read one by one. */
    bool big_endian = record->schema && record->schema->big_endian;

    if (pointer.fault)
        return pointer;
    if (index.fault)
        return index;
    if (!pointer.bytes)
        return fault(PRINT_FAULT_KERNEL);
    pointer = move_pointer(pointer, stride(&node->operand.a->type, index.bits));
    if (pointer.fault || pointer.size < node->type.size)
        return fault(PRINT_FAULT_SHORT);
    return number(node, load_int(pointer.bytes, node->type.size, false, big_endian));
}

struct print_value print_eval(const struct print_record *record, const struct node *node)
{
    struct print_value condition;

    switch (node->kind) {
    case NODE_CONST:
        return (struct print_value){ .bits = node->bits };
    case NODE_STRING:
        return (struct print_value){ .bits = 1,
                                     .bytes = (const uint8_t *)node->string.text,
                                     .size = (size_t)node->string.size + 1 };
    case NODE_INT:
        return load(record, node);
    case NODE_BYTES:
    case NODE_DYNAMIC:
        return address(record, node);
    case NODE_LENGTH:
        return length(record, node);
    case NODE_UNARY:
        return unary(record, node);
    case NODE_BINARY:
        return binary(record, node);
    case NODE_TERNARY:
        condition = print_eval(record, node->operand.a);
        if (condition.fault)
            return condition;
        return print_eval(record, condition.bits ? node->operand.b : node->operand.c);
    case NODE_CAST:
        return cast(record, node);
    case NODE_DEREF:
        return deref(record, node);
    case NODE_HELPER: /* its text is asked for elsewhere; as a pointer it is not NULL */
        return (struct print_value){ .bits = 1 };
    default:
        return fault(PRINT_FAULT_KERNEL);
    }
}
