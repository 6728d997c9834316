#include "print_parse.h"

#include <stdio.h>
#include <string.h>

#include "btf.h"
#include "catalog_private.h"

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

const struct trd_field *parse_find_field(struct parser *parser, const struct token *token)
{
    const struct trd_schema *schema = parser->schema;

    for (uint32_t i = 0; token->kind == TOKEN_NAME && i < schema->field_count; i++)
        if (token_is_name(token, schema->fields[i].name))
            return &schema->fields[i];
    return parse_fail(parser, "no such field", token);
}

const struct node *parse_string(struct parser *parser)
{
    struct token *token = &parser->lexer.token;
    struct lexer begin = parser->lexer;
    size_t size = 0;
    struct node *node;
    char *text;

    if (token->kind != TOKEN_STRING)
        return parse_fail(parser, "no string", token);
    for (; token->kind == TOKEN_STRING; lexer_next(&parser->lexer))
        size += token->size - 2;
    node = node_string(&parser->tree, begin.token.text, size); /* room; filled below */
    if (!node)
        return NULL;
    text = (char *)node->string.text;
    for (; begin.token.kind == TOKEN_STRING; lexer_next(&begin)) {
        const char *at = begin.token.text + 1, *end = at + begin.token.size - 2;

        while (at < end)
            *text++ = (char)lexer_unescape(&at, end);
    }
    *text = '\0';
    node->string.size = (uint32_t)(text - node->string.text);
    return node;
}

static const struct node *parse_number(struct parser *parser)
{
    uint64_t value;
    uint8_t size;
    bool is_signed;

    if (!lexer_number(&parser->lexer.token, parser->tree.long_size, &value, &size, &is_signed))
        return parse_fail(parser, "bad number", &parser->lexer.token);
    lexer_next(&parser->lexer);
    return node_const(&parser->tree, ctype_int(size, is_signed), value);
}

static const struct node *parse_char(struct parser *parser)
{
    const char *at = parser->lexer.token.text + 1;
    int8_t value = (int8_t)lexer_unescape(&at, parser->lexer.token.text + parser->lexer.token.size);

    lexer_next(&parser->lexer);
    return node_const(&parser->tree, ctype_int(4, true), (uint64_t)(int64_t)value);
}

static const struct node *field_node(struct parser *parser, const struct trd_field *field)
{
    struct ctype type = parse_field_type(parser, field);
    bool is_bytes = field->storage >= TRD_STORAGE_INTS && field->storage <= TRD_STORAGE_BYTES;
    bool is_tail = field->storage >= TRD_STORAGE_TAIL_INTS;
    struct node *node = node_new(&parser->tree, is_bytes || is_tail ? NODE_BYTES : NODE_INT, type);

    if (node)
        node->field = field;
    return node;
}

/* `REC->name`, behind REC and its parentheses. */
static const struct node *parse_member(struct parser *parser)
{
    static const char word[] = "__data_loc_";
    struct token name;
    const struct trd_field *field;

    if (!parse_expect(parser, PUNCT2('-', '>')))
        return NULL;
    name = parser->lexer.token;
    if (name.size > sizeof(word) - 1 && memcmp(name.text, word, sizeof(word) - 1) == 0) {
        name.text += sizeof(word) - 1;
        name.size -= sizeof(word) - 1;
    }
    field = parse_find_field(parser, &name);
    if (!field)
        return NULL;
    lexer_next(&parser->lexer);
    return field_node(parser, field);
}

/* Compiles, but has no value: the argument is shown as far as it goes. */
static const struct node *unknown(struct parser *parser, const char *what, const struct token *name)
{
    parse_gap(parser, what, name);
    return node_new(&parser->tree, NODE_UNKNOWN, ctype_int(parser->tree.long_size, true));
}

static const struct node *parse_name(struct parser *parser)
{
    struct token name = parser->lexer.token;
    int64_t value;

    for (uint32_t i = parser->local_count; i-- > 0;)
        if (name.size == parser->locals[i].size &&
            memcmp(name.text, parser->locals[i].name, name.size) == 0) {
            lexer_next(&parser->lexer);
            return parser->locals[i].value;
        }
    lexer_next(&parser->lexer);
    if (token_is(&parser->lexer.token, '('))
        return parse_call(parser, &name);
    if (token_is_name(&name, "true") || token_is_name(&name, "false"))
        return node_const(&parser->tree, ctype_int(4, true), *name.text == 't');
    if (token_is_name(&name, "NULL"))
        return node_const(&parser->tree, ctype_int(parser->tree.long_size, true), 0);
    if (parser->catalog->btf && btf_enumerator(parser->catalog->btf, name.text, name.size, &value))
        return node_const(&parser->tree, ctype_int(value == (int32_t)value ? 4 : 8, true),
                          (uint64_t)value);
    return unknown(parser, "no value known for", &name);
}

/* `(REC)`, any number of times. */
static bool take_record(struct parser *parser)
{
    struct lexer begin = parser->lexer;
    int depth = 0;

    for (; parse_take(parser, '('); depth++)
        ;
    if (token_is_name(&parser->lexer.token, "REC")) {
        lexer_next(&parser->lexer);
        while (depth > 0 && parse_take(parser, ')'))
            depth--;
        if (depth == 0 && token_is(&parser->lexer.token, PUNCT2('-', '>')))
            return true;
    }
    parser->lexer = begin;
    return false;
}

static const struct node *parse_primary(struct parser *parser)
{
    const struct node *node;

    if (take_record(parser))
        return parse_member(parser);
    switch (parser->lexer.token.kind) {
    case TOKEN_NUMBER:
        return parse_number(parser);
    case TOKEN_CHAR:
        return parse_char(parser);
    case TOKEN_STRING:
        return parse_string(parser);
    case TOKEN_NAME:
        return parse_name(parser);
    default:
        break;
    }
    if (!parse_take(parser, '('))
        return parse_fail(parser, "unexpected", &parser->lexer.token);
    node = token_is(&parser->lexer.token, '{') ? parse_block(parser) : parse_expression(parser);
    return node && parse_expect(parser, ')') ? node : NULL;
}

/* A pointer that the record holds, not what it points to. */
static void note_foreign(struct parser *parser, const struct node *pointer)
{
    struct token name = { .kind = TOKEN_NAME };

    while (pointer && pointer->kind == NODE_CAST)
        pointer = pointer->operand.a;
    if (!pointer || pointer->kind != NODE_INT)
        return;
    name.text = pointer->field->name;
    name.size = (uint32_t)strlen(name.text);
    parse_gap(parser, "only the kernel can follow", &name);
}

/* `.member` of a compound literal. */
static const struct node *parse_literal_member(struct parser *parser, const struct node *node)
{
    const struct token *member = &parser->literal_member;
    struct token name = lexer_peek(&parser->lexer);

    if (node != parser->literal || !token_is(&parser->lexer.token, '.') ||
        name.size != member->size || memcmp(name.text, member->text, name.size) != 0)
        return parse_fail(parser, "member of something outside the record:", &name);
    lexer_next(&parser->lexer);
    lexer_next(&parser->lexer);
    return node;
}

static const struct node *parse_postfix(struct parser *parser)
{
    const struct node *node = parse_primary(parser);

    while (node && parse_take(parser, '[')) {
        note_foreign(parser, node);
        node = node_deref(&parser->tree, node, parse_expression(parser));
        if (!parse_expect(parser, ']'))
            return NULL;
    }
    if (node &&
        (token_is(&parser->lexer.token, PUNCT2('-', '>')) || token_is(&parser->lexer.token, '.')))
        return parse_literal_member(parser, node);
    return node;
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
                return unknown(parser, "no size known for", &next);
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

    note_foreign(parser, pointer);
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
    return parse_postfix(parser);
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

struct operator
{
    uint32_t punctuation;
    uint8_t op;
    uint8_t precedence;
};

static const struct operator* find_operator(const struct token *token)
{
    static const struct operator operators[] = {
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
    const struct operator* operator;

    while (node &&
           (operator= find_operator(&parser->lexer.token)) && operator->precedence >= precedence) {
        lexer_next(&parser->lexer);
        node = node_binary(&parser->tree, (enum node_op) operator->op, node,
                           parse_binary(parser, operator->precedence + 1));
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
