/* Operands of expressions: literals, fields of the record, names, parentheses. */
#include <string.h>

#include "btf.h"
#include "catalog_private.h"
#include "print_parse.h"

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
const struct node *parse_unknown(struct parser *parser, const char *what, const struct token *name)
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
    return parse_unknown(parser, "no value known for", &name);
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
void parse_note_foreign(struct parser *parser, const struct node *pointer)
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

const struct node *parse_operand(struct parser *parser)
{
    const struct node *node = parse_primary(parser);

    while (node && parse_take(parser, '[')) {
        parse_note_foreign(parser, node);
        node = node_deref(&parser->tree, node, parse_expression(parser));
        if (!parse_expect(parser, ']'))
            return NULL;
    }
    if (node &&
        (token_is(&parser->lexer.token, PUNCT2('-', '>')) || token_is(&parser->lexer.token, '.')))
        return parse_literal_member(parser, node);
    return node;
}
