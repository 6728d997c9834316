/*
 * The inside of a filter: the expression as a tree (filter_parse.c), and what becomes of it for one
 * schema, a row of steps (filter_bind.c) that filter.c runs.
 */
#ifndef TRD_COMMON_FILTER_PRIVATE_H
#define TRD_COMMON_FILTER_PRIVATE_H

#include "tracerd/filter.h"

/* Limits of an expression: people type it, but a service may take it from a peer. */
#define FILTER_NODES_MAX 512
#define FILTER_DEPTH_MAX 48

enum filter_kind {
    FILTER_NUMBER,
    FILTER_TEXT, /* a literal */
    FILTER_NAME,
    FILTER_NEGATE, /* one operand: left */
    FILTER_INVERT,
    FILTER_MULTIPLY, /* two */
    FILTER_DIVIDE,
    FILTER_REMAINDER,
    FILTER_ADD,
    FILTER_SUBTRACT,
    FILTER_SHIFT_LEFT,
    FILTER_SHIFT_RIGHT,
    FILTER_BIT_AND,
    FILTER_BIT_XOR,
    FILTER_BIT_OR,
    FILTER_LESS, /* conditions from here on */
    FILTER_LESS_EQUAL,
    FILTER_GREATER,
    FILTER_GREATER_EQUAL,
    FILTER_EQUAL,
    FILTER_NOT_EQUAL,
    FILTER_MATCH, /* right is a TEXT */
    FILTER_NOT_MATCH,
    FILTER_NOT,
    FILTER_AND,
    FILTER_OR,
};

static inline bool filter_is_condition(uint8_t kind)
{
    return kind >= FILTER_LESS;
}

struct filter_node {
    uint8_t kind;      /* enum filter_kind */
    bool is_argument;  /* NAME: written as args.NAME */
    bool has_index;    /* NAME[number] */
    bool is_text;      /* NAME: its text is meant, since it stands beside a TEXT */
    uint16_t position; /* of its operator or itself in the text, from 1 */
    uint16_t left, right;
    uint64_t number; /* NUMBER; index of a NAME */
    char *text;      /* owned; TEXT and NAME */
    uint32_t size;   /* of text, which ends with a NUL too */
};

struct filter_tree {
    struct filter_node *nodes; /* owned */
    uint16_t count;
    uint16_t root;
};

/* 0, or -EINVAL or -ENOMEM with a sentence. */
int filter_parse(struct filter_tree *tree, const char *text, char *error, size_t error_size);
void filter_tree_finish(struct filter_tree *tree);
const struct filter_tree *filter_tree(const struct trd_filter *filter);

/* Where a number comes from. */
enum filter_from {
    FILTER_FROM_FIELD,
    FILTER_FROM_CPU,
    FILTER_FROM_PID,
    FILTER_FROM_TID,
    FILTER_FROM_TS,
    FILTER_FROM_DUR,
    FILTER_FROM_ARGS, /* of a record without a schema */
};

struct filter_load {
    uint8_t from; /* enum filter_from */
    uint8_t size;
    bool is_signed;
    bool big_endian;
    uint16_t offset;
    const struct trd_field *array; /* element `index` of a dynamic array, else NULL */
    uint64_t index;
    const struct filter_node *name; /* ARGS; borrowed from the tree */
};

/* Postfix on a stack: no expression holds more than every second of its nodes there. */
#define FILTER_STACK_MAX (FILTER_NODES_MAX / 2 + 1)

struct filter_op {
    uint8_t kind; /* enum filter_kind: NUMBER, NAME (load), arithmetic, comparison */
    bool is_unsigned;
    uint64_t number;
    struct filter_load load;
};

enum filter_code {
    FILTER_STEP_NUMBER, /* (load & mask) compared with number */
    FILTER_STEP_TEXT,   /* text of a field or of the line against a literal */
    FILTER_STEP_OPS,    /* a computed number, not zero */
    FILTER_STEP_NEVER,  /* false or unknown for every record of the schema */
    FILTER_STEP_ALWAYS,
};

/* Of a line itself; else a field. */
enum filter_text_from {
    FILTER_TEXT_FIELD,
    FILTER_TEXT_LABEL,     /* name of an enum's value */
    FILTER_TEXT_REFERENCE, /* of what an id stands for */
    FILTER_TEXT_ARGS,      /* of a record without a schema */
    FILTER_TEXT_THREAD,
    FILTER_TEXT_NAME,
    FILTER_TEXT_SOURCE,
};

#define FILTER_ACCEPT 0xffff
#define FILTER_REJECT 0xfffe

struct filter_step {
    uint8_t code;      /* enum filter_code */
    uint8_t compare;   /* enum filter_kind: a comparison, MATCH or NOT_MATCH */
    bool is_unsigned;  /* NUMBER */
    uint8_t text_from; /* TEXT: enum filter_text_from */
    uint16_t if_true;  /* next step, FILTER_ACCEPT or FILTER_REJECT */
    uint16_t if_false; /* also when unknown */
    struct filter_load load;
    uint64_t mask, number;
    const struct trd_field *field;     /* TEXT */
    const struct filter_node *literal; /* TEXT; borrowed from the tree */
    const struct filter_node *name;    /* TEXT of ARGS; likewise */
    uint16_t first_op, op_count;       /* OPS */
    bool wanted;                       /* OPS: the number must be not zero, or zero */
};

struct filter_program {
    struct filter_step *steps; /* owned */
    struct filter_op *ops;     /* owned */
    uint16_t entry;            /* first step, ACCEPT or REJECT */
    uint16_t step_count, op_count;
};

/*
 * For records of this schema (NULL: of none), which carry a name of their own or the schema's; a
 * name of their own may be known beforehand (else NULL). NULL if there is no memory.
 */
struct filter_program *filter_bind(const struct filter_tree *tree, const struct trd_schema *schema,
                                   bool own_name, const char *name);
void filter_program_destroy(struct filter_program *program);

/* What a name stands for (filter_names.c) */

struct filter_line_name {
    const char *name;
    bool is_text;
    uint8_t from; /* enum filter_from or filter_text_from */
};
/* NULL if the node is no name of the line. */
const struct filter_line_name *filter_line_name(const struct filter_node *node);
/* NULL if it is no field's. */
const struct trd_field *filter_field(const struct trd_schema *schema,
                                     const struct filter_node *node);
/* False if it is no number. */
bool filter_find_load(const struct trd_schema *schema, const struct filter_node *node,
                      struct filter_load *out);
/* An integer with named values; the value of such a name. */
bool filter_has_labels(const struct trd_field *field);
bool filter_find_label(const struct trd_names *names, const char *text, uint64_t *out);
/* An id whose name others know. */
bool filter_is_reference(const struct trd_field *field);
/* Can the field be compared with a text, with a number? */
bool filter_field_is_text(const struct trd_field *field);
bool filter_field_is_number(const struct trd_field *field);

/* An operation on two numbers (NEGATE and INVERT: on the left one). False for a division by 0. */
bool filter_compute(uint8_t kind, bool is_unsigned, uint64_t left, uint64_t right, uint64_t *out);

bool filter_glob(const char *pattern, size_t pattern_size, const char *text, size_t size);

#endif
