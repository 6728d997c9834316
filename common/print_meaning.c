/*
 * What fields mean, by their use in the print format. Only uses that show the whole field count:
 * behind a cast that loses nothing, behind a mask for flags. Uses that contradict each other leave
 * a number: better no name than a wrong one.
 */
#include <string.h>

#include "print.h"
#include "print_helper.h"

#define MINOR_BITS 20
#define MINOR_MASK ((1u << MINOR_BITS) - 1)
#define NS_PER_SEC 1000000000u

struct finder {
    const struct trd_schema *schema;
    struct trd_field *fields;
    uint8_t *contradicted; /* per field */
};

/* The integer field that an expression shows whole; NULL if it shows something else. */
static const struct trd_field *whole_field(const struct node *node)
{
    while (node->kind == NODE_CAST && node->operand.a->type.kind != CTYPE_VOID &&
           node->type.size >= node->operand.a->type.size)
        node = node->operand.a;
    return node->kind == NODE_INT ? node->field : NULL;
}

static const struct node *skip_casts(const struct node *node)
{
    while (node->kind == NODE_CAST)
        node = node->operand.a;
    return node;
}

/* `field & mask`, either way round. */
static const struct trd_field *masked_field(const struct node *node, uint64_t *out_mask)
{
    const struct node *a, *b;

    node = skip_casts(node);
    if (node->kind != NODE_BINARY || node->op != OP_AND)
        return NULL;
    a = node->operand.a->kind == NODE_CONST ? node->operand.b : node->operand.a;
    b = node->operand.a->kind == NODE_CONST ? node->operand.a : node->operand.b;
    if (b->kind != NODE_CONST)
        return NULL;
    *out_mask = b->bits;
    return whole_field(a);
}

/* The array or address of a field, as `%pM` and __print_hex take it. */
static const struct trd_field *memory_field(const struct node *node)
{
    node = skip_casts(node);
    return node->kind == NODE_BYTES || node->kind == NODE_DYNAMIC ? node->field : NULL;
}

static struct trd_field *writable(const struct finder *finder, const struct trd_field *field)
{
    return &finder->fields[field - finder->schema->fields];
}

/* Stronger than what the declaration says; a plain number, address or mask gives way. */
static void set(const struct finder *finder, const struct trd_field *field,
                enum trd_meaning meaning)
{
    struct trd_field *target = writable(finder, field);

    if (target->is_common || target->names || target->meaning == TRD_MEANING_BOOL ||
        finder->contradicted[field - finder->schema->fields])
        return;
    target->meaning = (uint8_t)meaning;
}

static void set_if_plain(const struct finder *finder, const struct trd_field *field,
                         enum trd_meaning meaning)
{
    if (field->meaning == TRD_MEANING_PLAIN)
        set(finder, field, meaning);
}

static bool same_names(const struct trd_names *a, const struct trd_names *b)
{
    if (a->count != b->count || a->mask != b->mask)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->entries[i].value != b->entries[i].value ||
            strcmp(a->entries[i].name, b->entries[i].name) != 0)
            return false;
    return true;
}

static void set_names(const struct finder *finder, const struct trd_field *field,
                      enum trd_meaning meaning, const struct trd_names *names)
{
    struct trd_field *target = writable(finder, field);
    uint8_t *contradicted = &finder->contradicted[field - finder->schema->fields];

    if (names->count == 0 || target->is_common || *contradicted)
        return;
    if (target->names && (target->meaning != meaning || !same_names(target->names, names))) {
        *contradicted = 1;
        target->names = NULL;
        target->meaning = TRD_MEANING_HEX;
        return;
    }
    target->meaning = (uint8_t)meaning;
    target->names = names;
}

static void find_in_helper(const struct finder *finder, const struct node *helper)
{
    const struct node *value = helper->call.list[0];
    struct trd_names *names = (struct trd_names *)helper->call.names;
    const struct trd_field *field;
    uint64_t mask = UINT64_MAX;

    switch (helper->op) {
    case HELPER_FLAGS:
        field = whole_field(value);
        if (!field)
            field = masked_field(value, &mask);
        names->mask = mask;
        if (field)
            set_names(finder, field, TRD_MEANING_FLAGS, names);
        break;
    case HELPER_SYMBOLIC:
        field = whole_field(value);
        if (field)
            set_names(finder, field, TRD_MEANING_ENUM, names);
        break;
    case HELPER_BITMASK:
        set(finder, memory_field(value), TRD_MEANING_BITMASK);
        break;
    case HELPER_HEX:
    case HELPER_HEX_STR:
        field = memory_field(value);
        if (field)
            set_if_plain(finder, field, TRD_MEANING_HEX);
        break;
    default:
        break;
    }
}

static void find_in_binary(const struct finder *finder, const struct node *node)
{
    const struct trd_field *field = whole_field(node->operand.a);

    if (field && (node->op == OP_DIVIDE || node->op == OP_MODULO) && field->size == 8 &&
        node->operand.b->kind == NODE_CONST && node->operand.b->bits == NS_PER_SEC)
        set_if_plain(finder, field, TRD_MEANING_TIME_NS);
}

/* Helpers may sit anywhere in an argument. */
static void find_inside(const struct finder *finder, const struct node *node)
{
    switch (node->kind) {
    case NODE_HELPER:
        find_in_helper(finder, node);
        break;
    case NODE_BINARY:
        find_in_binary(finder, node);
        break;
    case NODE_TERNARY:
        find_inside(finder, node->operand.b);
        find_inside(finder, node->operand.c);
        break;
    case NODE_CAST:
        find_inside(finder, node->operand.a);
        break;
    default:
        break;
    }
}

static enum trd_meaning memory_meaning(const char *extension)
{
    switch (extension[0]) {
    case 'M':
    case 'm':
        return TRD_MEANING_MAC;
    case 'I':
    case 'i':
        return extension[1] == '4'   ? TRD_MEANING_IPV4
               : extension[1] == '6' ? TRD_MEANING_IPV6
                                     : TRD_MEANING_SOCKADDR;
    case 'U':
        return extension[1] == 'l' || extension[1] == 'L' ? TRD_MEANING_GUID : TRD_MEANING_UUID;
    case 'b':
        return TRD_MEANING_BITMASK;
    case 'h':
        return TRD_MEANING_HEX;
    default:
        return TRD_MEANING_PLAIN;
    }
}

/* Bytes the meaning stands for; 0 for any. */
static uint16_t meaning_size(enum trd_meaning meaning)
{
    switch (meaning) {
    case TRD_MEANING_MAC:
        return 6;
    case TRD_MEANING_IPV4:
        return 4;
    case TRD_MEANING_IPV6:
    case TRD_MEANING_UUID:
    case TRD_MEANING_GUID:
        return 16;
    default:
        return 0;
    }
}

static void find_pointer(const struct finder *finder, const struct print_piece *piece)
{
    bool symbol = piece->extension[0] && strchr("SsFfB", piece->extension[0]);
    const struct node *node = skip_casts(piece->argument);
    const struct trd_field *field = whole_field(piece->argument);
    enum trd_meaning meaning;

    if (field) {
        if (symbol)
            set(finder, field, TRD_MEANING_SYMBOL);
        else
            set_if_plain(finder, field, TRD_MEANING_ADDRESS);
        return;
    }
    if (symbol && node->kind == NODE_DEREF) {
        field = memory_field(node->operand.a);
        if (field && field->elem_size == finder->schema->long_size)
            set(finder, field, TRD_MEANING_STACK);
        return;
    }
    field = memory_field(node);
    meaning = memory_meaning(piece->extension);
    if (field && meaning != TRD_MEANING_PLAIN &&
        (!meaning_size(meaning) || meaning_size(meaning) == field->size))
        set(finder, field, meaning);
}

/* MAJOR() and MINOR() of one field among the arguments: a device number. */
static bool has_minor(const struct trd_print_format *format, const struct trd_field *field)
{
    uint64_t mask;

    for (size_t i = 0; i < format->count; i++)
        if (format->pieces[i].argument &&
            masked_field(format->pieces[i].argument, &mask) == field && mask == MINOR_MASK)
            return true;
    return false;
}

static void find_device(const struct finder *finder, const struct trd_print_format *format,
                        const struct node *argument)
{
    const struct node *node = skip_casts(argument);
    const struct trd_field *field;

    if (node->kind != NODE_BINARY || node->op != OP_SHIFT_RIGHT ||
        node->operand.b->kind != NODE_CONST || node->operand.b->bits != MINOR_BITS)
        return;
    field = whole_field(node->operand.a);
    if (field && has_minor(format, field))
        set_if_plain(finder, field, TRD_MEANING_DEVICE);
}

static void find_in_piece(const struct finder *finder, const struct trd_print_format *format,
                          const struct print_piece *piece)
{
    const struct trd_field *field = whole_field(piece->argument);

    find_inside(finder, piece->argument);
    find_device(finder, format, piece->argument);
    if (piece->conversion == 'p')
        find_pointer(finder, piece);
    else if (field && (piece->conversion == 'x' || piece->conversion == 'X'))
        set_if_plain(finder, field, TRD_MEANING_HEX);
    else if (field && piece->conversion == 'c' && field->size == 1)
        set_if_plain(finder, field, TRD_MEANING_CHAR);
}

void print_meanings(const struct trd_print_format *format, const struct trd_schema *schema,
                    struct trd_field *fields)
{
    struct finder finder = { schema, fields, NULL };

    finder.contradicted = print_arena_take(format->arena, schema->field_count + 1);
    for (size_t i = 0; finder.contradicted && i < format->count; i++)
        if (format->pieces[i].argument)
            find_in_piece(&finder, format, &format->pieces[i]);
}
