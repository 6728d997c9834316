/* The expression of a filter as a tree; by precedence climbing over the tokens of print_lex.h. */
#include "filter_private.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print_lex.h"

struct parser {
    struct lexer lexer;
    const char *start;
    struct filter_tree *tree;
    unsigned depth;
    int result; /* of the first failure */
    char *error;
    size_t error_size;
};

/* Binary operators, C's precedence; a match binds like an equality. */
static const struct binary {
    uint32_t punctuation;
    uint8_t level;
    uint8_t kind;
} binaries[] = {
    { PUNCT2('|', '|'), 1, FILTER_OR },
    { PUNCT2('&', '&'), 2, FILTER_AND },
    { '|', 3, FILTER_BIT_OR },
    { '^', 4, FILTER_BIT_XOR },
    { '&', 5, FILTER_BIT_AND },
    { PUNCT2('=', '='), 6, FILTER_EQUAL },
    { PUNCT2('!', '='), 6, FILTER_NOT_EQUAL },
    { '~', 6, FILTER_MATCH },
    { PUNCT2('!', '~'), 6, FILTER_NOT_MATCH },
    { '<', 7, FILTER_LESS },
    { PUNCT2('<', '='), 7, FILTER_LESS_EQUAL },
    { '>', 7, FILTER_GREATER },
    { PUNCT2('>', '='), 7, FILTER_GREATER_EQUAL },
    { PUNCT2('<', '<'), 8, FILTER_SHIFT_LEFT },
    { PUNCT2('>', '>'), 8, FILTER_SHIFT_RIGHT },
    { '+', 9, FILTER_ADD },
    { '-', 9, FILTER_SUBTRACT },
    { '*', 10, FILTER_MULTIPLY },
    { '/', 10, FILTER_DIVIDE },
    { '%', 10, FILTER_REMAINDER },
};
#define LEVEL_LOWEST 1

static uint16_t position_of(const struct parser *parser, const char *at)
{
    return (uint16_t)(at - parser->start + 1);
}

static __attribute__((format(printf, 3, 4))) int fail(struct parser *parser, uint16_t position,
                                                      const char *format, ...)
{
    va_list arguments;
    int size;

    if (parser->result != 0)
        return parser->result;
    parser->result = -EINVAL;
    size = snprintf(parser->error, parser->error_size, "position %u: ", position);
    if (size < 0 || (size_t)size >= parser->error_size)
        return parser->result;
    va_start(arguments, format);
    (void)vsnprintf(parser->error + size, parser->error_size - (size_t)size, format, arguments);
    va_end(arguments);
    return parser->result;
}

static int fail_here(struct parser *parser, const char *expected)
{
    const struct token *token = &parser->lexer.token;
    uint16_t position = position_of(parser, token->text);

    if (token->kind == TOKEN_END)
        return fail(parser, position, "%s is missing, the expression ends here", expected);
    if (token->kind == TOKEN_BAD && *token->text == '"')
        return fail(parser, position, "a text without its closing quote");
    return fail(parser, position, "%s is expected, found `%.*s`", expected, (int)token->size,
                token->text);
}

/* The nodes may move: indices stay. */
static struct filter_node *add(struct parser *parser, uint8_t kind, const char *at,
                               uint16_t *out_index)
{
    struct filter_tree *tree = parser->tree;

    if (tree->count == FILTER_NODES_MAX) {
        (void)fail(parser, position_of(parser, at), "the expression has more than %d parts",
                   FILTER_NODES_MAX);
        return NULL;
    }
    *out_index = tree->count;
    tree->nodes[tree->count] =
        (struct filter_node){ .kind = kind, .position = position_of(parser, at) };
    return &tree->nodes[tree->count++];
}

static int set_text(struct parser *parser, struct filter_node *node, const char *at,
                    const char *end, bool escaped)
{
    node->text = malloc((size_t)(end - at) + 1);
    if (!node->text) {
        (void)snprintf(parser->error, parser->error_size, "no memory");
        return parser->result = -ENOMEM;
    }
    while (at < end)
        node->text[node->size++] = (char)(escaped ? lexer_unescape(&at, end) : (uint8_t)*at++);
    node->text[node->size] = '\0';
    return 0;
}

/* 50ms: nanoseconds, as all times of the stream are. */
static bool read_duration(const struct token *token, uint64_t *out_ns)
{
    static const struct {
        const char *unit;
        uint64_t ns;
    } units[] = { { "ns", 1 },
                  { "us", 1000 },
                  { "ms", 1000000 },
                  { "s", UINT64_C(1000000000) },
                  { "m", UINT64_C(60000000000) } };
    uint64_t value = 0;
    uint32_t at = 0;

    for (; at < token->size && token->text[at] >= '0' && token->text[at] <= '9'; at++)
        if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
            __builtin_add_overflow(value, (uint64_t)(token->text[at] - '0'), &value))
            return false;
    for (size_t i = 0; at > 0 && i < sizeof(units) / sizeof(units[0]); i++)
        if (token->size - at == strlen(units[i].unit) &&
            memcmp(token->text + at, units[i].unit, token->size - at) == 0)
            return !__builtin_mul_overflow(value, units[i].ns, out_ns);
    return false;
}

static int take_number(struct parser *parser, uint64_t *out_value)
{
    const struct token *token = &parser->lexer.token;
    uint8_t size;
    bool is_signed;

    if (token->kind != TOKEN_NUMBER)
        return fail_here(parser, "a number");
    if (!lexer_number(token, 8, out_value, &size, &is_signed) && !read_duration(token, out_value))
        return fail(
            parser, position_of(parser, token->text),
            "`%.*s` is no whole number of 64 bits, nor one with ns, us, ms, s or m behind it",
            (int)token->size, token->text);
    lexer_next(&parser->lexer);
    return 0;
}

static int expect(struct parser *parser, uint32_t punctuation, const char *what)
{
    if (!token_is(&parser->lexer.token, punctuation))
        return fail_here(parser, what);
    lexer_next(&parser->lexer);
    return 0;
}

/* SYSTEM:EVENT is the condition name == "SYSTEM:EVENT". */
static int parse_event(struct parser *parser, uint16_t *out)
{
    struct lexer *lexer = &parser->lexer;
    const char *at = lexer->token.text;
    struct filter_node *node;
    uint16_t left, right;

    lexer_next(lexer);
    lexer_next(lexer);
    if (lexer->token.kind != TOKEN_NAME)
        return fail_here(parser, "the name of an event");
    node = add(parser, FILTER_NAME, at, &left);
    if (!node || set_text(parser, node, "name", strchr("name", '\0'), false) != 0)
        return parser->result;
    node->is_text = true;
    node = add(parser, FILTER_TEXT, at, &right);
    if (!node || set_text(parser, node, at, lexer->token.text + lexer->token.size, false) != 0 ||
        !(node = add(parser, FILTER_EQUAL, at, out)))
        return parser->result;
    node->left = left;
    node->right = right;
    lexer_next(lexer);
    return 0;
}

static bool is_event(const struct lexer *lexer)
{
    const char *end = lexer->token.text + lexer->token.size;
    struct token next = lexer_peek(lexer);

    return token_is(&next, ':') && next.text == end;
}

/* name, args.name, name[3] */
static int parse_name(struct parser *parser, uint16_t *out)
{
    struct lexer *lexer = &parser->lexer;
    struct filter_node *node = add(parser, FILTER_NAME, lexer->token.text, out);
    struct token next = lexer_peek(lexer);

    if (!node)
        return parser->result;
    if (token_is_name(&lexer->token, "args") && token_is(&next, '.')) {
        node->is_argument = true;
        lexer_next(lexer);
        lexer_next(lexer);
        if (lexer->token.kind != TOKEN_NAME)
            return fail_here(parser, "the name of a field");
    }
    if (set_text(parser, node, lexer->token.text, lexer->token.text + lexer->token.size, false))
        return parser->result;
    lexer_next(lexer);
    if (!token_is(&lexer->token, '['))
        return 0;
    lexer_next(lexer);
    node->has_index = true;
    if (take_number(parser, &node->number) != 0)
        return parser->result;
    return expect(parser, ']', "`]`");
}

static int parse_level(struct parser *parser, uint8_t level, uint16_t *out);

static int parse_operand(struct parser *parser, uint16_t *out)
{
    struct lexer *lexer = &parser->lexer;
    const struct token *token = &lexer->token;
    struct filter_node *node;

    switch (token->kind) {
    case TOKEN_NAME:
        return is_event(lexer) ? parse_event(parser, out) : parse_name(parser, out);
    case TOKEN_NUMBER:
        node = add(parser, FILTER_NUMBER, token->text, out);
        return node ? take_number(parser, &node->number) : parser->result;
    case TOKEN_STRING:
        node = add(parser, FILTER_TEXT, token->text, out);
        if (!node ||
            set_text(parser, node, token->text + 1, token->text + token->size - 1, true) != 0)
            return parser->result;
        lexer_next(lexer);
        return 0;
    default:
        if (!token_is(token, '('))
            return fail_here(parser, "a field, a number, a text or `(`");
        lexer_next(lexer);
        if (parse_level(parser, LEVEL_LOWEST, out) != 0)
            return parser->result;
        return expect(parser, ')', "`)`");
    }
}

/* A text names a field's value: it may stand beside `==` and its like, and among flags. */
static bool takes_text(uint8_t kind)
{
    return kind == FILTER_EQUAL || kind == FILTER_NOT_EQUAL || kind == FILTER_MATCH ||
           kind == FILTER_NOT_MATCH || kind == FILTER_BIT_AND || kind == FILTER_BIT_OR;
}

static int check_operand(struct parser *parser, const struct filter_node *node, uint16_t index)
{
    const struct filter_node *operand = &parser->tree->nodes[index];
    bool logical = node->kind == FILTER_NOT || node->kind == FILTER_AND || node->kind == FILTER_OR;

    if (operand->kind == FILTER_TEXT && !takes_text(node->kind))
        return fail(parser, operand->position, "a text can only be compared with ==, !=, ~ and !~");
    if (filter_is_condition(operand->kind) && !logical)
        return fail(parser, operand->position,
                    "a condition is no number; as in C, == and < bind closer than &, ^ and |, and "
                    "! closer than all: parentheses may be missing");
    return 0;
}

/* A name beside a text is meant as one; the name goes to the left. */
static int check_text(struct parser *parser, struct filter_node *node)
{
    struct filter_node *nodes = parser->tree->nodes;
    bool is_match = node->kind == FILTER_MATCH || node->kind == FILTER_NOT_MATCH;

    if (nodes[node->left].kind == FILTER_TEXT && !is_match) {
        uint16_t text = node->left;

        node->left = node->right;
        node->right = text;
    }
    if (nodes[node->right].kind != FILTER_TEXT)
        return is_match ? fail(parser, node->position, "~ wants a text in \"…\" on its right") : 0;
    if (nodes[node->left].kind != FILTER_NAME)
        return fail(parser, node->position, "only a field can be compared with a text");
    if (nodes[node->left].has_index)
        return fail(parser, node->position, "an element is a number, it cannot be a text");
    nodes[node->left].is_text = true;
    return 0;
}

static int check_operator(struct parser *parser, struct filter_node *node)
{
    if (check_operand(parser, node, node->left) != 0)
        return parser->result;
    if (node->kind == FILTER_NEGATE || node->kind == FILTER_INVERT || node->kind == FILTER_NOT)
        return 0;
    if (check_operand(parser, node, node->right) != 0)
        return parser->result;
    if (node->kind >= FILTER_EQUAL && node->kind <= FILTER_NOT_MATCH)
        return check_text(parser, node);
    return 0;
}

static int parse_unary(struct parser *parser, uint16_t *out)
{
    const struct token token = parser->lexer.token;
    uint8_t kind = token_is(&token, '!')   ? FILTER_NOT
                   : token_is(&token, '-') ? FILTER_NEGATE
                   : token_is(&token, '~') ? FILTER_INVERT
                                           : FILTER_NUMBER;
    struct filter_node *node;
    uint16_t operand;

    if (++parser->depth > FILTER_DEPTH_MAX)
        return fail(parser, position_of(parser, token.text), "more than %d levels of nesting",
                    FILTER_DEPTH_MAX);
    if (kind == FILTER_NUMBER) {
        if (parse_operand(parser, out) != 0)
            return parser->result;
    } else {
        lexer_next(&parser->lexer);
        if (parse_unary(parser, &operand) != 0 || !(node = add(parser, kind, token.text, out)))
            return parser->result;
        node->left = operand;
        if (check_operator(parser, node) != 0)
            return parser->result;
    }
    parser->depth--;
    return 0;
}

/* The operator that stands here; `!~` is two tokens of C. */
static const struct binary *binary_here(const struct parser *parser)
{
    const struct token *token = &parser->lexer.token;
    struct token next = lexer_peek(&parser->lexer);
    uint32_t punctuation = token->punctuation;

    if (token_is(token, '!') && token_is(&next, '~'))
        punctuation = PUNCT2('!', '~');
    for (size_t i = 0; i < sizeof(binaries) / sizeof(binaries[0]); i++)
        if (token->kind == TOKEN_PUNCTUATION && binaries[i].punctuation == punctuation)
            return &binaries[i];
    return NULL;
}

/* Operators of this level or above; those of one level from left to right. */
static int parse_level(struct parser *parser, uint8_t level, uint16_t *out)
{
    const struct binary *binary;

    if (parse_unary(parser, out) != 0)
        return parser->result;
    while ((binary = binary_here(parser)) && binary->level >= level) {
        const char *at = parser->lexer.token.text;
        uint16_t left = *out, right;
        struct filter_node *node;

        lexer_next(&parser->lexer);
        if (binary->kind == FILTER_NOT_MATCH)
            lexer_next(&parser->lexer);
        if (parse_level(parser, binary->level + 1, &right) != 0 ||
            !(node = add(parser, binary->kind, at, out)))
            return parser->result;
        node->left = left;
        node->right = right;
        if (check_operator(parser, node) != 0)
            return parser->result;
    }
    return 0;
}

int filter_parse(struct filter_tree *tree, const char *text, char *error, size_t error_size)
{
    struct parser parser = {
        .start = text, .tree = tree, .error = error, .error_size = error_size
    };
    size_t size = strnlen(text, TRD_FILTER_TEXT_MAX + 1);

    *tree = (struct filter_tree){ .nodes = calloc(FILTER_NODES_MAX, sizeof(*tree->nodes)) };
    if (!tree->nodes) {
        (void)snprintf(error, error_size, "no memory");
        return -ENOMEM;
    }
    if (size > TRD_FILTER_TEXT_MAX)
        return fail(&parser, TRD_FILTER_TEXT_MAX, "the expression is longer than %d bytes",
                    TRD_FILTER_TEXT_MAX);
    lexer_init(&parser.lexer, text, size);
    if (parse_level(&parser, LEVEL_LOWEST, &tree->root) != 0)
        return parser.result;
    if (parser.lexer.token.kind != TOKEN_END)
        return fail_here(&parser, "an operator");
    if (tree->nodes[tree->root].kind == FILTER_TEXT)
        return fail(&parser, 1, "a text alone is no condition");
    return 0;
}

void filter_tree_finish(struct filter_tree *tree)
{
    for (uint16_t i = 0; i < tree->count; i++)
        free(tree->nodes[i].text);
    free(tree->nodes);
}
