#include "print_type.h"

#include <string.h>

#include "btf.h"
#include "catalog_private.h"
#include "print_parse.h"

#define LONG 0 /* size of the recording machine's long */

struct type_word {
    const char *name;
    uint8_t size;
    bool is_signed;
};

/* Typedefs whose width is the same on every kernel of a word size. */
static const struct type_word type_words[] = {
    { "u8", 1, false },
    { "u16", 2, false },
    { "u32", 4, false },
    { "u64", 8, false },
    { "s8", 1, true },
    { "s16", 2, true },
    { "s32", 4, true },
    { "s64", 8, true },
    { "__u8", 1, false },
    { "__u16", 2, false },
    { "__u32", 4, false },
    { "__u64", 8, false },
    { "__s8", 1, true },
    { "__s16", 2, true },
    { "__s32", 4, true },
    { "__s64", 8, true },
    { "__be16", 2, false },
    { "__be32", 4, false },
    { "__be64", 8, false },
    { "__le16", 2, false },
    { "__le32", 4, false },
    { "__le64", 8, false },
    { "uint8_t", 1, false },
    { "uint16_t", 2, false },
    { "uint32_t", 4, false },
    { "uint64_t", 8, false },
    { "int8_t", 1, true },
    { "int16_t", 2, true },
    { "int32_t", 4, true },
    { "int64_t", 8, true },
    { "size_t", LONG, false },
    { "ssize_t", LONG, true },
    { "uintptr_t", LONG, false },
    { "pgoff_t", LONG, false },
    { "loff_t", 8, true },
    { "sector_t", 8, false },
    { "dma_addr_t", 8, false },
    { "phys_addr_t", 8, false },
    { "resource_size_t", 8, false },
    { "gfp_t", 4, false },
    { "fmode_t", 4, false },
    { "blk_opf_t", 4, false },
    { "dev_t", 4, false },
    { "umode_t", 2, false },
    { "mode_t", 4, false },
    { "pid_t", 4, true },
    { "uid_t", 4, false },
    { "gid_t", 4, false },
    { "ino_t", LONG, false },
    { "uint", 4, false },
    { "ulong", LONG, false },
    { "ushort", 2, false },
    { "ktime_t", 8, true },
    { "xfs_daddr_t", 8, true },
    { "netdev_features_t", 8, false },
};

/* Words that make up C's own types, in any order. */
enum base_word {
    BASE_NONE,
    BASE_IGNORED,  /* const, volatile */
    BASE_UNSIGNED, /* from here to LONG: parts of an integer type */
    BASE_SIGNED,
    BASE_CHAR,
    BASE_SHORT,
    BASE_INT,
    BASE_LONG,
    BASE_BOOL,
    BASE_VOID,
    BASE_TAG, /* struct, union */
    BASE_ENUM,
    BASE_TYPEOF,
    BASE_COUNT,
};

static enum base_word base_word(const struct token *token)
{
    static const struct {
        const char *name;
        enum base_word word;
    } words[] = {
        { "const", BASE_IGNORED },     { "volatile", BASE_IGNORED },  { "static", BASE_IGNORED },
        { "unsigned", BASE_UNSIGNED }, { "signed", BASE_SIGNED },     { "char", BASE_CHAR },
        { "short", BASE_SHORT },       { "int", BASE_INT },           { "long", BASE_LONG },
        { "bool", BASE_BOOL },         { "_Bool", BASE_BOOL },        { "void", BASE_VOID },
        { "struct", BASE_TAG },        { "union", BASE_TAG },         { "enum", BASE_ENUM },
        { "typeof", BASE_TYPEOF },     { "__typeof__", BASE_TYPEOF }, { "__typeof", BASE_TYPEOF },
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (token_is_name(token, words[i].name))
            return words[i].word;
    return BASE_NONE;
}

static bool find_typedef(const struct parser *parser, const struct token *token, struct ctype *out)
{
    uint8_t size;
    bool is_signed;

    for (size_t i = 0; i < sizeof(type_words) / sizeof(type_words[0]); i++)
        if (token_is_name(token, type_words[i].name)) {
            size = type_words[i].size;
            *out = ctype_int(size == LONG ? parser->tree.long_size : size, type_words[i].is_signed);
            return true;
        }
    if (parser->catalog && parser->catalog->btf &&
        btf_integer_type(parser->catalog->btf, token->text, token->size, &size, &is_signed)) {
        *out = ctype_int(size, is_signed);
        return true;
    }
    return false;
}

bool parse_is_type(const struct parser *parser, const struct token *token, const struct token *next)
{
    struct ctype type;

    if (token->kind != TOKEN_NAME)
        return false;
    if (base_word(token) != BASE_NONE)
        return true;
    /* A typedef is followed by what can follow a type; a name alone may be an enumerator. */
    return (token_is(next, ')') || token_is(next, '*') || next->kind == TOKEN_NAME) &&
           find_typedef(parser, token, &type);
}

/* The type that so many of each word make. */
static struct ctype integer_type(const struct parser *parser, const uint8_t *words)
{
    uint8_t size = 4;

    if (words[BASE_CHAR])
        size = 1;
    else if (words[BASE_SHORT])
        size = 2;
    else if (words[BASE_LONG])
        size = words[BASE_LONG] > 1 ? 8 : parser->tree.long_size;
    return ctype_int(size, !words[BASE_UNSIGNED]);
}

/* `struct name`, `enum name`, or a struct with a body, which is skipped. */
static bool parse_tag(struct parser *parser)
{
    bool named = parser->lexer.token.kind == TOKEN_NAME;

    if (named)
        lexer_next(&parser->lexer);
    if (!token_is(&parser->lexer.token, '{'))
        return named;
    lexer_next(&parser->lexer);
    while (!token_is(&parser->lexer.token, '}')) {
        parse_skip(parser);
        if (!parse_take(parser, ',') && !token_is(&parser->lexer.token, '}'))
            return parse_fail(parser, "unfinished struct", &parser->lexer.token);
    }
    lexer_next(&parser->lexer);
    return true;
}

static bool parse_typeof(struct parser *parser, struct ctype *out)
{
    const struct node *node;

    if (!parse_expect(parser, '('))
        return false;
    node = parse_expression(parser);
    if (!node || !parse_expect(parser, ')'))
        return false;
    *out = node->type;
    return true;
}

/* A type of one word, or of a keyword and what belongs to it. */
static bool parse_single(struct parser *parser, enum base_word word, struct ctype *out)
{
    struct token name = parser->lexer.token;

    if (word == BASE_NONE && !find_typedef(parser, &name, out))
        return parse_fail(parser, "unknown type", &name);
    lexer_next(&parser->lexer);
    switch (word) {
    case BASE_BOOL:
        *out = (struct ctype){ .kind = CTYPE_BOOL, .size = 1 };
        return true;
    case BASE_VOID:
        *out = (struct ctype){ .kind = CTYPE_VOID };
        return true;
    case BASE_ENUM:
        *out = ctype_int(4, false);
        return parse_tag(parser);
    case BASE_TAG:
        *out = (struct ctype){ .kind = CTYPE_OTHER };
        return parse_tag(parser);
    case BASE_TYPEOF:
        return parse_typeof(parser, out);
    default:
        return true;
    }
}

/* The words before any `*`. */
static bool parse_base(struct parser *parser, struct ctype *out)
{
    uint8_t words[BASE_COUNT] = { 0 };
    bool any = false;

    for (;; lexer_next(&parser->lexer)) {
        enum base_word word = base_word(&parser->lexer.token);

        if (word == BASE_IGNORED)
            continue;
        if (word >= BASE_UNSIGNED && word <= BASE_LONG && words[word] < 2) {
            words[word]++;
            any = true;
            continue;
        }
        if (!any)
            return parse_single(parser, word, out);
        *out = integer_type(parser, words);
        return true;
    }
}

static struct ctype pointer_to(const struct parser *parser, const struct ctype *target)
{
    return (struct ctype){ .kind = CTYPE_POINTER,
                           .size = parser->tree.long_size,
                           .target_signed = target->is_signed,
                           .target_pointer = target->kind == CTYPE_POINTER,
                           .target_size = target->size };
}

bool parse_type(struct parser *parser, struct ctype *out)
{
    if (!parse_base(parser, out))
        return false;
    while (token_is(&parser->lexer.token, '*') || token_is_name(&parser->lexer.token, "const")) {
        if (token_is(&parser->lexer.token, '*'))
            *out = pointer_to(parser, out);
        lexer_next(&parser->lexer);
    }
    return true;
}

bool print_type_is_pointer(const struct trd_field *field)
{
    return field->declaration[strcspn(field->declaration, "*[")] == '*';
}

/* What `const char *` points to, by its declaration in the format file; void if nothing tells. */
static struct ctype declared_target(const struct parser *parser, const struct trd_field *field)
{
    struct ctype pointer, target = { .kind = CTYPE_VOID };
    const char *text = field->declaration;

    if (!print_type_parse(parser->catalog, text, strcspn(text, "["), &pointer) ||
        pointer.kind != CTYPE_POINTER)
        return target;
    if (pointer.target_size > 0)
        target = ctype_int((uint8_t)pointer.target_size, pointer.target_signed);
    if (pointer.target_pointer)
        target.kind = CTYPE_POINTER;
    return target;
}

struct ctype parse_field_type(const struct parser *parser, const struct trd_field *field)
{
    struct ctype target;

    switch (field->storage) {
    case TRD_STORAGE_INT:
        if (!print_type_is_pointer(field))
            return ctype_int((uint8_t)field->size, field->is_signed);
        target = declared_target(parser, field);
        break;
    case TRD_STORAGE_INTS:
    case TRD_STORAGE_TAIL_INTS:
        target = ctype_int((uint8_t)field->elem_size, field->is_signed);
        if (print_type_is_pointer(field))
            target.kind = CTYPE_POINTER;
        break;
    case TRD_STORAGE_CHARS:
    case TRD_STORAGE_TAIL_CHARS:
        target = ctype_int(1, true);
        break;
    case TRD_STORAGE_BYTES:
        target = (struct ctype){ .kind = CTYPE_VOID };
        break;
    default: /* the word of a dynamic array */
        return ctype_int(4, false);
    }
    return pointer_to(parser, &target);
}

bool print_type_parse(const struct trd_catalog *catalog, const char *text, size_t size,
                      struct ctype *out)
{
    struct parser parser = { .catalog = catalog,
                             .tree = { .long_size = catalog->layout.long_size } };

    lexer_init(&parser.lexer, text, size);
    return parse_type(&parser, out) && parser.lexer.token.kind == TOKEN_END;
}
