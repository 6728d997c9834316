/* GNU statement expressions, as min() and its kin leave them: declarations, then a value. */
#include "print_parse.h"

static bool at_declaration(const struct parser *parser)
{
    struct token next = lexer_peek(&parser->lexer);

    return token_is_name(&parser->lexer.token, "__auto_type") ||
           parse_is_type(parser, &parser->lexer.token, &next);
}

/* `type name = value` */
static bool parse_declaration(struct parser *parser)
{
    bool any_type = token_is_name(&parser->lexer.token, "__auto_type");
    struct parse_local local;
    struct ctype type;

    if (any_type)
        lexer_next(&parser->lexer);
    else if (!parse_type(parser, &type))
        return false;
    if (parser->lexer.token.kind != TOKEN_NAME)
        return parse_fail(parser, "declaration of", &parser->lexer.token);
    local.name = parser->lexer.token.text;
    local.size = parser->lexer.token.size;
    lexer_next(&parser->lexer);
    if (!parse_expect(parser, '='))
        return false;
    local.value = parse_expression(parser);
    if (local.value && !any_type)
        local.value = node_cast(&parser->tree, type, local.value);
    if (!local.value)
        return parse_fail(parser, "value of", &parser->lexer.token);
    if (parser->local_count == PARSE_LOCALS_MAX)
        return parse_fail(parser, "too many declarations at", &parser->lexer.token);
    parser->locals[parser->local_count++] = local;
    return true;
}

const struct node *parse_block(struct parser *parser)
{
    uint32_t outer = parser->local_count;
    const struct node *value = NULL;

    if (!parse_expect(parser, '{'))
        return NULL;
    while (!token_is(&parser->lexer.token, '}')) {
        if (at_declaration(parser)) {
            if (!parse_declaration(parser))
                return NULL;
            value = NULL;
        } else if (!(value = parse_expression(parser))) {
            return NULL;
        }
        if (!parse_expect(parser, ';'))
            return NULL;
    }
    lexer_next(&parser->lexer);
    parser->local_count = outer;
    return value ? value : parse_fail(parser, "block without value before", &parser->lexer.token);
}
