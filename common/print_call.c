/* Calls in print formats: the helpers of tracing macros, compiler builtins, and the unknown. */
#include <string.h>

#include "print_helper.h"
#include "print_parse.h"

#define ARGUMENTS_MAX 16

static struct ctype text_type(const struct parser *parser)
{
    return (struct ctype){ .kind = CTYPE_POINTER,
                           .size = parser->tree.long_size,
                           .target_signed = true,
                           .target_size = 1 };
}

static const struct node *make_helper(struct parser *parser, enum print_helper helper,
                                      const struct node *const *arguments, uint32_t count,
                                      const struct trd_names *names, const char *text)
{
    struct node *node;

    for (uint32_t i = 0; i < count; i++)
        if (!arguments[i])
            return NULL;
    node =
        (struct node *)node_call(&parser->tree, NODE_HELPER, text_type(parser), arguments, count);
    if (!node)
        return NULL;
    node->op = (uint8_t)helper;
    node->call.names = names;
    node->call.text = text;
    return node;
}

/* `value, "delimiter", { … }, …` or without delimiter; the kernel compares unsigned. */
static const struct node *parse_names(struct parser *parser, enum print_helper helper, uint8_t size)
{
    const struct node *value = parse_expression(parser), *delimiter = NULL;
    const struct trd_names *names;

    if (!value)
        return NULL;
    value = node_cast(&parser->tree, ctype_int(size, false), value);
    if (helper == HELPER_FLAGS) {
        if (!parse_expect(parser, ','))
            return NULL;
        if (token_is_name(&parser->lexer.token, "NULL"))
            parse_skip(parser);
        else if (!(delimiter = parse_string(parser)))
            return NULL;
    }
    names = parse_list(parser);
    if (!names)
        return NULL;
    return make_helper(parser, helper, &value, 1, names, delimiter ? delimiter->string.text : "");
}

static const struct node *parse_flags(struct parser *parser, int is_u64)
{
    return parse_names(parser, HELPER_FLAGS, is_u64 ? 8 : parser->tree.long_size);
}

static const struct node *parse_symbolic(struct parser *parser, int is_u64)
{
    return parse_names(parser, HELPER_SYMBOLIC, is_u64 ? 8 : parser->tree.long_size);
}

/* Expressions separated by commas, exactly `count` of them. */
static bool parse_arguments(struct parser *parser, const struct node **out, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && !parse_expect(parser, ','))
            return false;
        out[i] = parse_expression(parser);
        if (!out[i])
            return false;
    }
    return true;
}

/* `pointer, length`; old kernels pass their trace_seq first: `p, pointer, length`. */
static const struct node *parse_hex(struct parser *parser, int helper)
{
    const struct node *arguments[2];

    if (token_is_name(&parser->lexer.token, "p")) {
        lexer_next(&parser->lexer);
        if (!parse_expect(parser, ','))
            return NULL;
    }
    if (!parse_arguments(parser, arguments, 2))
        return NULL;
    return make_helper(parser, (enum print_helper)helper, arguments, 2, NULL, NULL);
}

static const struct node *parse_array(struct parser *parser, int unused)
{
    const struct node *arguments[3];

    (void)unused;
    if (!parse_arguments(parser, arguments, 3))
        return NULL;
    return make_helper(parser, HELPER_ARRAY, arguments, 3, NULL, NULL);
}

/* `"prefix", prefix type, row size, group size, pointer, length, with text` */
static const struct node *parse_hex_dump(struct parser *parser, int unused)
{
    const struct node *given[7], *arguments[6];

    (void)unused;
    if (!parse_arguments(parser, given, 7))
        return NULL;
    if (given[0]->kind != NODE_STRING)
        return parse_fail(parser, "prefix that is no string before", &parser->lexer.token);
    arguments[0] = given[4];
    arguments[1] = given[5];
    arguments[2] = given[1];
    arguments[3] = given[2];
    arguments[4] = given[3];
    arguments[5] = given[6];
    return make_helper(parser, HELPER_HEX_DUMP, arguments, 6, NULL, given[0]->string.text);
}

/* A plain field may have the same name: the kernel keeps the word as __data_loc_name. */
static const struct trd_field *find_dynamic(const struct parser *parser, const struct token *name)
{
    const struct trd_field *fields = parser->schema->fields;

    for (uint32_t i = 0; i < parser->schema->field_count; i++)
        if (fields[i].storage >= TRD_STORAGE_DYN_INTS &&
            fields[i].storage <= TRD_STORAGE_DYN_BYTES && token_is_name(name, fields[i].name))
            return &fields[i];
    return NULL;
}

/* The name of a dynamic array, as a node of `kind`. */
static const struct node *parse_dynamic_name(struct parser *parser, enum node_kind kind,
                                             struct ctype type)
{
    const struct trd_field *field = find_dynamic(parser, &parser->lexer.token);
    struct node *node;

    if (!field)
        return parse_fail(parser, "no dynamic array:", &parser->lexer.token);
    lexer_next(&parser->lexer);
    node = node_new(&parser->tree, kind, type);
    if (node)
        node->field = field;
    return node;
}

enum dynamic_part {
    DYNAMIC_TEXT,
    DYNAMIC_POINTER,
    DYNAMIC_LENGTH,
};

static const struct node *parse_dynamic(struct parser *parser, int part)
{
    struct ctype type = text_type(parser);

    if (part == DYNAMIC_LENGTH)
        return parse_dynamic_name(parser, NODE_LENGTH, ctype_int(4, false));
    if (part == DYNAMIC_POINTER)
        type.target_size = 0;
    return parse_dynamic_name(parser, NODE_DYNAMIC, type);
}

/* `name, element size` */
static const struct node *parse_dynamic_array(struct parser *parser, int unused)
{
    const struct node *arguments[3] = { parse_dynamic(parser, DYNAMIC_POINTER) };
    struct node *length;

    (void)unused;
    if (!arguments[0] || !parse_expect(parser, ','))
        return NULL;
    length = node_new(&parser->tree, NODE_LENGTH, ctype_int(4, false));
    if (!length)
        return NULL;
    length->field = arguments[0]->field;
    arguments[2] = parse_expression(parser);
    arguments[1] = node_binary(&parser->tree, OP_DIVIDE, length, arguments[2]);
    return make_helper(parser, HELPER_ARRAY, arguments, 3, NULL, NULL);
}

static const struct node *parse_bitmask(struct parser *parser, int unused)
{
    const struct node *pointer = parse_dynamic(parser, DYNAMIC_POINTER);

    (void)unused;
    return make_helper(parser, HELPER_BITMASK, &pointer, 1, NULL, NULL);
}

#define NS_PER_SEC 1000000000u

static const struct node *parse_ns(struct parser *parser, int without_secs)
{
    struct ctype wide = ctype_int(8, false);
    const struct node *value = parse_expression(parser);

    if (!value)
        return NULL;
    value = node_binary(&parser->tree, without_secs ? OP_MODULO : OP_DIVIDE,
                        node_cast(&parser->tree, wide, value),
                        node_const(&parser->tree, wide, NS_PER_SEC));
    return without_secs ? node_cast(&parser->tree, ctype_int(4, false), value) : value;
}

/* `__builtin_expect(value, guess)` is the value. */
static const struct node *parse_builtin_expect(struct parser *parser, int unused)
{
    const struct node *value = parse_expression(parser);

    (void)unused;
    if (!value || !parse_expect(parser, ','))
        return NULL;
    parse_skip(parser);
    return node_cast(&parser->tree, ctype_int(parser->tree.long_size, true), value);
}

/* Whether the kernel's compiler knew it cannot be told; both ways must give the same. */
static const struct node *parse_constant_p(struct parser *parser, int unused)
{
    (void)unused;
    parse_skip(parser);
    return node_const(&parser->tree, ctype_int(4, true), 0);
}

enum byte_order {
    ORDER_SWAP, /* always */
    ORDER_BIG,  /* to or from big-endian */
    ORDER_LITTLE,
};
#define SWAP(width, order) ((width) | (order) << 4)
#define SWAP_POINTER 0x100

static const struct node *parse_swap(struct parser *parser, int variant)
{
    const struct node *value = parse_expression(parser);
    enum byte_order order = (enum byte_order)(variant >> 4 & 3);
    struct ctype type = ctype_int((uint8_t)(variant & 15), false);
    struct ctype pointer = text_type(parser);

    pointer.target_size = type.size;
    pointer.target_signed = false;
    if (variant & SWAP_POINTER)
        value = node_deref(&parser->tree, node_cast(&parser->tree, pointer, value),
                           node_const(&parser->tree, ctype_int(4, true), 0));
    value = node_cast(&parser->tree, type, value);
    if (order == ORDER_SWAP || (order == ORDER_BIG) != parser->schema->big_endian)
        value = node_unary(&parser->tree, OP_SWAP, value);
    return value;
}

struct function {
    const char *name;
    const struct node *(*parse)(struct parser *parser, int variant);
    int variant;
};

static const struct function functions[] = {
    { "__print_flags", parse_flags, 0 },
    { "__print_flags_u64", parse_flags, 1 },
    { "__print_symbolic", parse_symbolic, 0 },
    { "__print_symbolic_u64", parse_symbolic, 1 },
    { "__print_hex", parse_hex, HELPER_HEX },
    { "ftrace_print_hex_seq", parse_hex, HELPER_HEX },
    { "__print_hex_str", parse_hex, HELPER_HEX_STR },
    { "__print_array", parse_array, 0 },
    { "__print_dynamic_array", parse_dynamic_array, 0 },
    { "__print_hex_dump", parse_hex_dump, 0 },
    { "__get_str", parse_dynamic, DYNAMIC_TEXT },
    { "__get_rel_str", parse_dynamic, DYNAMIC_TEXT },
    { "__get_dynamic_array", parse_dynamic, DYNAMIC_POINTER },
    { "__get_rel_dynamic_array", parse_dynamic, DYNAMIC_POINTER },
    { "__get_sockaddr", parse_dynamic, DYNAMIC_POINTER },
    { "__get_rel_sockaddr", parse_dynamic, DYNAMIC_POINTER },
    { "__get_sockaddr_rel", parse_dynamic, DYNAMIC_POINTER },
    { "__get_dynamic_array_len", parse_dynamic, DYNAMIC_LENGTH },
    { "__get_rel_dynamic_array_len", parse_dynamic, DYNAMIC_LENGTH },
    { "__get_bitmask", parse_bitmask, 0 },
    { "__get_rel_bitmask", parse_bitmask, 0 },
    { "__get_cpumask", parse_bitmask, 0 },
    { "__get_rel_cpumask", parse_bitmask, 0 },
    { "__print_ns_to_secs", parse_ns, 0 },
    { "__print_ns_without_secs", parse_ns, 1 },
    { "__builtin_expect", parse_builtin_expect, 0 },
    { "__builtin_constant_p", parse_constant_p, 0 },
    { "__fswab16", parse_swap, SWAP(2, ORDER_SWAP) },
    { "__fswab32", parse_swap, SWAP(4, ORDER_SWAP) },
    { "__fswab64", parse_swap, SWAP(8, ORDER_SWAP) },
    { "__builtin_bswap16", parse_swap, SWAP(2, ORDER_SWAP) },
    { "__builtin_bswap32", parse_swap, SWAP(4, ORDER_SWAP) },
    { "__builtin_bswap64", parse_swap, SWAP(8, ORDER_SWAP) },
    { "__le16_to_cpup", parse_swap, SWAP(2, ORDER_LITTLE) | SWAP_POINTER },
    { "__le32_to_cpup", parse_swap, SWAP(4, ORDER_LITTLE) | SWAP_POINTER },
    { "__le64_to_cpup", parse_swap, SWAP(8, ORDER_LITTLE) | SWAP_POINTER },
    { "__be16_to_cpup", parse_swap, SWAP(2, ORDER_BIG) | SWAP_POINTER },
    { "__be32_to_cpup", parse_swap, SWAP(4, ORDER_BIG) | SWAP_POINTER },
    { "__be64_to_cpup", parse_swap, SWAP(8, ORDER_BIG) | SWAP_POINTER },
};

/* An argument of a function nobody knows here; its source where it does not compile. */
static const struct node *parse_foreign_argument(struct parser *parser)
{
    struct lexer begin = parser->lexer;
    const struct node *node = parse_expression(parser);

    if (node)
        return node;
    parser->error[0] = '\0';
    parser->tree.error = NULL;
    parser->lexer = begin;
    parse_skip(parser);
    return node_string(&parser->tree, begin.token.text,
                       (size_t)(parser->lexer.token.text - begin.token.text));
}

/* Shown as it stands in the source, with its arguments' values. */
static const struct node *parse_foreign_call(struct parser *parser, const struct token *name)
{
    const struct node *text = node_string(&parser->tree, name->text, name->size);
    const struct node *arguments[ARGUMENTS_MAX];
    /* or a pointer as wide */
    struct ctype type = ctype_int(parser->tree.long_size, true);
    struct node *node;
    uint32_t count = 0;

    parse_gap(parser, "only the kernel can answer", name);
    while (!token_is(&parser->lexer.token, ')')) {
        if (count > 0 && !parse_expect(parser, ','))
            return NULL;
        if (count == ARGUMENTS_MAX)
            return parse_fail(parser, "too many arguments for", name);
        arguments[count] = parse_foreign_argument(parser);
        if (!arguments[count++])
            return NULL;
    }
    node = (struct node *)node_call(&parser->tree, NODE_CALL, type, arguments, count);
    if (!node || !text)
        return NULL;
    node->call.text = text->string.text;
    return node;
}

const struct node *parse_call(struct parser *parser, const struct token *name)
{
    const struct node *node = NULL;
    size_t i = 0, count = sizeof(functions) / sizeof(functions[0]);

    if (!parse_expect(parser, '('))
        return NULL;
    while (i < count && !token_is_name(name, functions[i].name))
        i++;
    node = i < count ? functions[i].parse(parser, functions[i].variant)
                     : parse_foreign_call(parser, name);
    return node && parse_expect(parser, ')') ? node : NULL;
}
