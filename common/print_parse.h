/*
 * Parser of one argument of a print format: text to typed tree. Recursive descent over C's
 * expression grammar without assignments; types in print_type.c, operands in print_operand.c,
 * functions and macros the kernel leaves in formats in print_call.c, operators in print_parse.c.
 * Used by print.c only.
 */
#ifndef TRD_COMMON_PRINT_PARSE_H
#define TRD_COMMON_PRINT_PARSE_H

#include "print_lex.h"
#include "print_tree.h"
#include "tracerd/catalog.h"

#define PARSE_LOCALS_MAX 16
#define PARSE_ERROR_MAX 160
/* Parentheses take two levels each; the tree behind them none. */
#define PARSE_DEPTH_MAX (2 * PRINT_DEPTH_MAX)

struct parse_local {
    const char *name; /* borrowed from the text */
    uint32_t size;
    const struct node *value;
};

struct parser {
    struct lexer lexer;
    struct tree tree;
    const struct trd_catalog *catalog; /* enumerators and types of its BTF */
    const struct trd_schema *schema;   /* fields, byte order */
    struct parse_local locals[PARSE_LOCALS_MAX];
    uint32_t local_count;
    uint32_t depth;
    /* `(type){ .member = value }`, the last one: its value is asked for by `.member`. */
    const struct node *literal;
    struct token literal_member;
    char error[PARSE_ERROR_MAX]; /* why parsing failed, "" if it did not */
    /* What compiled but has no full value: names without value, functions of the kernel. */
    char gap[PARSE_ERROR_MAX];
};

/* NULL and parser->error on failure; the lexer then stands somewhere inside the argument. */
const struct node *parse_expression(struct parser *parser);
/* An operand with what stands behind it: `REC->x[2]`, `7`, `f(…)`, `( … )`. */
const struct node *parse_operand(struct parser *parser);

/* A call of the function whose name was `name`; the lexer stands on the parenthesis. */
const struct node *parse_call(struct parser *parser, const struct token *name);
/* Entries `, { value, "name" }` up to what closes the call. */
const struct trd_names *parse_list(struct parser *parser);
/* `({ … })`; the lexer stands on the brace. */
const struct node *parse_block(struct parser *parser);

/* Does a type begin at this token? `next` is the one behind it. */
bool parse_is_type(const struct parser *parser, const struct token *token,
                   const struct token *next);
/* A type name as in casts and sizeof. False on failure. */
bool parse_type(struct parser *parser, struct ctype *out);
/* The type by which C would see a field: of it or, for arrays, a pointer to its elements. */
struct ctype parse_field_type(const struct parser *parser, const struct trd_field *field);

/* Shared: token handling. `what` is a phrase that the token is appended to. */
void *parse_fail(struct parser *parser, const char *what, const struct token *token);
void parse_gap(struct parser *parser, const char *what, const struct token *token);
bool parse_take(struct parser *parser, uint32_t punctuation); /* consume it if it is there */
bool parse_expect(struct parser *parser, uint32_t punctuation);
/* One or more adjacent literals as one node. */
const struct node *parse_string(struct parser *parser);
/* Over everything up to the `,` or closing bracket that ends what began here. */
void parse_skip(struct parser *parser);
/* A leaf without value, noted as a gap: the argument still compiles. */
const struct node *parse_unknown(struct parser *parser, const char *what, const struct token *name);
/* Notes a gap if `pointer` is one that the record holds, so that its target is not there. */
void parse_note_foreign(struct parser *parser, const struct node *pointer);
/* A field by the name in the token; NULL and an error if there is none. */
const struct trd_field *parse_find_field(struct parser *parser, const struct token *token);

#endif
