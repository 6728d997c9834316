/*
 * The compiled form of a print format: a tree of typed C expressions per argument. The parser makes
 * nodes through the constructors here, which apply C's conversion rules (with the long of the
 * recording machine) and fold constants; print_eval.c and print_text.c run it. Nothing of it is
 * changed after compilation, so threads may share it.
 *
 * Locals of statement expressions are not slots: expressions here have no side effects, so a use
 * of a local is one more edge to its initializer. `cost` keeps such a graph from growing into an
 * exponential amount of work.
 */
#ifndef TRD_COMMON_PRINT_TREE_H
#define TRD_COMMON_PRINT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracerd/schema.h"

/* Bytes one format's tree may take: ten times the largest of the kernel's. */
#define PRINT_MEMORY_MAX (512u * 1024)
/* Nodes visited by one evaluation of an argument. */
#define PRINT_COST_MAX 100000u
/* Levels of a tree, so of recursion in parser and evaluator. */
#define PRINT_DEPTH_MAX 200u

struct print_arena; /* chunks, freed together */

struct print_arena *print_arena_create(void);
void print_arena_destroy(struct print_arena *arena);
/* Zeroed, aligned for any type; NULL when memory or PRINT_MEMORY_MAX is used up. */
void *print_arena_take(struct print_arena *arena, size_t size);

enum ctype_kind {
    CTYPE_INT,
    CTYPE_BOOL,    /* _Bool: converting to it gives 0 or 1 */
    CTYPE_POINTER, /* to `target_size` bytes */
    CTYPE_VOID,
    CTYPE_OTHER, /* a struct or union: only its address is of use */
};

struct ctype {
    uint8_t kind; /* enum ctype_kind */
    uint8_t size; /* INT, BOOL: 1, 2, 4, 8; POINTER: long size */
    bool is_signed;
    /* POINTER: what it points to; size 0 for void and structs of unknown size. */
    bool target_signed;
    bool target_pointer;
    uint16_t target_size;
};

enum node_kind {
    NODE_CONST,   /* bits */
    NODE_STRING,  /* text of a literal, or raw source of what did not compile */
    NODE_INT,     /* an integer field */
    NODE_BYTES,   /* address of a field inside the record: arrays, &REC->x */
    NODE_DYNAMIC, /* address of what a __data_loc or __rel_loc word points to */
    NODE_LENGTH,  /* its length in bytes */
    NODE_UNARY,   /* op a */
    NODE_BINARY,  /* a op b */
    NODE_TERNARY, /* a ? b : c */
    NODE_CAST,    /* (type)a */
    NODE_DEREF,   /* *(a + b), type gives the width */
    NODE_HELPER,  /* text made by a helper, see print_helper.h */
    NODE_CALL,    /* a function only the kernel can answer: shown with its arguments */
    NODE_UNKNOWN, /* a variable or size only the kernel knows */
};

struct node {
    uint8_t kind; /* enum node_kind */
    uint8_t op;   /* enum node_op, enum print_helper */
    uint16_t depth;
    uint32_t cost;
    struct ctype type;
    union {
        uint64_t bits; /* CONST: extended to 64 bits by its type */
        struct {
            const char *text; /* NUL-terminated */
            uint32_t size;    /* without the NUL */
        } string;
        const struct trd_field *field;
        struct {
            const struct node *a, *b, *c;
        } operand;
        struct {
            const struct node *const *list; /* arguments */
            const struct trd_names *names;  /* __print_flags, __print_symbolic */
            const char *text;               /* delimiter or name of the function */
            uint32_t count;
        } call;
    };
};

enum node_op {
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_MODULO,
    OP_AND,
    OP_OR,
    OP_XOR,
    OP_SHIFT_LEFT,
    OP_SHIFT_RIGHT,
    OP_LESS,
    OP_LESS_EQUAL,
    OP_GREATER,
    OP_GREATER_EQUAL,
    OP_EQUAL,
    OP_NOT_EQUAL,
    OP_LOGICAL_AND,
    OP_LOGICAL_OR,
    OP_NEGATE,
    OP_COMPLEMENT,
    OP_NOT,
    OP_SWAP, /* byte order */
};

static inline struct ctype ctype_int(uint8_t size, bool is_signed)
{
    return (struct ctype){ .kind = CTYPE_INT, .size = size, .is_signed = is_signed };
}

static inline bool ctype_is_integer(const struct ctype *type)
{
    return type->kind == CTYPE_INT || type->kind == CTYPE_BOOL;
}

/* The bits of an integer or pointer as a value of `type`, extended to 64 bits by its sign. */
uint64_t ctype_convert(const struct ctype *type, uint64_t bits);

/* What compiling needs to make nodes. `failed` turns true when memory or a limit is used up. */
struct tree {
    struct print_arena *arena;
    uint8_t long_size;
    const char *error; /* why the last constructor returned NULL: one phrase, static */
};

/*
 * Constructors. NULL operands give NULL, so that a chain of calls needs one check at its end; NULL
 * also for operands that C forbids there, with `error` set.
 */
struct node *node_new(struct tree *tree, enum node_kind kind, struct ctype type);
struct node *node_const(struct tree *tree, struct ctype type, uint64_t bits);
struct node *node_string(struct tree *tree, const char *text, size_t size);
const struct node *node_unary(struct tree *tree, enum node_op op, const struct node *a);
const struct node *node_binary(struct tree *tree, enum node_op op, const struct node *a,
                               const struct node *b);
const struct node *node_ternary(struct tree *tree, const struct node *a, const struct node *b,
                                const struct node *c);
const struct node *node_cast(struct tree *tree, struct ctype type, const struct node *a);
const struct node *node_deref(struct tree *tree, const struct node *pointer,
                              const struct node *index);
/* `list` is copied. */
const struct node *node_call(struct tree *tree, enum node_kind kind, struct ctype type,
                             const struct node *const *list, uint32_t count);

#endif
