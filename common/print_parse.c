#include "print_parse.h"

#include <stdio.h>

static void describe(char *out, const char *what, const struct token *token)
{
    int size = token->size < 60 ? (int)token->size : 60;

    if (token->kind == TOKEN_END)
        (void)snprintf(out, PARSE_ERROR_MAX, "%s at its end", what);
    else
        (void)snprintf(out, PARSE_ERROR_MAX, "%s `%.*s`", what, size, token->text);
}

void *parse_fail(struct parser *parser, const char *what, const struct token *token)
{
    if (!parser->error[0])
        describe(parser->error, what, token);
    return NULL;
}

void parse_gap(struct parser *parser, const char *what, const struct token *token)
{
    if (!parser->gap[0])
        describe(parser->gap, what, token);
}

bool parse_take(struct parser *parser, uint32_t punctuation)
{
    if (!token_is(&parser->lexer.token, punctuation))
        return false;
    lexer_next(&parser->lexer);
    return true;
}

bool parse_expect(struct parser *parser, uint32_t punctuation)
{
    if (parse_take(parser, punctuation))
        return true;
    (void)parse_fail(parser, "unexpected", &parser->lexer.token);
    return false;
}

void parse_skip(struct parser *parser)
{
    struct token *token = &parser->lexer.token;
    int depth = 0;

    for (; token->kind != TOKEN_END; lexer_next(&parser->lexer)) {
        bool opens = token_is(token, '(') || token_is(token, '[') || token_is(token, '{');
        bool closes = token_is(token, ')') || token_is(token, ']') || token_is(token, '}');

        if (depth == 0 && (closes || token_is(token, ',')))
            return;
        depth += opens - closes;
    }
}

static const struct node *parse_unary(struct parser *parser);

/* `&REC->field`, `&array[i]`; of locals the address is of no use, so any will do. */
static const struct node *parse_address(struct parser *parser)
{
    const struct node *node = parse_unary(parser);
    struct node *address;

    if (!node)
        return NULL;
    if (node->kind == NODE_DEREF)
        return node_binary(&parser->tree, OP_ADD, node->operand.a, node->operand.b);
    if (node->kind != NODE_INT && node->kind != NODE_BYTES)
        return node_const(&parser->tree, ctype_int(parser->tree.long_size, false), 1);
    address = node_new(&parser->tree, NODE_BYTES,
                       (struct ctype){ .kind = CTYPE_POINTER,
                                       .size = parser->tree.long_size,
                                       .target_size = node->field->elem_size,
                                       .target_signed = node->field->is_signed });
    if (address)
        address->field = node->field;
    return address;
}

static const struct node *parse_sizeof(struct parser *parser)
{
    struct lexer begin = parser->lexer;
    struct ctype size_type = ctype_int(parser->tree.long_size, false), type;
    const struct node *node;

    if (parse_take(parser, '(')) {
        struct token next = lexer_peek(&parser->lexer);

        if (parse_is_type(parser, &parser->lexer.token, &next)) {
            /* The kernel's compile-time checks are structs without members: size 0. */
            bool check = token_is_name(&parser->lexer.token, "struct") && token_is(&next, '{');

            if (!parse_type(parser, &type) || !parse_expect(parser, ')'))
                return NULL;
            if (type.size == 0 && !check)
                return parse_unknown(parser, "no size known for", &next);
            return node_const(&parser->tree, size_type, type.size);
        }
        parser->lexer = begin;
    }
    node = parse_unary(parser);
    if (!node)
        return NULL;
    if (node->kind == NODE_UNKNOWN)
        return node;
    if (node->kind == NODE_BYTES)
        return node_const(&parser->tree, size_type, node->field->size);
    if (node->kind == NODE_STRING)
        return node_const(&parser->tree, size_type, node->string.size + 1);
    return node_const(&parser->tree, size_type, node->type.size);
}

/* `(type)operand`, if a type stands in the parentheses. */
static bool at_cast(const struct parser *parser)
{
    struct lexer ahead = parser->lexer;
    struct token type;

    lexer_next(&ahead);
    type = ahead.token;
    lexer_next(&ahead);
    return parse_is_type(parser, &type, &ahead.token);
}

/* `{ .member = value }` behind a type: ktime_t and its kin. */
static const struct node *parse_literal(struct parser *parser)
{
    struct token member;
    const struct node *value;

    if (!parse_expect(parser, '{') || !parse_expect(parser, '.'))
        return NULL;
    member = parser->lexer.token;
    lexer_next(&parser->lexer);
    value = parse_expect(parser, '=') ? parse_expression(parser) : NULL;
    if (!value || !parse_expect(parser, '}'))
        return NULL;
    parser->literal = value;
    parser->literal_member = member;
    return value;
}

static const struct node *parse_cast(struct parser *parser)
{
    struct ctype type;

    lexer_next(&parser->lexer);
    if (!parse_type(parser, &type) || !parse_expect(parser, ')'))
        return NULL;
    if (token_is(&parser->lexer.token, '{'))
        return parse_literal(parser);
    return node_cast(&parser->tree, type, parse_unary(parser));
}

static const struct node *parse_indirection(struct parser *parser)
{
    const struct node *pointer = parse_unary(parser);

    parse_note_foreign(parser, pointer);
    return node_deref(&parser->tree, pointer, node_const(&parser->tree, ctype_int(4, true), 0));
}

static const struct node *parse_unary_inner(struct parser *parser)
{
    const struct token *token = &parser->lexer.token;

    if (parse_take(parser, '+'))
        return node_binary(&parser->tree, OP_ADD, parse_unary(parser),
                           node_const(&parser->tree, ctype_int(4, true), 0));
    if (parse_take(parser, '-'))
        return node_unary(&parser->tree, OP_NEGATE, parse_unary(parser));
    if (parse_take(parser, '~'))
        return node_unary(&parser->tree, OP_COMPLEMENT, parse_unary(parser));
    if (parse_take(parser, '!'))
        return node_unary(&parser->tree, OP_NOT, parse_unary(parser));
    if (parse_take(parser, '*'))
        return parse_indirection(parser);
    if (parse_take(parser, '&'))
        return parse_address(parser);
    if (token_is_name(token, "sizeof")) {
        lexer_next(&parser->lexer);
        return parse_sizeof(parser);
    }
    if (token_is(token, '(') && at_cast(parser))
        return parse_cast(parser);
    return parse_operand(parser);
}

/* Every recursion of the grammar passes here or through parse_expression. */
static const struct node *parse_unary(struct parser *parser)
{
    const struct node *node;

    if (parser->depth >= PARSE_DEPTH_MAX)
        return parse_fail(parser, "nested too deeply at", &parser->lexer.token);
    parser->depth++;
    node = parse_unary_inner(parser);
    parser->depth--;
    return node;
}

struct infix {
    uint32_t punctuation;
    uint8_t op;
    uint8_t precedence;
};

static const struct infix *find_infix(const struct token *token)
{
    static const struct infix operators[] = {
        { '*', OP_MULTIPLY, 10 },
        { '/', OP_DIVIDE, 10 },
        { '%', OP_MODULO, 10 },
        { '+', OP_ADD, 9 },
        { '-', OP_SUBTRACT, 9 },
        { PUNCT2('<', '<'), OP_SHIFT_LEFT, 8 },
        { PUNCT2('>', '>'), OP_SHIFT_RIGHT, 8 },
        { '<', OP_LESS, 7 },
        { PUNCT2('<', '='), OP_LESS_EQUAL, 7 },
        { '>', OP_GREATER, 7 },
        { PUNCT2('>', '='), OP_GREATER_EQUAL, 7 },
        { PUNCT2('=', '='), OP_EQUAL, 6 },
        { PUNCT2('!', '='), OP_NOT_EQUAL, 6 },
        { '&', OP_AND, 5 },
        { '^', OP_XOR, 4 },
        { '|', OP_OR, 3 },
        { PUNCT2('&', '&'), OP_LOGICAL_AND, 2 },
        { PUNCT2('|', '|'), OP_LOGICAL_OR, 1 },
    };

    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
        if (token_is(token, operators[i].punctuation))
            return &operators[i];
    return NULL;
}

static const struct node *parse_binary(struct parser *parser, uint8_t precedence)
{
    const struct node *node = parse_unary(parser);
    const struct infix *infix;

    while (node && (infix = find_infix(&parser->lexer.token)) && infix->precedence >= precedence) {
        lexer_next(&parser->lexer);
        node = node_binary(&parser->tree, (enum node_op)infix->op, node,
                           parse_binary(parser, infix->precedence + 1));
    }
    return node;
}

static const struct node *parse_conditional(struct parser *parser)
{
    const struct node *condition = parse_binary(parser, 1), *yes, *no;

    if (!condition || !parse_take(parser, '?'))
        return condition;
    /* GNU: `a ?: b` is `a ? a : b` */
    yes = token_is(&parser->lexer.token, ':') ? condition : parse_expression(parser);
    if (!yes || !parse_expect(parser, ':'))
        return NULL;
    no = parse_expression(parser);
    return node_ternary(&parser->tree, condition, yes, no);
}

const struct node *parse_expression(struct parser *parser)
{
    const struct node *node;

    if (parser->depth >= PARSE_DEPTH_MAX)
        return parse_fail(parser, "nested too deeply at", &parser->lexer.token);
    parser->depth++;
    node = parse_conditional(parser);
    parser->depth--;
    if (!node)
        (void)parse_fail(parser, parser->tree.error ? parser->tree.error : "unexpected",
                         &parser->lexer.token);
    return node;
}
